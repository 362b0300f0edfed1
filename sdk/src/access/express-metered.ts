import type { Request as Incoming, Response as Outgoing, RequestHandler } from 'express';
import { type MeteredAccess, MeteredGate, type MeteredOptions, type Piece } from './metered.ts';

export interface ExpressMeteredAccess extends Omit<MeteredAccess, 'stream'> {
  /** Sends the pieces up to the reserved units. Resolves when all are sent or the buyer disconnected. */
  send(pieces: AsyncIterable<Piece> | Iterable<Piece>): Promise<void>;
}

declare module 'express-serve-static-core' {
  interface Request {
    /** Metered access of this answer, set by `protect` with `metered`. */
    metered?: ExpressMeteredAccess;
  }
}

/** Sells answers per piece. Answers every request without a buyer's open session itself. */
export function byThePiece(options: MeteredOptions): RequestHandler {
  const gate = new MeteredGate(options);
  return (req, res, next) => {
    const run = async () => {
      let admitted: MeteredAccess | null = null;
      const answer = await gate.answer(await toWebRequest(req), (access) => {
        admitted = access;
        return new Response(null);
      });
      if (admitted === null) return send(res, answer);
      const { stream, ...access } = admitted as MeteredAccess;
      answer.headers.forEach((value, name) => void res.setHeader(name, value));
      req.metered = { ...access, send: (pieces) => send(res, stream(pieces)) };
      next();
    };
    run().catch(next);
  };
}

/** Longer than any announcement that the gate reads. */
const BODY_MAX = 65_536;

async function toWebRequest(req: Incoming): Promise<Request> {
  const url = `${req.protocol}://${req.get('host') ?? 'localhost'}${req.originalUrl}`;
  const headers = new Headers();
  for (const [name, value] of Object.entries(req.headers)) if (value !== undefined) headers.set(name, String(value));
  const hasBody = req.method !== 'GET' && req.method !== 'HEAD';
  return new Request(url, { method: req.method, headers, body: hasBody ? await readBody(req) : null });
}

/** Returns the body from an earlier parser or the stream, truncated beyond the length of an announcement. */
async function readBody(req: Incoming): Promise<string> {
  if (req.body !== undefined) return typeof req.body === 'string' ? req.body : JSON.stringify(req.body);
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of req) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length > BODY_MAX) break;
  }
  return text;
}

async function send(res: Outgoing, answer: Response): Promise<void> {
  res.status(answer.status);
  answer.headers.forEach((value, name) => void res.setHeader(name, value));
  const reader = answer.body?.getReader();
  // Cancels the source of the pieces when the buyer disconnects.
  res.once('close', () => void reader?.cancel().catch(() => {}));
  for (let part = await reader?.read(); part && !part.done && !res.destroyed; part = await reader?.read())
    if (!res.write(part.value)) await drained(res);
  res.end();
}

const drained = (res: Outgoing): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      res.off('drain', done).off('close', done);
      resolve();
    };
    res.once('drain', done).once('close', done);
  });
