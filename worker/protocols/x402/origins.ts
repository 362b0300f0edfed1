/**
 * Origins of a merchant's shops, as the URL standard writes them. They alone decide the domain of what is signed or issued for a shop.
 * Pure. (https://url.spec.whatwg.org/#origin, RFC 6454 section 6.2)
 * @module
 */

import { err, ok, type Result } from '#core/errors.ts';

export const ORIGINS_MAX = 10;

type OriginProblem = 'not_an_origin' | 'https_required' | 'ip_address';

/** Scheme, host and an optional port. The URL standard drops some of what this refuses, such as `@`, tabs or an empty query. */
const WRITTEN = /^https?:\/\/[^\s/\\?#@]+$/i;
const LOCAL = /^http:\/\/(?:127\.0\.0\.1|localhost)(?::\d+)?$/;

/** Returns the origin in its standard form. `allowsLocal`: also plain http to this machine. */
export function parseOrigin(text: string, { allowsLocal }: { allowsLocal: boolean }): Result<string, OriginProblem> {
  if (!WRITTEN.test(text) || !URL.canParse(text)) return err('not_an_origin');
  const { origin, protocol, hostname } = new URL(text);
  if (allowsLocal && LOCAL.test(origin)) return ok(origin);
  if (protocol !== 'https:') return err('https_required');
  // The URL standard has already converted hexadecimal, octal and short forms of IPv4, and put IPv6 in brackets.
  return /^\[|^[0-9.]+$/.test(hostname) ? err('ip_address') : ok(origin);
}

const isWebUrl = (url: URL): boolean => url.protocol === 'https:' || url.protocol === 'http:';

/** True if the URL is on one of these origins. */
export const isOnOrigin = (url: string, origins: readonly string[]): boolean => URL.canParse(url) && origins.includes(new URL(url).origin);

/**
 * Returns the URL of a resource on the merchant's origins: a web URL of another origin moves to the first of them, without its query,
 * because the header Host of a request may have made it. Without origins, and for other schemes, the URL stays.
 */
export function moveToOrigin(url: string, origins: readonly string[]): string {
  const [first] = origins;
  if (first === undefined || !URL.canParse(url)) return url;
  const parsed = new URL(url);
  return !isWebUrl(parsed) || origins.includes(parsed.origin) ? url : first + parsed.pathname;
}
