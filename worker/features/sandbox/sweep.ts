import type { AccountId } from '#core/ids.ts';
import { DAY, HOUR, MINUTE } from '#core/time.ts';
import { planSubtract } from '#features/analytics/fold.ts';
import { entitlementKeyOf, eraseEntitlement } from '#features/entitlements/entitlement.ts';
import { sweepFinality } from '#features/finality/watch.ts';
import { sweepMemberships } from '#features/memberships/expire-membership.ts';
import { eraseMeteredSession } from '#features/metered/session.ts';
import { listMeteredInReach } from '#features/metered/store.ts';
import { sweepSandboxSessions } from '#features/metered/watch/watch-channels.ts';
import { sweepExpired } from '#features/payments/watch/expire.ts';
import { sweepCandidates } from '#features/payments/watch/recheck.ts';
import { sweepSandboxPlacements } from '#features/placements/sweep.ts';
import { sweepSettlements } from '#features/settlements/sweep.ts';
import { sweepSandboxSubscriptions } from '#features/subscriptions/sweep.ts';
import { sweepFanOut } from '#features/webhooks/deliveries/fan-out.ts';
import { clockOf } from '#platform/chain/clock.store.ts';
import { inSandbox } from '#platform/chain/scope.ts';
import { addressOf, type Shard } from '#platform/context.ts';
import { forEach, transact } from '#platform/db/commit.ts';
import { type Swept, sweepPages } from '#platform/db/sweeps.ts';
import type { SandboxSession } from '#platform/db/tables/sandbox.ts';
import { customerIn } from './scenarios/actions.ts';
import { listDueMerchants, listSessionMetricEvents, noteLookedUntil, readLookedUntil, sessionErasure } from './sessions/erase.store.ts';
import { type Follow, queueRun } from './sessions/run.ts';
import { listForgotten, listSessionEntitlements, listStalled } from './sessions/store.ts';

/** What one merchant's own test calls left to time, done by the sweeps of live payments, over the merchant's simulated chain. */
export async function sweepOwn(ctx: Shard, merchantId: AccountId, follow: Follow): Promise<void> {
  const scope = inSandbox(ctx, merchantId, null);
  for (const origin of ['found', 'sent', 'named'] as const) await sweepCandidates(origin)(scope);
  await sweepSettlements(scope);
  await sweepSandboxSubscriptions(scope);
  await sweepSandboxSessions(scope);
  await sweepExpired(scope);
  await sweepMemberships(scope);
  await sweepFinality(scope);
  await sweepSandboxPlacements(scope);
  await sweepFanOut(scope, follow);
}

/** A session's message should have come by then. */
const STALLED_MS = MINUTE;
const STALLED_MAX = 100;
const MERCHANTS_MAX = 1000;
/** Messages that a queue takes at once. */
const BATCH_MAX = 100;
/** Work that fell due so long before the last look is looked for again: the message may have failed. */
const AGAIN_MS = DAY;
/** How far all was looked at is noted so often. */
const NOTE_MS = HOUR;

/** Sends sessions on whose message was lost, and has what is due in sandboxes done: by their own queue, so that nothing live waits. */
export async function sweepSandboxes(ctx: Shard): Promise<Swept> {
  const stalled = await listStalled(ctx.db, ctx.wallNow - STALLED_MS, STALLED_MAX);
  await forEach(ctx, stalled, ({ id }) => queueRun(ctx, id));
  const lookedUntil = await readLookedUntil(ctx.db);
  const { merchantIds, isWhole } = await listDueMerchants(
    ctx.db,
    { from: Math.min(lookedUntil, ctx.now) - AGAIN_MS, to: ctx.now },
    MERCHANTS_MAX,
  );
  const messages = merchantIds.map((merchantId) => ({
    body: { kind: 'sweepSandbox' as const, merchantId, requestId: ctx.cause, ...addressOf(ctx) },
  }));
  for (let i = 0; i < messages.length; i += BATCH_MAX) await ctx.env.SANDBOX.sendBatch(messages.slice(i, i + BATCH_MAX));
  // After an outage all that fell due in it is looked at, however long it was.
  if (isWhole && ctx.now >= lookedUntil + NOTE_MS) await noteLookedUntil(ctx.db, ctx.now);
  return { taken: stalled.length + merchantIds.length, isFinished: true };
}

const PAGES = { pageMax: 20, pagesMax: 10 };

/** Forgets sessions that ended 30 days ago with all they made. One that cannot be forgotten holds up no other. */
export const sweepEndedSandboxes = async (ctx: Shard): Promise<Swept> =>
  sweepPages<SandboxSession>(
    ctx,
    PAGES,
    (last) => listForgotten(ctx.db, ctx.wallNow, PAGES.pageMax, last),
    (ended) => forEach(ctx, ended, (session) => forgetSession(ctx, session)),
  );

/**
 * Forgets a session and all it made: first the objects of its customers and of its metered sessions, whose alarms would write rows of it
 * again, then its rows and what they added to the metrics in one batch. Where it stops in between, it is done again.
 */
async function forgetSession(ctx: Shard, session: SandboxSession): Promise<void> {
  const scope = inSandbox(ctx, session.merchantId, clockOf(session));
  const ids = new Set(await listSessionEntitlements(scope));
  // Of a session that was killed the object may know more than the rows.
  if (session.productId !== null) ids.add(entitlementKeyOf(scope, session.productId, customerIn(session)).entitlementId);
  for (const id of ids) await eraseEntitlement(scope, id);
  for (const metered of await listMeteredInReach(scope)) await eraseMeteredSession(scope, metered);
  await transact(scope, { reload: () => listSessionMetricEvents(scope) }, async (events) => ({
    events: [],
    writes: [...(await planSubtract(scope, events)), ...sessionErasure(scope)],
    result: undefined,
  }));
}
