import { z } from '@hono/zod-openapi';
import { entitlementKeyOf } from '#features/entitlements/entitlement.ts';
import { CustomerBody, customerOf } from '#features/entitlements/resource.ts';
import { productIdOf, productRef } from '#features/products/product-ref.ts';
import { idempotentRequest } from '#platform/http/idempotency-key.ts';
import { ok, orNull, Timestamp } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
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

export const consumeRoutes = routes('Entitlements').write({
  path: `POST ${CONSUME_PATH}`,
  id: 'consumeEntitlement',
  summary: 'Consume units',
  description:
    'Serve only after 200. Where `code` is `entitlement_missing` or `subscription_expired`, answer 402 to your caller and pass the ' +
    '`PAYMENT-REQUIRED` header of this response on; it is also decoded in `meta.payment_required`. Branch on `code`, never on the status.',
  key: 'required',
  bucket: 'metered',
  body: ConsumeRequest,
  returns: ok(ConsumeResponse, 'Used; serve now'),
  codes: ['entitlement_missing', 'subscription_expired', 'not_found', 'state_conflict'],
  answer: async ({ c, scope, body }) => {
    const identity = entitlementKeyOf(scope, await productIdOf(scope, body), customerOf(body.customer));
    const { url, description, mime_type: mimeType } = body.resource ?? {};
    const resource = url === undefined ? undefined : { url, ...(description ? { description } : {}), ...(mimeType ? { mimeType } : {}) };
    const request = await idempotentRequest(c);
    const used = await consumeUnits(scope, identity, request, { units: body.units, resource }, c.var.told?.used);
    if (used.replayed) c.header('Idempotent-Replayed', 'true');
    else c.set('unitsConsumed', used.units);
    return toConsumeResponse(identity.entitlementId, used);
  },
});
