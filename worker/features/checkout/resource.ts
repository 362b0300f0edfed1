import { z } from '@hono/zod-openapi';
import { DECIMALS, toMoneyResource } from '#core/money.ts';
import { iso } from '#core/time.ts';
import { SubscribingBody, toSubscribingResource } from '#features/authorizations/steps.ts';
import {
  memoOf,
  PriceQuoteBody,
  pollAfterMs,
  priceOf,
  referencesOf,
  SeenMoneyBody,
  toQuoteResource,
  toSeenResource,
} from '#features/payments/resource.ts';
import { networkOf } from '#platform/chain/scope.ts';
import type { Ctx } from '#platform/context.ts';
import type { Unmatched } from '#platform/db/tables/payments.ts';
import {
  AssetName,
  given,
  MoneyBody,
  NetworkId,
  orNull,
  PaymentUuid,
  RecipientWallet,
  ServiceTime,
  Timestamp,
} from '#platform/http/openapi.ts';
import type { Checkout } from './connect.ts';
import { solanaPayUrl } from './prepare-transaction.ts';

export const ConnectResponse = z
  .object({
    now: ServiceTime,
    payment_id: PaymentUuid,
    status: z
      .enum(['PENDING_SIGNATURE', 'PENDING_CONFIRMATION'])
      .describe(
        'Status of the payment. `PENDING_CONFIRMATION` only if the payment session already has a payment in flight: wait, do not pay again.',
      ),
    nonce: z.string().describe('Unique part of the memo.'),
    memo: z.string().describe('Memo that the transaction must carry to be matched to this payment.'),
    price: MoneyBody,
    recipient: RecipientWallet,
    fee: z
      .object({
        recipient: RecipientWallet,
        asset: AssetName,
        amount: z
          .string()
          .describe('Decimal amount as text, such as `12.5`. USDC has at most 6 decimals, SOL at most 9; more are refused.'),
        base_units: z.string().describe('Amount in the smallest units of the asset: an integer as text.'),
      })
      .optional()
      .describe('Service fee, paid in the same transaction as the price; absent if none applies.'),
    network: NetworkId,
    mint: z.string().optional().describe('Mint address of the token; absent for SOL.'),
    decimals: z.int(),
    references: z.array(z.string()).describe('Read-only keys that the transaction must include. The service finds payments by them.'),
    solana_pay_url: z
      .string()
      .optional()
      .describe('`solana:` URL to show as a QR code. Absent for subscriptions: the buyer signs `subscription.steps`.'),
    transaction: z
      .string()
      .optional()
      .describe('Unsigned transaction in base64. Sign it and send it to POST /v1/payments/{payment_id}/transaction.'),
    last_valid_block_height: z
      .int()
      .optional()
      .describe('Last block height at which the transaction is valid. Request a new transaction afterwards.'),
    subscription: SubscribingBody.optional().describe('Steps of a product that renews automatically.'),
    price_quote: PriceQuoteBody.optional().describe(
      'Exchange rate of the payment, if the buyer pays in another asset than that of the price.',
    ),
    seen: SeenMoneyBody.optional().describe('Money that arrived and does not pay this payment. Visible to the buyer only.'),
    expires_at: Timestamp,
    status_url: z.string(),
    poll_after_ms: orNull(z.int()).describe('Milliseconds to wait before the next poll; null if the status is final.'),
  })
  .openapi('ConnectResponse');

export function toConnectResource(
  ctx: Ctx,
  { payment, now, prepared, subscribing }: Checkout,
  unmatched: Unmatched[],
): z.infer<typeof ConnectResponse> {
  return {
    now: iso(now),
    payment_id: payment.id,
    status: payment.status === 'PENDING_CONFIRMATION' ? payment.status : 'PENDING_SIGNATURE',
    nonce: payment.nonce,
    memo: memoOf(payment),
    price: toMoneyResource(priceOf(payment)),
    recipient: payment.recipientWallet,
    ...(payment.feeWallet && payment.feeAmount
      ? { fee: { recipient: payment.feeWallet, ...toMoneyResource({ asset: payment.asset, units: payment.feeAmount }) } }
      : {}),
    network: networkOf(ctx, payment).caip2,
    ...given('mint', payment.mint || null),
    decimals: DECIMALS[payment.asset],
    references: referencesOf(ctx, payment),
    ...(subscribing ? { subscription: toSubscribingResource(ctx, subscribing) } : { solana_pay_url: solanaPayUrl(ctx, payment) }),
    ...(prepared ? { transaction: prepared.transaction, last_valid_block_height: Number(prepared.lastValidBlockHeight) } : {}),
    ...given('price_quote', payment.terms.quote ? toQuoteResource(payment.terms.quote, payment) : null),
    ...given('seen', toSeenResource(unmatched)),
    expires_at: iso(payment.expiresAt),
    status_url: `${ctx.baseUrl}/v1/payments/${payment.id}`,
    poll_after_ms: pollAfterMs({ ...ctx, now }, payment),
  };
}
