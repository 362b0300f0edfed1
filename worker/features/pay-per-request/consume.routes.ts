import { createRoute, z } from '@hono/zod-openapi';
import { entitlementKeyOf } from '#features/entitlements/entitlement.ts';
import { CustomerBody, customerOf } from '#features/entitlements/resource.ts';
import { productIdOf, productRef } from '#features/products/product-ref.ts';
import { idempotentRoute, merchantBodyErrors } from '#platform/http/callers.ts';
import { IdempotencyHeader, idempotencyErrors, idempotentRequest } from '#platform/http/idempotency-key.ts';
import { jsonBody, ModeQuery, ok, orNull, router, Timestamp } from '#platform/http/openapi.ts';
import { consumeUnits } from './consume.ts';
import { CONSUME_PATH, toConsumeResponse } from './plain-consume.ts';

export const ConsumeRequest = z
  .object({
    ...productRef,
    customer: CustomerBody,
    units: z.number().int().min(1).max(1_000_000_000).default(1),
    resource: z
      .object({ url: z.url().max(2048), description: z.string().max(500).optional(), mime_type: z.string().max(100).optional() })
      .optional()
      .openapi({ description: 'What the customer asked for: goes into the challenge.' }),
  })
  .openapi('ConsumeRequest', {
    example: {
      product_id: '01a1fc21-d414-7315-8bae-d95e4ff00293',
      customer: { wallet_address: '5pwBVW7LsqxeEMCBViQ7SX2wxfdswJrpZodhKbCAuzrJ' },
      units: 1,
    },
  });

const ConsumeResponse = z
  .object({
    consumed: z.literal(true),
    consumption_id: z.string(),
    entitlement_id: z.uuid(),
    units: z.int(),
    remaining: orNull(z.int()),
    paid_through: orNull(Timestamp),
  })
  .openapi('ConsumeResponse') satisfies z.ZodType<ReturnType<typeof toConsumeResponse>>;

const consume = createRoute({
  method: 'post',
  path: CONSUME_PATH,
  operationId: 'consumeEntitlement',
  tags: ['Entitlements'],
  summary: 'Consume units',
  description:
    'Serve only after 200. Where `code` is `entitlement_missing` or `subscription_expired`, answer 402 to your caller and pass the ' +
    '`PAYMENT-REQUIRED` header of this response on; it is also decoded in `meta.payment_required`. Branch on `code`, never on the status.',
  ...idempotentRoute('metered'),
  request: { headers: IdempotencyHeader, query: z.object(ModeQuery), ...jsonBody(ConsumeRequest) },
  responses: {
    ...ok(ConsumeResponse, 'Used; serve now'),
    ...merchantBodyErrors(...idempotencyErrors, 'entitlement_missing', 'subscription_expired', 'not_found', 'state_conflict'),
  },
});

export const consumeRoutes = router().openapi(consume, async (c) => {
  const { scope: ctx } = c.var;
  const body = c.req.valid('json');
  const identity = entitlementKeyOf(ctx, await productIdOf(ctx, body), customerOf(body.customer));
  const { url, description, mime_type: mimeType } = body.resource ?? {};
  const resource = url === undefined ? undefined : { url, ...(description ? { description } : {}), ...(mimeType ? { mimeType } : {}) };
  const request = await idempotentRequest(c);
  const used = await consumeUnits(ctx, identity, request, { units: body.units, resource }, c.var.told?.used);
  if (used.replayed) c.header('Idempotent-Replayed', 'true');
  else c.set('unitsConsumed', used.units);
  return c.json(toConsumeResponse(identity.entitlementId, used), 200);
});
