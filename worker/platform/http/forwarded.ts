import { createMiddleware } from 'hono/factory';
import type { AppEnv } from './openapi.ts';

type Passed = Partial<Pick<AppEnv['Variables'], 'requestId' | 'admitted' | 'isInner'>>;

const passed = new WeakMap<Request, Passed>();

export function forwardToRouter(request: Request, body: ArrayBuffer, known: Passed): Request {
  const next = new Request(request, { body });
  passed.set(next, known);
  return next;
}

/** Marks a call that a page makes for the person who reads it: the page is counted, and its calls are not. */
export function markInner(request: Request): Request {
  passed.set(request, { isInner: true });
  return request;
}

/** Must be the first middleware, because later ones may replace the request object. */
export const readForwarded = createMiddleware<AppEnv>((c, next) => {
  const known = passed.get(c.req.raw);
  if (known?.requestId) c.set('requestId', known.requestId);
  if (known?.admitted) c.set('admitted', known.admitted);
  if (known?.isInner) c.set('isInner', known.isInner);
  return next();
});
