/**
 * What becomes of a payment when its transaction is final, dropped, or there after all. Its status stays; the membership it carries
 * follows in the same batch, and its entitlement with the event.
 * @module
 */

import type { AuthorizationId, PaymentId } from '#core/ids.ts';
import { DAY } from '#core/time.ts';
import { dropCollected, stepAuthorization, takeCollectedBack } from '#features/authorizations/authorization.ts';
import { findAuthorization, listCollected } from '#features/authorizations/store.ts';
import { planReinstatement, planRevocation } from '#features/memberships/membership.ts';
import type { Shard } from '#platform/context.ts';
import { type Change, transact, unchanged } from '#platform/db/commit.ts';
import type { FateFollower, FateStep } from '#platform/db/fate.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { AuthorizationRow, CollectionRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import { isCollected } from '#rules/subscriptions/authorization.ts';
import { firstAttemptAt, luckOf } from '#rules/subscriptions/schedule.ts';
import { notePayment, paymentAfter, paymentEvent } from '../payment.ts';
import { finalizePayments, getPayment, listPaymentsById } from '../store.ts';

export const paymentFate: FateFollower = {
  onFinal: (ctx, paymentIds, step) => finalizeGroup(ctx, paymentIds as PaymentId[], step),
  onDropped: (ctx, paymentId, step) => orphanPayment(ctx, paymentId as PaymentId, step),
  onReturned: (ctx, paymentId, step) => finalizeGroup(ctx, [paymentId as PaymentId], step),
};

const finalizeGroup = (ctx: Shard, paymentIds: PaymentId[], step: FateStep) =>
  transact(ctx, { reload: () => Promise.all([step.isOver(), listPaymentsById(ctx.db, paymentIds)]) }, async ([isOver, payments]) => {
    if (isOver) return unchanged(null);
    const isNoted = ({ finalizedAt, orphanedAt }: Payment) => finalizedAt !== null && orphanedAt === null;
    const plain = payments.filter((payment) => !isNoted(payment) && payment.orphanedAt === null);
    const after = plain.map((payment) => paymentAfter(ctx, payment, { finalizedAt: ctx.now }));
    const restored = await Promise.all(
      payments.filter(({ orphanedAt }) => orphanedAt !== null).map((payment) => planRestored(ctx, payment)),
    );
    return {
      events: [...after.map((payment) => paymentEvent(ctx, 'payment.finalized', payment)), ...restored.flatMap(({ events }) => events)],
      writes: [...step.writes, ...(after.length > 0 ? finalizePayments(ctx, plain) : []), ...restored.flatMap(({ writes }) => writes)],
      result: null,
    };
  });

/** Plans the return of a payment that was taken for dropped: `previous` tells the event's followers to give back what they took. */
async function planRestored(ctx: Shard, payment: Payment): Promise<Change<unknown>> {
  const noted = notePayment(ctx, payment, 'payment.finalized', { finalizedAt: ctx.now, orphanedAt: null });
  const returned = mergeChanges(noted, await planReturned(ctx, payment));
  // What a refund took back stays taken.
  return payment.accessRevokedAt === null ? mergeChanges(returned, await planReinstatement(ctx, payment)) : returned;
}

const orphanPayment = (ctx: Shard, paymentId: PaymentId, step: FateStep) =>
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

/** The authorization that a payment was collected for, and its periods; null where it was no collection, or is forgotten. */
async function loadCollected({ db }: Shard, { terms }: Collected) {
  const { authorizationId } = terms;
  if (authorizationId === undefined) return null;
  const id = authorizationId as AuthorizationId;
  const [row, periods] = await Promise.all([findAuthorization(db, id), listCollected(db, id)]);
  return row && { row, periods };
}

/** The chain dropped the transaction: its period is not paid, and may be collected again. */
async function planDropped(ctx: Shard, payment: Collected): Promise<Change<unknown>> {
  const loaded = await loadCollected(ctx, payment);
  const dropped = loaded?.periods.find(({ paymentId }) => paymentId === payment.id);
  if (!loaded || dropped?.collectedAt == null) return unchanged(null);
  const { row, periods } = loaded;
  const standing = periods.filter((period) => period !== dropped && period.collectedAt !== null);
  const lastCollection =
    row.lastCollection?.txSignature === payment.txSignature
      ? { at: ctx.now, status: 'failed' as const, ...(payment.txSignature === null ? {} : { txSignature: payment.txSignature }) }
      : row.lastCollection;
  const after = stepAuthorization(ctx, row, null, { ...paidBy(standing), lastCollection, ...dueAt(ctx, row, ctx.now) });
  return { ...after, writes: [dropCollected(ctx.db, payment.id), ...after.writes] };
}

/** The transaction is there after all: its period is paid by it, unless another has paid it meanwhile. */
async function planReturned(ctx: Shard, payment: Collected): Promise<Change<unknown>> {
  const loaded = await loadCollected(ctx, payment);
  const own = loaded?.periods.find(({ periodEndsAt }) => periodEndsAt === payment.terms.periodEndsAt);
  if (!loaded || own === undefined || own.collectedAt !== null) return unchanged(null);
  const { row, periods } = loaded;
  const paid = paidBy([...periods.filter((period) => period !== own && period.collectedAt !== null), own]);
  const step = row.endedAt === null && (row.status === 'past_due' || row.status === 'requires_reapproval') ? 'collect' : null;
  const lastCollection = { at: ctx.now, status: 'collected' as const, txSignature: payment.txSignature! };
  const next = firstAttemptAt(paid.periodEndsAt!, luckOf(row.id));
  const patch = { ...paid, lastCollection, failures: 0 };
  const after = stepAuthorization(ctx, row, step, { ...patch, ...dueAt(ctx, { ...row, status: step ? 'active' : row.status }, next) });
  return { ...after, writes: [takeCollectedBack(ctx, own, payment.id), ...after.writes] };
}

/** The last of these periods. */
function paidBy(periods: CollectionRow[]): Pick<AuthorizationRow, 'periodStartsAt' | 'periodEndsAt' | 'paidThrough'> {
  const last = periods.reduce<CollectionRow | null>((a, b) => (a === null || b.periodStartsAt > a.periodStartsAt ? b : a), null);
  return {
    periodStartsAt: last?.periodStartsAt ?? null,
    periodEndsAt: last?.periodEndsAt ?? null,
    paidThrough: last?.periodEndsAt ?? null,
  };
}

/** Collected then, where it is collected at all; looked at soon where paid time may have ended with the change. */
function dueAt({ now }: Shard, row: AuthorizationRow, at: number): Partial<AuthorizationRow> {
  if (row.endedAt !== null) return {};
  return isCollected(row.status) ? { nextAttemptAt: at, nextLookAt: now + DAY } : { nextLookAt: now };
}
