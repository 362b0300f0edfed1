import type { Access } from './access/access.ts';
import { type MeteredAccess, MeteredGate, type MeteredOptions } from './access/metered.ts';
import { present } from './access/present.ts';
import { Gate, type ProtectOptions } from './access/protect.ts';
import type { WaitUntil } from './access/refunds.ts';
import { servedHeaders } from './access/served.ts';

export type { Access } from './access/access.ts';
export type { Metered, MeteredAccess, MeteredOptions, Piece } from './access/metered.ts';
export type { ProtectOptions } from './access/protect.ts';

type Handler<A, Rest extends unknown[]> = (request: Request, access: A, ...rest: Rest) => Response | Promise<Response>;
type AccessOf<O> = O extends MeteredOptions ? MeteredAccess : Access;
type Wrapped<Rest extends unknown[]> = (request: Request, ...rest: Rest) => Promise<Response>;

/**
 * Wraps a handler `(request) => response` (Workers, Deno, Bun, Next), which runs once per consumed or paid unit with the access. Passes
 * `env`, `ctx` on. Refunds the use if the handler throws or answers 500 or more.
 * With `metered`, sells per piece: `access.stream(pieces)`. Route `/__402/session/deliveries` here too, for announcements.
 */
export function protect<O extends ProtectOptions<Request> | MeteredOptions, Rest extends unknown[]>(
  options: O,
  handler: Handler<AccessOf<O>, Rest>,
): Wrapped<Rest> {
  if (!('metered' in options)) return perUse(options, handler as Handler<Access, Rest>);
  const gate = new MeteredGate(options);
  return (request, ...rest) => gate.answer(request, (access) => handler(request, access as AccessOf<O>, ...rest));
}

function perUse<Rest extends unknown[]>(options: ProtectOptions<Request>, handler: Handler<Access, Rest>): Wrapped<Rest> {
  const gate = new Gate<Request>(options);
  return async (request, ...rest) => {
    const waitUntil = waitUntilOf(rest);
    const incoming = { method: request.method, url: request.url, header: (name: string) => request.headers.get(name), waitUntil };
    const { refusal, access, paymentResponse } = await gate.admit(incoming, request);
    if (refusal) {
      const { body, headers } = present(refusal, request.headers.get('Accept'));
      return new Response(body, { status: refusal.status, headers });
    }
    try {
      const response = await handler(request, access, ...rest);
      if (response.status >= 500) await gate.refund(access, 'handler_failed', request, waitUntil);
      // Headers of a fetched response are immutable.
      const served = new Response(response.body, response);
      for (const [name, value] of Object.entries(servedHeaders(served.headers, paymentResponse))) served.headers.set(name, value);
      return served;
    } catch (error) {
      await gate.refund(access, 'handler_failed', request, waitUntil);
      throw error;
    }
  };
}

function waitUntilOf(rest: unknown[]): WaitUntil | undefined {
  const execution = rest.find((value): value is { waitUntil: WaitUntil } => {
    return typeof value === 'object' && value !== null && 'waitUntil' in value && typeof value.waitUntil === 'function';
  });
  return execution && ((work) => execution.waitUntil(work));
}
