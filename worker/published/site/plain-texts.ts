import { DAY, iso } from '#core/time.ts';

/** Pages of buyers and accounts are nothing to search for; what merchants link to is not followed by name. */
export const robotsText = (): string =>
  [
    'User-agent: *',
    'Allow: /v1/docs',
    'Allow: /v1/openapi.json',
    'Disallow: /v1/',
    'Disallow: /r/',
    'Disallow: /dashboard',
    'Disallow: /login',
    'Disallow: /sign',
    '',
  ].join('\n');

const GOOD_FOR = 180 * DAY;

/** `/.well-known/security.txt` (RFC 9116): where a fault is reported, good for half a year from the day it is read. */
export function securityText(baseUrl: string, contact: string, now: number): string {
  const expires = iso(Math.floor(now / DAY) * DAY + GOOD_FOR);
  return [
    `Contact: ${contact}`,
    `Expires: ${expires}`,
    'Preferred-Languages: en',
    `Canonical: ${baseUrl}/.well-known/security.txt`,
    '',
  ].join('\n');
}
