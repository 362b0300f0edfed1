import { eraseGrants, openGrant } from '#features/checkout/buyer-identity/grant.ts';
import { graceEndOf } from '#features/memberships/resource.ts';
import type { Shard } from '#platform/context.ts';
import type { Membership } from '#platform/db/tables/memberships.ts';
import type { Placement } from '#platform/db/tables/office/placements.ts';
import type { Pace } from '#platform/providers/messaging/pace.ts';
import type { Giving, PlatformDesk } from '#platform/providers/messaging/platform.ts';
import { deskOf } from '#platform/providers/messaging/platforms.ts';
import { PLATFORMS } from '#platform/providers/messaging/registry.ts';
import { type PlacementWork, type PlatformAnswer, type StandingPlace, worseOf } from '#rules/members/placement.ts';
import { isOwnPlace } from './placement.ts';
import { simulateGiving } from './simulated.ts';
import { isHeldByAnother, keepInvite } from './store.ts';

/** A place that an attempt has the lease of. */
interface Asking {
  placement: Placement;
  membership: Membership;
  productName: string;
  work: PlacementWork;
}

const DONE: PlatformAnswer = { kind: 'done' };

/** Has a platform do what an attempt is for. Of a chat that is not the account's any more nothing but its own invitation is touched. */
export async function askPlatform(ctx: Shard, asking: Asking, pace: Pace): Promise<PlatformAnswer> {
  const { placement, membership, work } = asking;
  const { standing, inviteUrl } = placement;
  // Nothing was ever given: there is nothing to take away.
  if (!standing) return DONE;
  const desk = deskOf(ctx, pace);
  const { livemode } = membership;
  const isOwn = !standing.isGivenBack && (await isOwnPlace(ctx, membership.merchantId, livemode, standing.place));
  if (work === 'take') {
    if (!livemode) return DONE;
    if (!isOwn) return takeInvite(desk, standing, inviteUrl);
    return takePlace(desk, standing, inviteUrl, await isHeldByAnother(ctx.db, placement));
  }
  if (!isOwn) return { kind: 'refused', reason: 'unclaimed' };
  const granted = livemode ? await openGrant(ctx, { ...standing.place, ...standing, merchantId: membership.merchantId, livemode }) : null;
  const giving: Giving = {
    ...standing,
    inviteUrl,
    grant: granted?.accessToken ?? null,
    productName: asking.productName,
    endsAt: graceEndOf(membership),
    keepInvite: (made) => keepInvite(ctx.db, placement, made),
  };
  const answer = await (livemode ? PLATFORMS[standing.place.provider].give(desk, giving) : simulateGiving(placement, giving));
  // Used once; where the platform did not look at it, it serves the next attempt.
  if (granted && answer.kind !== 'later' && answer.kind !== 'unasked') await eraseGrants(ctx.db, granted.session);
  return answer;
}

const revokeInvite = (desk: PlatformDesk, { place }: StandingPlace, inviteUrl: string | null): Promise<PlatformAnswer> =>
  inviteUrl === null ? Promise.resolve(DONE) : PLATFORMS[place.provider].revokeInvite(desk, { place, inviteUrl });

/** What the bot may not do there any more the new owner of the chat can: a refusal ends it. */
export async function takeInvite(desk: PlatformDesk, standing: StandingPlace, inviteUrl: string | null): Promise<PlatformAnswer> {
  const answer = await revokeInvite(desk, standing, inviteUrl);
  return answer.kind === 'refused' ? DONE : answer;
}

/** First the invitation, so that a person who was removed does not come back by it. Neither waits for what the other is refused. */
async function takePlace(
  desk: PlatformDesk,
  standing: StandingPlace,
  inviteUrl: string | null,
  staysMember: boolean,
): Promise<PlatformAnswer> {
  const revoked = await revokeInvite(desk, standing, inviteUrl);
  const removed = await PLATFORMS[standing.place.provider].removeMember(desk, { ...standing, staysMember });
  return worseOf(revoked, removed);
}
