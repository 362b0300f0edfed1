import type { Access } from './access.ts';
import { Gate, type ProtectOptions } from './protect.ts';
import type { WaitUntil } from './refunds.ts';
import { servedHeaders } from './served.ts';

export type { Access } from './access.ts';
export type { ProtectOptions } from './protect.ts';

/**
 * For servers of the form `(request) => response` (Workers, Deno, Bun, Next): wraps a handler, which runs once per unit used or
 * paid for and is told how it was paid. Further arguments (`env`, `ctx`) are passed on. The use is given back when the handler
 * throws, or answers 500 or more.
 */
export function protect<Rest extends unknown[]>(
  options: ProtectOptions<Request>,
  handler: (request: Request, access: Access, ...rest: Rest) => Response | Promise<Response>,
): (request: Request, ...rest: Rest) => Promise<Response> {
  const gate = new Gate<Request>(options);
  return async (request, ...rest) => {
    const waitUntil = waitUntilOf(rest);
    const incoming = { method: request.method, url: request.url, header: (name: string) => request.headers.get(name), waitUntil };
    const { refusal, access, paymentResponse } = await gate.admit(incoming, request);
    if (refusal) return Response.json(refusal.body, { status: refusal.status, headers: refusal.headers });
    try {
      const response = await handler(request, access, ...rest);
      if (response.status >= 500) await gate.refund(access, 'handler_failed', request, waitUntil);
      // A response that came from another fetch does not let its headers be changed.
      const served = new Response(response.body, response);
      for (const [name, value] of Object.entries(servedHeaders(served.headers, paymentResponse))) served.headers.set(name, value);
      return served;
    } catch (error) {
      await gate.refund(access, 'handler_failed', request, waitUntil);
      throw error;
    }
  };
}

/** The `ctx` of Workers, among what the handler is given. */
function waitUntilOf(rest: unknown[]): WaitUntil | undefined {
  const execution = rest.find((value): value is { waitUntil: WaitUntil } => {
    return typeof value === 'object' && value !== null && 'waitUntil' in value && typeof value.waitUntil === 'function';
  });
  return execution && ((work) => execution.waitUntil(work));
}
