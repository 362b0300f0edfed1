import { raise } from '#core/errors.ts';
import { DAY, iso } from '#core/time.ts';
import { FAVICON_PATH, ICON, ICON_HEADERS } from '#platform/http/icon.ts';
import { router } from '#platform/http/openapi.ts';
import { sendDocs } from './docs-page.tsx';
import { sendErrorList, sendErrorPage } from './error-pages.tsx';
import { sendFront } from './front.tsx';

/** Disallows receipts and account pages. Product pages are not disallowed, because they carry `noindex`. */
const robotsText = (): string =>
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

/** `/.well-known/security.txt` (RFC 9116): contact for vulnerabilities, valid for 180 days from the day of the request. */
function securityText(baseUrl: string, contact: string, now: number): string {
  const expires = iso(Math.floor(now / DAY) * DAY + GOOD_FOR);
  return [
    `Contact: ${contact}`,
    `Expires: ${expires}`,
    'Preferred-Languages: en',
    `Canonical: ${baseUrl}/.well-known/security.txt`,
    '',
  ].join('\n');
}

/** Site pages, robots.txt and icon. They are not operations of the API. */
export const siteRoutes = router();
siteRoutes.get('/', (c) => sendFront(c));
siteRoutes.get('/docs', (c) => sendDocs(c));
siteRoutes.get('/docs/errors', (c) => sendErrorList(c));
siteRoutes.get('/docs/errors/:code{[^.]+}', (c) => sendErrorPage(c, c.req.param('code')));
siteRoutes.get('/robots.txt', (c) => c.text(robotsText()));
siteRoutes.get(FAVICON_PATH, (c) => c.body(ICON, 200, ICON_HEADERS));

/** A missing variable answers 404 with reason `not_configured`, unlike a missing path. */
siteRoutes.get('/.well-known/security.txt', (c) => {
  const { baseUrl, config, wallNow } = c.var.ctx;
  if (config.OPERATOR_CONTACT !== undefined) return c.text(securityText(baseUrl, config.OPERATOR_CONTACT, wallNow));
  const detail = 'The operator of this deployment has named no contact.';
  return raise('not_found', { detail, meta: { reason: 'not_configured', missing: ['OPERATOR_CONTACT'] } });
});
