import type { Placement } from '#platform/db/tables/office/placements.ts';
import type { Giving } from '#platform/providers/messaging/platform.ts';
import type { PlatformAnswer } from '#rules/members/placement.ts';

/** A person of this name takes no message at first: delivery fails, and the retry that the merchant asks for succeeds. */
export const REFUSES_FIRST = 'refuses-first';

/** What a platform would say: nothing of a sandbox is ever asked of one. */
export async function simulateGiving(placement: Placement, giving: Giving): Promise<PlatformAnswer> {
  if (giving.inviteUrl === null) await giving.keepInvite(`https://sandbox.invalid/${giving.place.provider}/${placement.membershipId}`);
  if (giving.providerUserId.startsWith(REFUSES_FIRST) && placement.lastError === null)
    return { kind: 'refused', reason: '403 Forbidden: bot can’t initiate conversation with a user' };
  return { kind: 'done' };
}
