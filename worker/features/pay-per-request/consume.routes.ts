import { z } from '@hono/zod-openapi';
import { entitlementKeyOf } from '#features/entitlements/entitlement.ts';
import { CustomerBody, customerOf } from '#features/entitlements/resource.ts';
import { productRef, resolveProductId } from '#features/products/product-ref.ts';
import { idempotentRequest } from '#platform/http/idempotency-key.ts';
import { EntitlementUuid, ok, orNull, PaidThrough } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { SIGN_IN_CHARS_MAX } from '#protocols/x402/sign-in.ts';
import type { EntitlementKey } from '#rules/balance.ts';
import { type Consumed, consumeBySignIn, consumeUnits } from './consume.ts';
import { CONSUME_PATH, toConsumeResponse } from './plain-consume.ts';
import { RequestedResource, requestedOf } from './resource.ts';

export const ConsumeRequest = z
  .object({
    ...productRef,
    customer: CustomerBody.optional().describe('Customer: a wallet, or your own name for the customer. Send either this or `sign_in`.'),
    sign_in: z
      .string()
      .max(SIGN_IN_CHARS_MAX)
      .optional()
      .describe('Value of the buyer’s SIGN-IN-WITH-X header, unchanged. The wallet that signed is the customer.'),
    units: z.number().int().min(1).max(1_000_000_000).default(1).describe('Number of units; 1 by default.'),
    resource: RequestedResource.optional().describe('Resource that the customer requested. Part of the challenge.'),
  })
  .refine(({ customer, sign_in: signIn }) => (customer === undefined) !== (signIn === undefined), {
    path: ['customer'],
    message: 'Expected exactly one of customer and sign_in',
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
    units: z.int(),
    remaining: orNull(z.int()).describe('Number of units left; null: no limit.'),
    paid_through: PaidThrough,
    customer: CustomerBody.optional().describe('Wallet that signed in. Present in the answer to `sign_in`.'),
  })
  .openapi('ConsumeResponse') satisfies z.ZodType<ReturnType<typeof toConsumeResponse>>;

export const consumeRoutes = routes('Entitlements', 'consume').write({
  path: `POST ${CONSUME_PATH}`,
  id: 'consumeEntitlement',
  sdk: 'entitlements.consume',
  summary: 'Consume units',
  description:
    'Consumes units. Serve only after 200. If `code` is `entitlement_missing` or `subscription_expired`, answer your caller with 402 and forward the `PAYMENT-REQUIRED` header; `meta.payment_required` contains it decoded. A refused `sign_in` answers with `meta.sign_in`.',
  key: 'required',
  bucket: 'metered',
  body: ConsumeRequest,
  returns: ok(ConsumeResponse, 'Consumed; serve the request'),
  codes: ['entitlement_missing', 'subscription_expired', 'not_found', 'state_conflict'],
  answer: async ({ c, scope, body }) => {
    const productId = await resolveProductId(scope, body);
    const request = await idempotentRequest(c);
    const input = { units: body.units, resource: body.resource && requestedOf(body.resource) };
    const answer = (identity: EntitlementKey, used: Consumed) => {
      if (used.replayed) c.header('Idempotent-Replayed', 'true');
      else c.set('unitsConsumed', used.units);
      return toConsumeResponse(identity.entitlementId, used);
    };
    if (body.sign_in !== undefined) {
      const { identity, wallet, used } = await consumeBySignIn(scope, productId, request, { ...input, signIn: body.sign_in });
      return { ...answer(identity, used), customer: { wallet_address: wallet } };
    }
    const identity = entitlementKeyOf(scope, productId, customerOf(body.customer!));
    return answer(identity, await consumeUnits(scope, identity, request, input, c.var.admitted?.used));
  },
});
