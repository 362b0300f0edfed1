import { recordResponse } from '../responses/responses.ts';
import type { Access } from './access.ts';
import { type MeteredAccess, MeteredGate, type MeteredOptions } from './metered.ts';
import { CLIENT_CLOSED, Gate, type ProtectOptions } from './protect.ts';
import type { WaitUntil } from './refunds.ts';
import { servedHeaders } from './served.ts';

type Handler<R, A, Rest extends unknown[]> = (request: R, access: A, ...rest: Rest) => Response | Promise<Response>;
export type Wrapped<R, Rest extends unknown[]> = (request: R, ...rest: Rest) => Promise<Response>;

interface Platform<Rest> {
  waitUntil(rest: Rest): WaitUntil | undefined;
  /** Public URL of a request. Default: its own. */
  url?(request: Request): string;
}

/** Wraps a handler of web requests that is sold per use. */
export function perUse<R extends Request, Rest extends unknown[]>(
  options: ProtectOptions<R>,
  handler: Handler<R, Access, Rest>,
  platform: Platform<Rest>,
): Wrapped<R, Rest> {
  const gate = new Gate<R>(options);
  return async (request, ...rest) => {
    const waitUntil = platform.waitUntil(rest);
    const url = platform.url?.(request) ?? request.url;
    const { method, headers, signal } = request;
    const incoming = { method, url, header: (name: string) => headers.get(name), waitUntil };
    const { answer, access, paymentResponse, recording } = await gate.admit(incoming, request);
    if (answer) return new Response(answer.body, answer);
    if (signal?.aborted) {
      await gate.refund(access, 'buyer_disconnected', request, waitUntil);
      return new Response(null, { status: CLIENT_CLOSED });
    }
    try {
      const response = await handler(request, access, ...rest);
      const hasFailed = response.status >= 500;
      if (hasFailed) await gate.refund(access, 'handler_failed', request, waitUntil);
      // Headers of a fetched response are immutable.
      const served = new Response(response.body, response);
      for (const [name, value] of Object.entries(servedHeaders(served.headers, paymentResponse, hasFailed)))
        served.headers.set(name, value);
      return recording && !hasFailed ? await recordResponse(served, recording, waitUntil) : served;
    } catch (error) {
      await gate.refund(access, 'handler_failed', request, waitUntil);
      throw error;
    }
  };
}

/** Wraps a handler of web requests that is sold per piece. */
export function byThePiece<R extends Request, Rest extends unknown[]>(
  options: MeteredOptions,
  handler: Handler<R, MeteredAccess, Rest>,
): Wrapped<R, Rest> {
  const gate = new MeteredGate(options);
  return (request, ...rest) => gate.answer(request, (access) => handler(request, access, ...rest));
}

/** Finds the execution context among a handler's arguments: `ctx` of Workers, the event of a Next.js proxy. */
export function waitUntilIn(rest: unknown[]): WaitUntil | undefined {
  const execution = rest.find((value): value is { waitUntil: WaitUntil } => {
    return typeof value === 'object' && value !== null && 'waitUntil' in value && typeof value.waitUntil === 'function';
  });
  return execution && ((work) => execution.waitUntil(work));
}
