import type { AccountId } from '#core/ids.ts';
import { MINUTE } from '#core/time.ts';
import { isCountingEarlier } from '#features/figures/cursors.store.ts';
import { sweepFinality } from '#features/finality/watch.ts';
import { sweepMemberships } from '#features/memberships/expire-membership.ts';
import { sweepSandboxSessions } from '#features/metered/watch/sweep.ts';
import { sweepExpired } from '#features/payments/watch/expire.ts';
import { sweepCandidates } from '#features/payments/watch/recheck.ts';
import { sweepSandboxPlacements } from '#features/placements/sweep.ts';
import { sweepSettlements } from '#features/settlements/sweep.ts';
import { sweepSubscriptions } from '#features/subscriptions/sweep.ts';
import { sweepFanOut } from '#features/webhooks/deliveries/fan-out.ts';
import { inSandbox } from '#platform/chain/scope.ts';
import { addressOf, type Shard } from '#platform/context.ts';
import { forEach } from '#platform/db/commit.ts';
import { type Swept, sweepPages } from '#platform/db/sweep-pages.ts';
import type { SandboxSession } from '#platform/db/tables/sandbox.ts';
import { listDueMerchants } from './own.store.ts';
import { forgetSession } from './sessions/erase.ts';
import { type Follow, queueRun } from './sessions/run.ts';
import { listForgotten, listStalled } from './sessions/store.ts';

/** What one merchant's own test calls left to time, done by the sweeps of live payments, over the merchant's simulated chain. */
export async function sweepOwn(ctx: Shard, merchantId: AccountId, follow: Follow): Promise<void> {
  const scope = inSandbox(ctx, merchantId, null);
  await sweepCandidates(scope);
  await sweepSettlements(scope);
  await sweepSubscriptions(scope);
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
const MERCHANTS_MAX = 100;

/** Sends sessions on whose message was lost, and has what is due in sandboxes done: by their own queue, so that nothing live waits. */
export async function sweepSandboxes(ctx: Shard): Promise<Swept> {
  const stalled = await listStalled(ctx.db, ctx.wallNow - STALLED_MS, STALLED_MAX);
  await forEach(ctx, stalled, ({ id }) => queueRun(ctx, id));
  const merchantIds = await listDueMerchants(ctx.db, ctx.now, MERCHANTS_MAX);
  await forEach(ctx, merchantIds, (merchantId) =>
    ctx.env.SANDBOX.send({ kind: 'sweepSandbox', merchantId, requestId: ctx.cause, ...addressOf(ctx) }),
  );
  return { taken: stalled.length + merchantIds.length, isFinished: true };
}

const PAGES = { pageMax: 20, pagesMax: 10 };

/** Forgets sessions that ended 30 days ago with all they made. One that cannot be forgotten holds up no other. */
export const sweepEndedSandboxes = async (ctx: Shard): Promise<Swept> => {
  // Until then it is not known what of a session is in the figures, from which it is taken.
  if (await isCountingEarlier(ctx.db)) return { taken: 0, isFinished: true };
  return sweepPages<SandboxSession>(
    ctx,
    PAGES,
    (last) => listForgotten(ctx.db, ctx.wallNow, PAGES.pageMax, last),
    (ended) => forEach(ctx, ended, (session) => forgetSession(ctx, session)),
  );
};
