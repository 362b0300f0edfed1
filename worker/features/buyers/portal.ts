import { z } from 'zod';
import { base64url, utf8 } from '#core/encoding.ts';
import { ApiError, raise } from '#core/errors.ts';
import { type AccountId, type CustomerId, newId, type PortalSessionId } from '#core/ids.ts';
import { LOCALE_NAMES, type Locale } from '#core/locales.ts';
import { MINUTE } from '#core/time.ts';
import { isLinkMac, linkMacs } from '#features/accounts/auth/emailed-links.ts';
import { requireOwnPage } from '#features/accounts/domain/own-page.ts';
import { findAccount } from '#features/accounts/store.ts';
import { isErasedSince } from '#features/buyer-sign-in/store.ts';
import { requireUnerased } from '#features/customers/customer.ts';
import { findNamedCustomer, getKnownCustomer, type KnownCustomer } from '#features/customers/state.ts';
import { findCustomerRow } from '#features/customers/store.ts';
import type { Ctx, Scope } from '#platform/context.ts';
import { commit } from '#platform/db/commit.ts';
import { homeOf } from '#platform/db/directory.ts';
import { type StoreAnswer, withAnswer } from '#platform/db/once.ts';
import { ensureCustomer } from '#platform/db/search/new-customer.ts';
import type { Customer } from '#rules/balance.ts';

const LIFE_MS = 10 * MINUTE;
export const PORTAL_FLOWS = ['cancel', 'receipts'] as const;
type PortalFlow = (typeof PORTAL_FLOWS)[number];

const Link = z.object({
  id: z.uuid(),
  account: z.uuid().transform((id) => id as AccountId),
  customer: z.uuid().transform((id) => id as CustomerId),
  livemode: z.boolean(),
  until: z.int(),
  back: z.string().optional(),
  locale: z.enum(LOCALE_NAMES).optional(),
  flow: z.enum(PORTAL_FLOWS).optional(),
});
export type PortalLink = z.infer<typeof Link>;

interface Opening {
  returnUrl?: string | undefined;
  locale?: Locale | undefined;
  flow?: PortalFlow | undefined;
}

export interface PortalSession {
  id: PortalSessionId;
  url: string;
  customerId: CustomerId;
  expiresAt: number;
}

/**
 * Makes a link by which the merchant's own signed-in user sees their purchases at this merchant, for ten minutes. Throws 404 for a customer
 * that the merchant does not know, 409 state_conflict for an erased one, 422 for a return URL of another site.
 */
export async function createPortalSession(
  ctx: Scope,
  named: Customer | CustomerId,
  { returnUrl, locale, flow }: Opening,
  storeAnswer: StoreAnswer<PortalSession>,
): Promise<PortalSession> {
  const back = returnUrl === undefined ? undefined : await requireOwnPage(ctx, 'return_url', returnUrl);
  const known = await findCustomer(ctx, named);
  const row = await findCustomerRow(ctx, known.id);
  if (row) requireUnerased(row);
  const { merchantId, livemode, wallNow } = ctx;
  const id = newId<PortalSessionId>(wallNow, merchantId);
  const expiresAt = wallNow + LIFE_MS;
  const link: PortalLink = { id, account: merchantId, customer: known.id, livemode, until: expiresAt, back, locale, flow };
  const made = { id, url: `${ctx.baseUrl}/me/enter?token=${sealLink(ctx, link)}`, customerId: known.id, expiresAt };
  // The link names the customer by its id, which the fold may not have written yet.
  return commit(ctx, await withAnswer({ events: [], writes: [ensureCustomer(ctx, known)], result: made }, storeAnswer(made)));
}

const findCustomer = (ctx: Scope, named: Customer | CustomerId): Promise<KnownCustomer> => {
  if (typeof named === 'string') return getKnownCustomer(ctx, named);
  return findNamedCustomer(ctx, 'customerRef' in named ? { customer_ref: named.customerRef } : { wallet_address: named.walletAddress });
};

const PURPOSE = 'portal-link';

function sealLink(ctx: Ctx, link: PortalLink): string {
  const payload = base64url.encode(utf8(JSON.stringify(link)));
  return `${payload}.${linkMacs(ctx, PURPOSE, payload)[0]}`;
}

/** Reads a portal link, which may be opened again in its time. Throws 404 for a forged one, 410 link_expired for an old one, an ended account or an erased customer. */
export async function openPortalLink(ctx: Ctx, token: string): Promise<PortalLink> {
  const [, payload = '', mac = ''] = /^([\w-]{1,4096})\.([\w-]{43})$/.exec(token) ?? [];
  if (payload === '' || !isLinkMac(ctx, mac, PURPOSE, payload)) raise('not_found');
  const link = Link.parse(JSON.parse(new TextDecoder().decode(base64url.decode(payload))));
  const home = homeOf(ctx, link.account);
  const account = await findAccount(home.db, link.account);
  const isClosed = account?.status !== 'active' || (await isErasedSince(home, link.customer, link.until - LIFE_MS));
  if (link.until <= ctx.wallNow || isClosed)
    throw new ApiError('link_expired', { detail: 'The link has expired. Open it again from the page of the seller.' });
  return link;
}
