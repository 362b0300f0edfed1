import { createMiddleware } from 'hono/factory';
import { randomBase62 } from '#core/encoding.ts';
import { VERSION } from '#core/version.ts';
import { wallTime } from '#platform/context.ts';
import type { AppEnv } from './openapi.ts';

export function requestIdOf(headers: Headers): string {
  const given = headers.get('X-Svc-Request-Id') ?? headers.get('X-Request-Id') ?? '';
  return /^[\w-]{8,64}$/.test(given) ? given : `req_${randomBase62(20)}`;
}

export const answerHeaders = (requestId: string) => ({
  Date: wallTime().toUTCString(),
  'X-Svc-Request-Id': requestId,
  'X-Request-Id': requestId,
  'X-Svc-Api-Version': VERSION,
  'X-Content-Type-Options': 'nosniff',
});

/** Answers may contain tokens, keys and webhook secrets, so no cache may store them unless a route opts in. */
export const NO_STORE = { 'Cache-Control': 'no-store' };

export const nameRequest = createMiddleware<AppEnv>(async (c, next) => {
  const requestId = (c.var.requestId as string | undefined) ?? requestIdOf(c.req.raw.headers);
  c.set('requestId', requestId);
  await next();
  const { headers } = c.res;
  for (const [name, value] of Object.entries(answerHeaders(requestId))) headers.set(name, value);
  for (const [name, value] of Object.entries(NO_STORE)) if (!headers.has(name)) headers.set(name, value);
});
