import { z } from '@hono/zod-openapi';
import type { CustomerId } from '#core/ids.ts';
import { OWN_NAME_MAX } from '#core/limits.ts';
import { customerOf, namedCustomer, namesOneCustomer, ONE_CUSTOMER } from '#features/entitlements/resource.ts';
import { FilterQuery } from '#features/payments/list/filter.ts';
import { TimelineBody, TimelineLimit } from '#features/webhooks/timeline.ts';
import { pick } from '#platform/db/audit/record-answer.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import { SEARCHED_MAX } from '#platform/db/search/named.ts';
import { Metadata, MetadataPatch, ShownName } from '#platform/http/bodies/own-fields.ts';
import { requireStepUp } from '#platform/http/callers.ts';
import { created, idOf, idParam, ModeQuery, ok, orNull, PageQuery, pageOf, refuseReversed } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { changeCustomer, createCustomer, readCustomer, readCustomerTimeline } from './customer.ts';
import { mergeCustomer } from './merge.ts';
import { CompanyBody, CustomerRecordBody, EmailAddress, NO_ACCESS, type ShownCustomer, toCustomerResource } from './resource.ts';
import { CustomerStateBody, findNamedCustomer, getKnownCustomer, readCustomerState } from './state.ts';
import { listAccess, listCustomers, listMerged } from './store.ts';

const { customer_ref, product_id, created_from, created_to } = FilterQuery;
const wallet_address = z.string().max(64).optional().describe('Return only objects of the customer with this wallet.');
const email = z.string().max(254).optional().describe('Return only objects of the customer with this email address.');
const ListQuery = z
  .object({
    ...PageQuery,
    ...ModeQuery,
    ...{ customer_ref, product_id, created_from, created_to },
    ...{ wallet_address, email },
    access: z.enum(['active', 'lapsed', 'none']).optional().describe('Access to any product.'),
    q: z.string().trim().min(2).max(OWN_NAME_MAX).optional().describe('Beginning of a reference, wallet, email address or name.'),
    sort: z.enum(['last_seen_at', 'created_at']).default('last_seen_at').describe('Order, newest first.'),
  })
  .check(refuseReversed());

const at = (text: string | undefined): number | undefined => (text === undefined ? undefined : Date.parse(text));

const customerParams = idParam('customer_id', idOf<CustomerId>());

const recordedCustomer = (shown: ShownCustomer) => ({
  id: shown.row.id,
  ...pick(toCustomerResource(shown), 'emails', 'name', 'company', 'metadata'),
});

export const customerRoutes = routes('Customers', 'customers')
  .read({
    path: 'GET /customers',
    id: 'listCustomers',
    sdk: 'customers.list',
    summary: 'List customers',
    description: `Lists customers, newest first. A purchase appears within a minute. Filters search the ${SEARCHED_MAX.toLocaleString('en')} newest.`,
    query: ListQuery,
    returns: pageOf(CustomerRecordBody, 'CustomerPage'),
    answer: async ({ scope, query }) => {
      const page = pageRequest(query);
      const filter = {
        ...{ customerRef: query.customer_ref, walletAddress: query.wallet_address, email: query.email?.trim().toLowerCase() },
        ...{ productId: query.product_id, access: query.access, q: query.q },
        ...{ createdFrom: at(query.created_from), createdTo: at(query.created_to) },
      };
      const found = await listCustomers(scope, filter, query.sort, page);
      const ids = found.items.map(({ id }) => id);
      const [access, merged] = await Promise.all([listAccess(scope, found.items), listMerged(scope, ids)]);
      return toPage(page, found, (row) =>
        toCustomerResource({ row, access: access.get(row.id) ?? NO_ACCESS, merged: merged.get(row.id) ?? [] }),
      );
    },
  })
  .write({
    path: 'POST /customers',
    id: 'createCustomer',
    sdk: 'customers.create',
    summary: 'Create a customer',
    description: 'Notes a customer before a sale names it.',
    body: z
      .object({
        ...namedCustomer,
        email: EmailAddress.optional(),
        name: ShownName(200).optional(),
        company: CompanyBody.optional(),
        metadata: Metadata.optional(),
      })
      .refine(namesOneCustomer, ONE_CUSTOMER)
      .openapi('CreateCustomerRequest', { example: { customer_ref: 'user-42', email: 'ada@example.com' } }),
    returns: created(CustomerRecordBody),
    codes: ['state_conflict'],
    once: ({ scope, body: { wallet_address, customer_ref, ...details } }, storeAnswer) =>
      createCustomer(scope, customerOf({ wallet_address, customer_ref }), details, storeAnswer),
    audit: { action: 'customer.created', subject: 'customer', fields: recordedCustomer },
    present: toCustomerResource,
  })
  .read({
    path: 'GET /customers/state',
    id: 'findCustomerState',
    sdk: 'customers.findState',
    summary: 'Find the state of a customer',
    description: 'Returns what a customer may use, by one of `customer_ref`, `wallet_address` and `email`.',
    query: { customer_ref, wallet_address, email },
    returns: CustomerStateBody,
    codes: ['not_found', 'state_conflict'],
    answer: async ({ scope, query }) => readCustomerState(scope, await findNamedCustomer(scope, query)),
  })
  .read({
    path: 'GET /customers/{customer_id}/state',
    id: 'getCustomerState',
    sdk: 'customers.getState',
    summary: 'Get the state of a customer',
    description: 'Returns what a customer may use.',
    params: customerParams,
    returns: CustomerStateBody,
    codes: ['not_found'],
    answer: async ({ scope, params }) => readCustomerState(scope, await getKnownCustomer(scope, params.customer_id)),
  })
  .write({
    path: 'POST /customers/{customer_id}/merge',
    id: 'mergeCustomer',
    sdk: 'customers.merge',
    agent: { confirm: true },
    summary: 'Merge a customer',
    description:
      'Merges `from` into this customer for good: units and time move once, and payments and receipts show here. 409 `state_conflict` while `from` has a native subscription or an open metered session (`meta.reason`).',
    params: customerParams,
    body: z.object({ from: idOf<CustomerId>() }).openapi('MergeCustomerRequest'),
    returns: ok(CustomerRecordBody, 'Customer with what the other one had'),
    codes: ['not_found', 'state_conflict'],
    once: ({ ctx, scope, actor, params, body }, storeAnswer) => {
      requireStepUp(ctx, actor);
      return mergeCustomer(scope, params.customer_id, body.from, storeAnswer);
    },
    audit: {
      action: 'customer.merged',
      subject: 'customer',
      fields: ({ row }, { body }) => ({ id: row.id, from: body.from }),
    },
    present: toCustomerResource,
  })
  .read({
    path: 'GET /customers/{customer_id}/timeline',
    id: 'getCustomerTimeline',
    sdk: 'customers.getTimeline',
    summary: 'Get the timeline of a customer',
    description: 'Lists the newest events of a customer and their deliveries, newest first. `next` is null.',
    params: customerParams,
    query: { limit: TimelineLimit },
    returns: TimelineBody,
    codes: ['not_found'],
    answer: ({ scope, params, query }) => readCustomerTimeline(scope, params.customer_id, query.limit),
  })
  .read({
    path: 'GET /customers/{customer_id}',
    id: 'getCustomer',
    sdk: 'customers.get',
    summary: 'Get a customer',
    description: 'Returns a customer.',
    params: customerParams,
    returns: CustomerRecordBody,
    codes: ['not_found'],
    answer: async ({ scope, params }) => toCustomerResource(await readCustomer(scope, params.customer_id)),
  })
  .write({
    path: 'PATCH /customers/{customer_id}',
    id: 'updateCustomer',
    sdk: 'customers.update',
    summary: 'Update a customer',
    description: 'Updates your own details of a customer. `null` clears a field.',
    params: customerParams,
    body: z
      .object({
        email: orNull(EmailAddress).optional(),
        name: orNull(ShownName(200)).optional(),
        company: orNull(CompanyBody).optional(),
        metadata: MetadataPatch.optional(),
      })
      .openapi('UpdateCustomerRequest', { example: { name: 'Ada Lovelace' } }),
    returns: CustomerRecordBody,
    codes: ['not_found', 'state_conflict'],
    once: ({ scope, params, body }, storeAnswer) => changeCustomer(scope, params.customer_id, body, storeAnswer),
    audit: { action: 'customer.updated', subject: 'customer', fields: recordedCustomer },
    present: toCustomerResource,
  });
