import { ApiError } from '#core/errors.ts';
import type { MailId } from '#core/ids.ts';
import type { Locale } from '#core/locales.ts';
import { HOUR, MINUTE } from '#core/time.ts';
import { isLinkMac, linkMacs, useUp } from '#features/accounts/auth/emailed-links.ts';
import { addressKeysOf, planEmail, requireMail } from '#features/email/outbox.ts';
import type { Ctx } from '#platform/context.ts';
import { commit, unchanged } from '#platform/db/commit.ts';
import { globalOf, homeOf } from '#platform/db/directory.ts';
import { type StoreAnswer, withAnswer } from '#platform/db/once.ts';
import { buyersAddressOf } from '#rules/access/buyers.ts';
import { findLinkedAddress, listKnownSellers } from './store.ts';

const LIFE_MS = 30 * MINUTE;
const LINKS_AN_HOUR = 3;

const signed = (id: string, expiresAt: number) => ['buyer-link', id, expiresAt] as const;

/** Token of the emailed link. It names the email, so that no address is in a URL. */
export function buyerLinkToken(ctx: Ctx, { id, createdAt }: { id: string; createdAt: number }): string {
  const expiresAt = createdAt + LIFE_MS;
  return `${id}.${expiresAt.toString(36)}.${linkMacs(ctx, ...signed(id, expiresAt))[0]}`;
}

const TOKEN = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([1-9a-z][0-9a-z]{0,9})\.([\w-]{43})$/;

/** True if the link may be sent: it has not expired, and a purchase names the address. */
export const isBuyersLink = async (ctx: Ctx, { address, createdAt }: { address: string | null; createdAt: number }): Promise<boolean> =>
  address !== null && ctx.wallNow < createdAt + LIFE_MS && (await listKnownSellers(ctx, { kind: 'email', email: address })).length > 0;

/**
 * Emails a link to the purchases of an address. Whether a purchase names it is checked at send time: the same row is written for every
 * address, so the answer reveals nothing. Throws 503 mail_not_configured.
 */
export async function askBuyerLink(
  ctx: Ctx,
  { email, locale }: { email: string; locale?: Locale | undefined },
  storeAnswer: StoreAnswer<null>,
): Promise<null> {
  requireMail(ctx);
  const home = globalOf(ctx);
  const address = buyersAddressOf(email);
  const link = { template: 'buyer_link' as const, facts: {}, accountId: null, address, locale: locale ?? null };
  const counted = { templates: ['buyer_link' as const], addressKeys: addressKeysOf(ctx, address), since: ctx.wallNow - HOUR };
  const { writes } = planEmail(home, link, { counted, max: LINKS_AN_HOUR });
  return commit(home, await withAnswer({ ...unchanged(null), writes }, storeAnswer(null)));
}

/** Address that an emailed link proves, once. Throws 401 invalid_credentials for a used, expired or forged link. */
export async function redeemBuyerLink(ctx: Ctx, token: string): Promise<string> {
  const [, id = '', expiry = '', mac = ''] = TOKEN.exec(token) ?? [];
  const expiresAt = Number.parseInt(expiry, 36);
  const isOurs = id !== '' && isLinkMac(ctx, mac, ...signed(id, expiresAt));
  if (!isOurs || expiresAt <= ctx.wallNow) throw refusedLink(isOurs);
  const home = homeOf(ctx, id);
  const address = await findLinkedAddress(home.db, id as MailId);
  if (address === null || !(await useUp(ctx, `buyer-link:${id}`, expiresAt))) throw refusedLink(true);
  return address;
}

const refusedLink = (isOld: boolean): ApiError =>
  new ApiError('invalid_credentials', {
    detail: 'The link was used, has expired, or is not of this deployment. Request a new one at /me.',
    ...(isOld ? { meta: { reason: 'expired' } } : {}),
  });
