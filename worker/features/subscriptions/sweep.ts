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
import { commit, forEach, transact, unchanged } from '#platform/db/commit.ts';
import { mayGoOn, type Swept } from '#platform/db/sweeps.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import { sendJobs } from '#platform/queues/send-jobs.ts';
import { followUp, isDue } from './collect.ts';
import { collectFirst } from './collect-first.ts';
import { lookAtSubscriptions, type SubscriptionLook } from './look.ts';
import { shareLifetime } from './prepare-collection.ts';
import { ASKED_READ_MS, getAuthorization, isRead } from './reconcile.ts';

const PAGE_MAX = 200;
/** How long those who took them have until they are due again. */
const LEASE_MS = 5 * MINUTE;
/** Collected by one message. An invocation takes ten of them, and the platform bounds what one may ask of databases and nodes. */
const COLLECTED_MAX = 10;
/** At once, each against nodes and the database. */
const LANES = 6;
/** Calls that one row may take: a period that is due is a part of a message, or is collected here in a sandbox. */
const CALLS_EACH: Record<AuthorizationClass, number> = { collections: 8, checkouts: 6, looks: 2 };

/**
 * Takes the authorizations whose time has come. Where a period is due a message has it collected, so that any number of them is collected side
 * by side; of the others the chain is looked at, at least once a day, and what was done on it without us is noted. Checkouts that wait for
 * their buyer's signature are looked at in the same way. Rows of a sandbox are taken by its own sweep alone.
 */
export const sweepSubscriptions =
  (kind: AuthorizationClass) =>
  async (ctx: Shard): Promise<Swept> => {
    if (!hasSubscriptions(ctx.config)) return { taken: 0, isFinished: true };
    let taken = 0;
    while (mayGoOn(ctx)) {
      const max = ctx.budget.rows(CALLS_EACH[kind], PAGE_MAX);
      if (max === 0) break;
      const rows = await takeDueAuthorizations(ctx, kind, ctx.now + LEASE_MS, max);
      taken += rows.length;
      // What runs on a session's clock is done at its moment, and not when a queue brings it.
      if (kind === 'collections' && ctx.sandbox === null) await sendDue(ctx, rows);
      // A period that is due is collected by its own class.
      else await followEach(ctx, kind === 'looks' ? rows.filter((row) => !isDue(row, ctx.now)) : rows);
      if (rows.length < max) return { taken, isFinished: true };
    }
    return { taken, isFinished: false };
  };

/** All classes, where the rows of one sandbox are few. */
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

/** A queue message: those of them that are still due. Harmless doubled, late or lost. */
export async function collectQueued(ctx: Shard, { authorizationIds }: { authorizationIds: string[] }): Promise<void> {
  const rows = await listAuthorizations(ctx.db, authorizationIds as AuthorizationId[]);
  await followEach(
    ctx,
    rows.filter((row) => isDue(row, ctx.now)),
  );
}

/** A queue message: reads the accounts of an authorization that a GET showed, unless they were just read. Harmless doubled, late or lost. */
export async function readQueued(ctx: Shard, { authorizationId }: { authorizationId: string }): Promise<void> {
  const row = await claimAskedRead(ctx, authorizationId as AuthorizationId, ASKED_READ_MS);
  if (row !== null && isRead(row)) await followEach(ctx, [row]);
}

/** Where no node answers, all of them are looked at again once the lease is over. */
async function followEach(ctx: Shard, rows: AuthorizationRow[]): Promise<void> {
  const looks = await lookAtSubscriptions(ctx, rows.map(routeOf));
  const seen = rows.flatMap((row, at): [AuthorizationRow, SubscriptionLook][] => (looks[at] ? [[row, looks[at]]] : []));
  const lifetime = shareLifetime(ctx);
  const follow = ([row, look]: [AuthorizationRow, SubscriptionLook]) =>
    row.status === 'pending' ? followCheckout(ctx, row, look) : followUp(ctx, row, look, lifetime);
  await forEach(ctx, seen, follow, LANES);
}

/** At first every few seconds, later in ever longer intervals: a buyer who takes an hour waits some minutes at most. */
const CHECKOUT_LOOK_MS = 15 * SECOND;
const nextCheckoutLook = ({ now }: Shard, { createdAt }: AuthorizationRow): number =>
  now + Math.max(CHECKOUT_LOOK_MS, (now - createdAt) / 8);

/** A checkout whose buyer may have signed anywhere. One that came to nothing takes its authorization with it. */
async function followCheckout(ctx: Shard, row: AuthorizationRow, look: SubscriptionLook): Promise<void> {
  const payment = await getPayment(ctx, row.paymentId);
  if (payment.status === 'FAILED') {
    await transact(ctx, { known: row, reload: () => getAuthorization(ctx, row.id) }, (current) =>
      current.status === 'pending' ? stepAuthorization(ctx, current, 'expire', overAt(ctx.now)) : unchanged(current),
    );
    return;
  }
  // A sweep waits for no transaction to land: what was sent is found by the looks that were scheduled with it.
  await collectFirst(ctx, payment, row, { known: look, patienceMs: 0 });
  const current = await getAuthorization(ctx, row.id);
  if (current.status !== 'pending') return;
  const later = { nextAttemptAt: null, nextLookAt: Math.floor(nextCheckoutLook(ctx, row)) };
  await commit(ctx, { events: [], writes: [scheduleAuthorization(ctx.db, current, later)], result: undefined });
}
