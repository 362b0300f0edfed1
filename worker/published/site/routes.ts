import { raise } from '#core/errors.ts';
import { FAVICON_PATH, ICON, ICON_HEADERS } from '#platform/http/icon.ts';
import { router } from '#platform/http/openapi.ts';
import { sendDocs } from './docs-page.tsx';
import { sendErrorList, sendErrorPage } from './error-pages.tsx';
import { sendFront } from './front.tsx';
import { robotsText, securityText } from './plain-texts.ts';

/** What a person, a browser or a search engine finds here that knows only the name of the host; not operations of the API. */
export const siteRoutes = router();
siteRoutes.get('/', (c) => sendFront(c));
siteRoutes.get('/docs', (c) => sendDocs(c));
siteRoutes.get('/docs/errors', (c) => sendErrorList(c));
siteRoutes.get('/docs/errors/:code', (c) => sendErrorPage(c, c.req.param('code')));
siteRoutes.get('/robots.txt', (c) => c.text(robotsText()));
siteRoutes.get(FAVICON_PATH, (c) => c.body(ICON, 200, ICON_HEADERS));

/** A part of the site that is not there because its variable is not set is told apart from a path that does not exist. */
siteRoutes.get('/.well-known/security.txt', (c) => {
  const { baseUrl, config, wallNow } = c.var.ctx;
  if (config.OPERATOR_CONTACT !== undefined) return c.text(securityText(baseUrl, config.OPERATOR_CONTACT, wallNow));
  const detail = 'The operator of this deployment has named no contact.';
  return raise('not_found', { detail, meta: { reason: 'not_configured', missing: ['OPERATOR_CONTACT'] } });
});
