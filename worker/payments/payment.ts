import { z } from '@hono/zod-openapi';
import type { Actor, Config, Ctx } from '../context.ts';
import { ApiError } from '../core/errors.ts';
import { type Money, subtract, toMoneyResource } from '../core/money.ts';
import { iso, SECOND } from '../core/time.ts';
import type { Change } from '../db/commit.ts';
import type { EventType, NewEvent } from '../events.ts';
import { given, MoneyBody, orNull, Timestamp } from '../http/openapi.ts';
import type { Expectation } from '../solana/match.ts';
import { PAYMENT, type PaymentStatus, UNMATCHED } from '../states.ts';
import { insertPayment, type Payment, type Unmatched, updatePayment } from './store.ts';

const UnmatchedBody = z
  .object({
    unmatched_id: z.uuid(),
    payment_id: z.uuid(),
    tx_signature: z.string(),
    amount: MoneyBody,
    payer_wallet: z.string(),
    block_time: Timestamp,
    reason: z.enum(['late', 'underpaid', 'second_payment']),
    status: z.enum(UNMATCHED.states),
    recovered_payment_id: z.uuid().optional(),
  })
  .openapi('UnmatchedPayment');

export const PaymentBody = z
  .object({
    payment_id: z.uuid(),
    product_id: z.uuid(),
    slug: z.string(),
    status: z.enum(PAYMENT.states),
    failure_code: z.enum(['session_expired', 'underpaid', 'transaction_failed']).optional(),
    failure_reason: z.string().optional(),
    price: MoneyBody,
    fee: MoneyBody.optional(),
    fee_owed: MoneyBody.optional(),
    net: MoneyBody.optional().openapi({ description: 'What the merchant keeps. Merchant view only.' }),
    overpaid: MoneyBody.optional(),
    payer_wallet: z.string().optional(),
    recipient_wallet: z.string(),
    memo: z.string(),
    references: z.array(z.string()),
    tx_signature: z.string().optional(),
    slot: z.int().optional(),
    block_time: Timestamp.optional(),
    confirmed_at: Timestamp.optional(),
    finalized_at: Timestamp.optional(),
    orphaned_at: Timestamp.optional().openapi({
      description: 'The chain dropped the transaction after it was confirmed. Access was revoked.',
    }),
    expires_at: Timestamp,
    customer_ref: z.string().optional().openapi({ description: 'Merchant view only.' }),
    membership_id: z.uuid().optional(),
    receipt_id: z.uuid().optional(),
    recovers_payment_id: z.uuid().optional().openapi({ description: 'The session this money had missed.' }),
    unmatched: z.array(UnmatchedBody).optional().openapi({ description: 'Money that arrived and pays no session. Merchant view only.' }),
    livemode: z.boolean(),
    created_at: Timestamp,
    updated_at: Timestamp,
    version: z.int(),
    poll_after_ms: orNull(z.int()),
  })
  .openapi('Payment');

export const toUnmatchedResource = (unmatched: Unmatched): z.infer<typeof UnmatchedBody> => ({
  unmatched_id: unmatched.id,
  payment_id: unmatched.paymentId,
  tx_signature: unmatched.txSignature,
  amount: toMoneyResource({ asset: unmatched.asset, units: unmatched.amount }),
  payer_wallet: unmatched.payerWallet,
  block_time: iso(unmatched.blockTime),
  reason: unmatched.reason,
  status: unmatched.status,
  ...given('recovered_payment_id', unmatched.recoveredPaymentId),
});

const FAILURES = {
  session_expired: 'The session ended before a payment arrived.',
  underpaid: 'Less than the price arrived before the session ended.',
  transaction_failed: 'The transaction failed on chain. No money moved.',
} as const;

export const memoOf = (payment: Payment): string => `svc:${payment.nonce}`;
const inAsset = (payment: Payment, units: bigint): Money => ({ asset: payment.asset, units });
export const priceOf = (payment: Payment): Money => inAsset(payment, payment.priceAmount);

/** Whoever knows the id sees what a buyer needs; the owner also sees what is nobody else's business. (contract D7) */
export function toPaymentResource(
  ctx: Ctx,
  payment: Payment,
  view: 'buyer' | 'merchant',
  unmatched: Unmatched[] = [],
): z.infer<typeof PaymentBody> {
  const amountOf = (units: bigint | null) => (units === null ? null : toMoneyResource(inAsset(payment, units)));
  const net = toMoneyResource(subtract(priceOf(payment), inAsset(payment, payment.feeAmount ?? 0n)));
  const instantOf = (at: number | null) => (at === null ? null : iso(at));
  return {
    payment_id: payment.id,
    product_id: payment.productId,
    slug: payment.slug,
    status: payment.status,
    ...given('failure_code', payment.failureCode),
    ...given('failure_reason', payment.failureCode && FAILURES[payment.failureCode]),
    price: toMoneyResource(priceOf(payment)),
    ...given('fee', amountOf(payment.feeAmount)),
    ...given('fee_owed', amountOf(payment.feeOwedAmount)),
    ...given('overpaid', amountOf(payment.overpaidAmount)),
    ...given('payer_wallet', payment.payerWallet),
    recipient_wallet: payment.recipientWallet,
    memo: memoOf(payment),
    references: [payment.reference, ctx.config.SERVICE_REFERENCE],
    ...given('tx_signature', payment.txSignature),
    ...given('slot', payment.slot),
    ...given('block_time', instantOf(payment.blockTime)),
    ...given('confirmed_at', instantOf(payment.confirmedAt)),
    ...given('finalized_at', instantOf(payment.finalizedAt)),
    ...given('orphaned_at', instantOf(payment.orphanedAt)),
    expires_at: iso(payment.expiresAt),
    ...given('membership_id', payment.membershipId),
    ...given('receipt_id', payment.receiptId),
    ...given('recovers_payment_id', payment.recoversPaymentId),
    livemode: payment.livemode,
    created_at: iso(payment.createdAt),
    updated_at: iso(payment.updatedAt),
    version: payment.version,
    poll_after_ms: pollAfterMs(ctx, payment),
    ...(view === 'merchant'
      ? {
          net,
          ...given('customer_ref', payment.customerRef),
          ...(unmatched.length > 0 ? { unmatched: unmatched.map(toUnmatchedResource) } : {}),
        }
      : {}),
  };
}

/** Quickly at first, then slower, never once it is over. */
export function pollAfterMs({ config, now }: Ctx, payment: Pick<Payment, 'status' | 'createdAt'>): number | null {
  if (PAYMENT.isTerminal(payment.status)) return null;
  const hints = config.POLL_AFTER_MS.split(',').map((pair) => pair.split(':').map(Number));
  const age = (now - payment.createdAt) / SECOND;
  return (hints.find(([seconds]) => age < seconds!) ?? hints.at(-1)!)[1]!;
}

/** Where the buyer goes afterwards. `status` is a hint there; merchants check by webhook or GET. */
export function redirectUrl(payment: Payment): string | null {
  if (payment.terms.successUrl === null) return null;
  const url = new URL(payment.terms.successUrl);
  url.searchParams.set('payment_id', payment.id);
  url.searchParams.set('status', payment.status);
  return url.href;
}

/** A stranger's credential is told nothing, not even that the payment exists. */
export function requireViewer(payment: Payment, viewer: Actor | null): void {
  if (viewer && (viewer.accountId !== payment.merchantId || viewer.livemode !== payment.livemode)) throw new ApiError('not_found');
}

/** What the chain must show for this payment to count. On time is the chain's word, not our clock's. (contract section 3) */
export const expectationOf = (payment: Payment, config: Config): Expectation => ({
  memo: memoOf(payment),
  mint: payment.mint,
  destination: payment.recipientAta,
  priceUnits: payment.priceAmount,
  fee: payment.feeAta && payment.feeAmount ? { destination: payment.feeAta, units: payment.feeAmount } : null,
  notBeforeSeconds: Math.floor(payment.createdAt / SECOND) - 120,
  notAfterSeconds: Math.floor(payment.expiresAt / SECOND) + config.LATE_GRACE_SECONDS,
});

const EVENT_OF = { submit: 'payment.submitted', confirm: 'payment.confirmed', fail: 'payment.failed' } as const satisfies Record<
  string,
  EventType
>;

/** One step of the payment machine: the row after it, and its event, which is also the lock. */
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

/** Something the chain did afterwards: noted with an event and a version, the status stays. */
export function notePayment(
  ctx: Ctx,
  before: Payment,
  type: 'payment.finalized' | 'payment.orphaned',
  patch: Partial<Payment>,
): Change<Payment> {
  const after = { ...before, ...patch, updatedAt: ctx.now, version: before.version + 1 };
  return { events: [paymentEvent(ctx, type, after)], writes: [updatePayment(ctx.db, before, after)], result: after };
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

export const planCreate = (ctx: Ctx, payment: Payment): Change<Payment> => ({
  events: [paymentEvent(ctx, 'payment.created', payment)],
  writes: [insertPayment(ctx.db, payment)],
  result: payment,
});

/** A transaction exists, though nothing is proven yet: the signature may still be replaced by a verified one. */
export function planSubmit(ctx: Ctx, payment: Payment, txSignature: string): Change<Payment> {
  const { after, event } = stepPayment(ctx, payment, 'submit', { txSignature });
  return { events: [event], writes: [updatePayment(ctx.db, payment, after)], result: after };
}

export function planFail(ctx: Ctx, payment: Payment, patch: Pick<Payment, 'failureCode'> & Partial<Payment>): Change<Payment> {
  const { after, event } = stepPayment(ctx, payment, 'fail', patch);
  return { events: [event], writes: [updatePayment(ctx.db, payment, after)], result: after };
}
