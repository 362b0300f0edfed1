import { z } from '@hono/zod-openapi';
import type { ProductId } from '#core/ids.ts';
import { isoOrNull } from '#core/time.ts';
import { AuthorizationBody, nextChargeOf, toAuthorizationResource } from '#features/authorizations/resource.ts';
import { manageUrlOf } from '#features/authorizations/steps.ts';
import { listOwnAuthorizations } from '#features/authorizations/store.ts';
import type { BuyerSession } from '#features/buyer-sign-in/token.ts';
import { listHeldProducts } from '#features/customers/state.store.ts';
import { getCustomerKey, type HeldProduct, readHeldProducts, toProductState } from '#features/customers/state.ts';
import { listKeysOfEmail } from '#features/customers/store.ts';
import { toMembershipResource } from '#features/memberships/resource.ts';
import type { Ctx, Scope } from '#platform/context.ts';
import type { Listed, PageRequest } from '#platform/db/page.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import { given, Livemode, MembershipUuid, orNull, PaidThrough, Timestamp } from '#platform/http/openapi.ts';
import type { Customer } from '#rules/balance.ts';
import { mergePages } from './merge-pages.ts';
import { MERGED_MAX, type Seller, SellerBody } from './sellers.ts';

export const AccessBody = z
  .object({
    product_name: z.string(),
    seller: SellerBody,
    access: z.boolean().describe('True if the buyer may use the product now.'),
    reason: z.enum(['expired', 'exhausted', 'revoked', 'cancelled']).optional(),
    paid_through: PaidThrough,
    units: orNull(z.object({ granted: z.int(), used: z.int(), remaining: z.int() })),
    delivery: z.object({ status: z.string(), invite_url: z.string().optional() }).optional(),
    membership_id: MembershipUuid.optional(),
    checkout_url: z.string().optional(),
    livemode: Livemode,
  })
  .openapi('BuyerAccess');

export const BuyerSubscriptionBody = z
  .object({
    authorization_id: z.string(),
    product_name: z.string(),
    seller: SellerBody,
    status: AuthorizationBody.shape.status,
    amount: AuthorizationBody.shape.amount,
    next_charge_at: Timestamp.optional(),
    paid_through: PaidThrough,
    page_url: z.string().describe('Page on which the wallet of the subscription cancels it.'),
    livemode: Livemode,
  })
  .openapi('BuyerSubscription');

/** Keys of the customers that a subject opens at one seller. `opens` narrows those of an email address. */
async function readKeys(scope: Scope, { subject }: BuyerSession): Promise<Customer[]> {
  if (subject.kind === 'wallet') return [{ walletAddress: subject.wallet_address }];
  if (subject.kind === 'customer') return [await getCustomerKey(scope, subject.customer_id)];
  return [...(await listKeysOfEmail(scope, subject.email)).values()];
}

const opens = ({ subject }: BuyerSession, { membership }: Pick<HeldProduct, 'membership'>): boolean =>
  subject.kind !== 'email' || membership?.email === subject.email;

/** Reads what the subject has at a seller. */
export async function readHeld(scope: Scope, session: BuyerSession): Promise<HeldProduct[]> {
  const found: HeldProduct[] = [];
  // Counts what is read: a merchant may have noted an address on many customers that it opens nothing of.
  let read = 0;
  for (const key of await readKeys(scope, session)) {
    if (read >= MERGED_MAX) break;
    const { held } = await readHeldProducts(scope, key);
    read += Math.max(1, held.length);
    found.push(...held.filter((one) => opens(session, one)));
  }
  return found;
}

export interface Held {
  seller: Seller;
  held: HeldProduct;
}

/** Lists what the subject may use, sellers in turn, what is usable first. Reads up to `MERGED_MAX` products. */
export async function listHeld(session: BuyerSession, sellers: readonly Seller[], page: PageRequest): Promise<Listed<Held>> {
  const all: Held[] = [];
  for (const seller of sellers) {
    if (all.length >= MERGED_MAX) break;
    all.push(...(await readHeld(seller.scope, session)).map((held) => ({ seller, held })));
  }
  const isUsable = ({ held: { balance } }: Held): number => Number(balance?.status === 'active');
  const sorted = all.sort((one, other) => isUsable(other) - isUsable(one));
  return { items: sorted.slice(page.offset, page.offset + page.perPage), total: all.length };
}

export function toAccessResource({ baseUrl }: Ctx, { seller, held }: Held): z.infer<typeof AccessBody> {
  const { access, reason, paid_through, units } = toProductState(held);
  const { product, membership } = held;
  const { delivery } = membership?.deliverTo ? toMembershipResource(membership, { isOwners: true }) : {};
  return {
    product_name: product.name,
    seller: seller.shown,
    access,
    ...given('reason', reason ?? null),
    paid_through,
    units,
    ...(delivery ? { delivery: { status: delivery.status, ...given('invite_url', delivery.invite_url ?? null) } } : {}),
    ...given('membership_id', membership?.id ?? null),
    ...(product.status === 'active' ? { checkout_url: `${baseUrl}/p/${product.slug}` } : {}),
    livemode: product.livemode,
  };
}

interface Subscribed {
  seller: Seller;
  row: AuthorizationRow;
  productName: string;
}

/** Subscriptions that began. A checkout that was left has none. */
async function readSubscriptions(scope: Scope, session: BuyerSession, page: PageRequest): Promise<Listed<AuthorizationRow>> {
  const { subject } = session;
  if (subject.kind === 'wallet') return listOwnAuthorizations(scope, { customer: { walletAddress: subject.wallet_address } }, page);
  if (subject.kind === 'customer')
    return listOwnAuthorizations(scope, { customer: await getCustomerKey(scope, subject.customer_id) }, page);
  const rows = (await readHeld(scope, session)).flatMap(({ authorization }) => authorization ?? []);
  return { items: rows.slice(page.offset, page.offset + page.perPage), total: rows.length };
}

export async function listSubscribed(session: BuyerSession, sellers: readonly Seller[], page: PageRequest): Promise<Listed<Subscribed>> {
  const found = await mergePages(sellers, page, {
    read: ({ scope }, part) => readSubscriptions(scope, session, part),
    timeOf: ({ createdAt }) => createdAt,
    present: (seller, row) => ({ seller, row }),
  });
  const begun = found.items.filter(({ row }) => row.startedAt !== null);
  const names = new Map<ProductId, string>();
  for (const { scope } of sellers) {
    const ids = begun.filter(({ row }) => row.merchantId === scope.merchantId).map(({ row }) => row.productId);
    if (ids.length > 0) for (const [id, product] of await listHeldProducts(scope, ids)) names.set(id, product.name);
  }
  return { items: begun.map((one) => ({ ...one, productName: names.get(one.row.productId) ?? '' })), total: found.total };
}

export function toSubscriptionResource({ baseUrl }: Ctx, { seller, row, productName }: Subscribed): z.infer<typeof BuyerSubscriptionBody> {
  const { authorization_id, status, amount, paid_through, livemode } = toAuthorizationResource(row);
  return {
    authorization_id,
    product_name: productName,
    seller: seller.shown,
    status,
    amount,
    ...given('next_charge_at', isoOrNull(nextChargeOf(row))),
    paid_through,
    page_url: manageUrlOf(baseUrl, authorization_id),
    livemode,
  };
}
