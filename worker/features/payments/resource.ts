import { z } from '@hono/zod-openapi';
import { type Money, subtract, toMoneyResource } from '#core/money.ts';
import { iso, isoOrNull, SECOND } from '#core/time.ts';
import { SubscribingBody } from '#features/authorizations/steps.ts';
import type { Ctx } from '#platform/context.ts';
import type { Payment, Unmatched } from '#platform/db/tables/payments.ts';
import { given, MoneyBody, orNull, Timestamp } from '#platform/http/openapi.ts';
import {
  IDENTITY_PROVIDERS,
  kindOf,
  PAYMENT_FAILURES,
  PAYMENT_KINDS,
  type PaymentFailure,
  type PriceQuote,
  type ProvenIdentity,
} from '#rules/payment-terms.ts';
import { railOfPayment } from '#rules/product-rails.ts';
import { PAYMENT, UNMATCHED } from '#rules/states.ts';
import { buyersAccess } from './buyers-access.ts';
import { RefundBody, toRefundResource } from './refunds/resource.ts';

export const UnmatchedBody = z
  .object({
    unmatched_id: z.uuid(),
    payment_id: z.uuid(),
    tx_signature: z.string(),
    amount: MoneyBody,
    payer_wallet: z.string(),
    block_time: Timestamp,
    reason: z.enum(['late', 'underpaid', 'second_payment', 'identity_missing']),
    status: z.enum(UNMATCHED.states),
    recovered_payment_id: z.uuid().optional(),
  })
  .openapi('UnmatchedPayment');

export const SeenMoneyBody = z
  .array(z.object({ amount: MoneyBody, tx_signature: z.string(), reason: UnmatchedBody.shape.reason }))
  .openapi('SeenMoney', {
    description:
      'Money that arrived and does not pay this payment, the ten largest, while the merchant has not accepted it. Buyer view only.',
  });

export const PriceQuoteBody = z
  .object({
    rate: z.string().openapi({ description: 'USDC for one SOL; a USDC is taken for a dollar.', example: '151.4205' }),
    source: z.string(),
    as_of: Timestamp,
    expires_at: Timestamp,
  })
  .openapi('PriceQuote');

export const PaymentBody = z
  .object({
    payment_id: z.uuid(),
    kind: z.enum(PAYMENT_KINDS).openapi({ description: 'How it came about.' }),
    rail_id: z.string(),
    product_id: z.uuid(),
    slug: z.string(),
    status: z.enum(PAYMENT.states),
    failure_code: z.enum(Object.keys(PAYMENT_FAILURES) as [PaymentFailure]).optional(),
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
      description:
        'The chain dropped the transaction after it was confirmed. Access was revoked, and is given back should it be there after all.',
    }),
    expires_at: Timestamp,
    customer_ref: z.string().optional().openapi({ description: 'Merchant view only.' }),
    membership_id: z.uuid().optional(),
    receipt_id: z.uuid().optional(),
    recovers_payment_id: z.uuid().optional().openapi({ description: 'The session this money had missed.' }),
    price_quote: PriceQuoteBody.optional().openapi({ description: 'Where the price was converted into the asset that is paid.' }),
    buyer_identity: z
      .object({ provider: z.enum(IDENTITY_PROVIDERS), provider_user_id: z.string(), username: z.string().optional() })
      .optional()
      .openapi({ description: 'Who the buyer showed to be. Merchant view only.' }),
    metadata: z
      .record(z.string(), z.string())
      .optional()
      .openapi({ description: 'Of the payment session, else of the hand-off. Merchant view only.' }),
    unmatched: z.array(UnmatchedBody).optional().openapi({
      description:
        'Money that arrived and pays no session, the ten largest; every one is an event, and is accepted by its signature. Merchant view only.',
    }),
    seen: SeenMoneyBody.optional(),
    refunded: z
      .array(RefundBody)
      .optional()
      .openapi({ description: 'What of it was paid back to the wallet that paid, as the chain showed it.' }),
    ...buyersAccess,
    authorization_id: z.string().optional().openapi({ description: 'The native subscription that it is paid by.' }),
    subscription: SubscribingBody.optional().openapi({
      description: 'Of a checkout that begins a subscription, while it can be paid: what is left to sign.',
    }),
    livemode: z.boolean(),
    created_at: Timestamp,
    updated_at: Timestamp,
    version: z.int(),
    poll_after_ms: orNull(z.int()),
  })
  .openapi('Payment');

export type PaymentResource = z.infer<typeof PaymentBody>;

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

/** Money that the merchant has not accepted yet, as its sender is shown it; null: none. */
export const toSeenResource = (unmatched: Unmatched[]): z.infer<typeof SeenMoneyBody> | null => {
  const open = unmatched.filter(({ status }) => status === 'open').map(toUnmatchedResource);
  return open.length === 0 ? null : open.map(({ amount, tx_signature, reason }) => ({ amount, tx_signature, reason }));
};

/** The payment's end is the quote's end. */
export const toQuoteResource = ({ rate, source, asOf }: PriceQuote, { expiresAt }: Pick<Payment, 'expiresAt'>) => ({
  rate,
  source,
  as_of: iso(asOf),
  expires_at: iso(expiresAt),
});

const toIdentityResource = ({ provider, providerUserId, username }: ProvenIdentity) => ({
  provider,
  provider_user_id: providerUserId,
  ...given('username', username),
});

export const memoOf = (payment: Payment): string => `svc:${payment.nonce}`;
const inAsset = (payment: Payment, units: bigint): Money => ({ asset: payment.asset, units });
export const priceOf = (payment: Payment): Money => inAsset(payment, payment.priceAmount);

/** The holder of the id sees what a buyer needs; the merchant who owns the payment also sees its private fields. */
export function toPaymentResource(ctx: Ctx, payment: Payment, view: 'buyer' | 'merchant', arrived: Unmatched[] = []): PaymentResource {
  // Money that missed the payment at first, and pays it after all: accepted in the batch that confirms, which this may be part of.
  const isPaying = ({ txSignature }: Unmatched) => payment.status === 'CONFIRMED' && txSignature === payment.txSignature;
  const unmatched = arrived.map((row) => (isPaying(row) ? { ...row, status: 'accepted' as const, recoveredPaymentId: payment.id } : row));
  const amountOf = (units: bigint | null) => (units === null ? null : toMoneyResource(inAsset(payment, units)));
  const net = toMoneyResource(subtract(priceOf(payment), inAsset(payment, payment.feeAmount ?? 0n)));
  return {
    payment_id: payment.id,
    kind: kindOf(payment),
    rail_id: railOfPayment(payment),
    product_id: payment.productId,
    slug: payment.slug,
    status: payment.status,
    ...given('failure_code', payment.failureCode),
    ...given('failure_reason', payment.failureCode && PAYMENT_FAILURES[payment.failureCode]),
    price: toMoneyResource(priceOf(payment)),
    ...given('fee', amountOf(payment.feeAmount)),
    ...given('fee_owed', amountOf(payment.feeOwedAmount)),
    ...given('overpaid', amountOf(payment.overpaidAmount)),
    ...given('payer_wallet', payment.payerWallet),
    recipient_wallet: payment.recipientWallet,
    memo: memoOf(payment),
    // Only checkout transactions carry reference keys.
    references: payment.reference === '' ? [] : [payment.reference, ctx.config.SERVICE_REFERENCE],
    ...given('tx_signature', payment.txSignature),
    ...given('slot', payment.slot),
    ...given('block_time', isoOrNull(payment.blockTime)),
    ...given('confirmed_at', isoOrNull(payment.confirmedAt)),
    ...given('finalized_at', isoOrNull(payment.finalizedAt)),
    ...given('orphaned_at', isoOrNull(payment.orphanedAt)),
    expires_at: iso(payment.expiresAt),
    ...given('price_quote', payment.terms.quote ? toQuoteResource(payment.terms.quote, payment) : null),
    ...given('membership_id', payment.membershipId),
    ...given('receipt_id', payment.receiptId),
    ...given('recovers_payment_id', payment.recoversPaymentId),
    ...given('authorization_id', payment.terms.authorizationId ?? null),
    ...given('refunded', payment.refunds?.map((refund) => toRefundResource(payment.asset, refund)) ?? null),
    livemode: payment.livemode,
    created_at: iso(payment.createdAt),
    updated_at: iso(payment.updatedAt),
    version: payment.version,
    poll_after_ms: pollAfterMs(ctx, payment),
    ...(view === 'merchant'
      ? {
          net,
          ...given('customer_ref', payment.customerRef),
          ...given('buyer_identity', payment.terms.identity ? toIdentityResource(payment.terms.identity) : null),
          ...given('metadata', payment.terms.metadata ?? null),
          ...(unmatched.length > 0 ? { unmatched: unmatched.map(toUnmatchedResource) } : {}),
        }
      : given('seen', toSeenResource(unmatched))),
  };
}

/** Milliseconds until a page should poll again: short at first, then longer; null once the payment has ended. */
export function pollAfterMs({ config, now }: Ctx, payment: Pick<Payment, 'status' | 'createdAt'>): number | null {
  if (PAYMENT.isTerminal(payment.status)) return null;
  const hints = config.POLL_AFTER_MS.split(',').map((pair) => pair.split(':').map(Number));
  const age = (now - payment.createdAt) / SECOND;
  return (hints.find(([seconds]) => age < seconds!) ?? hints.at(-1)!)[1]!;
}
