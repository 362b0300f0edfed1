import { z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import { LIFE } from '#core/limits.ts';
import { toMoneyResource } from '#core/money.ts';
import { iso } from '#core/time.ts';
import { namedProduct, productRef } from '#features/products/product-ref.ts';
import { getOwnListing } from '#features/rails/product-rails.ts';
import type { Ctx } from '#platform/context.ts';
import { commitWithAnswer } from '#platform/db/once.ts';
import { ensureNamedCustomer } from '#platform/db/search/new-customer.ts';
import type { PaymentSession } from '#platform/db/tables/checkout.ts';
import { CustomerRef, Metadata } from '#platform/http/bodies/own-fields.ts';
import { created, given, MoneyBody, PaymentUuid, ProductUuid, Timestamp } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { CHECKOUT_RAILS, RAIL_IDS } from '#rules/product-rails.ts';
import { planPaymentSession } from './session.ts';
import { paymentSessionStatusOf } from './status.ts';

const PaymentSessionRequest = z
  .object({
    ...productRef,
    customer_ref: CustomerRef.optional().describe('Your own name for the buyer; identifies membership and entitlement.'),
    rail_id: z
      .enum(RAIL_IDS)
      .optional()
      .describe(
        'Rail of the hosted checkout. It must be ready for this product. Defaults to the product’s default_rail, else to another ready rail.',
      ),
    success_url: z
      .url({ protocol: /^https$/, hostname: z.regexes.domain })
      .max(2048)
      .optional()
      .describe(
        'https URL for buyers after payment; `payment_id` and `status` are added. A hint only: verify the payment from your server.',
      ),
    metadata: Metadata.default({}).describe(
      'Your own key-value pairs, never shown to buyers: up to 50 keys of 40 characters, values of 500. An update merges; null removes a key.',
    ),
  })
  .openapi('PaymentSessionRequest', {
    example: { product_id: '01a1fc21-d414-7315-8bae-d95e4ff00293', customer_ref: 'user-42', rail_id: CHECKOUT_RAILS[0], metadata: {} },
  });

const PaymentSessionBody = z
  .object({
    payment_session_id: z.uuid(),
    payment_id: PaymentUuid.optional(),
    status: z.enum(['open', 'pending_confirmation', 'completed', 'failed', 'expired']),
    checkout_url: z.string(),
    product_id: ProductUuid,
    price: MoneyBody,
    expires_at: Timestamp,
    created_at: Timestamp,
  })
  .openapi('PaymentSession');

const toPaymentSessionResource = (ctx: Ctx, session: PaymentSession, slug: string): z.infer<typeof PaymentSessionBody> => ({
  payment_session_id: session.id,
  ...given('payment_id', session.paymentId),
  status: paymentSessionStatusOf(session, null, ctx.now),
  checkout_url: `${ctx.baseUrl}/p/${slug}?ps=${session.id}`,
  product_id: session.productId,
  price: toMoneyResource({ asset: session.asset, units: session.priceAmount }),
  expires_at: iso(session.expiresAt),
  created_at: iso(session.createdAt),
});

export const paymentSessionRoutes = routes('Checkout', 'products').write({
  path: 'POST /access/payment-sessions',
  id: 'createPaymentSession',
  sdk: 'paymentSessions.create',
  summary: 'Create a payment session',
  description: `Creates a checkout for one buyer, with price and customer fixed for ${LIFE.paymentSessionMinutes} minutes. Connect with \`payment_session_id\` starts its payment. One is open at a time.`,
  key: 'required',
  body: PaymentSessionRequest,
  returns: created(PaymentSessionBody),
  codes: ['not_found', 'setup_not_ready', 'fee_wallet_missing', 'price_unavailable', 'rpc_unavailable'],
  check: ({ body: { rail_id: named } }) => {
    if (named && !CHECKOUT_RAILS.includes(named)) {
      const msg = `Expected a rail of the hosted checkout: ${CHECKOUT_RAILS.join(' or ')}`;
      throw new ApiError('validation_error', { problems: [{ loc: ['body', 'rail_id'], msg, type: 'invalid_value' }] });
    }
  },
  audit: false,
  once: async ({ scope, body }, storeAnswer) => {
    const input = {
      railId: body.rail_id ?? null,
      customerRef: body.customer_ref ?? null,
      successUrl: body.success_url ?? null,
      metadata: body.metadata,
    };
    const listing = await getOwnListing(scope, namedProduct(body, 'body'));
    const planned = await planPaymentSession(scope, listing, input);
    const named = input.customerRef === null ? [] : [ensureNamedCustomer(scope, { customerRef: input.customerRef })];
    const result = { session: planned.result, slug: listing.product.slug };
    return commitWithAnswer(scope, { ...planned, writes: [...planned.writes, ...named], result }, storeAnswer);
  },
  present: ({ session, slug }, { scope }) => toPaymentSessionResource(scope, session, slug),
});
