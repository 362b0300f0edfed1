import { z } from '@hono/zod-openapi';
import { getProduct } from '#features/products/product.ts';
import { productRef, resolveProductId } from '#features/products/product-ref.ts';
import { idempotentRequest } from '#platform/http/idempotency-key.ts';
import { routes } from '#platform/http/route.ts';
import { entitlementKeyOf } from './entitlement.ts';
import { recordGrant } from './grant.store.ts';
import { grantEntitlement } from './grant.ts';
import { CustomerBody, customerOf, EntitlementBody, toEntitlementResource } from './resource.ts';

const UNITS_MAX = 1_000_000_000;
const units = z.number().int().min(1).max(UNITS_MAX);
const GrantRequest = z
  .object({
    ...productRef,
    customer: CustomerBody.describe('Customer: a wallet, or your own name for the customer. Requests name exactly one.'),
    units: units.optional(),
    days: z.number().int().min(1).max(3660).optional(),
    reason: z.string().trim().min(1).max(500).describe('Reason, for your records.'),
  })
  .openapi('GrantRequest');

export const grantRoutes = routes('Entitlements', 'customers').write({
  path: 'POST /access/entitlements/grant',
  id: 'grantEntitlement',
  sdk: 'entitlements.grant',
  agent: { confirm: true },
  summary: 'Grant units or days',
  description:
    'Grants units or days without a payment, as the product is sold. Units add up. Days extend `paid_through` from now or from its end, whichever is later.',
  key: 'required',
  body: GrantRequest,
  returns: EntitlementBody,
  codes: ['not_found'],
  answer: async ({ c, scope, body }) => {
    const productId = await resolveProductId(scope, body);
    const sold = await getProduct(scope, productId);
    const identity = entitlementKeyOf(scope, productId, customerOf(body.customer));
    const { units, days, reason } = body;
    const request = await idempotentRequest(c);
    const granted = await grantEntitlement(scope, identity, request, { sold, units, days, reason });
    if (granted.replayed) c.header('Idempotent-Replayed', 'true');
    await recordGrant(scope, granted.snapshot.entitlementId, request, { units, days, reason, ...granted });
    return toEntitlementResource(granted.snapshot);
  },
  audit: ['entitlement.granted'],
});
