import type { Context, MiddlewareHandler } from 'hono';
import type { Access } from './access/access.ts';
import { type MeteredAccess, MeteredGate, type MeteredOptions } from './access/metered.ts';
import { CLIENT_CLOSED, Gate, type ProtectOptions } from './access/protect.ts';
import type { WaitUntil } from './access/refunds.ts';
import { servedHeaders } from './access/served.ts';
import { recordResponse } from './responses/responses.ts';

export type { Access } from './access/access.ts';
export type { Metered, MeteredAccess, MeteredOptions, Piece } from './access/metered.ts';
export type { ProtectOptions } from './access/protect.ts';

/** Hono environment of `protect`: `new Hono<SvcEnv>()`, then `c.get('svc')` in handlers. */
export interface SvcEnv {
  Variables: { svc: Access };
}

/** Hono environment for metered answers: `c.get('svc').stream(pieces)`. */
export interface SvcMeteredEnv {
  Variables: { svc: MeteredAccess };
}

/**
 * Returns Hono middleware: later handlers run once per consumed or paid unit. Answers 402 for x402 clients without units. Refunds the use
 * if a handler throws or answers 500 or more.
 * With `metered`, sells per piece. Mount it on `/__402/session/deliveries` too, for clients' announcements.
 */
// biome-ignore lint/suspicious/noExplicitAny: fits into an app of any environment, as Hono's own middleware does.
export function protect(options: ProtectOptions<Context<any>> | MeteredOptions): MiddlewareHandler<any> {
  return options.metered ? byThePiece(options) : perUse(options);
}

// biome-ignore lint/suspicious/noExplicitAny: as above.
function byThePiece(options: MeteredOptions): MiddlewareHandler<any> {
  const gate = new MeteredGate(options);
  return async (c, next) => {
    const answer = await gate.answer(c.req.raw, async (access) => {
      c.set('svc', access);
      await next();
      return c.res;
    });
    replaceAnswer(c, answer);
  };
}

function replaceAnswer(c: Context, answer: Response): void {
  // Prevents Hono from copying the previous answer's headers over these.
  c.res = undefined;
  c.res = answer;
}

// biome-ignore lint/suspicious/noExplicitAny: as above.
function perUse(options: ProtectOptions<Context<any>>): MiddlewareHandler<any> {
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  const gate = new Gate<Context<any>>(options);
  return async (c, next) => {
    const waitUntil = waitUntilOf(c);
    const { signal } = c.req.raw;
    const incoming = { method: c.req.method, url: c.req.url, header: (name: string) => c.req.header(name), waitUntil };
    const { answer, access, paymentResponse, recording } = await gate.admit(incoming, c);
    if (answer) return new Response(answer.body, answer);
    if (signal?.aborted) {
      await gate.refund(access, 'buyer_disconnected', c, waitUntil);
      return new Response(null, { status: CLIENT_CLOSED });
    }
    try {
      c.set('svc', access);
      await next();
      if (hasFailed(c)) await gate.refund(access, 'handler_failed', c, waitUntil);
      for (const [name, value] of Object.entries(servedHeaders(c.res.headers, paymentResponse, hasFailed(c)))) c.header(name, value);
      if (recording && !hasFailed(c)) replaceAnswer(c, await recordResponse(c.res, recording, waitUntil));
    } catch (error) {
      await gate.refund(access, 'handler_failed', c, waitUntil);
      throw error;
    }
  };
}

/** Hono's context throws if the platform has no execution context. */
function waitUntilOf(c: Context): WaitUntil | undefined {
  try {
    const execution = c.executionCtx;
    return (work) => execution.waitUntil(work);
  } catch {
    return undefined;
  }
}

/** Hono turns thrown errors into answers. An intended refusal (`HTTPException` below 500) is not a failure. */
function hasFailed(c: Context): boolean {
  const isRefusal = c.error && 'getResponse' in c.error && c.res.status < 500;
  return c.res.status >= 500 || (c.error !== undefined && !isRefusal);
}
