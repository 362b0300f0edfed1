import type { CustomerId } from '#core/ids.ts';
import { requireBuyerSession } from '#features/buyer-sign-in/token.ts';
import { idOf, idParam, ModeQuery, type RouteContext } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { BuyerExportBody, exportBuyer } from './buyer-export.ts';
import { CustomerExportBody, exportCustomer, recordExport } from './customer-export.ts';

const ATTACHED = ['Content-Disposition', 'attachment; filename="export.json"'] as const;

const asBuyer = {
  bucket: 'buyer' as const,
  security: [{ buyer: [] }],
  check: ({ c }: { c: RouteContext }) => requireBuyerSession(c),
};

export const customerPrivacyRoutes = routes('Customers', 'privacy').person({
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
    c.header(...ATTACHED);
    const exported = await exportCustomer(scope, params.customer_id);
    await recordExport(scope, params.customer_id);
    return exported;
  },
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
    c.header(...ATTACHED);
    return exportBuyer(ctx, checked);
  },
});
