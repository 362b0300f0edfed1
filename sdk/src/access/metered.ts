import type { Client } from '../api/client.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { MeteredAnnouncement, MeteredSession, MeteringDirective } from '../generated/types.ts';
import { WHILE_BUYER_WAITS } from './access.ts';
import { refusalResponse } from './present.ts';
import { toRefusal, unavailable } from './refusals.ts';

export interface Metered {
  /** USDC per unit, as `0.000007`. */
  unitPrice: string;
  /** Maximum USDC that a buyer may lock up. */
  cap: string;
  /** Maximum units per answer. They are reserved before the first piece, and limit the loss to a buyer who never pays. */
  unitsMax: number;
  /** Idle seconds after which a session is closed. Default 3 600. */
  idleSeconds?: number;
}

export interface MeteredOptions {
  client: Client;
  product: string;
  metered: Metered;
  /**
   * Asked before an unpaid request begins a session: false answers 429 and asks the service nothing. Count by the caller's address
   * here where strangers may call.
   */
  admitUnpaid?: (request: Request) => boolean | Promise<boolean>;
  /** Receives every failure that the buyer did not cause. */
  onError?: (error: unknown, request: Request) => void;
}

/** Part of an answer with its cost in units. A string costs one. */
export type Piece = string | { data: string; units: number };

export interface MeteredAccess {
  session: MeteredSession;
  /** Units reserved for this answer: `unitsMax`, or what remains of the deposit. */
  units: number;
  /**
   * The answer as server-sent events, in the form of the public clients: `mpp.metering` with what is reserved, the pieces, `mpp.usage` with what
   * was used, `done`. Ends before the first piece that is not reserved any more.
   */
  stream(pieces: AsyncIterable<Piece> | Iterable<Piece>): Response;
}

/** Path on the resource's origin to which public clients announce deliveries. */
const ANNOUNCE_PATH = '/__402/session/deliveries';
const ANNOUNCEMENT_MAX = 8_192;
/** Time for a buyer to read an answer and pay for it. */
const RESERVED_SECONDS = 3_600;

interface Credential {
  sessionId: string;
  action: string;
}

const fromBase64Url = (text: string): unknown => {
  const bytes = Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (char) => char.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes));
};

/** Returns the session of a `Payment` credential, or null for other headers. Only the service can verify the credential. */
function readCredential(header: string | null): Credential | null {
  const [, token] = /^Payment ([\w-]+=*)$/i.exec(header ?? '') ?? [];
  if (token === undefined) return null;
  try {
    const { challenge, payload } = fromBase64Url(token) as { challenge: { request: string }; payload: { action: unknown } };
    const { externalId } = fromBase64Url(challenge.request) as { externalId: unknown };
    return typeof externalId === 'string' && /^ms_[0-9A-Z]{26}$/.test(externalId)
      ? { sessionId: externalId, action: String(payload.action) }
      : null;
  } catch {
    return null;
  }
}

type Money = Pick<MeteredSession['cap'], 'base_units'>;
const units = ({ base_units: text }: Money): bigint => BigInt(text);
const DECIMALS = 6;
const unitsIn = (amount: string): bigint => {
  const [integer = '', part = ''] = amount.split('.');
  return BigInt(integer + part.padEnd(DECIMALS, '0'));
};
const usdc = (amount: string) => ({ asset: 'USDC' as const, amount });
const NO_STORE = {
  'Cache-Control': 'private, no-store',
  'Access-Control-Expose-Headers': 'WWW-Authenticate, Payment-Receipt, Retry-After',
};
const refuse = (status: number, code: string, detail: string, headers: Record<string, string> = {}) =>
  Response.json({ code, detail }, { status, headers: { ...NO_STORE, ...headers } });

/** Framework-independent gate that sells answers per piece from a buyer's payment channel. */
export class MeteredGate {
  readonly #options: MeteredOptions;

  constructor(options: MeteredOptions) {
    this.#options = options;
  }

  /** Runs the handler for a buyer with an open session and answers all other requests itself. Throws only what the handler throws. */
  async answer(request: Request, handler: (access: MeteredAccess) => Response | Promise<Response>): Promise<Response> {
    let admitted: { access: MeteredAccess; receipt: string } | Response;
    try {
      admitted = await this.#admit(request);
    } catch (error) {
      const refusal = (error instanceof SvcError && toRefusal(error)) || null;
      this.#options.onError?.(error, request);
      const reported = refusal ?? unavailable(error);
      return refusalResponse(reported, request.headers.get('Accept'));
    }
    if (admitted instanceof Response) return admitted;
    const served = await handler(admitted.access);
    const marked = new Response(served.body, served);
    for (const [name, value] of Object.entries({ ...NO_STORE, 'Payment-Receipt': admitted.receipt })) marked.headers.set(name, value);
    return marked;
  }

  async #admit(request: Request) {
    if (new URL(request.url).pathname === ANNOUNCE_PATH) return this.#announce(request);
    const header = request.headers.get('Authorization');
    const credential = readCredential(header);
    const session = credential && (await this.#find(credential));
    return session ? this.#open(request, session, { ...credential!, header: header! }) : this.#challenge(request);
  }

  /** Forwards a client's announcement to the service. */
  async #announce(request: Request): Promise<Response> {
    const text = await request.text();
    const body = text.length <= ANNOUNCEMENT_MAX ? parsed(text) : null;
    if (request.method !== 'POST' || body === null) return refuse(422, 'validation_error', 'An announcement is JSON, sent by POST.');
    return this.#forward(() => this.#options.client.meteredSessions.announce(body as MeteredAnnouncement, WHILE_BUYER_WAITS), 201);
  }

  /**
   * Its own session for this resource. Null for any other, as one of a cheaper product. What is served has this resource's price, while a
   * session that was begun at another one can still be paid and closed.
   */
  async #find({ sessionId, action }: Credential): Promise<MeteredSession | null> {
    const { client, product, metered } = this.#options;
    try {
      const session = await client.meteredSessions.get(sessionId, WHILE_BUYER_WAITS);
      const { product_id, unit_price: price } = session;
      if (product_id !== product || price === undefined) return null;
      return action !== 'open' || units(price) === unitsIn(metered.unitPrice) ? session : null;
    } catch (error) {
      if (error instanceof SvcError && error.code === 'not_found') return null;
      throw error;
    }
  }

  /** Creates a session that this buyer may open. */
  async #challenge(request: Request): Promise<Response> {
    const { client, product, metered, admitUnpaid } = this.#options;
    if (admitUnpaid && !(await admitUnpaid(request)))
      return refuse(429, 'rate_limited', 'Too many requests without a payment. Try again in a minute.', { 'Retry-After': '60' });
    const { unitPrice, cap, idleSeconds } = metered;
    const idle = idleSeconds === undefined ? {} : { idle_timeout_seconds: idleSeconds };
    const body = { product_id: product, cap: usdc(cap), unit_price: usdc(unitPrice), ...idle };
    const made = await client.meteredSessions.create(body, WHILE_BUYER_WAITS);
    const detail = 'Open a payment session as WWW-Authenticate says, and repeat the request with its credential.';
    return refuse(402, 'payment_required', detail, { 'WWW-Authenticate': made.challenge!.header });
  }

  async #open(request: Request, session: MeteredSession, { action, sessionId, header }: Credential & { header: string }) {
    const { client } = this.#options;
    const answer = await this.#forward(() => client.meteredSessions.authorize(sessionId, header, WHILE_BUYER_WAITS), 200);
    if (answer.status === 410) return this.#challenge(request);
    // Credentials that pay, top up or close do not request the resource.
    if (!answer.ok || action !== 'open') return answer;
    const opened = (await answer.json()) as MeteredSession;
    const directive = await this.#reserve(opened, units(session.unit_price!));
    if (directive === null) return refuse(402, 'deposit_used_up', 'The deposit has nothing left: top the session up, or open a new one.');
    const access = accessOf(opened, directive, (error) => this.#options.onError?.(error, request));
    return { access, receipt: answer.headers.get('Payment-Receipt') ?? '' };
  }

  /** Reserves the units of one answer, or what remains. Null: nothing remains. */
  async #reserve({ session_id, deposit, cumulative, reserved }: MeteredSession, unitPrice: bigint): Promise<MeteringDirective | null> {
    const free = (units(deposit) - units(cumulative) - units(reserved)) / unitPrice;
    const most = BigInt(this.#options.metered.unitsMax);
    const wanted = Number(free < most ? free : most);
    if (wanted < 1) return null;
    try {
      const body = { units: wanted, expires_in: RESERVED_SECONDS };
      return await this.#options.client.meteredSessions.reserve(session_id, body, WHILE_BUYER_WAITS);
    } catch (error) {
      // A concurrent answer reserved the units.
      if (error instanceof SvcError && error.code === 'state_conflict') return null;
      throw error;
    }
  }

  /** Returns the service's answer to the buyer with the headers that clients read. */
  async #forward(call: () => Promise<object & { response: { headers: Headers } }>, status: number): Promise<Response> {
    try {
      const answer = await call();
      const receipt = answer.response.headers.get('Payment-Receipt');
      return Response.json(answer, { status, headers: { ...NO_STORE, ...(receipt === null ? {} : { 'Payment-Receipt': receipt }) } });
    } catch (error) {
      if (!(error instanceof SvcError) || error.status === 0 || error.status >= 500 || error.status === 401) throw error;
      const headers = ['WWW-Authenticate', 'Retry-After'].flatMap((name) => {
        const value = error.headers.get(name);
        return value === null ? [] : [[name, value] as const];
      });
      const body = { code: error.code, detail: error.message, meta: error.meta };
      return Response.json(body, { status: error.status, headers: { ...NO_STORE, ...Object.fromEntries(headers) } });
    }
  }
}

function parsed(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : null;
  } catch {
    return null;
  }
}

function accessOf(session: MeteredSession, directive: MeteringDirective, report: (error: unknown) => void): MeteredAccess {
  const unitPrice = units(session.unit_price!);
  const reserved = Number(BigInt(directive.amount) / unitPrice);
  const stream: MeteredAccess['stream'] = (pieces) => {
    const events = meteredEvents(pieces, { directive, unitPrice, reserved, report });
    const encoder = new TextEncoder();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await events.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
      cancel: async () => void (await events.return(undefined)),
    });
    return new Response(body, { headers: { 'Content-Type': 'text/event-stream; charset=utf-8' } });
  };
  return { session, units: reserved, stream };
}

const event = (name: string | null, data: string): string =>
  `${name === null ? '' : `event: ${name}\n`}${data
    .split(/\r\n|[\r\n]/)
    .map((line) => `data: ${line}\n`)
    .join('')}\n`;

interface Metering {
  directive: MeteringDirective;
  unitPrice: bigint;
  reserved: number;
  report: (error: unknown) => void;
}

/** Sends the usage even if the pieces break off, because the sent ones are paid for. */
async function* meteredEvents(
  pieces: AsyncIterable<Piece> | Iterable<Piece>,
  { directive, unitPrice, reserved, report }: Metering,
): AsyncGenerator<string, void, undefined> {
  yield event('mpp.metering', JSON.stringify(directive));
  let used = 0;
  try {
    for await (const piece of pieces) {
      const { data, units: cost } = typeof piece === 'string' ? { data: piece, units: 1 } : piece;
      if (!Number.isSafeInteger(cost) || cost < 1) throw new TypeError(`units must be a whole number from 1, not ${cost}`);
      if (used + cost > reserved) break;
      used += cost;
      yield event(null, data);
    }
  } catch (error) {
    report(error);
  }
  const usage = { amount: (BigInt(used) * unitPrice).toString(), deliveryId: directive.deliveryId };
  yield event('mpp.usage', JSON.stringify(usage));
  yield event('done', '[DONE]');
}
