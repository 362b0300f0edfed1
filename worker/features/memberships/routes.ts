import { z } from '@hono/zod-openapi';
import { ApiError, raise } from '#core/errors.ts';
import type { MembershipId, PaymentId, ProductId } from '#core/ids.ts';
import { COUNTED_FILTERED_MAX, OWN_NAME_MAX } from '#core/limits.ts';
import { belongsTo } from '#platform/context.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import { narrowToCustomer } from '#platform/db/search/customer.ts';
import { SEARCHED_MAX } from '#platform/db/search/named.ts';
import { OwnName } from '#platform/http/bodies/own-fields.ts';
import { countedLessWith, idOf, idParam, OfCustomer, PageQuery, pageOf } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { MEMBERSHIP } from '#rules/states.ts';
import { MembershipBody, toMembershipResource } from './resource.ts';
import { findMembership, getMembershipBy, listMemberships } from './store.ts';

export const membershipRoutes = routes('Memberships', 'customers')
  .read({
    path: 'GET /memberships/lookup',
    id: 'lookupMembership',
    sdk: 'memberships.lookup',
    summary: 'Find a membership',
    description:
      'Finds a membership by wallet_address, customer_ref, email or payment_id, optionally with product_id: the one with the latest end.',
    query: {
      wallet_address: z.string().max(64).optional().describe('Return only objects of the customer with this wallet.'),
      customer_ref: OwnName.optional().describe('Return only objects of the customer with this reference.'),
      email: z.string().max(254).optional().describe('Return only objects of the customer with this email address.'),
      payment_id: idOf<PaymentId>().optional(),
      product_id: idOf<ProductId>().optional().describe('Return only objects of this product.'),
    },
    returns: MembershipBody,
    codes: ['not_found'],
    answer: async ({ scope, query }) => {
      if (
        query.wallet_address === undefined &&
        query.customer_ref === undefined &&
        query.email === undefined &&
        query.payment_id === undefined
      ) {
        const msg = 'Expected one of wallet_address, customer_ref, email and payment_id';
        throw new ApiError('validation_error', { problems: [{ loc: ['query'], msg, type: 'missing' }] });
      }
      const membership = await getMembershipBy(scope, {
        walletAddress: query.wallet_address,
        customerRef: query.customer_ref,
        email: query.email?.trim().toLowerCase(),
        paymentId: query.payment_id,
        productId: query.product_id,
      });
      return toMembershipResource(membership, { isOwners: true });
    },
  })
  .read({
    path: 'GET /memberships',
    id: 'listMemberships',
    sdk: 'memberships.list',
    summary: 'List memberships',
    description: `Lists memberships, newest first. ${countedLessWith('`wallet_address` and `status` together')}`,
    query: {
      ...PageQuery,
      status: z.enum(MEMBERSHIP.states).optional().describe('Return only objects with this status.'),
      product_id: idOf<ProductId>().optional().describe('Return only objects of this product.'),
      customer_id: OfCustomer,
      wallet_address: z.string().max(64).optional().describe('Return only objects of the customer with this wallet.'),
      q: z
        .string()
        .trim()
        .min(1)
        .max(OWN_NAME_MAX)
        .optional()
        .describe(
          `Search text: the beginning (4 characters or more) of an id, signature, wallet or email address, else part of a customer reference or product name among the ${SEARCHED_MAX.toLocaleString('en')} newest memberships.`,
        ),
    },
    returns: pageOf(MembershipBody, 'MembershipPage'),
    answer: async ({
      scope,
      query: { status, product_id: productId, customer_id: customerId, wallet_address: walletAddress, q, ...query },
    }) => {
      const page = pageRequest(query, status !== undefined && walletAddress !== undefined ? COUNTED_FILTERED_MAX : undefined);
      const customer = await narrowToCustomer(scope, customerId);
      const found = await listMemberships(scope, { status, productId, walletAddress, customer, q }, page);
      return toPage(page, found, (membership) => toMembershipResource(membership, { isOwners: true }));
    },
  })
  .read({
    path: 'GET /memberships/{membership_id}',
    id: 'getMembership',
    sdk: 'memberships.get',
    summary: 'Get a membership',
    description: 'Returns a membership.',
    params: idParam('membership_id', idOf<MembershipId>()),
    returns: MembershipBody,
    codes: ['not_found'],
    answer: async ({ scope, params }) => {
      const membership = await findMembership(scope.db, params.membership_id);
      return membership && belongsTo(scope, membership) ? toMembershipResource(membership, { isOwners: true }) : raise('not_found');
    },
  });
