/**
 * What becomes of a payment when its transaction is final, dropped, or there after all. Its status stays; the membership it carries
 * follows in the same batch, and its entitlement with the event.
 * @module
 */

import type { PaymentId } from '#core/ids.ts';
import { planReinstatement, planRevocation } from '#features/memberships/membership.ts';
import type { Shard } from '#platform/context.ts';
import { type Change, transact, unchanged } from '#platform/db/commit.ts';
import type { FateFollower, FateStep } from '#platform/db/fate.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import { planDropped, planReturned } from '../confirm/dropped-collection.ts';
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
