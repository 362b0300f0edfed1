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
    /** Access of this request, set by `protect` from `@paylatch/sdk/express`. */
    svc?: Access;
  }
}

/** Longest delay of a 500 answer for its refund, so that an immediate retry finds the unit free. */
const REFUND_WAIT_MS = 3_000;

/**
 * Returns Express middleware: later handlers run once per consumed or paid unit, with the access in `req.svc`. Refunds the use if the
 * answer is 500 or more, or the buyer disconnected before a handler began (later disconnects cost the unit).
 * With `metered`, sells per piece: `req.metered.send(pieces)`. Mount it on `/__402/session/deliveries` too, for clients' announcements.
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
      // The buyer disconnected during the check: no client would get the answer.
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

/** Adds headers last, after the handler's own. */
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
