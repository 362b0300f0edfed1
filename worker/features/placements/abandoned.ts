import type { MembershipId } from '#core/ids.ts';
import { SECOND } from '#core/time.ts';
import type { Shard } from '#platform/context.ts';
import type { Pace } from '#platform/providers/messaging/pace.ts';
import { deskOf, missingForDelivery, paceOf } from '#platform/providers/messaging/platforms.ts';
import { PLACEMENT_LEASE_MS, waitAfter } from '#rules/members/placement.ts';
import { takeInvite } from './ask.ts';
import { retrySecondsOf } from './placement.ts';
import { deleteAbandoned, findAbandoned, updateAbandoned } from './store.ts';

/**
 * What is left of a place whose account was deleted: its open invitation is taken back, because it leads into a chat that may be another
 * merchant's by now, and the row goes, whatever the platform says by the end of the schedule. Harmless doubled.
 */
export async function endAbandoned(ctx: Shard, membershipId: MembershipId, pace?: Pace): Promise<void> {
  const row = await findAbandoned(ctx.db, membershipId);
  if (!row || row.nextAttemptAt === null || row.nextAttemptAt > ctx.wallNow || row.leaseUntil > ctx.wallNow) return;
  const { standing, inviteUrl, provider } = row;
  const isOpen = row.livemode && inviteUrl !== null && missingForDelivery(ctx.config, provider).length === 0;
  if (!standing || !isOpen) return void (await deleteAbandoned(ctx.db, row));
  const taken = { attempts: row.attempts + 1, leaseUntil: ctx.wallNow + PLACEMENT_LEASE_MS };
  if (!(await updateAbandoned(ctx.db, row, taken))) return;
  const leased = { ...row, ...taken, version: row.version + 1 };
  const answer = await takeInvite(deskOf(ctx, pace ?? paceOf(provider)), standing, inviteUrl);
  const isUnasked = answer.kind === 'unasked';
  const waitMs = isUnasked ? answer.afterSeconds * SECOND : waitAfter(answer, leased.attempts, retrySecondsOf(ctx));
  if (waitMs === null) return void (await deleteAbandoned(ctx.db, leased));
  const attempts = isUnasked ? row.attempts : leased.attempts;
  await updateAbandoned(ctx.db, leased, { attempts, leaseUntil: 0, nextAttemptAt: ctx.wallNow + ctx.elapsedMs() + waitMs });
}
