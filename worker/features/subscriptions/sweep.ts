import type { AuthorizationId } from '#core/ids.ts';
import { MINUTE, SECOND } from '#core/time.ts';
import {
  type AuthorizationClass,
  claimAskedRead,
  overAt,
  routeOf,
  scheduleAuthorization,
  stepAuthorization,
  takeDueAuthorizations,
} from '#features/authorizations/authorization.ts';
import { listAuthorizations } from '#features/authorizations/store.ts';
import { getPayment } from '#features/payments/store.ts';
import { hasSubscriptions, type Shard } from '#platform/context.ts';
import { commit, forEach, unchanged } from '#platform/db/commit.ts';
import { mayGoOn, type Swept } from '#platform/db/sweeps.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import { sendJobs } from '#platform/queues/send-jobs.ts';
import { collectFirst } from './collect-first.ts';
import { shareLifetime } from './collect-period.ts';
import { followUp, isDue } from './collect-renewal.ts';
import { readSubscriptions, type SubscriptionReading } from './read-subscriptions.ts';
import { ASKED_READ_MS, changeAuthorization, getAuthorization, isRead } from './reconcile.ts';

const PAGE_MAX = 200;
/** Time until authorizations that were taken are due again. */
const LEASE_MS = 5 * MINUTE;
/** Authorizations per message. An invocation takes ten messages, and the platform limits its calls. */
const COLLECTED_MAX = 10;
/** Authorizations followed up at once. */
const LANES = 6;
/** Most calls per row. In a sandbox a due period is collected by the sweep itself. */
const CALLS_EACH: Record<AuthorizationClass, number> = { collections: 8, checkouts: 6, looks: 2 };

/**
 * Sweeps due authorizations of a class. Due periods are sent to the queue, so that any number is collected concurrently. The accounts of the
 * others are read, at least once a day. A sandbox has a sweep of its own.
 */
export const sweepSubscriptions =
  (kind: AuthorizationClass) =>
  async (ctx: Shard): Promise<Swept> => {
    if (!hasSubscriptions(ctx.config)) return { taken: 0, end: 'empty' };
    let taken = 0;
    while (mayGoOn(ctx)) {
      const max = ctx.budget.rows(CALLS_EACH[kind], PAGE_MAX);
      if (max === 0) break;
      const rows = await takeDueAuthorizations(ctx, kind, ctx.now + LEASE_MS, max);
      taken += rows.length;
      // A sandbox session's clock does not wait for a queue.
      if (kind === 'collections' && ctx.sandbox === null) await sendDue(ctx, rows);
      // Due periods belong to the class `collections`.
      else await followEach(ctx, kind === 'looks' ? rows.filter((row) => !isDue(row, ctx.now)) : rows);
      if (rows.length < max) return { taken, end: 'empty' };
    }
    return { taken, end: 'bound' };
  };

/** Sweeps all classes of one sandbox. */
export async function sweepSandboxSubscriptions(ctx: Shard): Promise<void> {
  for (const kind of ['collections', 'checkouts', 'looks'] as const) await sweepSubscriptions(kind)(ctx);
}

async function sendDue(ctx: Shard, rows: AuthorizationRow[]): Promise<void> {
  const ids = rows.map(({ id }) => id);
  const groups = Array.from({ length: Math.ceil(ids.length / COLLECTED_MAX) }, (_, at) =>
    ids.slice(at * COLLECTED_MAX, (at + 1) * COLLECTED_MAX),
  );
  await sendJobs(
    ctx,
    groups.map((authorizationIds) => ({ job: { kind: 'collectSubscriptions', authorizationIds } })),
  );
}

/** Collects the periods of a queue message that are still due. Harmless doubled, late or lost. */
export async function collectQueued(ctx: Shard, { authorizationIds }: { authorizationIds: string[] }): Promise<void> {
  const rows = await listAuthorizations(ctx.db, authorizationIds as AuthorizationId[]);
  await followEach(
    ctx,
    rows.filter((row) => isDue(row, ctx.now)),
  );
}

/** Reads the accounts of an authorization that a GET returned, unless they were just read. Harmless doubled, late or lost. */
export async function readQueued(ctx: Shard, { authorizationId }: { authorizationId: string }): Promise<void> {
  const row = await claimAskedRead(ctx, authorizationId as AuthorizationId, ASKED_READ_MS);
  if (row !== null && isRead(row)) await followEach(ctx, [row]);
}

/** Follows up authorizations. If no node answers, they are due again after the lease. */
async function followEach(ctx: Shard, rows: AuthorizationRow[]): Promise<void> {
  const readings = await readSubscriptions(ctx, rows.map(routeOf));
  const seen = rows.flatMap((row, at): [AuthorizationRow, SubscriptionReading][] => (readings[at] ? [[row, readings[at]]] : []));
  const lifetime = shareLifetime(ctx);
  const follow = ([row, reading]: [AuthorizationRow, SubscriptionReading]) =>
    row.status === 'pending' ? followCheckout(ctx, row, reading) : followUp(ctx, row, reading, lifetime);
  await forEach(ctx, seen, follow, LANES);
}

/** Interval between reads of a checkout, which grows with its age. */
const CHECKOUT_CHECK_MS = 15 * SECOND;
const nextCheckoutCheck = ({ now }: Shard, { createdAt }: AuthorizationRow): number =>
  now + Math.max(CHECKOUT_CHECK_MS, (now - createdAt) / 8);

/** Collects a checkout after its buyer may have signed elsewhere. A failed checkout expires its authorization. */
async function followCheckout(ctx: Shard, row: AuthorizationRow, reading: SubscriptionReading): Promise<void> {
  const payment = await getPayment(ctx, row.paymentId);
  if (payment.status === 'FAILED') {
    await changeAuthorization(ctx, row, (current) =>
      current.status === 'pending' ? stepAuthorization(ctx, current, 'expire', overAt(ctx.now)) : unchanged(current),
    );
    return;
  }
  // No patience: the checks that are scheduled with the transaction find it.
  await collectFirst(ctx, payment, row, { known: reading, patienceMs: 0 });
  const current = await getAuthorization(ctx, row.id);
  if (current.status !== 'pending') return;
  const later = { nextAttemptAt: null, nextCheckAt: Math.floor(nextCheckoutCheck(ctx, row)) };
  await commit(ctx, { events: [], writes: [scheduleAuthorization(ctx.db, current, later)], result: undefined });
}
