import { z } from '@hono/zod-openapi';
import { ApiError, raise } from '#core/errors.ts';
import type { CustomerId } from '#core/ids.ts';
import { iso, isoOrNull } from '#core/time.ts';
import { AuthorizationBody, nextChargeOf, toAuthorizationResource } from '#features/authorizations/resource.ts';
import { entitlementKeyOf, readEntitlement } from '#features/entitlements/entitlement.ts';
import { MembershipBody, toMembershipResource } from '#features/memberships/resource.ts';
import type { Scope } from '#platform/context.ts';
import { customerKeyOf } from '#platform/db/search/customer.ts';
import { loadCustomerIds } from '#platform/db/search/customer-ids.ts';
import type { Membership } from '#platform/db/tables/memberships.ts';
import type { Product } from '#platform/db/tables/products.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import { EntitlementUuid, given, MembershipUuid, orNull, PaidThrough, ProductUuid, Timestamp } from '#platform/http/openapi.ts';
import type { Customer, EntitlementSnapshot } from '#rules/balance.ts';
import { CustomerUuid } from './resource.ts';
import { listHeldAuthorizations, listHeldProducts, loadHoldings } from './state.store.ts';
import { findCustomerRow, isKnownCustomer, listKeysOfEmail, loadSurvivors } from './store.ts';

export const STATE_PRODUCTS_MAX = 50;

const ProductStateBody = z
  .object({
    product_id: ProductUuid,
    external_product_id: z.string().optional(),
    name: z.string(),
    access: z.boolean().describe('True if consume would serve the customer.'),
    reason: z.enum(['expired', 'exhausted', 'revoked', 'cancelled']).optional(),
    paid_through: PaidThrough,
    units: orNull(z.object({ granted: z.int(), used: z.int(), remaining: z.int() })),
    grace_until: Timestamp.optional(),
    membership_id: MembershipUuid.optional(),
    entitlement_id: EntitlementUuid.optional(),
    subscription: z
      .object({
        authorization_id: z.string(),
        status: AuthorizationBody.shape.status,
        next_charge_at: Timestamp.optional(),
        amount: AuthorizationBody.shape.amount,
      })
      .optional(),
    delivery: z.object({ status: MembershipBody.shape.delivery.shape.status }).optional(),
  })
  .openapi('ProductState');
type ProductState = z.infer<typeof ProductStateBody>;

export const CustomerStateBody = z
  .object({
    customer_id: CustomerUuid,
    customer_ref: z.string().optional(),
    as_of: Timestamp,
    products: z.array(ProductStateBody),
    has_more: z.boolean(),
  })
  .openapi('CustomerState');

/** Customer of a merchant, with or without a row. */
export interface KnownCustomer {
  id: CustomerId;
  key: Customer;
}

/** Customer with a row, or its survivor. Throws 404. */
export async function getKnownCustomer(ctx: Scope, id: CustomerId): Promise<KnownCustomer> {
  const row = (await findCustomerRow(ctx, id)) ?? raise('not_found');
  return { id: row.id, key: customerKeyOf(row) };
}

/** Key of a customer with a row. Throws 404. */
export const getCustomerKey = async (ctx: Scope, id: CustomerId): Promise<Customer> => (await getKnownCustomer(ctx, id)).key;

interface Named {
  customer_ref?: string | undefined;
  wallet_address?: string | undefined;
  email?: string | undefined;
}

/**
 * Customer that a request names, also one that no fold has written yet. Throws 422 unless exactly one name is given, 404 for an
 * unknown customer, 409 state_conflict with `meta.customer_ids` for an address of several.
 */
export async function findNamedCustomer(
  ctx: Scope,
  { customer_ref: customerRef, wallet_address: walletAddress, email }: Named,
): Promise<KnownCustomer> {
  if ([customerRef, walletAddress, email].filter((name) => name !== undefined).length !== 1) {
    const problem = { loc: ['query'], msg: 'Expected exactly one of customer_ref, wallet_address and email', type: 'invalid_reference' };
    throw new ApiError('validation_error', { problems: [problem] });
  }
  if (email === undefined) {
    const key: Customer = customerRef === undefined ? { walletAddress: walletAddress! } : { customerRef };
    const [id] = await loadCustomerIds(ctx.db, ctx, [key]);
    const row = await findCustomerRow(ctx, id!);
    if (row) return { id: row.id, key: customerKeyOf(row) };
    return (await isKnownCustomer(ctx, key)) ? { id: id!, key } : raise('not_found');
  }
  const found = await loadSurvivors(ctx, await listKeysOfEmail(ctx, email.trim().toLowerCase()));
  if (found.size > 1) {
    const detail = 'Several customers have this email address. Name one by customer_ref or wallet_address.';
    throw new ApiError('state_conflict', { detail, meta: { customer_ids: [...found.keys()] } });
  }
  const [one] = found;
  return one ? { id: one[0], key: one[1] } : raise('not_found');
}

/** Product that a customer has, or had, with what the object of its entitlement says now. */
export interface HeldProduct {
  product: Product;
  balance: EntitlementSnapshot | null;
  membership: Membership | undefined;
  authorization: AuthorizationRow | undefined;
}

/**
 * Reads what a customer has, from the objects of the entitlements: at most `STATE_PRODUCTS_MAX`, with those first that are active by their
 * copies.
 */
export async function readHeldProducts(ctx: Scope, key: Customer): Promise<{ held: HeldProduct[]; hasMore: boolean }> {
  const holdings = await loadHoldings(ctx, key);
  const ids = [...holdings.products].sort(([, one], [, other]) => Number(other) - Number(one)).map(([id]) => id);
  const shown = ids.slice(0, STATE_PRODUCTS_MAX);
  const authorizationIds = shown.flatMap((id) => holdings.memberships.get(id)?.authorizationId ?? []);
  const [products, authorizations, balances] = await Promise.all([
    listHeldProducts(ctx, shown),
    listHeldAuthorizations(ctx, authorizationIds),
    Promise.all(shown.map((id) => readEntitlement(ctx, ctx, entitlementKeyOf(ctx, id, key).entitlementId))),
  ]);
  const held = shown.flatMap((id, i) => {
    const product = products.get(id);
    if (!product) return [];
    const membership = holdings.memberships.get(id);
    const authorization = membership?.authorizationId ? authorizations.get(membership.authorizationId) : undefined;
    return [{ product, balance: balances[i] ?? null, membership, authorization }];
  });
  return { held, hasMore: ids.length > shown.length };
}

/** Reads what a customer may use. */
export async function readCustomerState(ctx: Scope, { id, key }: KnownCustomer): Promise<z.infer<typeof CustomerStateBody>> {
  const { held, hasMore } = await readHeldProducts(ctx, key);
  const states = held.map(toProductState);
  return {
    customer_id: id,
    ...('customerRef' in key ? { customer_ref: key.customerRef } : {}),
    as_of: iso(ctx.now),
    products: states.sort((one, other) => Number(other.access) - Number(one.access)),
    has_more: hasMore,
  };
}

export function toProductState({ product, balance, membership, authorization }: HeldProduct): ProductState {
  const hasAccess = balance?.status === 'active';
  return {
    product_id: product.id,
    ...given('external_product_id', product.externalProductId),
    name: product.name,
    access: hasAccess,
    ...(hasAccess || !balance ? {} : { reason: reasonOf(balance, membership) }),
    paid_through: isoOrNull(balance?.paidThrough ?? null),
    units: unitsOf(product, balance),
    ...given('grace_until', isoOrNull(membership?.graceUntil ?? null)),
    ...given('membership_id', membership?.id ?? null),
    ...given('entitlement_id', balance?.entitlementId ?? null),
    ...(authorization ? { subscription: subscriptionOf(authorization) } : {}),
    ...(membership?.deliverTo ? { delivery: { status: toMembershipResource(membership).delivery.status } } : {}),
  };
}

/** Reason why a customer has no access. A subscription that was cancelled ends like any time, so its membership says so. */
const reasonOf = ({ status }: EntitlementSnapshot, membership: Membership | undefined): ProductState['reason'] =>
  status === 'active' || (status === 'expired' && membership?.subscriptionStatus === 'cancelled') ? 'cancelled' : status;

function unitsOf({ usageUnits }: Product, balance: EntitlementSnapshot | null): ProductState['units'] {
  if (!balance || balance.grantedUnits === null || balance.remaining === null) return null;
  if (usageUnits === null && balance.grantedUnits === 0) return null;
  return { granted: balance.grantedUnits, used: balance.usedUnits, remaining: balance.remaining };
}

function subscriptionOf(row: AuthorizationRow): NonNullable<ProductState['subscription']> {
  const { authorization_id, status, amount } = toAuthorizationResource(row);
  return { authorization_id, status, ...given('next_charge_at', isoOrNull(nextChargeOf(row))), amount };
}
