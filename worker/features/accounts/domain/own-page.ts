import { ApiError } from '#core/errors.ts';
import type { Scope } from '#platform/context.ts';
import { findVerifiedDomain } from './store.ts';

/** Verifies that a URL is of this service or of the merchant's verified domain. Throws 422 at the field. */
export async function requireOwnPage(ctx: Scope, field: string, url: string): Promise<string> {
  const { origin } = new URL(ctx.baseUrl);
  if (URL.canParse(url) && new URL(url).origin === origin) return new URL(url).href;
  const domain = await findVerifiedDomain(ctx.db, ctx.merchantId);
  if (domain !== null && URL.canParse(url) && new URL(url).origin === `https://${domain}`) return new URL(url).href;
  const others = domain === null ? ', or of your verified domain: PUT /v1/account/domain' : ` or https://${domain}`;
  const msg = `Expected a page of ${origin}${others}`;
  throw new ApiError('validation_error', { problems: [{ loc: ['body', field], msg, type: 'foreign_url' }] });
}
