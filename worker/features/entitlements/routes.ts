import { createRoute, z } from '@hono/zod-openapi';
import { raise } from '#core/errors.ts';
import type { EntitlementId } from '#core/ids.ts';
import { COUNTED_FILTERED_MAX, LIFE } from '#core/limits.ts';
import { isoOrNull } from '#core/time.ts';
import { getProduct } from '#features/products/product.ts';
import { productIdOf, productRef } from '#features/products/product-ref.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import { OwnName } from '#platform/http/bodies/own-fields.ts';
import { idempotentRoute, merchantBodyErrors, merchantErrors, merchantRoute } from '#platform/http/callers.ts';
import { IdempotencyHeader, idempotencyErrors, idempotentRequest } from '#platform/http/idempotency-key.ts';
import {
  countedLessWith,
  idOf,
  idParam,
  jsonBody,
  ModeQuery,
  ok,
  orNull,
  PageQuery,
  pageOf,
  router,
  Timestamp,
} from '#platform/http/openapi.ts';
import { entitlementKeyOf, grantEntitlement, listEntitlements, readEntitlement, refundConsumption } from './entitlement.ts';
import { CustomerBody, customerOf, EntitlementBody, toEntitlementResource } from './resource.ts';

const UNITS_MAX = 1_000_000_000;
const units = z.number().int().min(1).max(UNITS_MAX);
const GrantRequest = z
  .object({
    ...productRef,
    customer: CustomerBody,
    units: units.optional(),
    days: z.number().int().min(1).max(3660).optional(),
    reason: z.string().trim().min(1).max(500),
  })
  .openapi('GrantRequest');
const RefundRequest = z
  .object({ consumption_id: z.string().max(64), reason: z.string().trim().min(1).max(500) })
  .openapi('RefundRequest', { example: { consumption_id: 'con_01KAJ3V5Y7H2Q8M4N6P9R1S3T5', reason: 'The request failed on our side.' } });
const RefundResponse = z
  .object({
    refunded: z.literal(true),
    consumption_id: z.string(),
    entitlement_id: z.uuid(),
    units: z.int(),
    remaining: orNull(z.int()),
    paid_through: orNull(Timestamp),
  })
  .openapi('RefundResponse');

const tags = ['Entitlements'];
const grant = createRoute({
  method: 'post',
  path: '/access/entitlements/grant',
  operationId: 'grantEntitlement',
  tags,
  summary: 'Grant units or days',
  description:
    'Give what the product sells without a payment: units where it counts units, days where it sells time, either or both where it sells both. ' +
    'Units add up. Days extend `paid_through` from now or from its end, whichever is later. A product sold for ever takes neither.',
  ...idempotentRoute(),
  request: { headers: IdempotencyHeader, query: z.object(ModeQuery), ...jsonBody(GrantRequest) },
  responses: { ...ok(EntitlementBody), ...merchantBodyErrors(...idempotencyErrors, 'not_found') },
});
const refund = createRoute({
  method: 'post',
  path: '/access/entitlements/refund',
  operationId: 'refundConsumption',
  tags,
  summary: 'Refund a consumption',
  description: `Possible for ${LIFE.refundHours} hours. The key that consumed is answered 409 from then on, so that nothing is served for free.`,
  ...idempotentRoute('metered'),
  request: { headers: IdempotencyHeader, query: z.object(ModeQuery), ...jsonBody(RefundRequest) },
  responses: { ...ok(RefundResponse), ...merchantBodyErrors(...idempotencyErrors, 'not_found', 'state_conflict') },
});
const list = createRoute({
  method: 'get',
  path: '/access/entitlements',
  operationId: 'listEntitlements',
  tags,
  summary: 'List entitlements',
  description: `Entitlements as of a few seconds ago. ${countedLessWith('`status` or a product')}`,
  ...merchantRoute('read'),
  request: {
    query: z
      .object({
        ...PageQuery,
        ...ModeQuery,
        ...productRef,
        wallet_address: z.string().max(64).optional(),
        customer_ref: OwnName.optional(),
        status: z.enum(['active', 'exhausted', 'expired', 'revoked']).optional(),
      })
      .refine(({ wallet_address: wallet, customer_ref: ref }) => wallet === undefined || ref === undefined, {
        path: ['customer_ref'],
        message: 'A customer is named by wallet_address or by customer_ref, not by both',
        params: { type: 'ambiguous' },
      }),
  },
  responses: { ...ok(pageOf(EntitlementBody, 'EntitlementPage')), ...merchantErrors('not_found') },
});
const get = createRoute({
  method: 'get',
  path: '/access/entitlements/{entitlement_id}',
  operationId: 'getEntitlement',
  tags,
  summary: 'Get an entitlement',
  description: 'One entitlement as it is this moment.',
  ...merchantRoute('read'),
  request: { params: idParam('entitlement_id', idOf<EntitlementId>()), query: z.object(ModeQuery) },
  responses: { ...ok(EntitlementBody), ...merchantErrors('not_found') },
});

export const entitlementRoutes = router()
  .openapi(grant, async (c) => {
    const { scope: ctx } = c.var;
    const body = c.req.valid('json');
    const productId = await productIdOf(ctx, body);
    // A grant is rare, so that it is for a product of this merchant is looked up.
    const sold = await getProduct(ctx, productId);
    const identity = entitlementKeyOf(ctx, productId, customerOf(body.customer));
    const { units, days, reason } = body;
    const request = await idempotentRequest(c);
    const granted = await grantEntitlement(ctx, identity, request, { sold, units, days, reason });
    if (granted.replayed) c.header('Idempotent-Replayed', 'true');
    return c.json(toEntitlementResource(granted.snapshot), 200);
  })
  .openapi(refund, async (c) => {
    const { scope: ctx } = c.var;
    const body = c.req.valid('json');
    const freed = await refundConsumption(ctx, await idempotentRequest(c), {
      consumptionId: body.consumption_id,
      reason: body.reason,
    });
    if (freed.replayed) c.header('Idempotent-Replayed', 'true');
    const shown = {
      consumption_id: freed.consumptionId,
      entitlement_id: freed.entitlementId,
      units: freed.units,
      remaining: freed.remaining,
    };
    return c.json({ refunded: true as const, ...shown, paid_through: isoOrNull(freed.paidThrough) }, 200);
  })
  .openapi(list, async (c) => {
    const { scope: ctx } = c.var;
    const query = c.req.valid('query');
    const isNamed = query.product_id !== undefined || query.external_product_id !== undefined;
    const page = pageRequest(query, isNamed || query.status !== undefined ? COUNTED_FILTERED_MAX : undefined);
    const filter = {
      ...(isNamed ? { productId: await productIdOf(ctx, query, 'query') } : {}),
      walletAddress: query.wallet_address,
      customerRef: query.customer_ref,
      status: query.status,
    };
    return c.json(toPage(page, await listEntitlements(ctx, filter, page), toEntitlementResource), 200);
  })
  .openapi(get, async (c) => {
    const { scope: ctx } = c.var;
    const entitlementId = c.req.valid('param').entitlement_id;
    const snapshot = await readEntitlement(ctx, ctx, entitlementId);
    return c.json(toEntitlementResource(snapshot ?? raise('not_found')), 200);
  });
