import type { Access } from './access/access.ts';
import type { MeteredAccess, MeteredOptions } from './access/metered.ts';
import type { ProtectOptions } from './access/protect.ts';
import { byThePiece, perUse, type Wrapped, waitUntilIn } from './access/web.ts';
import { type DiscoveryOptions, documentOf } from './discovery.ts';

export type { Access } from './access/access.ts';
export type { Metered, MeteredAccess, MeteredOptions, Piece } from './access/metered.ts';
export type { ProtectOptions } from './access/protect.ts';
export type { DiscoveryOptions } from './discovery.ts';

type Handler<A, Rest extends unknown[]> = (request: Request, access: A, ...rest: Rest) => Response | Promise<Response>;
type AccessOf<O> = O extends MeteredOptions ? MeteredAccess : Access;

/**
 * Wraps a handler `(request, access, ...rest) => Response` (Workers, Deno, Bun), which runs once per consumed or paid unit. Passes `env` and `ctx` on.
 * Answers 402 without a unit, 409 to a payment used before, 503 if access cannot be checked. Refunds if the handler throws or answers 500 or more.
 * With `metered`, sells per piece: `access.stream(pieces)`. Route `/__402/session/deliveries` here too, for announcements.
 */
export function protect<O extends ProtectOptions<Request> | MeteredOptions, Rest extends unknown[]>(
  options: O,
  handler: Handler<AccessOf<O>, Rest>,
): Wrapped<Request, Rest> {
  if (options.metered) return byThePiece(options, handler as Handler<MeteredAccess, Rest>);
  return perUse(options, handler as Handler<Access, Rest>, { waitUntil: waitUntilIn });
}

/** Returns a handler of `GET /openapi.json`: the document of the shop's listed routes, asked for once in 60 seconds. */
export function discovery(options: DiscoveryOptions): () => Promise<Response> {
  const answer = documentOf(options);
  return async () => {
    const { body, ...rest } = await answer();
    return new Response(body, rest);
  };
}
