import { digestText } from '../api/keys.ts';
import { abortable, within } from '../api/signals.ts';

/**
 * Stores answers to paid requests as text, for a buyer who lost one. A value is worth as much as the answer: only servers of this shop
 * may read it.
 */
export interface ResponseStore {
  get(key: string): string | null | undefined | Promise<string | null | undefined>;
  set(key: string, value: string, ttlSeconds: number): unknown;
}

const TTL_SECONDS = 600;
const IN_MEMORY_MAX = 1_000;
const IN_MEMORY_CHARS_MAX = 32 * 1024 ** 2;

/** Returns a store in the memory of this process: 1,000 answers or 32 MB for ten minutes. Several processes need a store that they share. */
export function memoryResponses(): ResponseStore {
  const stored = new Map<string, { value: string; until: number }>();
  let chars = 0;
  const remove = (key: string) => {
    chars -= stored.get(key)?.value.length ?? 0;
    stored.delete(key);
  };
  return {
    get(key) {
      const found = stored.get(key);
      if (found && found.until > Date.now()) return found.value;
      remove(key);
      return null;
    },
    set(key, value, ttlSeconds) {
      const now = Date.now();
      remove(key);
      stored.set(key, { value, until: now + ttlSeconds * 1000 });
      chars += value.length;
      for (const [oldest, { until }] of stored) {
        if (until > now && stored.size <= IN_MEMORY_MAX && chars <= IN_MEMORY_CHARS_MAX) break;
        remove(oldest);
      }
    },
  };
}

const PAYMENT_IDENTIFIER = 'payment-identifier';
const IDENTIFIER = /^[A-Za-z0-9_-]{16,128}$/;

/** True if the client named its payment, which says that it repeats the same one. */
function isIdentified(payment: string): boolean {
  try {
    const decoded = JSON.parse(new TextDecoder().decode(fromBase64(payment)));
    return IDENTIFIER.test(decoded.extensions[PAYMENT_IDENTIFIER].info.id);
  } catch {
    return false;
  }
}

/** Headers that are stored with an answer. */
const STORED_HEADERS = ['Content-Type', 'Location', 'Content-Disposition', 'Content-Security-Policy', 'X-Content-Type-Options'];

/** Answer as it was sent, without the headers of the moment. */
export interface StoredAnswer {
  status: number;
  headers: Record<string, string>;
  paymentResponse: string;
  body: Uint8Array<ArrayBuffer> | null;
}
/** JSON of a stored answer. The body is in base64. */
type StoredText = Omit<StoredAnswer, 'body'> & { body: string | null };

const WAIT_MS = 2_000;

interface PaidRequest {
  method: string;
  url: string;
  payment: string | null;
}

/** Stored answers to the paid requests of a protected route. A failure of the store is reported and never thrown. */
export class Responses {
  readonly #store: ResponseStore;
  readonly #report: (error: unknown) => void;

  constructor(store: ResponseStore, report: (error: unknown) => void) {
    this.#store = store;
    this.#report = report;
  }

  /**
   * Returns the key of a request with an identified payment, and null for all others. It covers the complete header of the payment, so that
   * the payment on the chain is not enough to read the answer.
   */
  async keyOf({ method, url, payment }: PaidRequest): Promise<string | null> {
    return payment !== null && isIdentified(payment) ? digestText(method, url, payment) : null;
  }

  async find(key: string): Promise<StoredAnswer | null> {
    try {
      const late = () => new Error(`No answer within ${WAIT_MS} ms`);
      const value = await abortable(async () => this.#store.get(key), { signals: [], timeoutMs: WAIT_MS, late });
      return typeof value === 'string' ? parseStored(value) : null;
    } catch (error) {
      this.#report(new Error('A stored answer could not be read', { cause: error }));
      return null;
    }
  }

  /** `close` is called once, when it is decided whether the answer is stored. */
  record(key: string, paymentResponse: string, close: () => void): Recording {
    const store = async ({ status, headers, body }: Complete) => {
      const value: StoredText = { status, headers, paymentResponse, body: body && toBase64(body) };
      try {
        await this.#store.set(key, JSON.stringify(value), TTL_SECONDS);
      } catch (error) {
        this.#report(new Error('An answer could not be stored', { cause: error }));
      }
    };
    return new Recording(store, close);
  }
}

function parseStored(value: string): StoredAnswer {
  const { status, headers, paymentResponse, body } = JSON.parse(value) as StoredText;
  if (!isStorable(status) || typeof paymentResponse !== 'string') throw new TypeError('The value is no stored answer');
  return { status, headers, paymentResponse, body: body === null ? null : fromBase64(body) };
}

const BODY_MAX = 256 * 1024;

/** True for a complete answer without an error. A part, or "not modified", answers one request only. */
const isStorable = (status: number): boolean => status >= 200 && status < 400 && status !== 206 && status !== 304;

interface Complete {
  status: number;
  headers: Record<string, string>;
  body: Uint8Array | null;
}

/** Copy of an answer, made while it is sent. Stored at its end unless it is an error, compressed, or longer than 256 KB. */
export class Recording {
  readonly #store: (answer: Complete) => Promise<void>;
  readonly #close: () => void;
  #chunks: Uint8Array[] | null = [];
  #length = 0;

  constructor(store: (answer: Complete) => Promise<void>, close: () => void) {
    this.#store = store;
    this.#close = close;
  }

  /** False once nothing more will be recorded. */
  get isOpen(): boolean {
    return this.#chunks !== null;
  }

  add(chunk: Uint8Array): void {
    if (this.#chunks === null) return;
    this.#length += chunk.length;
    if (this.#length > BODY_MAX) this.discard();
    // A copy, because servers use their buffers again: `slice` of a buffer of Node is none.
    else this.#chunks.push(new Uint8Array(chunk));
  }

  discard(): void {
    if (this.#chunks === null) return;
    this.#chunks = null;
    this.#close();
  }

  /** Stores the answer. A later call does nothing. */
  async end(status: number, headerOf: (name: string) => string | null): Promise<void> {
    const chunks = this.#chunks;
    if (chunks === null) return;
    if (!isStorable(status)) return this.discard();
    this.#chunks = null;
    const named = STORED_HEADERS.map((name) => [name, headerOf(name)]).filter(([, value]) => value !== null);
    const body = new Uint8Array(this.#length);
    let at = 0;
    for (const chunk of chunks) {
      body.set(chunk, at);
      at += chunk.length;
    }
    await this.#store({ status, headers: Object.fromEntries(named), body: this.#length === 0 ? null : body });
    this.#close();
  }
}

/**
 * Returns the answer to send, while its copy is read to the end even if the buyer disconnects. Waits for the store if the body is in memory:
 * a server may stop once it has answered.
 */
export async function recordResponse(
  response: Response,
  recording: Recording,
  waitUntil?: (work: Promise<unknown>) => void,
): Promise<Response> {
  const { status, headers, body } = response;
  if (!isStorable(status) || headers.has('Content-Encoding')) {
    recording.discard();
    return response;
  }
  const headerOf = (name: string) => headers.get(name);
  if (body === null) {
    await within(WAIT_MS, recording.end(status, headerOf));
    return response;
  }
  const [sent, copy] = body.tee();
  let isRead = false;
  const stored = readInto(recording, copy).then(() => {
    isRead = true;
    return recording.end(status, headerOf);
  });
  waitUntil?.(stored);
  await new Promise((resolve) => setTimeout(resolve, 0));
  if (isRead) await within(WAIT_MS, stored);
  return new Response(sent, response);
}

async function readInto(recording: Recording, body: ReadableStream<Uint8Array>): Promise<void> {
  const reader = body.getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      recording.add(part.value);
      // Otherwise the copy would hold in memory what the buyer has not read yet.
      if (!recording.isOpen) return await reader.cancel();
    }
  } catch {
    // The body broke off: the buyer's copy shows the error.
    recording.discard();
  }
}

/** Answer of a Node server. */
interface NodeReply {
  statusCode: number;
  destroyed: boolean;
  socket: { destroyed: boolean } | null;
  once(event: 'close', listener: () => void): unknown;
  // biome-ignore lint/suspicious/noExplicitAny: three overloads of Node, passed on as they come.
  write(...args: any[]): any;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  end(...args: any[]): any;
  getHeader(name: string): number | string | string[] | undefined;
}

/**
 * Records what a handler writes. After the buyer disconnected, only a body in one piece is certainly complete, because handlers then end
 * their streams.
 */
export function recordReply(reply: NodeReply, recording: Recording): void {
  const { write, end } = reply;
  const headerOf = (name: string) => reply.getHeader(name)?.toString() ?? null;
  let isFirst = true;
  const note = (chunk: unknown, encoding: unknown) => {
    // Compression that runs before `protect` compresses what this passes on, and names its encoding later.
    if (isFirst && headerOf('Content-Encoding') !== null) recording.discard();
    isFirst = false;
    if (chunk instanceof Uint8Array) recording.add(chunk);
    else if (typeof chunk !== 'string') return;
    else if (typeof encoding !== 'string' || /^utf-?8$/i.test(encoding)) recording.add(new TextEncoder().encode(chunk));
    else recording.discard();
  };
  const discardPart = () => {
    if (!isFirst && (reply.destroyed || reply.socket?.destroyed)) recording.discard();
  };
  reply.once('close', discardPart);
  reply.write = (...args) => {
    note(args[0], args[1]);
    discardPart();
    return write.apply(reply, args);
  };
  reply.end = (...args) => {
    discardPart();
    note(args[0], args[1]);
    const result = end.apply(reply, args);
    // After `prefinish`, in which a failure is refunded: the buyer's next request then waits for the refund.
    void recording.end(reply.statusCode, headerOf);
    return result;
  };
}

/** Arguments that one call may have. */
const ARGUMENTS_MAX = 8_192;

function toBase64(bytes: Uint8Array): string {
  const texts: string[] = [];
  for (let from = 0; from < bytes.length; from += ARGUMENTS_MAX)
    texts.push(String.fromCharCode(...bytes.subarray(from, from + ARGUMENTS_MAX)));
  return btoa(texts.join(''));
}

const fromBase64 = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
