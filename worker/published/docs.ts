/**
 * Both API references, built from the published document. All their scripts are static assets of this Worker, and the CSP allows no other
 * origin.
 * @module
 */

import { router } from '#platform/http/openapi.ts';
import { DOCS_ASSETS } from './docs-assets.ts';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // Both references build their styles in the browser.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  // Redoc's search runs in a worker from a blob.
  'worker-src blob:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': POLICY,
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
};

const DOCUMENT = '/v1/openapi.json';

/** No external fonts, telemetry, assistant or vendor tools. */
const SCALAR = {
  url: DOCUMENT,
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  persistAuth: false,
};

const REDOC = {
  url: DOCUMENT,
  disableGoogleFont: true,
  nativeScrollbars: true,
  theme: { typography: { fontFamily: 'system-ui, sans-serif', headings: { fontFamily: 'system-ui, sans-serif' } } },
};

const page = (title: string, script: string, configuration: object): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>body { margin: 0 }</style>
</head>
<body>
<div id="reference"></div>
<noscript>The reference needs JavaScript. <a href="${DOCUMENT}">The document itself</a> does not.</noscript>
<script type="application/json" id="configuration">${JSON.stringify(configuration)}</script>
<script src="${script}"></script>
<script src="${DOCS_ASSETS.start}"></script>
</body>
</html>
`;

const scalarPage = page('API reference', DOCS_ASSETS.scalar, SCALAR);
const redocPage = page('API reference', DOCS_ASSETS.redoc, REDOC);

export const docsRoutes = router();
docsRoutes.get('/v1/docs', (c) => c.body(scalarPage, 200, HEADERS));
docsRoutes.get('/v1/redoc', (c) => c.body(redocPage, 200, HEADERS));
