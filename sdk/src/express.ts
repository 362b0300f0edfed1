import type { NextFunction, Response as Reply, Request, RequestHandler } from 'express';
import type { Access, ReadyAnswer } from './access/access.ts';
import type { MeteredAccess, MeteredOptions, Piece } from './access/metered.ts';
import { newMeteredGate } from './access/node-metered.ts';
import { Gate, type ProtectOptions } from './access/protect.ts';
import { servedHeaders, withoutReceipt } from './access/served.ts';
import { recordReply } from './responses/responses.ts';

export type { Access } from './access/access.ts';
export type { Metered, MeteredOptions, Piece } from './access/metered.ts';
export type { ProtectOptions } from './access/protect.ts';

export interface ExpressMeteredAccess extends Omit<MeteredAccess, 'stream'> {
  /** Sends the pieces up to the reserved units. Resolves when all are sent or the buyer disconnected. */
  send(pieces: AsyncIterable<Piece> | Iterable<Piece>): Promise<void>;
}

declare module 'express-serve-static-core' {
  interface Request {
    /** Access of this request, set by `protect` from `@paylatch/sdk/express`. */
    svc?: Access;
    /** Metered access of this answer, set by `protect` with `metered`. */
    metered?: ExpressMeteredAccess;
  }
}

/**
 * Returns Express middleware: later handlers run once per consumed or paid unit, with the access in `req.svc`. Answers 402, 409 and 503 itself.
 * Refunds if a handler throws or the answer is 500 or more. The buyer's next request waits for the refund, the answer does not.
 * Sets `Cache-Control: private` first. A handler that sets `public` lets shared caches serve the paid answer for free: `onError` receives a warning.
 */
export function protect(options: ProtectOptions<Request>): RequestHandler;
/** Sells per piece: `req.metered.send(pieces)`. Mount it on `/__402/session/deliveries` too, for clients' announcements. */
export function protect(options: MeteredOptions): RequestHandler;
export function protect(options: ProtectOptions<Request> | MeteredOptions): RequestHandler {
  return options.metered ? byThePiece(options) : perUse(options);
}

const urlOf = (req: Request): string => `${req.protocol}://${req.get('host') ?? 'localhost'}${req.originalUrl}`;

function perUse(options: ProtectOptions<Request>): RequestHandler {
  const gate = new Gate<Request>(options);
  const run = async (req: Request, res: Reply, next: NextFunction) => {
    const incoming = { method: req.method, url: urlOf(req), header: (name: string) => req.get(name) };
    const { answer, access, paymentResponse, recording } = await gate.admit(incoming, req);
    if (answer) return reply(res, answer);
    // No client would get the handler's answer: the buyer disconnected during the check, or an earlier middleware answered.
    if (res.destroyed) return void gate.refund(access, 'buyer_disconnected', req);
    if (res.headersSent) return void gate.refund(access, 'already_answered', req);
    try {
      req.svc = access;
      res.set(servedHeaders({ get: (name) => res.getHeader(name)?.toString() ?? null }, paymentResponse));
      if (paymentResponse !== null) hideReceiptOfFailure(res, paymentResponse);
      if (recording) recordReply(res, recording);
      const refundFailure = () => {
        if (res.statusCode >= 500) void gate.refund(access, 'handler_failed', req);
        else gate.watchCaching(String(res.getHeader('Cache-Control') ?? ''), req);
      };
      // `prefinish` comes first: before the buyer has the answer, and also if the buyer disconnected.
      for (const event of ['prefinish', 'finish', 'close']) res.once(event, refundFailure);
      next();
    } catch (error) {
      void gate.refund(access, 'handler_failed', req);
      throw error;
    }
  };
  return (req, res, next) => {
    run(req, res, next).catch(next);
  };
}

function reply(res: Reply, { status, headers, body }: ReadyAnswer): void {
  if (res.headersSent || res.destroyed) return;
  res.status(status);
  if (typeof body === 'string') return void res.set(headers).send(body);
  // Express would change the type of a stored answer, or its bytes.
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  res.end(body ?? undefined);
}

/** Takes the receipt out of the headers of an answer that says that nothing was served. The hook ends with the headers. */
function hideReceiptOfFailure(res: Reply, paymentResponse: string): void {
  const { writeHead } = res;
  const hook = ((status: number, ...rest: never[]) => {
    if (res.writeHead === hook) Reflect.deleteProperty(res, 'writeHead');
    if (status >= 500) res.setHeader('PAYMENT-RESPONSE', withoutReceipt(paymentResponse));
    return writeHead.call(res, status, ...rest);
  }) as Reply['writeHead'];
  res.writeHead = hook;
}

/** Sells answers per piece. Answers every request without a buyer's open session itself. */
function byThePiece(options: MeteredOptions): RequestHandler {
  const admit = newMeteredGate(options);
  return (req, res, next) => {
    const run = async () => {
      const { method, headers: given, body } = req;
      const { answer, access, headers } = await admit({ method, url: urlOf(req), headers: given, body, stream: req });
      if (answer) return send(res, answer);
      const { stream, ...rest } = access;
      headers.forEach((value, name) => void res.setHeader(name, value));
      req.metered = { ...rest, send: (pieces) => send(res, stream(pieces)) };
      next();
    };
    run().catch(next);
  };
}

async function send(res: Reply, answer: Response): Promise<void> {
  res.status(answer.status);
  answer.headers.forEach((value, name) => void res.setHeader(name, value));
  const reader = answer.body?.getReader();
  // Cancels the source of the pieces when the buyer disconnects.
  res.once('close', () => void reader?.cancel().catch(() => {}));
  for (let part = await reader?.read(); part && !part.done && !res.destroyed; part = await reader?.read())
    if (!res.write(part.value)) await drained(res);
  res.end();
}

const drained = (res: Reply): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      res.off('drain', done).off('close', done);
      resolve();
    };
    res.once('drain', done).once('close', done);
  });
