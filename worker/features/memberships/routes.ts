import { createRoute, z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import type { PaymentId, ProductId } from '#core/ids.ts';
import { COUNTED_FILTERED_MAX, OWN_NAME_MAX } from '#core/limits.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import { SEARCHED_MAX } from '#platform/db/search/named.ts';
import { OwnName } from '#platform/http/bodies/own-fields.ts';
import { merchantErrors, merchantRoute } from '#platform/http/callers.ts';
import { countedLessWith, idOf, ModeQuery, ok, PageQuery, pageOf, router } from '#platform/http/openapi.ts';
import { MEMBERSHIP } from '#rules/states.ts';
import { MembershipBody, toMembershipResource } from './resource.ts';
import { getMembershipBy, listMemberships } from './store.ts';

const tags = ['Memberships'];
const list = createRoute({
  method: 'get',
  path: '/memberships',
  operationId: 'listMemberships',
  tags,
  summary: 'List memberships',
  description: `Memberships, newest first. ${countedLessWith('`wallet_address` and `status` together')}`,
  ...merchantRoute('read'),
  request: {
    query: z.object({
      ...PageQuery,
      status: z.enum(MEMBERSHIP.states).optional(),
      product_id: idOf<ProductId>().optional(),
      wallet_address: z.string().max(64).optional(),
      q: z
        .string()
        .trim()
        .min(1)
        .max(OWN_NAME_MAX)
        .optional()
        .openapi({
          description:
            'The beginning (4 characters or more) of a payment id, receipt id, transaction signature, wallet, e-mail address or membership id. ' +
            'If none begins with it: part of a customer’s reference or a product’s name, looked for in the ' +
            `${SEARCHED_MAX.toLocaleString('en')} newest memberships that the other filters leave.`,
        }),
      ...ModeQuery,
    }),
  },
  responses: { ...ok(pageOf(MembershipBody, 'MembershipPage')), ...merchantErrors() },
});
const lookup = createRoute({
  method: 'get',
  path: '/memberships/lookup',
  operationId: 'lookupMembership',
  tags,
  summary: 'Look up a membership',
  description:
    'By wallet_address, customer_ref, email or payment_id, each optionally with product_id. Of several, the one that lasts longest.',
  ...merchantRoute('read'),
  request: {
    query: z.object({
      wallet_address: z.string().max(64).optional(),
      customer_ref: OwnName.optional(),
      email: z.string().max(254).optional(),
      payment_id: idOf<PaymentId>().optional(),
      product_id: idOf<ProductId>().optional(),
      ...ModeQuery,
    }),
  },
  responses: { ...ok(MembershipBody), ...merchantErrors('not_found') },
});

export const membershipRoutes = router()
  .openapi(lookup, async (c) => {
    const { scope: ctx } = c.var;
    const query = c.req.valid('query');
    if (
      query.wallet_address === undefined &&
      query.customer_ref === undefined &&
      query.email === undefined &&
      query.payment_id === undefined
    ) {
      const msg = 'Give wallet_address, customer_ref, email or payment_id';
      throw new ApiError('validation_error', { problems: [{ loc: ['query'], msg, type: 'missing' }] });
    }
    const membership = await getMembershipBy(ctx, {
      walletAddress: query.wallet_address,
      customerRef: query.customer_ref,
      email: query.email?.trim().toLowerCase(),
      paymentId: query.payment_id,
      productId: query.product_id,
    });
    return c.json(toMembershipResource(membership, { isOwners: true }), 200);
  })
  .openapi(list, async (c) => {
    const { scope: ctx } = c.var;
    const { status, product_id: productId, wallet_address: walletAddress, q, ...query } = c.req.valid('query');
    const page = pageRequest(query, status !== undefined && walletAddress !== undefined ? COUNTED_FILTERED_MAX : undefined);
    const found = await listMemberships(ctx, { status, productId, walletAddress, q }, page);
    return c.json(
      toPage(page, found, (membership) => toMembershipResource(membership, { isOwners: true })),
      200,
    );
  });
