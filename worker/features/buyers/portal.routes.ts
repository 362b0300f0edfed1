import { z } from '@hono/zod-openapi';
import type { CustomerId } from '#core/ids.ts';
import { LOCALE_NAMES } from '#core/locales.ts';
import { iso } from '#core/time.ts';
import { customerOf, namedCustomer, namesOneCustomer, ONE_CUSTOMER } from '#features/entitlements/resource.ts';
import { created, idOf, Timestamp } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { createPortalSession, PORTAL_FLOWS } from './portal.ts';

const PortalSessionBody = z
  .object({ portal_session_id: z.uuid(), url: z.string(), customer_id: z.uuid(), expires_at: Timestamp })
  .openapi('PortalSession');

export const portalRoutes = routes('Customers', 'customers').write({
  path: 'POST /customers/portal-sessions',
  id: 'createPortalSession',
  sdk: 'customers.createPortalSession',
  summary: 'Create a portal session',
  description: 'Returns a link to the purchases of a customer who is signed in at your site. It works for ten minutes.',
  body: z
    .object({
      customer: z.object(namedCustomer).refine(namesOneCustomer, ONE_CUSTOMER).optional(),
      customer_id: idOf<CustomerId>().optional(),
      return_url: z.string().max(2048).optional().describe('Page of this service or of your verified domain to go back to.'),
      locale: z.enum(LOCALE_NAMES).optional(),
      flow: z.enum(PORTAL_FLOWS).optional(),
    })
    .refine(
      ({ customer, customer_id }) => (customer === undefined) !== (customer_id === undefined),
      'Expected one of customer and customer_id',
    )
    .openapi('PortalSessionRequest', { example: { customer: { customer_ref: 'user-42' } } }),
  returns: created(PortalSessionBody),
  codes: ['not_found', 'state_conflict'],
  once: ({ scope, body: { customer, customer_id, return_url: returnUrl, locale, flow } }, storeAnswer) =>
    createPortalSession(scope, customer ? customerOf(customer) : customer_id!, { returnUrl, locale, flow }, storeAnswer),
  audit: { action: 'customer.portal_opened', subject: 'customer', fields: ({ customerId }) => ({ id: customerId }) },
  present: ({ id, url, customerId, expiresAt }) => ({
    portal_session_id: id,
    url,
    customer_id: customerId,
    expires_at: iso(expiresAt),
  }),
  isSecret: true,
});
