import { createMiddleware } from 'hono/factory';
import type { AppEnv } from './openapi.ts';

type Passed = Partial<Pick<AppEnv['Variables'], 'requestId' | 'admitted'>>;

const passed = new WeakMap<Request, Passed>();

export function forwardToRouter(request: Request, body: ArrayBuffer, known: Passed): Request {
  const next = new Request(request, { body });
  passed.set(next, known);
  return next;
}

/** Must be the first middleware, because later ones may replace the request object. */
export const readForwarded = createMiddleware<AppEnv>((c, next) => {
  const known = passed.get(c.req.raw);
  if (known?.requestId) c.set('requestId', known.requestId);
  if (known?.admitted) c.set('admitted', known.admitted);
  return next();
});
