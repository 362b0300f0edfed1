import { eraseGrants, openGrant } from '#features/checkout/buyer-identity/grant.ts';
import { graceEndOf } from '#features/memberships/resource.ts';
import type { Shard } from '#platform/context.ts';
import type { Membership } from '#platform/db/tables/memberships.ts';
import type { Placement } from '#platform/db/tables/office/placements.ts';
import type { Pace } from '#platform/providers/messaging/pace.ts';
import type { Giving, PlatformDesk } from '#platform/providers/messaging/platform.ts';
import { deskOf } from '#platform/providers/messaging/platforms.ts';
import { PLATFORMS } from '#platform/providers/messaging/registry.ts';
import { type PlacementWork, type PlatformAnswer, type PlatformGrant, worseOf } from '#rules/members/placement.ts';
import { isOwnTarget } from './placement.ts';
import { simulateGiving } from './simulated.ts';
import { isHeldByAnother, storeInvite } from './store.ts';

interface Asking {
  placement: Placement;
  membership: Membership;
  productName: string;
  work: PlacementWork;
}

const DONE: PlatformAnswer = { kind: 'done' };

/** Runs an attempt's work at the platform. In a chat that the account no longer has, only its own invitation is revoked. */
export async function askPlatform(ctx: Shard, asking: Asking, pace: Pace): Promise<PlatformAnswer> {
  const { placement, membership, work } = asking;
  const { grant, inviteUrl } = placement;
  if (!grant) return DONE;
  const desk = deskOf(ctx, pace);
  const { livemode } = membership;
  const isOwn = !grant.isGivenBack && (await isOwnTarget(ctx, membership.merchantId, livemode, grant.target));
  if (work === 'take') {
    if (!livemode) return DONE;
    if (!isOwn) return takeInvite(desk, grant, inviteUrl);
    return removeFromPlatform(desk, grant, inviteUrl, await isHeldByAnother(ctx.db, placement));
  }
  if (!isOwn) return { kind: 'refused', reason: 'unclaimed' };
  const granted = livemode ? await openGrant(ctx, { ...grant.target, ...grant, merchantId: membership.merchantId, livemode }) : null;
  const giving: Giving = {
    ...grant,
    inviteUrl,
    grant: granted?.accessToken ?? null,
    productName: asking.productName,
    endsAt: graceEndOf(membership),
    storeInvite: (made) => storeInvite(ctx.db, placement, made),
  };
  const answer = await (livemode ? PLATFORMS[grant.target.provider].give(desk, giving) : simulateGiving(placement, giving));
  // A grant is used once. If the platform did not process it, the next attempt may use it.
  if (granted && answer.kind !== 'later' && answer.kind !== 'unasked') await eraseGrants(ctx.db, granted.session);
  return answer;
}

const revokeInvite = (desk: PlatformDesk, { target }: PlatformGrant, inviteUrl: string | null): Promise<PlatformAnswer> =>
  inviteUrl === null ? Promise.resolve(DONE) : PLATFORMS[target.provider].revokeInvite(desk, { target, inviteUrl });

/** If the bot no longer has permission in the chat, treat the revocation as done: the chat's new owner manages its members. */
export async function takeInvite(desk: PlatformDesk, grant: PlatformGrant, inviteUrl: string | null): Promise<PlatformAnswer> {
  const answer = await revokeInvite(desk, grant, inviteUrl);
  return answer.kind === 'refused' ? DONE : answer;
}

/** Revokes the invitation first, so that a removed person cannot return with it. A refusal of one does not stop the other. */
async function removeFromPlatform(
  desk: PlatformDesk,
  grant: PlatformGrant,
  inviteUrl: string | null,
  staysMember: boolean,
): Promise<PlatformAnswer> {
  const revoked = await revokeInvite(desk, grant, inviteUrl);
  const removed = await PLATFORMS[grant.target.provider].removeMember(desk, { ...grant, staysMember });
  return worseOf(revoked, removed);
}
