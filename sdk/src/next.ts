import type { Access } from './access/access.ts';
import type { MeteredAccess, MeteredOptions } from './access/metered.ts';
import type { ProtectOptions } from './access/protect.ts';
import type { WaitUntil } from './access/refunds.ts';
import { byThePiece, perUse, type Wrapped, waitUntilIn } from './access/web.ts';

export type { Access } from './access/access.ts';
export type { Metered, MeteredAccess, MeteredOptions, Piece } from './access/metered.ts';
export type { ProtectOptions } from './access/protect.ts';

type Handler<R, A, C> = (request: R, access: A, context: C) => Response | Promise<Response>;
/** Event of a proxy: Next.js passes its `NextFetchEvent`. */
type ProxyEvent = { waitUntil(work: Promise<unknown>): void };

/**
 * Wraps a route handler, as `export const GET = protect(options, (request, access, context) => response)`. It runs once per consumed or paid unit.
 * Answers 402 without a unit, 409 to a payment used before, and 503 if access cannot be checked.
 * Refunds if the handler throws or answers 500 or more. The answer waits for the refund.
 */
export function protect<R extends Request, C>(options: ProtectOptions<R>, handler: Handler<R, Access, C>): Wrapped<R, [context: C]>;
/** Sells per piece: return `access.stream(pieces)`. Export it as POST of `app/%5F_402/session/deliveries/route.ts` too, for announcements. */
export function protect<R extends Request, C>(options: MeteredOptions, handler: Handler<R, MeteredAccess, C>): Wrapped<R, [context: C]>;
export function protect<R extends Request, C>(
  options: ProtectOptions<R> | MeteredOptions,
  handler: Handler<R, Access, C> | Handler<R, MeteredAccess, C>,
): Wrapped<R, [context: C]> {
  if (options.metered) return byThePiece(options, handler as Handler<R, MeteredAccess, C>);
  return perUse<R, [context: C]>(options, handler as Handler<R, Access, C>, { waitUntil: platformWaitUntil, url: publicUrl });
}

/** A proxy sees no answer that it could store. */
export type ProxyOptions<R> = Omit<ProtectOptions<R>, 'responses'> & { responses?: never };

/**
 * Guards pages and rewritten routes in `proxy.ts` (`middleware.ts` before Next.js 16). `proceed` returns `NextResponse.next()` or a rewrite.
 * A proxy cannot see how the page ended, so a page that fails is not refunded: sell what may fail by a route handler with `protect`.
 * Links to guarded pages need `prefetch={false}`, because a prefetch uses a unit like any request.
 */
export function protectProxy<R extends Request, E extends ProxyEvent = ProxyEvent>(
  options: ProxyOptions<R>,
  proceed: (request: R, access: Access, event: E) => Response | Promise<Response>,
): Wrapped<R, [event: E]> {
  const { responses: _, ...own } = options as ProtectOptions<R>;
  return perUse<R, [event: E]>(own, proceed, { waitUntil: waitUntilIn, url: publicUrl });
}

interface RequestContext {
  get(): { waitUntil?: WaitUntil } | undefined;
}

/** Reads what serverless platforms provide for `after` of Next.js. Undefined on servers that run on. */
function platformWaitUntil(): WaitUntil | undefined {
  const context = (globalThis as { [key: symbol]: RequestContext | undefined })[Symbol.for('@next/request-context')];
  return context?.get()?.waitUntil;
}

/** Returns the URL that the buyer requested. The request of a self-hosted server has `localhost` as its host. */
function publicUrl({ url, headers }: Request): string {
  const requested = new URL(url);
  // Each proxy on the way may add its own value.
  const first = (name: string) => headers.get(name)?.split(',')[0];
  const host = first('X-Forwarded-Host') ?? first('Host');
  const protocol = first('X-Forwarded-Proto');
  if (protocol) requested.protocol = protocol;
  if (!host) return requested.href;
  requested.port = '';
  requested.host = host;
  return requested.href;
}
