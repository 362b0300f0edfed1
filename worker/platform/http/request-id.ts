import { createMiddleware } from 'hono/factory';
import { randomBase62 } from '#core/encoding.ts';
import { VERSION } from '#core/version.ts';
import { wallTime } from '#platform/context.ts';
import type { AppEnv } from './openapi.ts';

/** The caller's own name for a request, where that is one. */
export function requestIdOf(headers: Headers): string {
  const given = headers.get('X-Svc-Request-Id') ?? headers.get('X-Request-Id') ?? '';
  return /^[\w-]{8,64}$/.test(given) ? given : `req_${randomBase62(20)}`;
}

/** Headers of every answer: the time of the service, the request, and the release. */
export const answerHeaders = (requestId: string) => ({
  Date: wallTime().toUTCString(),
  'X-Svc-Request-Id': requestId,
  'X-Request-Id': requestId,
  'X-Svc-Api-Version': VERSION,
  'X-Content-Type-Options': 'nosniff',
});

/** Tokens, raw keys and secrets of webhooks are in answers: no cache on the way keeps any, unless a route says that its own may be kept. */
export const NOT_KEPT = { 'Cache-Control': 'no-store' };

/** Names the request, unless that was done before. */
export const nameRequest = createMiddleware<AppEnv>(async (c, next) => {
  const requestId = (c.var.requestId as string | undefined) ?? requestIdOf(c.req.raw.headers);
  c.set('requestId', requestId);
  await next();
  const { headers } = c.res;
  for (const [name, value] of Object.entries(answerHeaders(requestId))) headers.set(name, value);
  for (const [name, value] of Object.entries(NOT_KEPT)) if (!headers.has(name)) headers.set(name, value);
});
