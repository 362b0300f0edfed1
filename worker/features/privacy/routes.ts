import { z } from '@hono/zod-openapi';
import type { CustomerId } from '#core/ids.ts';
import { requireBuyerSession } from '#features/buyer-sign-in/token.ts';
import { CustomerRecordBody, toCustomerResource } from '#features/customers/resource.ts';
import { ShownText } from '#platform/http/bodies/own-fields.ts';
import { requireStepUp } from '#platform/http/callers.ts';
import { idOf, idParam, ModeQuery, type RouteContext } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { BuyerExportBody, exportBuyer } from './buyer-export.ts';
import { CustomerExportBody, exportCustomer, recordExport } from './customer-export.ts';
import { eraseCustomer } from './erasure/erase.ts';

const attachedAs = (name: string) => ['Content-Disposition', `attachment; filename="${name}.json"`] as const;

const asBuyer = {
  bucket: 'buyer' as const,
  security: [{ buyer: [] }],
  check: ({ c }: { c: RouteContext }) => requireBuyerSession(c),
};

export const customerPrivacyRoutes = routes('Customers', 'privacy')
  .person({
    path: 'GET /customers/{customer_id}/export',
    id: 'exportCustomer',
    sdk: 'customers.export',
    summary: 'Export a customer',
    description: 'Returns everything that names a customer.',
    params: idParam('customer_id', idOf<CustomerId>()),
    query: ModeQuery,
    returns: CustomerExportBody,
    codes: ['not_found'],
    answer: async ({ c, scope, params }) => {
      c.header(...attachedAs('export'));
      const exported = await exportCustomer(scope, params.customer_id);
      await recordExport(scope, params.customer_id);
      return exported;
    },
  })
  .person({
    path: 'POST /customers/{customer_id}/erase',
    id: 'eraseCustomer',
    sdk: 'customers.erase',
    agent: { confirm: true },
    summary: 'Erase a customer',
    description: 'Erases personal data within minutes. Payments, receipts and wallets remain. The reference then names a new customer.',
    params: idParam('customer_id', idOf<CustomerId>()),
    query: ModeQuery,
    body: z.object({ end_access: z.boolean().default(false), reason: ShownText(500).optional() }).openapi('EraseCustomerRequest'),
    isBodyOptional: true,
    returns: { 202: { description: 'Accepted', content: { 'application/json': { schema: CustomerRecordBody } } } },
    codes: ['not_found', 'state_conflict'],
    once: async ({ ctx, scope, actor, params, body }, storeAnswer) => {
      requireStepUp(ctx, actor);
      return eraseCustomer(scope, params.customer_id, body.end_access, storeAnswer);
    },
    audit: { action: 'customer.erased', subject: 'customer', fields: ({ row }) => ({ id: row.id }), reason: ({ body }) => body.reason },
    present: toCustomerResource,
  });

export const buyerPrivacyRoutes = routes('Buyers').public({
  path: 'GET /buyer/export',
  id: 'exportBuyer',
  sdk: 'buyer.export',
  summary: 'Export a buyer',
  description: 'Returns everything that the session shows.',
  ...asBuyer,
  returns: BuyerExportBody,
  codes: ['invalid_authorization'],
  answer: ({ c, ctx, checked }) => {
    c.header(...attachedAs('my-purchases'));
    return exportBuyer(ctx, checked);
  },
});
