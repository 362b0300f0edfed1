import { bodyLimit } from 'hono/body-limit';
import { cors } from 'hono/cors';
import { createMiddleware } from 'hono/factory';
import { routePath } from 'hono/route';
import { ApiError, ERRORS } from '#core/errors.ts';
import { BODY_KB } from '#core/limits.ts';
import { VERSION } from '#core/version.ts';
import { authenticate } from '#features/accounts/auth/authenticate.ts';
import { rootRouters, versionedRouters } from '#features/routers.ts';
import { newCtx } from '#platform/context.ts';
import { closeBodies } from '#platform/http/bodies/closed-bodies.ts';
import { readJsonBody } from '#platform/http/bodies/request-body.ts';
import { requireConfiguration, requireWhole } from '#platform/http/configuration.ts';
import { ICON, ICON_HEADERS, ICON_PATH } from '#platform/http/icon.ts';
import { onError } from '#platform/http/on-error.ts';
import { type AppEnv, router } from '#platform/http/openapi.ts';
import { underCeiling } from '#platform/http/rate-limit.ts';
import { nameRequest } from '#platform/http/request-id.ts';
import { isPublished, matcherOf } from '#platform/http/route-patterns.ts';
import { registerSecuritySchemes, withSignatureHeader } from '#platform/http/security-schemes.ts';
import { deferring, logRequest } from '#platform/log.ts';
import { pageRoutes } from './pages/routes.tsx';
import { publishedLimits, withPaymentInfo, x402Discovery } from './published/discovery.ts';
import { docsRoutes } from './published/docs.ts';
import { eventTypeRoutes, registerEvents } from './published/event-types.routes.ts';
import { healthRoutes, unconfiguredHealth } from './published/health.ts';
import { llmsText } from './published/llms.ts';
import { metricsRoutes } from './published/metrics.ts';

/** Of these a body may be longer. */
const LONG_BODIES = /^\/v1\/(?:access\/agent-bootstrap\/[^/]+\/manifest|products\/webhook\/.*)$/;

/** Every request: a context, one log line, and after the answer the usage of the key that called. */
const accompany = createMiddleware<AppEnv>(async (c, next) => {
  const { requestId } = c.var;
  const notes: string[] = [];
  const ctx = newCtx(c.env, {
    requestId,
    kind: 'request',
    origin: new URL(c.req.url).origin,
    defer: deferring(c.executionCtx, { request_id: requestId }),
    note: (reason) => notes.push(reason),
  });
  c.set('ctx', ctx);
  c.set('shard', ctx);
  c.set('authenticate', authenticate);
  await next();
  const { status } = c.res;
  const endpoint = routePath(c, -1).replace(/:(\w+)/g, '{$1}');
  const actor = c.var.actor ?? c.var.viewer ?? null;
  const { key } = c.var;
  if (key) {
    const outcome = { keyId: key.keyId, at: ctx.wallNow, method: c.req.method, endpoint, status, requestId, units: c.var.unitsConsumed };
    ctx.defer(c.env.ADMISSION.getByName(`account:${key.admissionId}`).record(outcome));
  }
  logRequest({
    request_id: requestId,
    method: c.req.method,
    endpoint,
    status,
    ms: ctx.elapsedMs(),
    ...(actor ? { account_id: actor.accountId, ...(actor.keyId ? { key_id: actor.keyId } : {}) } : {}),
    ...(c.var.errorCode ? { code: c.var.errorCode } : {}),
    ...(notes.length > 0 ? { notes } : {}),
  });
});

/** Only JSON, and never a private key, where a route exists at all: refused before anything reads the body's meaning. */
const admitBody = createMiddleware<AppEnv>(async (c, next) => {
  const hasBody = c.req.raw.body !== null && c.req.header('Content-Length') !== '0';
  if (!hasBody || ['GET', 'HEAD', 'OPTIONS'].includes(c.req.method) || !isRoute(c.req.method, c.req.path)) return next();
  if (!/^application\/(?:[\w.+-]+\+)?json(?:;|$)/i.test((c.req.header('Content-Type') ?? '').trim()))
    throw new ApiError('unsupported_media_type');
  // Signatures of webhooks are over exact bytes; and a provider's list is long, signed, and holds nobody's secret of ours.
  if (c.req.path.startsWith('/v1/products/webhook/')) await c.req.arrayBuffer();
  else await readJsonBody(c);
  return next();
});

/**
 * A path that stands in the table as it is belongs to no template beside it: with another method, `entitlements/consume` is
 * 405, and not the entitlement of that id.
 */
const preferLiterals = createMiddleware<AppEnv>(async (c, next) => {
  const methods = listLiteralPaths().get(c.req.path);
  const method = c.req.method === 'HEAD' ? 'GET' : c.req.method;
  if (!methods || method === 'OPTIONS' || methods.has(method)) return next();
  throw new ApiError('method_not_allowed', { headers: { Allow: [...methods].join(', ') } });
});

/** What browsers and wallets of buyers call, from any origin and without credentials. */
const PUBLIC_PATHS = [
  '/v1/products/p/*',
  '/v1/pay/*',
  '/v1/payments/:payment_id',
  '/v1/payments/:payment_id/transaction',
  '/v1/receipt/:receipt_id/public',
  '/v1/receipt/:receipt_id/verify',
  '/v1/access/x402/*',
  '/v1/access/agent-bootstrap/*',
  '/.well-known/*',
  '/llms.txt',
];
const openToBrowsers = cors({
  origin: '*',
  allowMethods: ['GET', 'POST'],
  allowHeaders: [
    'Content-Type',
    'Authorization',
    'PAYMENT-SIGNATURE',
    'Idempotency-Key',
    'X-Svc-Setup-Secret',
    'X-Svc-Identity-Session',
    'Access-Control-Expose-Headers',
  ],
  exposeHeaders: ['PAYMENT-REQUIRED', 'PAYMENT-RESPONSE', 'WWW-Authenticate', 'Payment-Receipt', 'Retry-After', 'X-Svc-Request-Id'],
  maxAge: 86_400,
});

export const app = router();
app.use(nameRequest);
app.use(requireConfiguration(unconfiguredHealth));
app.use(accompany);
for (const path of PUBLIC_PATHS) app.use(path, openToBrowsers);
for (const path of ['/health', '/v1/health', '/v1/docs', '/v1/redoc', '/v1/openapi.json', '/.well-known/*', '/llms.txt', ICON_PATH])
  app.use(path, underCeiling);
app.use(requireWhole);
const [short, long] = [BODY_KB.usual, BODY_KB.long].map((kilobytes) =>
  bodyLimit({ maxSize: kilobytes * 1024, onError: () => Promise.reject(new ApiError('payload_too_large')) }),
);
app.use((c, next) => (LONG_BODIES.test(c.req.path) ? long! : short!)(c, next));
app.use(admitBody);
app.use(preferLiterals);

for (const routes of [...versionedRouters, eventTypeRoutes]) app.route('/v1', routes);
for (const routes of [...rootRouters, docsRoutes, healthRoutes, metricsRoutes, pageRoutes]) app.route('/', routes);

registerEvents(app);
registerSecuritySchemes(app);

const DESCRIPTION =
  'Sell access to a resource and be paid on Solana, straight to your wallet. Amounts are decimal strings with their atomic units beside them. ' +
  'Branch on `code` of an error, never on its text; every code is described under `x-error-codes`.';

/** Built once per isolate: the routes cannot change while it lives. */
let document: object | null = null;
export function openApiDocument(): object {
  document ??= {
    ...withPaymentInfo(
      closeBodies(
        app.getOpenAPI31Document({
          openapi: '3.1.0',
          info: { title: 'Merchant payments and access on Solana', version: VERSION, description: DESCRIPTION },
        }),
      ),
    ),
    'x-error-codes': ERRORS,
    'x-limits': publishedLimits(),
  };
  return document;
}
/** What is the same for all who ask. */
const KEEP = { 'Cache-Control': 'public, max-age=300' };
app.get('/v1/openapi.json', (c) => c.json(withSignatureHeader(openApiDocument(), c.var.ctx.config.RPC_WEBHOOK_HEADER), 200, KEEP));
/** For agents that look before they ask. */
app.get('/.well-known/x402', (c) => c.json(x402Discovery(c.var.ctx, openApiDocument()), 200, KEEP));
app.get('/llms.txt', (c) => c.text(llmsText(c.var.ctx.baseUrl, openApiDocument()), 200, KEEP));

app.get(ICON_PATH, (c) => c.body(ICON, 200, ICON_HEADERS));

app.onError(onError);
app.notFound((c) => {
  const methods = methodsOf(c.req.path);
  if (methods.length === 0) return onError(new ApiError('not_found'), c);
  c.header('Allow', methods.join(', '));
  return onError(new ApiError('method_not_allowed'), c);
});

/** Paths without a parameter, and the methods they answer. Built once per isolate, like the document. */
let known: Map<string, Set<string>> | null = null;
function listLiteralPaths(): Map<string, Set<string>> {
  if (known) return known;
  known = new Map();
  for (const { method, path } of app.routes.filter(isPublished))
    if (!/[:*{]/.test(path)) known.set(path, (known.get(path) ?? new Set<string>()).add(method));
  return known;
}

const routesAt = matcherOf(() => app.routes);
const isRoute = (called: string, path: string): boolean => routesAt(path).some(({ method }) => method === called);

/** The methods a path does answer; none where it does not exist, or its existence is a secret. */
const methodsOf = (path: string): string[] => [...new Set(routesAt(path).flatMap((route) => (isPublished(route) ? [route.method] : [])))];
