import type { Placement } from '#platform/db/tables/office/placements.ts';
import type { Giving } from '#platform/providers/messaging/platform.ts';
import type { PlatformAnswer } from '#rules/members/placement.ts';

/** Test person who refuses the first message: delivery fails, and the merchant's retry succeeds. */
export const REFUSES_FIRST = 'refuses-first';

export async function simulateGiving(placement: Placement, giving: Giving): Promise<PlatformAnswer> {
  if (giving.inviteUrl === null) await giving.storeInvite(`https://sandbox.invalid/${giving.target.provider}/${placement.membershipId}`);
  if (giving.providerUserId.startsWith(REFUSES_FIRST) && placement.lastError === null)
    return { kind: 'refused', reason: '403 Forbidden: bot can’t initiate conversation with a user' };
  return { kind: 'done' };
}
