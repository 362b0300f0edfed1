import { ApiError, raise } from '#core/errors.ts';
import type { PaymentId } from '#core/ids.ts';
import { iso, SECOND } from '#core/time.ts';
import { belongsTo, type Ctx, type Shard, type Tenant } from '#platform/context.ts';
import type { Change } from '#platform/db/commit.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { EventType, NewEvent } from '#rules/events.ts';
import { PAYMENT, type PaymentStatus } from '#rules/states.ts';
import type { Expectation } from '#solana/match.ts';
import type { IdentityRequirement } from './required-identity.ts';
import { memoOf, toPaymentResource } from './resource.ts';
import { findWithProduct, getPayment, insertPayment, updatePayment } from './store.ts';

export { newPayment } from './new-payment.store.ts';
export { loadArchivedBodies } from './store.ts';

/** Throws 404 for a credential of another account or mode, so that it does not learn that the payment exists. */
export function requireViewer(payment: Payment, viewer: Tenant | null): void {
  if (viewer && !belongsTo(viewer, payment)) throw new ApiError('not_found');
}

/** The payment that a caller may see. Throws 404. */
export async function loadPayment(shard: Shard, paymentId: PaymentId, viewer: Tenant | null): Promise<Payment> {
  const payment = await getPayment(shard, paymentId);
  requireViewer(payment, viewer);
  return payment;
}

/** A payment that a caller may see and that is not a stub, and the identity that its product requires today. Throws 404. */
export async function loadWithProduct(shard: Shard, paymentId: PaymentId, viewer: Tenant | null): Promise<IdentityRequirement> {
  const known = (await findWithProduct(shard, paymentId)) ?? raise('not_found');
  requireViewer(known.payment, viewer);
  return known;
}

const hasNoMemo = ({ terms }: Pick<Payment, 'terms'>): boolean => terms.isOwnersCollection === true || terms.channelId !== undefined;

/** Returns the transfer that must appear on the chain. Block time decides whether it is in time, not the service's clock. */
export const expectationOf = (payment: Payment): Expectation => ({
  memo: hasNoMemo(payment) ? null : memoOf(payment),
  owedBy: payment.terms.isMetered ? 'channel' : payment.terms.authorizationId === undefined ? undefined : 'plan',
  mint: payment.mint,
  destination: payment.recipientAta,
  priceUnits: payment.priceAmount,
  fee: payment.feeAta && payment.feeAmount ? { destination: payment.feeAta, units: payment.feeAmount } : null,
  notBeforeSeconds: Math.floor(payment.createdAt / SECOND) - 120,
  notAfterSeconds: Math.floor(payment.expiresAt / SECOND) + payment.lateGraceSeconds,
});

const EVENT_OF = { submit: 'payment.submitted', confirm: 'payment.confirmed', fail: 'payment.failed' } as const satisfies Record<
  string,
  EventType
>;

/** Steps the payment's state machine: the new row, and its event, which is also the lock. */
export function stepPayment(
  ctx: Ctx,
  before: Payment,
  transition: keyof typeof EVENT_OF,
  patch: Partial<Payment>,
): { after: Payment; event: NewEvent } {
  const status: PaymentStatus = PAYMENT.next(before.status, transition);
  const after = { ...before, ...patch, status, updatedAt: ctx.now, version: before.version + 1 };
  return { after, event: paymentEvent(ctx, EVENT_OF[transition], after, { status: before.status }) };
}

export const paymentAfter = ({ now }: Ctx, before: Payment, patch: Partial<Payment>): Payment => ({
  ...before,
  ...patch,
  updatedAt: now,
  version: before.version + 1,
});

/** Records a chain change after confirmation, with an event and a version. The status stays. */
export function notePayment(
  ctx: Shard,
  before: Payment,
  type: 'payment.finalized' | 'payment.orphaned',
  patch: Partial<Payment>,
): Change<Payment> {
  const after = paymentAfter(ctx, before, patch);
  const previous = before.orphanedAt === null ? undefined : { orphaned_at: iso(before.orphanedAt) };
  return { events: [paymentEvent(ctx, type, after, previous)], writes: updatePayment(ctx, before, after), result: after };
}

export const paymentEvent = (ctx: Ctx, type: EventType, payment: Payment, previous?: object): NewEvent => ({
  merchantId: payment.merchantId,
  livemode: payment.livemode,
  type,
  subject: { type: 'payment', id: payment.id, version: payment.version },
  object: toPaymentResource(ctx, payment, 'merchant'),
  ...(previous ? { previous } : {}),
  productId: payment.productId,
  paymentId: payment.id,
  ...(payment.membershipId ? { membershipId: payment.membershipId } : {}),
});

export const planCreate = (ctx: Shard, payment: Payment): Change<Payment> => ({
  events: [paymentEvent(ctx, 'payment.created', payment)],
  writes: [insertPayment(ctx.db, payment)],
  result: payment,
});

/** Records a transaction that is not proven yet. A verified signature may still replace this one. */
export function planSubmit(ctx: Shard, payment: Payment, txSignature: string): Change<Payment> {
  const { after, event } = stepPayment(ctx, payment, 'submit', { txSignature });
  // A collection that is sent again has another signature, and its payment was submitted before.
  return { events: payment.txSignature === null ? [event] : [], writes: updatePayment(ctx, payment, after), result: after };
}

/** Marks that the buyer has signed for a later collection. `payment.submitted` follows with the collecting transaction. */
export function planWaiting(ctx: Shard, payment: Payment): Change<Payment> {
  const { after } = stepPayment(ctx, payment, 'submit', {});
  return { events: [], writes: updatePayment(ctx, payment, after), result: after };
}

export function planFail(ctx: Shard, payment: Payment, patch: Pick<Payment, 'failureCode'> & Partial<Payment>): Change<Payment> {
  const { after, event } = stepPayment(ctx, payment, 'fail', patch);
  return { events: [event], writes: updatePayment(ctx, payment, after), result: after };
}
