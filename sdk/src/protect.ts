import type { Client } from './client.ts';
import { SvcError } from './errors.ts';
import { digestOf, isIdempotencyKey } from './keys.ts';
import { KeyLedger } from './ledger.ts';
import * as refuse from './refusals.ts';
import { type Answer, sleep } from './transport.ts';
import type { Consume, Consumption, Customer, ProductReference, SettledPayment, Settlement } from './types.ts';

type Resource = NonNullable<Consume['resource']>;

/** `R` is the framework's request: Hono's context, Express's request, a web `Request`. */
export interface ProtectOptions<R> {
  client: Client;
  /** What a request uses; a text is a product_id. */
  product: string | ProductReference;
  /** Units a request costs. Default 1. */
  units?: number | ((request: R) => number | Promise<number>);
  /** Who asks, where you know it (a signed-in user); null: a stranger, who pays per request. */
  customer?: (request: R) => Customer | null | Promise<Customer | null>;
  /** What the challenge says is sold. Default: the URL of the request, without its query. */
  resource?: Resource | ((request: R) => Resource);
  /**
   * A payment, or a request under the caller's own Idempotency-Key, that was served before. `refuse` (default) answers 409.
   * `serve` runs the handler again without another unit: only for handlers that give the same answer again.
   */
  onReplay?: 'refuse' | 'serve';
  /** Serve without consumption while the service does not answer. Default false: 503. */
  failOpen?: boolean;
  /** Told of every failure that the buyer is not to blame for, and of refunds that could not be made. */
  onError?: (error: unknown, request: R) => void;
}

/** What a handler may know about why it runs. */
export interface Access {
  /** null only when served by `failOpen`, or where the service names none. */
  consumptionId: string | null;
  entitlementId: string | null;
  units: number;
  /** Units left afterwards; null where use is not counted. */
  remaining: number | null;
  customer: Customer | null;
  /** The payment settled for this request, if one came with it. */
  payment: SettledPayment | null;
  /** Served before, and again by `onReplay: 'serve'`. */
  isReplay: boolean;
  isFailOpen: boolean;
}

/** The little a gate needs to see of a request. */
export interface Incoming {
  method: string;
  /** Absolute. */
  url: string;
  header(name: string): string | null | undefined;
}

export type Admission =
  | { access: Access; paymentResponse: string | null; refusal?: never }
  | { refusal: refuse.Refusal; access?: never; paymentResponse?: never };

interface Ask {
  product: ProductReference;
  units: number;
  customer: Customer | null;
  resource: Resource;
  /** What makes this request itself: the caller's key counts for it alone. */
  subject: string;
  callerKey: string | null;
}

/** A freed use is taken again under the next key; a handler that fails so often under one key will fail again. */
const GENERATIONS_MAX = 8;
const PENDING_WAIT_MAX_SECONDS = 5;
const RESOURCE_URL_MAX = 2_000;

const stranger = (): Customer => ({ customer_ref: `anon_${crypto.randomUUID()}` });
const isRefunded = (error: unknown) => error instanceof SvcError && error.code === 'state_conflict' && error.meta.reason === 'refunded';

/** Decides, per request, whether the handler may run; framework-free. Adapters ask `admit`, and `refund` when the handler failed. */
export class Gate<R> {
  readonly #options: ProtectOptions<R>;
  readonly #ledger = new KeyLedger();
  /** Made at the first payment: workerd has no randomness while a module loads. */
  #salt: string | null = null;

  constructor(options: ProtectOptions<R>) {
    this.#options = options;
  }

  /** Never throws: whatever is unclear is a refusal. */
  async admit(incoming: Incoming, request: R): Promise<Admission> {
    try {
      const ask = await this.#askOf(incoming, request);
      const payment = incoming.header('PAYMENT-SIGNATURE');
      return payment ? await this.#settle(ask, payment, request) : await this.#consume(ask);
    } catch (error) {
      const refusal = error instanceof SvcError ? refuse.toRefusal(error) : null;
      if (refusal && refusal.body.code !== 'setup_not_ready') return { refusal };
      this.#report(error, request);
      if (refusal) return { refusal };
      if (this.#options.failOpen && refuse.isOutage(error)) return { access: FAILED_OPEN, paymentResponse: null };
      return { refusal: refuse.unavailable(error) };
    }
  }

  /** The handler failed: gives the use back, as well as that can be done. Never throws. */
  async refund(access: Access, reason: string, request: R): Promise<void> {
    // A replay used nothing of its own; giving the first use back would make a served request free.
    if (access.isReplay || access.isFailOpen) return;
    try {
      const { consumptionId } = access;
      if (consumptionId === null) throw new Error('The handler failed, and the service named no consumption that could be refunded');
      await this.#options.client.entitlements.refund(
        { consumption_id: consumptionId, reason },
        { idempotencyKey: `refund-${consumptionId}` },
      );
    } catch (error) {
      this.#report(error, request);
    }
  }

  async #askOf(incoming: Incoming, request: R): Promise<Ask> {
    const { product, units: price = 1, customer: findCustomer, resource } = this.#options;
    const units = typeof price === 'function' ? await price(request) : price;
    if (!Number.isSafeInteger(units) || units < 1) throw new TypeError(`units must be a whole number from 1, not ${units}`);
    const { origin, pathname } = new URL(incoming.url);
    const callerKey = incoming.header('Idempotency-Key');
    return {
      product: typeof product === 'string' ? { product_id: product } : product,
      units,
      customer: (await findCustomer?.(request)) ?? null,
      resource: (typeof resource === 'function' ? resource(request) : resource) ?? { url: (origin + pathname).slice(0, RESOURCE_URL_MAX) },
      subject: `${incoming.method} ${incoming.url}`,
      callerKey: isIdempotencyKey(callerKey) ? callerKey : null,
    };
  }

  async #consume(ask: Ask): Promise<Admission> {
    const customer = ask.customer ?? stranger();
    const body: Consume = { ...ask.product, customer, units: ask.units, resource: ask.resource };
    const send = (idempotencyKey: string) => this.#options.client.entitlements.consume(body, { idempotencyKey });
    const { answer, isReplay } = await this.#underKey(ask, JSON.stringify(body), send);
    if (isReplay && this.#options.onReplay !== 'serve') return { refusal: refuse.requestReplayed() };
    return { access: { ...accessOf(answer), customer, payment: null, isReplay, isFailOpen: false }, paymentResponse: null };
  }

  async #settle(ask: Ask, payment: string, request: R): Promise<Admission> {
    const { product, customer, units } = ask;
    const body = { ...product, payment_signature: payment, consume_units: units, ...(customer ? { customer } : {}) };
    try {
      // Salted: another process that gets the same payment uses another key, and the service tells that one `duplicate`.
      this.#salt ??= crypto.randomUUID();
      const { answer, isReplay } = await this.#underKey(ask, this.#salt + JSON.stringify(body), (key) => this.#settleOnce(body, key));
      if (!answer.success) return { refusal: refuse.settlementPending(answer.retry_after, answer.tx_signature) };
      const isDuplicate = isReplay || answer.response.headers.get('X-Svc-Duplicate-Settlement') === 'true';
      if (isDuplicate && this.#options.onReplay !== 'serve') return { refusal: refuse.paymentReplayed() };
      if (answer.consumed_units < units) {
        const detail = `The payment was settled and ${answer.remaining} units are held, but this request uses ${units}.`;
        return this.#challenge(ask, 'entitlement_missing', detail, { 'PAYMENT-RESPONSE': answer.payment_response });
      }
      const access = { ...accessOf({ ...answer, units: answer.consumed_units }), payment: answer as SettledPayment, isFailOpen: false };
      return {
        access: { ...access, customer: customer ?? { wallet_address: answer.payer }, isReplay: isDuplicate },
        paymentResponse: answer.payment_response,
      };
    } catch (error) {
      // The payment does not even read as one: the buyer's to mend, so tell how to pay.
      const isUnreadable = error instanceof SvcError && (error.code === 'validation_error' || error.code === 'payment_mismatch');
      if (!isUnreadable || error.headers.has('PAYMENT-REQUIRED')) throw error;
      this.#report(error, request);
      return this.#challenge(ask, 'payment_mismatch', 'The payment was refused. Pay as the PAYMENT-REQUIRED header says.');
    }
  }

  /** Settles; while the outcome is open, asks once more under the same key, like the reference resource server. */
  async #settleOnce(body: Parameters<Client['x402']['settle']>[0], idempotencyKey: string): Promise<Answer<Settlement>> {
    const { settle } = this.#options.client.x402;
    const first = await settle(body, { idempotencyKey });
    if (first.success || first.retry_after > PENDING_WAIT_MAX_SECONDS) return first;
    await sleep(first.retry_after * 1000);
    return settle(body, { idempotencyKey });
  }

  /** A fresh 402: asks for somebody who can never have anything. */
  async #challenge(ask: Ask, code: string, detail: string, headers: Record<string, string> = {}): Promise<Admission> {
    const { product, units, resource } = ask;
    const denial = await this.#options.client.entitlements.consume({ ...product, customer: stranger(), units, resource }).then(
      () => null,
      (error: unknown) => error,
    );
    if (!(denial instanceof SvcError)) throw denial ?? new Error('A stranger was let in');
    const challenge = denial.headers.get('PAYMENT-REQUIRED');
    if (challenge === null) throw denial;
    return { refusal: refuse.paymentRequired(challenge, code, detail, headers) };
  }

  /**
   * One write under the key of this request: derived from the caller's own where that is usable, so that a repeated request
   * is seen to be one; else random. `isReplay`: an earlier request was already answered under it.
   */
  async #underKey<T extends object>({ subject, callerKey }: Ask, body: string, send: (key: string) => Promise<Answer<T>>) {
    const same = await digestOf(subject, body);
    for (let generation = 0; ; generation++) {
      const derived = callerKey === null ? null : await digestOf(same, callerKey, String(generation));
      const slot = derived ?? same;
      const resumed = this.#ledger.resume(slot);
      const key = resumed ?? derived ?? crypto.randomUUID();
      try {
        const answer = await send(key);
        if (answer.response.status === 202) this.#ledger.abandon(slot, key);
        const isMine = derived === null || !answer.replayed || answer.response.isAmbiguous || resumed !== null;
        const use = 'consumption_id' in answer ? String(answer.consumption_id) : key;
        const isReplay = answer.response.status !== 202 && !(isMine && this.#ledger.claim(use));
        return { answer, isReplay };
      } catch (error) {
        if (derived !== null && isRefunded(error) && generation < GENERATIONS_MAX) continue;
        const hasNoVerdict = error instanceof SvcError && error.isAmbiguous && error.retryable;
        if (hasNoVerdict && !this.#options.failOpen) this.#ledger.abandon(slot, key);
        throw error;
      }
    }
  }

  #report(error: unknown, request: R): void {
    try {
      this.#options.onError?.(error, request);
    } catch {
      // A broken hook must not decide who is served.
    }
  }
}

const accessOf = (use: Pick<Consumption, 'entitlement_id' | 'units' | 'remaining'> & { consumption_id?: string }) => ({
  consumptionId: use.consumption_id ?? null,
  entitlementId: use.entitlement_id,
  units: use.units,
  remaining: use.remaining,
});

const FAILED_OPEN: Access = {
  consumptionId: null,
  entitlementId: null,
  units: 0,
  remaining: null,
  customer: null,
  payment: null,
  isReplay: false,
  isFailOpen: true,
};
