import { z } from '@hono/zod-openapi';
import { entitlementKeyOf } from '#features/entitlements/entitlement.ts';
import { CustomerBody, customerOf } from '#features/entitlements/resource.ts';
import { productRef, resolveProductId } from '#features/products/product-ref.ts';
import { idempotentRequest } from '#platform/http/idempotency-key.ts';
import { EntitlementUuid, ok, orNull, PaidThrough } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { consumeUnits } from './consume.ts';
import { CONSUME_PATH, toConsumeResponse } from './plain-consume.ts';
import { RequestedResource, requestedOf } from './resource.ts';

export const ConsumeRequest = z
  .object({
    ...productRef,
    customer: CustomerBody.describe('Customer: a wallet, or your own name for the customer. Requests name exactly one.'),
    units: z.number().int().min(1).max(1_000_000_000).default(1).describe('Number of units; 1 by default.'),
    resource: RequestedResource.optional().describe('Resource that the customer requested. Part of the challenge.'),
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
    consumed: z.literal(true).describe('True if the units were consumed: serve the request.'),
    consumption_id: z.string().describe('Identifier of the consumption. Refund it by this identifier if the work fails.'),
    entitlement_id: EntitlementUuid,
    units: z.int().describe('Number of units consumed.'),
    remaining: orNull(z.int()).describe('Number of units left; null: no limit.'),
    paid_through: PaidThrough,
  })
  .openapi('ConsumeResponse') satisfies z.ZodType<ReturnType<typeof toConsumeResponse>>;

export const consumeRoutes = routes('Entitlements').write({
  path: `POST ${CONSUME_PATH}`,
  id: 'consumeEntitlement',
  sdk: 'entitlements.consume',
  summary: 'Consume units',
  description:
    'Consumes units. Serve only after 200. If `code` is `entitlement_missing` or `subscription_expired`, answer your caller with 402 and forward the `PAYMENT-REQUIRED` header of this response; `meta.payment_required` contains it decoded. Branch on `code`, never on the status.',
  key: 'required',
  bucket: 'metered',
  body: ConsumeRequest,
  returns: ok(ConsumeResponse, 'Consumed; serve the request'),
  codes: ['entitlement_missing', 'subscription_expired', 'not_found', 'state_conflict'],
  answer: async ({ c, scope, body }) => {
    const identity = entitlementKeyOf(scope, await resolveProductId(scope, body), customerOf(body.customer));
    const input = { units: body.units, resource: body.resource && requestedOf(body.resource) };
    const used = await consumeUnits(scope, identity, await idempotentRequest(c), input, c.var.admitted?.used);
    if (used.replayed) c.header('Idempotent-Replayed', 'true');
    else c.set('unitsConsumed', used.units);
    return toConsumeResponse(identity.entitlementId, used);
  },
});
