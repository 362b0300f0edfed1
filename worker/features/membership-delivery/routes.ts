import { raise } from '#core/errors.ts';
import { MembershipBody, toMembershipResource } from '#features/memberships/resource.ts';
import { routes } from '#platform/http/route.ts';
import { retryDelivery } from './retry.ts';
import { findOwnMember } from './store.ts';

export const placementRoutes = routes('Memberships', 'customers').write({
  path: 'POST /memberships/{membership_id}/retry-delivery',
  id: 'retryDelivery',
  sdk: 'memberships.retryDelivery',
  summary: 'Retry access delivery',
  description:
    'Retries the delivery of access. Memberships that are delivered or have ended are unchanged; failed revocations are retried.',
  returns: MembershipBody,
  codes: ['not_found', 'state_conflict'],
  load: async ({ scope, params }) => (await findOwnMember(scope, params.membership_id)) ?? raise('not_found'),
  owner: ({ membership }) => membership,
  once: ({ scope, row }, storeAnswer) => retryDelivery(scope, row.membership.id, storeAnswer),
  audit: { action: 'membership.delivery_retried', subject: 'membership', fields: ({ id }) => ({ id }) },
  present: (membership) => toMembershipResource(membership, { isOwners: true }),
});
