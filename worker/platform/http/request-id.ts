import { createMiddleware } from 'hono/factory';
import { randomBase62 } from '#core/encoding.ts';
import { VERSION } from '#core/version.ts';
import type { AppEnv } from './openapi.ts';

/** Every answer says which request it is of, by the caller's own name where that is one, and of which release. */
export const nameRequest = createMiddleware<AppEnv>(async (c, next) => {
  const given = c.req.header('X-Svc-Request-Id') ?? c.req.header('X-Request-Id') ?? '';
  const requestId = /^[\w-]{8,64}$/.test(given) ? given : `req_${randomBase62(20)}`;
  c.set('requestId', requestId);
  await next();
  c.res.headers.set('X-Svc-Request-Id', requestId);
  c.res.headers.set('X-Request-Id', requestId);
  c.res.headers.set('X-Svc-Api-Version', VERSION);
  c.res.headers.set('X-Content-Type-Options', 'nosniff');
  // Tokens, raw keys and secrets of webhooks are in answers: no cache on the way keeps any, unless a route says that its own may be kept.
  if (!c.res.headers.has('Cache-Control')) c.res.headers.set('Cache-Control', 'no-store');
});
