import { raise } from '#core/errors.ts';
import { MembershipBody, toMembershipResource } from '#features/memberships/resource.ts';
import { routes } from '#platform/http/route.ts';
import { retryDelivery } from './retry.ts';
import { findOwnMember } from './store.ts';

export const placementRoutes = routes('Memberships').write({
  path: 'POST /memberships/{membership_id}/retry-delivery',
  id: 'retryDelivery',
  summary: 'Deliver access once more',
  description:
    'Harmless twice. What is delivered, needs no delivery or has ended stays as it is; what could not be taken away is tried again.',
  returns: MembershipBody,
  codes: ['not_found', 'state_conflict'],
  load: async ({ scope, params }) => (await findOwnMember(scope, params.membership_id)) ?? raise('not_found'),
  owner: ({ membership }) => membership,
  once: ({ scope, row }, storeAnswer) => retryDelivery(scope, row.membership.id, storeAnswer),
  present: (membership) => toMembershipResource(membership, { isOwners: true }),
});
