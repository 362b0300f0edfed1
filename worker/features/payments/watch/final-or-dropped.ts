/**
 * Outcome of a payment's transaction: final, dropped, or restored. The status stays. The membership changes in the same batch, the
 * entitlement with the event.
 * @module
 */

import type { AuthorizationId, PaymentId } from '#core/ids.ts';
import { DAY } from '#core/time.ts';
import { dropCollected, stepAuthorization, takeCollectedBack } from '#features/authorizations/authorization.ts';
import { findAuthorization, listCollected } from '#features/authorizations/store.ts';
import { planReinstatement, planRevocation } from '#features/memberships/membership.ts';
import type { Shard } from '#platform/context.ts';
import { type Change, transact, unchanged } from '#platform/db/commit.ts';
import type { OutcomeHandler, OutcomeStep } from '#platform/db/outcome.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { AuthorizationRow, CollectionRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import { sendJob } from '#platform/queues/send-jobs.ts';
import { isCollected } from '#rules/subscriptions/authorization.ts';
import { firstAttemptAt, jitterFraction } from '#rules/subscriptions/schedule.ts';
import { notePayment, paymentAfter, paymentEvent } from '../payment.ts';
import { finalizePayments, getPayment, listPaymentsById } from '../store.ts';

export const paymentOutcome: OutcomeHandler = {
  onFinal: (ctx, paymentIds, step) => finalizeGroup(ctx, paymentIds as PaymentId[], step),
  onDropped: (ctx, paymentId, step) => orphanPayment(ctx, paymentId as PaymentId, step),
  onReturned: (ctx, paymentId, step) => finalizeGroup(ctx, [paymentId as PaymentId], step),
};

/** Payments per message: each may be of another buyer's object. */
const HINTED_MAX = 50;

/** Marks payments as final. A lost message costs nothing but longer reads of the buyers' objects, so these events need no fan-out. */
async function finalizeGroup(ctx: Shard, paymentIds: PaymentId[], step: OutcomeStep): Promise<void> {
  const finalized = await planFinal(ctx, paymentIds, step);
  for (let from = 0; from < finalized.length; from += HINTED_MAX)
    ctx.defer(sendJob(ctx, { kind: 'hintFinal', paymentIds: finalized.slice(from, from + HINTED_MAX) }));
}

const planFinal = (ctx: Shard, paymentIds: PaymentId[], step: OutcomeStep): Promise<PaymentId[]> =>
  transact(ctx, { reload: () => Promise.all([step.isOver(), listPaymentsById(ctx.db, paymentIds)]) }, async ([isOver, payments]) => {
    if (isOver) return unchanged([]);
    const isFinal = ({ finalizedAt, orphanedAt }: Payment) => finalizedAt !== null && orphanedAt === null;
    const plain = payments.filter((payment) => !isFinal(payment) && payment.orphanedAt === null);
    const after = plain.map((payment) => paymentAfter(ctx, payment, { finalizedAt: ctx.now }));
    const restored = await Promise.all(
      payments.filter(({ orphanedAt }) => orphanedAt !== null).map((payment) => planRestored(ctx, payment)),
    );
    return {
      events: [
        ...after.map((payment) => ({ ...paymentEvent(ctx, 'payment.finalized', payment), isFollowed: false })),
        ...restored.flatMap(({ events }) => events),
      ],
      writes: [...step.writes, ...(after.length > 0 ? finalizePayments(ctx, plain) : []), ...restored.flatMap(({ writes }) => writes)],
      result: plain.map(({ id }) => id),
    };
  });

/** Plans the return of a dropped payment. `previous` makes the event handlers reinstate what they revoked. */
async function planRestored(ctx: Shard, payment: Payment): Promise<Change<unknown>> {
  const noted = notePayment(ctx, payment, 'payment.finalized', { finalizedAt: ctx.now, orphanedAt: null });
  const returned = mergeChanges(noted, await planReturned(ctx, payment));
  // Access that a refund revoked remains revoked.
  return payment.accessRevokedAt === null ? mergeChanges(returned, await planReinstatement(ctx, payment)) : returned;
}

const orphanPayment = (ctx: Shard, paymentId: PaymentId, step: OutcomeStep) =>
  transact(ctx, { reload: () => step.isOver() }, async (isOver) => {
    if (isOver) return unchanged(null);
    const payment = await getPayment(ctx, paymentId);
    const noted = { events: [], writes: step.writes, result: null };
    if (payment.orphanedAt !== null) return noted;
    const orphaned = notePayment(ctx, payment, 'payment.orphaned', { orphanedAt: ctx.now });
    const revoked = mergeChanges(orphaned, await planRevocation(ctx, payment));
    return mergeChanges(noted, mergeChanges(revoked, await planDropped(ctx, payment)));
  });

const mergeChanges = (one: Change<unknown>, other: Change<unknown>): Change<unknown> => ({
  events: [...one.events, ...other.events],
  writes: [...one.writes, ...other.writes],
  result: null,
});

type Collected = Pick<Payment, 'id' | 'terms' | 'txSignature'>;

async function loadCollected({ db }: Shard, { terms }: Collected) {
  const { authorizationId } = terms;
  if (authorizationId === undefined) return null;
  const id = authorizationId as AuthorizationId;
  const [row, periods] = await Promise.all([findAuthorization(db, id), listCollected(db, id)]);
  return row && { row, periods };
}

/** Plans a dropped collection: its period is unpaid and may be collected again. */
async function planDropped(ctx: Shard, payment: Collected): Promise<Change<unknown>> {
  const loaded = await loadCollected(ctx, payment);
  const dropped = loaded?.periods.find(({ paymentId }) => paymentId === payment.id);
  if (!loaded || dropped?.collectedAt == null) return unchanged(null);
  const { row, periods } = loaded;
  const remaining = periods.filter((period) => period !== dropped && period.collectedAt !== null);
  const lastCollection =
    row.lastCollection?.txSignature === payment.txSignature
      ? { at: ctx.now, status: 'failed' as const, ...(payment.txSignature === null ? {} : { txSignature: payment.txSignature }) }
      : row.lastCollection;
  const after = stepAuthorization(ctx, row, null, { ...paidBy(remaining), lastCollection, ...dueAt(ctx, row, ctx.now) });
  return { ...after, writes: [dropCollected(ctx.db, payment.id), ...after.writes] };
}

/** Plans a restored collection: it pays its period again, unless another transaction has paid it meanwhile. */
async function planReturned(ctx: Shard, payment: Collected): Promise<Change<unknown>> {
  const loaded = await loadCollected(ctx, payment);
  const own = loaded?.periods.find(({ periodEndsAt }) => periodEndsAt === payment.terms.periodEndsAt);
  if (!loaded || own === undefined || own.collectedAt !== null) return unchanged(null);
  const { row, periods } = loaded;
  const paid = paidBy([...periods.filter((period) => period !== own && period.collectedAt !== null), own]);
  const step = row.endedAt === null && (row.status === 'past_due' || row.status === 'requires_reapproval') ? 'collect' : null;
  const lastCollection = { at: ctx.now, status: 'collected' as const, txSignature: payment.txSignature! };
  const next = firstAttemptAt(paid.periodEndsAt!, jitterFraction(row.id));
  const patch = { ...paid, lastCollection, failures: 0 };
  const after = stepAuthorization(ctx, row, step, { ...patch, ...dueAt(ctx, { ...row, status: step ? 'active' : row.status }, next) });
  return { ...after, writes: [takeCollectedBack(ctx, own, payment.id), ...after.writes] };
}

function paidBy(periods: CollectionRow[]): Pick<AuthorizationRow, 'periodStartsAt' | 'periodEndsAt' | 'paidThrough'> {
  const last = periods.reduce<CollectionRow | null>((a, b) => (a === null || b.periodStartsAt > a.periodStartsAt ? b : a), null);
  return {
    periodStartsAt: last?.periodStartsAt ?? null,
    periodEndsAt: last?.periodEndsAt ?? null,
    paidThrough: last?.periodEndsAt ?? null,
  };
}

function dueAt({ now }: Shard, row: AuthorizationRow, at: number): Partial<AuthorizationRow> {
  if (row.endedAt !== null) return {};
  return isCollected(row.status) ? { nextAttemptAt: at, nextCheckAt: now + DAY } : { nextCheckAt: now };
}
