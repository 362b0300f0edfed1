import type { Request, RequestHandler, Response } from 'express';
import type { Access } from './access/access.ts';
import { byThePiece } from './access/express-metered.ts';
import type { MeteredOptions } from './access/metered.ts';
import { present } from './access/present.ts';
import { Gate, type ProtectOptions } from './access/protect.ts';
import { servedHeaders, withPrivate } from './access/served.ts';

export type { Access } from './access/access.ts';
export type { ExpressMeteredAccess } from './access/express-metered.ts';
export type { Metered, MeteredOptions, Piece } from './access/metered.ts';
export type { ProtectOptions } from './access/protect.ts';

declare module 'express-serve-static-core' {
  interface Request {
    /** How this request was paid for; `protect` from `@svc/sdk/express` sets it. */
    svc?: Access;
  }
}

/** How long an answer of 500 waits for the refund, so that a buyer who repeats at once finds the unit free again. */
const REFUND_WAIT_MS = 3_000;

/**
 * Express middleware: the handlers behind it run once per unit used or paid for; they find how in `req.svc`. The use is given
 * back when the answer is 500 or more, whichever handler made it, and when the buyer was gone before any handler began. Once one has begun
 * the use stays used: a buyer could otherwise hang up while it works, as often as they like, and pay nothing.
 *
 * With `metered` the answer is sold by the piece, out of a payment channel that the buyer opens: `req.metered.send(pieces)` makes it. Put the
 * same middleware on `/__402/session/deliveries`, where buyers' clients announce what they are about to pay for.
 */
export function protect(options: ProtectOptions<Request> | MeteredOptions): RequestHandler {
  return 'metered' in options ? byThePiece(options) : perUse(options);
}

function perUse(options: ProtectOptions<Request>): RequestHandler {
  const gate = new Gate<Request>(options);
  return (req, res, next) => {
    const url = `${req.protocol}://${req.get('host') ?? 'localhost'}${req.originalUrl}`;
    void gate.admit({ method: req.method, url, header: (name) => req.get(name) }, req).then(({ refusal, access, paymentResponse }) => {
      if (refusal) {
        const { body, headers } = present(refusal, req.get('Accept'));
        if (!res.headersSent && !res.destroyed) res.status(refusal.status).set(headers).send(body);
        return;
      }
      req.svc = access;
      const refund = once(() => gate.refund(access, 'handler_failed', req));
      // The buyer hung up while we asked: the handler's answer would reach no client.
      if (res.destroyed) return void refund();
      markServed(res, paymentResponse);
      refundFailures(res, refund);
      next();
    });
  };
}

function once(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  return () => {
    running ??= work();
    return running;
  };
}

/** Adds our headers at the last moment, after whatever the handler set. */
function markServed(res: Response, paymentResponse: string | null): void {
  const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => Response;
  const present = { get: (name: string) => res.getHeader(name)?.toString() ?? null };
  const marked = (...args: unknown[]) => {
    if (!res.headersSent) for (const [name, value] of Object.entries(servedHeaders(present, paymentResponse))) res.setHeader(name, value);
    const given = args.at(-1);
    if (typeof given === 'object' && given !== null && !Array.isArray(given)) {
      for (const [name, value] of Object.entries(given)) {
        if (name.toLowerCase() === 'cache-control') Object.assign(given, { [name]: withPrivate(String(value)) });
      }
    }
    return writeHead(...args);
  };
  res.writeHead = marked as typeof res.writeHead;
}

function refundFailures(res: Response, refund: () => Promise<void>): void {
  const end = res.end.bind(res) as (...args: unknown[]) => Response;
  const delayed = (...args: unknown[]) => {
    res.end = end as typeof res.end;
    if (res.statusCode < 500) return end(...args);
    const patience = new Promise<void>((resolve) => setTimeout(resolve, REFUND_WAIT_MS).unref?.());
    void Promise.race([refund(), patience]).then(() => end(...args));
    return res;
  };
  res.end = delayed as typeof res.end;
  res.once('close', () => {
    if (res.statusCode >= 500) void refund();
  });
}
