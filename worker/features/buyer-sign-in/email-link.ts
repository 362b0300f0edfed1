import { z } from 'zod';
import { seal, unseal } from '#core/crypto.ts';
import { ApiError } from '#core/errors.ts';
import type { Locale } from '#core/locales.ts';
import { HOUR, MINUTE } from '#core/time.ts';
import { spendLink } from '#features/accounts/auth/emailed-links.ts';
import { addressKeysOf, planEmail, requireMail } from '#features/email/outbox.ts';
import type { Ctx } from '#platform/context.ts';
import { commit, unchanged } from '#platform/db/commit.ts';
import { globalOf } from '#platform/db/directory.ts';
import { type StoreAnswer, withAnswer } from '#platform/db/once.ts';
import type { Mail } from '#platform/db/tables/mail.ts';
import { buyersAddressOf } from '#rules/access/buyers.ts';
import { listKnownSellers } from './store.ts';

const LIFE_MS = 30 * MINUTE;
const LINKS_AN_HOUR = 3;

const PURPOSE = 'buyer-link';
const Link = z.object({ id: z.uuid(), email: z.string(), until: z.int() });

/** Token of the emailed link. It is sealed, so that no address is in a URL. Made while sending and never stored. */
export const buyerLinkToken = (ctx: Ctx, { id, address, createdAt }: Pick<Mail, 'id' | 'address' | 'createdAt'>): Promise<string> =>
  seal(ctx.config.EMAIL_LINK_KEYS, PURPOSE, JSON.stringify({ id, email: address, until: createdAt + LIFE_MS }));

async function readLink(ctx: Ctx, token: string): Promise<z.infer<typeof Link> | null> {
  try {
    return Link.parse(JSON.parse(await unseal(ctx.config.EMAIL_LINK_KEYS, PURPOSE, token)));
  } catch {
    return null;
  }
}

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
  const link = await readLink(ctx, token);
  if (!link) throw refusedLink(false);
  if (link.until <= ctx.wallNow || !(await spendLink(ctx, `buyer-link:${link.id}`, link.until))) throw refusedLink(true);
  return link.email;
}

const refusedLink = (isOld: boolean): ApiError =>
  new ApiError('invalid_credentials', {
    detail: 'The link was used, has expired, or is not of this deployment. Request a new one at /me.',
    ...(isOld ? { meta: { reason: 'expired' } } : {}),
  });
