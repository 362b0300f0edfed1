import { createMiddleware } from 'hono/factory';
import type { AppEnv } from './openapi.ts';

/** What is known of a request before the router has it. */
type Passed = Partial<Pick<AppEnv['Variables'], 'requestId' | 'told'>>;

const passed = new WeakMap<Request, Passed>();

/** A request whose body was read, as the router is to have it: with that body, and what is known of it. */
export function passOn(request: Request, body: ArrayBuffer, known: Passed): Request {
  const next = new Request(request, { body });
  passed.set(next, known);
  return next;
}

/** Stands first, because what comes after may put another request into the place of the one that was passed on. */
export const takeUp = createMiddleware<AppEnv>((c, next) => {
  const known = passed.get(c.req.raw);
  if (known?.requestId) c.set('requestId', known.requestId);
  if (known?.told) c.set('told', known.told);
  return next();
});
