import { z } from '@hono/zod-openapi';
import { raise } from '#core/errors.ts';
import { COUNTED_FILTERED_MAX, LIFE } from '#core/limits.ts';
import { isoOrNull } from '#core/time.ts';
import { productRef, resolveProductId } from '#features/products/product-ref.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import { narrowToCustomer } from '#platform/db/search/customer.ts';
import { OwnName } from '#platform/http/bodies/own-fields.ts';
import { idempotentRequest } from '#platform/http/idempotency-key.ts';
import { countedLessWith, EntitlementUuid, ModeQuery, OfCustomer, orNull, PageQuery, PaidThrough, pageOf } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { listEntitlements, readEntitlement, refundConsumption } from './entitlement.ts';
import { EntitlementBody, toEntitlementResource } from './resource.ts';

const RefundRequest = z
  .object({
    consumption_id: z.string().max(64).describe('Identifier of the consumption. Refund it by this identifier if the work fails.'),
    reason: z.string().trim().min(1).max(500).describe('Reason, for your records.'),
  })
  .openapi('RefundRequest', { example: { consumption_id: 'con_01KAJ3V5Y7H2Q8M4N6P9R1S3T5', reason: 'The request failed on our side.' } });
const RefundResponse = z
  .object({
    refunded: z.literal(true).describe('True if the units are available again.'),
    consumption_id: z.string().describe('Identifier of the consumption. Refund it by this identifier if the work fails.'),
    entitlement_id: EntitlementUuid,
    units: z.int(),
    remaining: orNull(z.int()).describe('Number of units left; null: no limit.'),
    paid_through: PaidThrough,
  })
  .openapi('RefundResponse');

export const entitlementRoutes = routes('Entitlements', 'customers')
  .write({
    path: 'POST /access/entitlements/refund',
    group: 'consume',
    id: 'refundConsumption',
    sdk: 'entitlements.refund',
    agent: { confirm: true },
    summary: 'Refund a consumption',
    description: `Returns consumed units, within ${LIFE.refundHours} hours. Later requests with the Idempotency-Key of the consumption return 409, so that nothing is served for free.`,
    key: 'required',
    bucket: 'metered',
    body: RefundRequest,
    returns: RefundResponse,
    codes: ['not_found', 'state_conflict'],
    answer: async ({ c, scope, body }) => {
      const freed = await refundConsumption(scope, await idempotentRequest(c), {
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
      return { refunded: true as const, ...shown, paid_through: isoOrNull(freed.paidThrough) };
    },
  })
  .read({
    path: 'GET /access/entitlements',
    id: 'listEntitlements',
    sdk: 'entitlements.list',
    summary: 'List entitlements',
    description: `Lists entitlements. Data may be a few seconds old, and uses up to a minute. ${countedLessWith('`status` or a product')}`,
    query: z
      .object({
        ...PageQuery,
        ...ModeQuery,
        ...productRef,
        customer_id: OfCustomer,
        wallet_address: z.string().max(64).optional().describe('Return only objects of the customer with this wallet.'),
        customer_ref: OwnName.optional().describe('Return only objects of the customer with this reference.'),
        status: z.enum(['active', 'exhausted', 'expired', 'revoked']).optional().describe('Return only objects with this status.'),
      })
      .refine(({ wallet_address: wallet, customer_ref: ref }) => wallet === undefined || ref === undefined, {
        path: ['customer_ref'],
        message: 'Expected wallet_address or customer_ref, not both',
        params: { type: 'ambiguous' },
      }),
    returns: pageOf(EntitlementBody, 'EntitlementPage'),
    codes: ['not_found'],
    answer: async ({ scope, query }) => {
      const isNamed = query.product_id !== undefined || query.external_product_id !== undefined;
      const page = pageRequest(query, isNamed || query.status !== undefined ? COUNTED_FILTERED_MAX : undefined);
      const named = { walletAddress: query.wallet_address, customerRef: query.customer_ref };
      const filter = {
        ...(isNamed ? { productId: await resolveProductId(scope, query, 'query') } : {}),
        ...named,
        ...(await narrowToCustomer(scope, query.customer_id, named)),
        status: query.status,
      };
      return toPage(page, await listEntitlements(scope, filter, page), toEntitlementResource);
    },
  })
  .read({
    path: 'GET /access/entitlements/{entitlement_id}',
    id: 'getEntitlement',
    sdk: 'entitlements.get',
    summary: 'Get an entitlement',
    description: 'Returns the current state of an entitlement.',
    returns: EntitlementBody,
    codes: ['not_found'],
    answer: async ({ scope, params }) =>
      toEntitlementResource((await readEntitlement(scope, scope, params.entitlement_id)) ?? raise('not_found')),
  });
