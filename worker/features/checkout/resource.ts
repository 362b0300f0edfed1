import { z } from '@hono/zod-openapi';
import { ASSETS, DECIMALS, toMoneyResource } from '#core/money.ts';
import { iso } from '#core/time.ts';
import { SubscribingBody, toSubscribingResource } from '#features/authorizations/steps.ts';
import {
  memoOf,
  PriceQuoteBody,
  pollAfterMs,
  priceOf,
  SeenMoneyBody,
  toQuoteResource,
  toSeenResource,
} from '#features/payments/resource.ts';
import { networkOf } from '#platform/chain/scope.ts';
import type { Ctx } from '#platform/context.ts';
import type { Unmatched } from '#platform/db/tables/payments.ts';
import { given, MoneyBody, orNull, ServiceTime, Timestamp } from '#platform/http/openapi.ts';
import type { Checkout } from './connect.ts';
import { solanaPayUrl } from './prepare-transaction.ts';

export const ConnectResponse = z
  .object({
    now: ServiceTime,
    payment_id: z.uuid(),
    status: z.enum(['PENDING_SIGNATURE', 'PENDING_CONFIRMATION']).openapi({
      description:
        'PENDING_CONFIRMATION only where the payment session already holds a payment that is on its way: wait, do not pay again.',
    }),
    nonce: z.string(),
    memo: z.string(),
    price: MoneyBody,
    recipient: z.string(),
    fee: z.object({ recipient: z.string(), asset: z.enum(ASSETS), amount: z.string(), base_units: z.string() }).optional(),
    network: z.string(),
    mint: z.string().optional(),
    decimals: z.int(),
    references: z.array(z.string()),
    solana_pay_url: z.string().optional().openapi({ description: 'Absent of what renews itself: its buyer signs `subscription.steps`.' }),
    transaction: z
      .string()
      .optional()
      .openapi({ description: 'Unsigned, base64. Sign it and send it to POST /v1/payments/{payment_id}/transaction.' }),
    last_valid_block_height: z.int().optional(),
    subscription: SubscribingBody.optional().openapi({ description: 'Of what renews itself.' }),
    price_quote: PriceQuoteBody.optional(),
    seen: SeenMoneyBody.optional(),
    expires_at: Timestamp,
    status_url: z.string(),
    poll_after_ms: orNull(z.int()),
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
    references: [payment.reference, ctx.config.SERVICE_REFERENCE],
    ...(subscribing ? { subscription: toSubscribingResource(ctx, subscribing) } : { solana_pay_url: solanaPayUrl(ctx, payment) }),
    ...(prepared ? { transaction: prepared.transaction, last_valid_block_height: Number(prepared.lastValidBlockHeight) } : {}),
    ...given('price_quote', payment.terms.quote ? toQuoteResource(payment.terms.quote, payment) : null),
    ...given('seen', toSeenResource(unmatched)),
    expires_at: iso(payment.expiresAt),
    status_url: `${ctx.baseUrl}/v1/payments/${payment.id}`,
    poll_after_ms: pollAfterMs({ ...ctx, now }, payment),
  };
}
