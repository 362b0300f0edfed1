import type { AccountId } from '#core/ids.ts';
import { DAY, HOUR, MINUTE } from '#core/time.ts';
import { planSubtract } from '#features/analytics/fold.ts';
import { entitlementKeyOf, eraseEntitlement } from '#features/entitlements/entitlement.ts';
import { sweepFinality } from '#features/finality/watch.ts';
import { sweepSandboxPlacements } from '#features/membership-delivery/sweep.ts';
import { sweepMemberships } from '#features/memberships/expire-membership.ts';
import { eraseMeteredSession } from '#features/metered/session.ts';
import { listMeteredOfSession } from '#features/metered/store.ts';
import { sweepSandboxSessions } from '#features/metered/watch/watch-channels.ts';
import { sweepExpired } from '#features/payments/watch/expire.ts';
import { sweepCandidates } from '#features/payments/watch/recheck.ts';
import { sweepSettlements } from '#features/settlements/sweep.ts';
import { sweepSandboxSubscriptions } from '#features/subscriptions/sweep.ts';
import { sweepFanOut } from '#features/webhooks/deliveries/fan-out.ts';
import { clockOf } from '#platform/chain/clock.store.ts';
import { inSandbox } from '#platform/chain/scope.ts';
import type { Shard } from '#platform/context.ts';
import { forEach, transact } from '#platform/db/commit.ts';
import { type Swept, sweepPages } from '#platform/db/sweeps.ts';
import type { SandboxSession } from '#platform/db/tables/sandbox.ts';
import { customerIn } from './scenarios/actions.ts';
import { listDueMerchants, listSessionMetricEvents, noteSweptUntil, readSweptUntil, sessionErasure } from './sessions/erase.store.ts';
import { type Follow, queueRun } from './sessions/run.ts';
import { listForgotten, listSessionEntitlements, listStalled } from './sessions/store.ts';

/** Runs the sweeps of live payments on a merchant's simulated chain, outside of sessions. */
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

export { SANDBOX_PATIENCE_MS } from './sessions/erase.store.ts';
export { RETENTION_MS as SESSION_RETENTION_MS } from './sessions/store.ts';

export const STALLED_AFTER_MS = MINUTE;
const STALLED_MAX = 100;
const MERCHANTS_MAX = 1000;
const BATCH_MAX = 100;
/** Overlap with the previous sweep, because its message may have failed. */
export const AGAIN_MS = DAY;
const NOTE_MS = HOUR;

/**
 * Resumes stalled sessions and queues merchants with due sandbox work. The sandbox has a queue of its own, so live work never waits for it.
 */
export async function sweepSandboxes(ctx: Shard): Promise<Swept> {
  const stalled = await listStalled(ctx.db, ctx.wallNow - STALLED_AFTER_MS, STALLED_MAX);
  await forEach(ctx, stalled, ({ id }) => queueRun(ctx, id));
  const sweptUntil = await readSweptUntil(ctx.db);
  const { merchantIds, isComplete } = await listDueMerchants(
    ctx.db,
    { from: Math.min(sweptUntil, ctx.now) - AGAIN_MS, to: ctx.now },
    MERCHANTS_MAX,
  );
  const messages = merchantIds.map((merchantId) => ({
    body: { kind: 'sweepSandbox' as const, merchantId, requestId: ctx.cause },
  }));
  for (let i = 0; i < messages.length; i += BATCH_MAX) await ctx.env.SANDBOX.sendBatch(messages.slice(i, i + BATCH_MAX));
  // Advances only after a complete pass, so that everything that fell due in an outage is swept, however long the outage was.
  if (isComplete && ctx.now >= sweptUntil + NOTE_MS) await noteSweptUntil(ctx.db, ctx.now);
  // Enqueued merchants are still due, so the next cron takes the rest.
  return { taken: stalled.length + merchantIds.length, end: isComplete && stalled.length < STALLED_MAX ? 'empty' : 'paused' };
}

const PAGES = { pageMax: 20, pagesMax: 10 };

export const sweepEndedSandboxes = async (ctx: Shard): Promise<Swept> =>
  sweepPages<SandboxSession>(
    ctx,
    PAGES,
    (last) => listForgotten(ctx.db, ctx.wallNow, PAGES.pageMax, last),
    (ended) => forEach(ctx, ended, (session) => forgetSession(ctx, session)),
  );

/**
 * Deletes a session: first its entitlement and metered objects, because their alarms would write rows again, then its rows and its part of
 * the analytics in one batch. The next sweep repeats a partial deletion.
 */
async function forgetSession(ctx: Shard, session: SandboxSession): Promise<void> {
  const scope = inSandbox(ctx, session.merchantId, clockOf(session));
  const ids = new Set(await listSessionEntitlements(scope));
  // A crashed session's object may exist without a row.
  if (session.productId !== null) ids.add(entitlementKeyOf(scope, session.productId, customerIn(session)).entitlementId);
  for (const id of ids) await eraseEntitlement(scope, id);
  for (const metered of await listMeteredOfSession(scope)) await eraseMeteredSession(scope, metered);
  await transact(scope, { reload: () => listSessionMetricEvents(scope) }, async (events) => ({
    events: [],
    writes: [...(await planSubtract(scope, events)), ...sessionErasure(scope)],
    result: undefined,
  }));
}
