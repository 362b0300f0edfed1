import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { cors } from 'hono/cors';
import { createMiddleware } from 'hono/factory';
import { routePath } from 'hono/route';
import { ApiError } from '#core/errors.ts';
import { BODY_KB } from '#core/limits.ts';
import { authenticate } from '#features/accounts/auth/authenticate.ts';
import { CONSUME_ENDPOINT } from '#features/pay-per-request/plain-consume.ts';
import { newCtx } from '#platform/context.ts';
import { readJsonBody, refuseBody } from '#platform/http/bodies/request-body.ts';
import { requireComplete, requireConfiguration } from '#platform/http/configuration.ts';
import { readForwarded } from '#platform/http/forwarded.ts';
import { FAVICON_PATH, ICON_PATH } from '#platform/http/icon.ts';
import { onError } from '#platform/http/on-error.ts';
import { type AppEnv, router } from '#platform/http/openapi.ts';
import { isPublished, matcherOf } from '#platform/http/paths/route-patterns.ts';
import { unknownPath } from '#platform/http/paths/unknown-path.ts';
import { callerOrigin, hitCeiling, ipOf, requireCeilingLeft, underCeiling } from '#platform/http/rate-limit.ts';
import { nameRequest } from '#platform/http/request-id.ts';
import { deferring, isSampled, logRequest } from '#platform/log.ts';
import { nearHome } from '#platform/objects.ts';
import { announceEntries } from '#platform/queues/send-jobs.ts';
import { type Location, regionNear } from '#platform/variables/regions.ts';

const LONG_BODIES = /^\/v1\/(?:access\/agent-bootstrap\/[^/]+\/manifest|receipt\/[^/]+\/invoice-metadata)$/;
/** Pages with forms, which a browser posts. */
const FORMS = /^\/(?:login|invitation|dashboard|me)(?:\/|$)/;
const RAW_BODIES = /^\/v1\/(?:products\/webhook|billing\/webhooks|integrations\/mail\/webhooks)\//;

/** Reasons of refusals that the audit log of the account has. */
const RECORDED: unknown[] = ['role', 'scope', 'ip_not_allowed', 'step_up_required'];

/** Creates the context, writes the log line, and records the key's usage after the answer. */
const accompany = createMiddleware<AppEnv>(async (c, next) => {
  const { requestId } = c.var;
  const notes: string[] = [];
  const ctx = newCtx(c.env, {
    requestId,
    kind: 'request',
    origin: new URL(c.req.url).origin,
    caller: callerOrigin(c),
    callerRegion: regionNear((c.req.raw.cf ?? {}) as Location),
    defer: deferring(c.executionCtx, { request_id: requestId }),
    note: (reason) => notes.push(reason),
  });
  c.set('ctx', ctx);
  c.set('shard', ctx);
  c.set('caller', null);
  c.set('authenticate', authenticate);
  await next();
  announceEntries(ctx);
  const { status } = c.res;
  const endpoint = routePath(c, -1).replace(/:(\w+)/g, '{$1}');
  const { error } = c;
  if (error instanceof ApiError && RECORDED.includes(error.options.meta?.reason)) {
    // Loaded on first use, because refusals are rare.
    const record = import('#features/accounts/entries/refusals.ts');
    ctx.defer(record.then(({ recordRefusal }) => recordRefusal(ctx, c.var, error, `${c.req.method} ${endpoint}`)));
  }
  const { caller, key } = c.var;
  if (key) {
    const outcome = {
      keyId: key.keyId,
      at: ctx.wallNow,
      method: c.req.method,
      endpoint,
      status,
      requestId,
      units: c.var.unitsConsumed,
      ip: ipOf(c),
    };
    ctx.defer(c.env.ADMISSION.getByName(...nearHome(c.env, `account:${key.admissionId}`)).record(outcome));
  }
  const isRoutine = endpoint === CONSUME_ENDPOINT && status === 200 && notes.length === 0;
  if (isRoutine && !isSampled(requestId)) return;
  logRequest({
    request_id: requestId,
    method: c.req.method,
    endpoint,
    status,
    ms: ctx.elapsedMs(),
    ...(caller ? { account_id: caller.accountId, ...(caller.keyId ? { key_id: caller.keyId } : {}) } : {}),
    ...(c.var.errorCode ? { code: c.var.errorCode } : {}),
    ...(notes.length > 0 ? { notes } : {}),
  });
});

const limitTo = (kilobytes: number) =>
  bodyLimit({ maxSize: kilobytes * 1024, onError: () => Promise.reject(new ApiError('payload_too_large')) });
const [limitUsual, limitProvider, limitLong] = [limitTo(BODY_KB.usual), limitTo(BODY_KB.provider), limitTo(BODY_KB.long)];
const asItIs = async () => {};

/**
 * Accepts only JSON within the size limit, and never a private key. Throws 413 payload_too_large, 415 unsupported_media_type, 422
 * validation_error.
 */
async function readBody(c: Context<AppEnv>): Promise<void> {
  const limit = RAW_BODIES.test(c.req.path) ? limitProvider : LONG_BODIES.test(c.req.path) ? limitLong : limitUsual;
  await limit(c, asItIs);
  if (FORMS.test(c.req.path)) return;
  // HTTP/1.1 requests without a body may carry an empty stream.
  if (c.req.header('Content-Type') === undefined && (await c.req.arrayBuffer()).byteLength === 0) return;
  if (!/^application\/(?:[\w.+-]+\+)?json(?:;|$)/i.test((c.req.header('Content-Type') ?? '').trim()))
    throw new ApiError('unsupported_media_type');
  // Not searched for secrets, because a provider's list is long, signed and contains no secret of this service.
  if (RAW_BODIES.test(c.req.path)) await c.req.arrayBuffer();
  else await readJsonBody(c);
}

/** Reads the body if the route exists. The route throws a refusal only after authentication. */
const admitBody = ({ isRoute }: RouteTable) =>
  createMiddleware<AppEnv>(async (c, next) => {
    const hasBody = c.req.raw.body !== null && c.req.header('Content-Length') !== '0';
    if (!hasBody || ['GET', 'HEAD', 'OPTIONS'].includes(c.req.method) || !isRoute(c.req.method, c.req.path)) return next();
    const isRaw = RAW_BODIES.test(c.req.path);
    if (isRaw) requireCeilingLeft(c);
    try {
      await readBody(c);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // The caller is unauthenticated until the signature over the body is verified.
      if (isRaw) {
        await hitCeiling(c);
        throw error;
      }
      refuseBody(c, error);
    }
    return next();
  });

/**
 * A literal path takes precedence over templates: with another method, `entitlements/consume` is 405, and not the entitlement with that id.
 */
const preferLiterals = ({ listLiteralPaths }: RouteTable) =>
  createMiddleware<AppEnv>(async (c, next) => {
    const methods = listLiteralPaths().get(c.req.path);
    const method = c.req.method === 'HEAD' ? 'GET' : c.req.method;
    if (!methods || method === 'OPTIONS' || methods.has(method)) return next();
    throw new ApiError('method_not_allowed', { headers: { Allow: [...methods].join(', ') } });
  });

/** Paths called by buyers' browsers and wallets, from any origin and without credentials. */
const PUBLIC_PATHS = [
  '/v1/products/p/*',
  '/v1/pay/*',
  '/v1/payments/:payment_id{[0-9a-fA-F-]{36}}',
  '/v1/payments/:payment_id/transaction',
  '/v1/receipt/:receipt_id/public',
  '/v1/receipt/:receipt_id/verify',
  '/v1/access/x402/*',
  '/v1/access/agent-bootstrap/*',
  '/v1/access/metered-sessions/:session_id/authorize',
  '/v1/access/metered-sessions/:session_id/commits',
  '/v1/access/native-subscriptions/:authorization_id/cancel-intent',
  '/v1/access/native-subscriptions/:authorization_id/cancel-confirm',
  '/__402/*',
  '/.well-known/*',
  '/schemas/*',
  '/llms.txt',
  '/llms-full.txt',
];
const SYSTEM_PATHS = [
  '/',
  '/health',
  '/v1/health',
  '/docs/*',
  '/docs.md',
  '/v1/docs/*',
  '/v1/redoc',
  '/v1/openapi.json',
  '/v1/webhooks/event-types',
  '/.well-known/*',
  '/schemas/*',
  '/llms.txt',
  '/llms-full.txt',
  '/robots.txt',
  FAVICON_PATH,
  ICON_PATH,
];
const openToBrowsers = cors({
  origin: '*',
  allowMethods: ['GET', 'POST'],
  allowHeaders: [
    'Content-Type',
    'Authorization',
    'PAYMENT-SIGNATURE',
    'SIGN-IN-WITH-X',
    'Payment-Authorization',
    'Idempotency-Key',
    'X-Svc-Setup-Secret',
    'X-Svc-Identity-Session',
    'Access-Control-Expose-Headers',
  ],
  exposeHeaders: ['Date', 'PAYMENT-REQUIRED', 'PAYMENT-RESPONSE', 'WWW-Authenticate', 'Payment-Receipt', 'Retry-After', 'X-Svc-Request-Id'],
  maxAge: 86_400,
});

/** Paths of the specification that are not built, where a template of another route would match. */
const ABSENT_PATHS = ['/v1/webhooks/events/stream'];

type App = ReturnType<typeof router>;
type RouteTable = ReturnType<typeof newRouteTable>;

/** Route facts for middleware, computed on first use, when all routes are mounted. */
function newRouteTable(app: App) {
  const routesAt = matcherOf(() => app.routes);
  let known: Map<string, Set<string>> | null = null;
  return {
    listLiteralPaths: (): Map<string, Set<string>> => {
      if (known) return known;
      known = new Map();
      for (const { method, path } of app.routes.filter(isPublished))
        if (!/[:*{]/.test(path)) known.set(path, (known.get(path) ?? new Set<string>()).add(method));
      return known;
    },
    listPublishedPaths: (): string[] => [...new Set(app.routes.filter(isPublished).map(({ path }) => path))],
    isRoute: (called: string, path: string): boolean => routesAt(path).some(({ method }) => method === called),
    methodsOf: (path: string): string[] => [...new Set(routesAt(path).flatMap((route) => (isPublished(route) ? [route.method] : [])))],
  };
}

/** True for a person's browser: programs do not accept HTML, and the API answers JSON only. */
const isReader = (c: Context<AppEnv>): boolean =>
  c.req.method === 'GET' && (c.req.header('Accept') ?? '').includes('text/html') && !/^\/v1(?:\/|$)/.test(c.req.path);

/** Static page, because no page can be rendered without a configuration. */
const NOT_NOW =
  '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Not right now</title>' +
  '<h1>This page cannot be shown right now</h1><p>Nothing was lost. Load it again in a moment.</p></html>';

export function newApp(mount: (app: App) => void): App {
  const app = router();
  const table = newRouteTable(app);
  const refuseUnknown = async (c: Context<AppEnv>): Promise<Response> =>
    isReader(c)
      ? (await import('./pages/unknown-path.ts')).sendUnknownPath(c)
      : onError(unknownPath(c.req.path, table.listPublishedPaths()), c);
  app.use(readForwarded);
  app.use(nameRequest);
  app.use(requireConfiguration(async (env, options) => (await import('./published/health.ts')).unconfiguredHealth(env, options)));
  app.use(accompany);
  for (const path of PUBLIC_PATHS) app.use(path, openToBrowsers);
  for (const path of SYSTEM_PATHS) app.use(path, underCeiling);
  app.use(requireComplete);
  app.use(admitBody(table));
  app.use(preferLiterals(table));
  for (const path of ABSENT_PATHS) app.use(path, (c) => refuseUnknown(c));
  mount(app);
  app.onError((error, c) => {
    if (error instanceof ApiError && error.options.hidesPath) return refuseUnknown(c);
    const answer = onError(error, c);
    return c.var.errorCode === 'misconfigured' && isReader(c) ? c.html(NOT_NOW, 503) : answer;
  });
  app.notFound((c) => {
    const methods = table.methodsOf(c.req.path);
    if (methods.length === 0) return refuseUnknown(c);
    c.header('Allow', methods.join(', '));
    return onError(new ApiError('method_not_allowed'), c);
  });
  return app;
}
