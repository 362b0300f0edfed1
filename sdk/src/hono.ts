import type { Context, MiddlewareHandler } from 'hono';
import type { Access } from './access/access.ts';
import { type MeteredAccess, MeteredGate, type MeteredOptions } from './access/metered.ts';
import { present } from './access/present.ts';
import { Gate, type ProtectOptions } from './access/protect.ts';
import type { WaitUntil } from './access/refunds.ts';
import { servedHeaders } from './access/served.ts';

export type { Access } from './access/access.ts';
export type { Metered, MeteredAccess, MeteredOptions, Piece } from './access/metered.ts';
export type { ProtectOptions } from './access/protect.ts';

/** What `protect` adds to a Hono app: `new Hono<SvcEnv>()`, then `c.get('svc')` in handlers. */
export interface SvcEnv {
  Variables: { svc: Access };
}

/** The same for what is sold by the piece: `c.get('svc').stream(pieces)` makes the answer. */
export interface SvcMeteredEnv {
  Variables: { svc: MeteredAccess };
}

/**
 * Hono middleware: the handlers behind it run once per unit used or paid for. Buyers who hold nothing are answered 402 as x402
 * clients expect. The use is given back when a handler throws or answers 500 or more.
 *
 * With `metered` the answer is sold by the piece, out of a payment channel that the buyer opens. Put the same middleware on
 * `/__402/session/deliveries`, where buyers' clients announce what they are about to pay for.
 */
// biome-ignore lint/suspicious/noExplicitAny: fits into an app of any environment, as Hono's own middleware does.
export function protect(options: ProtectOptions<Context<any>> | MeteredOptions): MiddlewareHandler<any> {
  return 'metered' in options ? byThePiece(options) : perUse(options);
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
    // Hono would put the headers of the answer before it over ours.
    c.res = undefined;
    c.res = answer;
  };
}

// biome-ignore lint/suspicious/noExplicitAny: as above.
function perUse(options: ProtectOptions<Context<any>>): MiddlewareHandler<any> {
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  const gate = new Gate<Context<any>>(options);
  return async (c, next) => {
    const waitUntil = waitUntilOf(c);
    const incoming = { method: c.req.method, url: c.req.url, header: (name: string) => c.req.header(name), waitUntil };
    const { refusal, access, paymentResponse } = await gate.admit(incoming, c);
    if (refusal) {
      const { body, headers } = present(refusal, c.req.header('Accept'));
      return c.body(body, refusal.status, headers);
    }
    c.set('svc', access);
    try {
      await next();
    } catch (error) {
      await gate.refund(access, 'handler_failed', c, waitUntil);
      throw error;
    }
    if (hasFailed(c)) await gate.refund(access, 'handler_failed', c, waitUntil);
    for (const [name, value] of Object.entries(servedHeaders(c.res.headers, paymentResponse))) c.header(name, value);
  };
}

/** Hono's context throws where the platform has none. */
function waitUntilOf(c: Context): WaitUntil | undefined {
  try {
    const execution = c.executionCtx;
    return (work) => execution.waitUntil(work);
  } catch {
    return undefined;
  }
}

/** Hono turns what a handler throws into an answer; a refusal thrown on purpose (`HTTPException` below 500) is none of our failures. */
function hasFailed(c: Context): boolean {
  const isRefusal = c.error && 'getResponse' in c.error && c.res.status < 500;
  return c.res.status >= 500 || (c.error !== undefined && !isRefusal);
}
