import { etag } from 'hono/etag';
import { ERRORS, raise } from '#core/errors.ts';
import { VERSION } from '#core/version.ts';
import { rootRouters, versionedRouters } from '#features/routers.ts';
import { withEntry } from '#platform/db/audit/record-answer.ts';
import { closeBodies } from '#platform/http/bodies/closed-bodies.ts';
import { markInner } from '#platform/http/forwarded.ts';
import { ICON, ICON_PATH, OPEN_ICON_HEADERS } from '#platform/http/icon.ts';
import { registerSecuritySchemes } from '#platform/http/security-schemes.ts';
import { AUDIT_ACTIONS } from '#rules/access/audit-actions.ts';
import { newApp } from './middleware.ts';
import { dashboardRoutes } from './pages/dashboard/routes.tsx';
import { devMailRoutes } from './pages/dev-mail.tsx';
import { devTelegramRoutes } from './pages/dev-telegram.tsx';
import { meRoutes } from './pages/me/routes.ts';
import { pageRoutes } from './pages/routes.tsx';
import { publishedLimits, x402Discovery } from './published/discovery.ts';
import { docsRoutes } from './published/docs.ts';
import { eventSchemaRoutes } from './published/event-schemas.ts';
import { eventTypeRoutes, registerEvents, withTypedEvents } from './published/event-types.routes.ts';
import { healthRoutes } from './published/health.ts';
import { llmsFullText, llmsText, operationPage } from './published/llms.ts';
import { metricsRoutes } from './published/metrics.ts';
import { generateDocument } from './published/reference/components.ts';
import { withReference } from './published/reference/describe.ts';
import { ofDeployment } from './published/reference/of-deployment.ts';
import { shareComponents } from './published/reference/shared-components.ts';
import { readGuides } from './published/site/guides/read-guides.ts';
import { guideRoutes } from './published/site/guides/routes.ts';
import { siteRoutes } from './published/site/routes.ts';
import { webhookTestRoutes } from './published/webhook-test.routes.ts';

/**
 * All routes, including those of `critical-routes.ts`, because the OpenAPI document describes every route and unknown paths are judged by
 * all.
 */
export const app = newApp((every) => {
  every.use((c, next) => {
    c.set('withEntry', withEntry);
    c.set('dispatch', async (request) => every.fetch(markInner(request), c.env, c.executionCtx));
    return next();
  });
  for (const routes of [...versionedRouters, eventTypeRoutes(openApiDocument), webhookTestRoutes]) every.route('/v1', routes);
  for (const routes of [
    ...rootRouters,
    eventSchemaRoutes(openApiDocument),
    siteRoutes,
    guideRoutes(openApiDocument),
    docsRoutes,
    healthRoutes,
    metricsRoutes,
    dashboardRoutes,
    meRoutes,
    pageRoutes,
    devMailRoutes,
    devTelegramRoutes,
  ])
    every.route('/', routes);
});

registerEvents(app);
registerSecuritySchemes(app);

const DESCRIPTION =
  'Sell access to a resource and be paid on Solana, straight to your wallet. Amounts are decimal strings, accompanied by their base units. ' +
  'Branch on `code` of an error, never on its text; every code is described under `x-error-codes`.';

const buildDocument = () => ({
  ...withReference(
    shareComponents(
      withTypedEvents(
        closeBodies(
          generateDocument(app.openAPIRegistry, {
            openapi: '3.1.0',
            info: { title: 'Merchant payments and access on Solana', version: VERSION, description: DESCRIPTION },
          }),
        ),
      ),
    ),
  ),
  'x-error-codes': ERRORS,
  'x-audit-actions': AUDIT_ACTIONS,
  'x-limits': publishedLimits(),
  'x-service-info': { categories: ['payments', 'access'], docs: { homepage: '/docs', apiReference: '/v1/docs', llms: '/llms.txt' } },
});

let document: ReturnType<typeof buildDocument> | null = null;
export function openApiDocument() {
  document ??= buildDocument();
  return document;
}
const PUBLIC_CACHE = { 'Cache-Control': 'public, max-age=300' };
app.use('/v1/openapi.json', etag());
app.get('/v1/openapi.json', (c) => {
  const { baseUrl, config } = c.var.ctx;
  const { OPERATOR_NAME: name, OPERATOR_URL: url, RPC_WEBHOOK_HEADER: chainHeader, network } = config;
  const operator = name && url ? { name, url } : null;
  const document = ofDeployment(openApiDocument(), { baseUrl, operator, usdcMint: network.usdcMint, chainHeader });
  return c.json(document, 200, PUBLIC_CACHE);
});
app.get('/.well-known/x402', (c) => c.json(x402Discovery(c.var.ctx, openApiDocument()), 200, PUBLIC_CACHE));
for (const [path, textOf] of [
  ['/llms.txt', llmsText],
  ['/llms-full.txt', llmsFullText],
] as const)
  app.get(path, async (c) => c.text(textOf(c.var.ctx.baseUrl, openApiDocument(), await readGuides(c.var.ctx)), 200, PUBLIC_CACHE));
app.get('/v1/docs/:operation{[A-Za-z0-9]+\\.md}', async (c) => {
  const { ctx } = c.var;
  const page = operationPage(ctx.baseUrl, openApiDocument(), c.req.param('operation').slice(0, -3), await readGuides(ctx));
  return c.body(page ?? raise('not_found'), 200, { ...PUBLIC_CACHE, 'Content-Type': 'text/markdown; charset=utf-8' });
});

app.get(ICON_PATH, (c) => c.body(ICON, 200, OPEN_ICON_HEADERS));
