import { z } from '@hono/zod-openapi';
import { type Money, subtract, toMoneyResource } from '#core/money.ts';
import { iso, isoOrNull, SECOND } from '#core/time.ts';
import { SubscribingBody } from '#features/authorizations/steps.ts';
import type { Ctx } from '#platform/context.ts';
import type { Payment, Unmatched } from '#platform/db/tables/payments.ts';
import {
  given,
  Livemode,
  MembershipUuid,
  MoneyBody,
  ObjectVersion,
  orNull,
  PayerWallet,
  PaymentUuid,
  ProductSlug,
  ProductUuid,
  ReceiptUuid,
  RecipientWallet,
  Timestamp,
  TransactionSignature,
} from '#platform/http/openapi.ts';
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
    payment_id: PaymentUuid,
    tx_signature: TransactionSignature,
    amount: MoneyBody,
    payer_wallet: PayerWallet,
    block_time: Timestamp,
    reason: z
      .enum(['late', 'underpaid', 'second_payment', 'identity_missing'])
      .describe('Reason the money was not matched: `late`, `underpaid`, `second_payment` or `identity_missing`.'),
    status: z.enum(UNMATCHED.states),
    recovered_payment_id: z.uuid().optional().describe('Identifier of the payment that was created when you accepted this money.'),
  })
  .openapi('UnmatchedPayment');

export const SeenMoneyBody = z
  .array(
    z.object({
      amount: MoneyBody,
      tx_signature: TransactionSignature,
      reason: UnmatchedBody.shape.reason,
    }),
  )
  .openapi('SeenMoney', {
    description: 'Ten largest amounts that arrived and do not pay this payment, until the merchant accepts them. Buyer view only.',
  });

export const PriceQuoteBody = z
  .object({
    rate: z.string().openapi({ example: '151.4205' }).describe('Price of one SOL in USDC. USDC counts as one dollar.'),
    source: z.string(),
    as_of: Timestamp,
    expires_at: Timestamp,
  })
  .openapi('PriceQuote');

export const PaymentBody = z
  .object({
    payment_id: PaymentUuid,
    kind: z.enum(PAYMENT_KINDS),
    rail_id: z.string().describe('Payment rail. GET /v1/access/rails lists them.'),
    product_id: ProductUuid,
    slug: ProductSlug,
    status: z.enum(PAYMENT.states),
    failure_code: z.enum(Object.keys(PAYMENT_FAILURES) as [PaymentFailure]).optional(),
    failure_reason: z.string().optional().describe('Human-readable form of `failure_code`.'),
    price: MoneyBody.describe('Price of this payment, fixed when the session began.'),
    fee: MoneyBody.optional().describe('Service fee, paid in the same transaction as the price; absent if none applies.'),
    fee_owed: MoneyBody.optional().describe(
      'Service fee that this transaction did not pay, because the merchant received the whole amount.',
    ),
    net: MoneyBody.optional().describe('Amount for the merchant after the fee. Merchant view only.'),
    overpaid: MoneyBody.optional().describe('Amount above the price.'),
    payer_wallet: PayerWallet.optional(),
    recipient_wallet: RecipientWallet,
    memo: z.string().describe('Memo that the transaction must carry to be matched to this payment.'),
    references: z.array(z.string()).describe('Read-only keys that the transaction must include. The service finds payments by them.'),
    tx_signature: TransactionSignature.optional(),
    slot: z.int().optional(),
    block_time: Timestamp.optional(),
    confirmed_at: Timestamp.optional().describe('Time at which the payment was confirmed on the chain.'),
    finalized_at: Timestamp.optional(),
    orphaned_at: Timestamp.optional().describe(
      'Time at which the chain dropped the confirmed transaction. Access was revoked, and is restored if the transaction lands after all.',
    ),
    expires_at: Timestamp,
    customer_ref: z.string().optional().describe('Your own name for the customer. Merchant view only.'),
    membership_id: MembershipUuid.optional(),
    receipt_id: ReceiptUuid.optional(),
    recovers_payment_id: z.uuid().optional().describe('Identifier of the payment that this money had missed.'),
    price_quote: PriceQuoteBody.optional().describe('Exchange rate, if the price was converted into the paid asset.'),
    buyer_identity: z
      .object({
        provider: z.enum(IDENTITY_PROVIDERS),
        provider_user_id: z.string().describe('Buyer’s user id on the messaging platform.'),
        username: z.string().optional().describe('Buyer’s user name on the messaging platform.'),
      })
      .optional()
      .describe('Identity that the buyer proved. Merchant view only.'),
    metadata: z
      .record(z.string(), z.string())
      .optional()
      .describe('Metadata of the payment session, else of the hand-off. Merchant view only.'),
    unmatched: z
      .array(UnmatchedBody)
      .optional()
      .describe('Ten largest unmatched amounts. Each one has an event, and is accepted by its signature. Merchant view only.'),
    seen: SeenMoneyBody.optional().describe('Money that arrived and does not pay this payment. Visible to the buyer only.'),
    refunded: z.array(RefundBody).optional().describe('Refunds to the paying wallet, as found on the chain.'),
    ...buyersAccess,
    payment_identifier: z
      .string()
      .optional()
      .describe('Name that the client of an x402 payment gave it (extension `payment-identifier`). It names one payment of the product.'),
    authorization_id: z.string().optional().describe('Identifier of the native subscription that paid.'),
    subscription: SubscribingBody.optional().describe('Remaining steps of a checkout that starts a subscription, while it can be paid.'),
    livemode: Livemode,
    created_at: Timestamp,
    updated_at: Timestamp,
    version: ObjectVersion,
    poll_after_ms: orNull(z.int()).describe('Milliseconds to wait before the next poll; null if the status is final.'),
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

export const toSeenResource = (unmatched: Unmatched[]): z.infer<typeof SeenMoneyBody> | null => {
  const open = unmatched.filter(({ status }) => status === 'open').map(toUnmatchedResource);
  return open.length === 0 ? null : open.map(({ amount, tx_signature, reason }) => ({ amount, tx_signature, reason }));
};

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

/** Reference keys of a transaction for a payment: its own, then the service's. Only checkout transactions carry any. */
export function referencesOf({ config: { SERVICE_REFERENCE: keys } }: Ctx, { reference, terms }: Payment): string[] {
  const { referenceKey = 0 } = terms;
  return reference === '' ? [] : [reference, ...keys.slice(referenceKey, referenceKey + 1)];
}

const inAsset = (payment: Payment, units: bigint): Money => ({ asset: payment.asset, units });
export const priceOf = (payment: Payment): Money => inAsset(payment, payment.priceAmount);

/** Formats a payment. A holder of the id sees the buyer's fields, the owning merchant also the private ones. */
export function toPaymentResource(ctx: Ctx, payment: Payment, view: 'buyer' | 'merchant', arrived: Unmatched[] = []): PaymentResource {
  // Excludes money that missed the payment at first and pays it after all: the confirming batch accepts it.
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
    references: referencesOf(ctx, payment),
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
    ...given('payment_identifier', payment.terms.paymentIdentifier ?? null),
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

/** Returns the poll interval in milliseconds, short at first and then longer. Null once the payment has ended. */
export function pollAfterMs({ config, now }: Ctx, payment: Pick<Payment, 'status' | 'createdAt'>): number | null {
  if (PAYMENT.isTerminal(payment.status)) return null;
  const hints = config.POLL_AFTER_MS.split(',').map((pair) => pair.split(':').map(Number));
  const age = (now - payment.createdAt) / SECOND;
  return (hints.find(([seconds]) => age < seconds!) ?? hints.at(-1)!)[1]!;
}
