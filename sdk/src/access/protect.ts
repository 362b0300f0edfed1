import type { Answer } from '../api/call.ts';
import type { Client } from '../api/client.ts';
import { UNDECIDED } from '../api/errors.ts';
import { digestText, isIdempotencyKey } from '../api/keys.ts';
import { sleep } from '../api/signals.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { ConsumeRequest, Customer, SettlePending, SettleResponse } from '../generated/types.ts';
import { type ResponseStore, Turns } from '../responses/turns.ts';
import { AbandonedWrites, type OwnWrite } from './abandoned-writes.ts';
import { type Access, type Admission, accessOf, FAILED_OPEN, type Incoming, type Verdict, WHILE_BUYER_WAITS } from './access.ts';
import { withMark, withoutMark } from './mark.ts';
import { present } from './present.ts';
import { RefundQueue, RefundsUnderWay, refundFailure, type WaitUntil } from './refunds.ts';
import * as refuse from './refusals.ts';
import { leftoversWarning, newReporter } from './report.ts';
import { offersSignIn, replayedAnswer, walletIn, withoutReceipt } from './served.ts';

export type ProductReference = { product_id: string } | { external_product_id: string };
type Resource = NonNullable<ConsumeRequest['resource']>;

/** `R` is the framework's request: Hono's context, Express's request, a web `Request`. */
export interface ProtectOptions<R> {
  client: Client;
  /** Product that a request uses. A string is a product_id. */
  product: string | ProductReference;
  /** Units per request. Default 1. */
  units?: number | ((request: R) => number | Promise<number>);
  /** Customer of the request if known (a signed-in user). Null: a stranger, who pays per request or signs in as a wallet that has paid. */
  customer?: (request: R) => Customer | null | Promise<Customer | null>;
  /** Resource named in the challenge. Default: the request's URL without its query. The request's method is added. */
  resource?: Resource | ((request: R) => Resource);
  /**
   * A payment, or a request under the caller's own Idempotency-Key, that was served before. `refuse` (default) answers 409.
   * `serve` runs the handler again without another unit: only for handlers that give the same answer again.
   */
  onReplay?: 'refuse' | 'serve';
  /**
   * Stores paid answers for ten minutes, so that a client that named its payment and lost the answer gets it again, instead of 409. Use
   * `memoryResponses()` with one process, and a store that all share with several.
   */
  responses?: ResponseStore;
  /** Serves without consumption during an outage: no connection, timeout, or 500 and more. Default false: answers 503. */
  failOpen?: boolean;
  /**
   * Receives every failure that is not the buyer's, refunds that could not be made, and a warning if buyers pay for more units than they
   * can use.
   */
  onError?: (error: unknown, request: R) => void;
  metered?: undefined;
}

interface Ask {
  product: ProductReference;
  units: number;
  customer: Customer | null;
  resource: Resource;
  /** Identity of this request. The caller's key applies to it alone. */
  subject: string;
  callerKey: string | null;
  payment: string | null;
  /** Value of SIGN-IN-WITH-X, by which a wallet uses what it has paid for. */
  signIn: string | null;
  /** Payment and customer, by which a retry finds a refunded unit again. */
  holders: string[];
}

interface Use {
  holders: string[];
  /** Lets the same request resume under its key. */
  resume: (() => void) | null;
  refund?: Promise<void>;
}

/**
 * Limit of key generations: a refunded use is consumed again under the next key. A handler that fails this often under one key will fail
 * again.
 */
const GENERATIONS_MAX = 8;
const PENDING_WAIT_MAX_SECONDS = 5;
const RESOURCE_URL_MAX = 2_000;
const METHODS = ['GET', 'HEAD', 'DELETE', 'POST', 'PUT', 'PATCH'] as const;

/** Status for a buyer who disconnected before the handler began, for logs. No client receives it. */
export const CLIENT_CLOSED = 499;

const stranger = (): Customer => ({ customer_ref: `anon_${crypto.randomUUID()}` });
const holderOf = (customer: Customer): string => JSON.stringify(customer);
const isUndecided = (error: unknown) => error instanceof SvcError && UNDECIDED.includes(error.code);
const isRefunded = (error: unknown) => error instanceof SvcError && error.code === 'state_conflict' && error.meta.reason === 'refunded';

/** Framework-independent gate: decides per request if the handler may run. Adapters call `admit`, and `refund` if the handler failed. */
export class Gate<R> {
  readonly #options: ProtectOptions<R>;
  readonly #ledger = new AbandonedWrites();
  readonly #turns = new Turns();
  readonly #refunds = new RefundQueue();
  readonly #onError: (error: unknown, request: R) => void;
  readonly #underWay = new RefundsUnderWay();
  readonly #uses = new WeakMap<Access, Use>();
  #warnedOfLeftovers = false;
  #warnedOfCaching = false;

  constructor(options: ProtectOptions<R>) {
    this.#options = options;
    this.#onError = options.onError ?? newReporter();
  }

  /** Never throws: any uncertainty is a refusal. The stored answer of the same paid request comes first: it needs no settlement. */
  async admit(incoming: Incoming, request: R): Promise<Admission> {
    this.#refunds.run(incoming.waitUntil);
    const turn = await this.#turns.take(this.#options.responses, incoming, (error) => this.#report(error, request));
    if (turn?.stored) return { answer: replayedAnswer(turn.stored) };
    const { refusal, access, paymentResponse } = await this.#judge(incoming, request);
    const recording = turn?.record(access, paymentResponse) ?? null;
    if (!refusal) return { access, paymentResponse, recording };
    const shown = turn ? refuse.whileAnswered(refusal) : refusal;
    return { answer: { status: shown.status, ...present(shown, incoming.header('Accept')) } };
  }

  async #judge(incoming: Incoming, request: R): Promise<Verdict> {
    try {
      const ask = await this.#askOf(incoming, request);
      await this.#underWay.wait(ask.holders);
      return ask.payment === null ? await this.#consume(ask) : await this.#settle(ask, ask.payment, request);
    } catch (error) {
      const refusal = error instanceof SvcError ? refuse.toRefusal(error) : null;
      if (refusal && refusal.body.code !== 'setup_not_ready') return { refusal };
      this.#report(error, request);
      if (refusal) return { refusal };
      if (this.#options.failOpen && refuse.isOutage(error)) return { access: FAILED_OPEN, paymentResponse: null };
      return { refusal: refuse.unavailable(error) };
    }
  }

  /** Refunds the use of a failed handler once, and retries later after a transient failure. Never throws. */
  async refund(access: Access, reason: string, request: R, waitUntil?: WaitUntil): Promise<void> {
    this.#turns.discard(access);
    const use = this.#uses.get(access);
    // A replay consumed nothing. Refunding the original use would make a served request free.
    if (!use || access.isReplay || access.isFailOpen) return;
    if (!use.refund) {
      use.refund = this.#refund(access, use, { reason, request, waitUntil });
      this.#underWay.add(use.holders, use.refund);
    }
    return use.refund;
  }

  /** Reports once if a handler lets shared caches store a paid answer, for adapters that cannot change its headers. */
  watchCaching(cacheControl: string, request: R): void {
    if (this.#warnedOfCaching || !/\b(?:public|s-maxage)\b/i.test(cacheControl)) return;
    this.#warnedOfCaching = true;
    const message = `A paid answer is sent with Cache-Control: ${cacheControl}. Shared caches may serve it to others for free. Remove the header.`;
    this.#report(new Error(message), request);
  }

  async #refund(
    access: Access,
    use: Use,
    { reason, request, waitUntil }: { reason: string; request: R; waitUntil: WaitUntil | undefined },
  ): Promise<void> {
    const { consumptionId } = access;
    if (consumptionId === null) {
      return this.#report(new Error('The handler failed, and the service named no consumption that could be refunded'), request);
    }
    const send = async () => {
      const options = { ...WHILE_BUYER_WAITS, idempotencyKey: `refund-${consumptionId}` };
      await this.#options.client.entitlements.refund({ consumption_id: consumptionId, reason }, options);
      use.resume?.();
    };
    const report = (error: unknown, outlook: string) => this.#report(refundFailure(error, consumptionId, outlook), request);
    try {
      await send();
    } catch (error) {
      const isQueued = this.#refunds.add({ consumptionId, send, giveUp: (last) => report(last, 'given up') }, error);
      report(error, isQueued ? 'will be tried again' : 'given up');
      this.#refunds.run(waitUntil);
    }
  }

  async #askOf(incoming: Incoming, request: R): Promise<Ask> {
    const { product, units: price = 1, customer: findCustomer, resource } = this.#options;
    const units = typeof price === 'function' ? await price(request) : price;
    if (!Number.isSafeInteger(units) || units < 1) throw new TypeError(`units must be a whole number from 1, not ${units}`);
    const { origin, pathname } = new URL(incoming.url);
    const callerKey = incoming.header('Idempotency-Key');
    const customer = (await findCustomer?.(request)) ?? null;
    const payment = incoming.header('PAYMENT-SIGNATURE') || null;
    const signIn = payment === null && customer === null ? incoming.header('SIGN-IN-WITH-X') || null : null;
    const shown = (typeof resource === 'function' ? resource(request) : resource) ?? {
      url: (origin + pathname).slice(0, RESOURCE_URL_MAX),
    };
    const method = shown.tool_name === undefined && METHODS.find((one) => one === incoming.method);
    const holder = signIn === null ? customer : walletIn(signIn);
    return {
      product: typeof product === 'string' ? { product_id: product } : product,
      units,
      customer,
      resource: method ? { method, ...shown } : shown,
      subject: `${incoming.method} ${incoming.url}`,
      callerKey: isIdempotencyKey(callerKey) ? callerKey : null,
      payment,
      signIn,
      holders: [payment, holder && holderOf(holder)].filter((one) => one !== null),
    };
  }

  async #consume(ask: Ask): Promise<Verdict> {
    const { callerKey, resource, signIn } = ask;
    const caller = signIn === null ? { customer: ask.customer ?? stranger() } : { sign_in: signIn };
    const body: ConsumeRequest & { resource: Resource } = { ...ask.product, ...caller, units: ask.units, resource };
    // With `serve`, identical requests need not be distinguished.
    const servesReplays = this.#options.onReplay === 'serve';
    const isMarked = callerKey !== null && !servesReplays;
    const send = async ({ key, mark }: OwnWrite) => {
      const marked = isMarked ? { ...body, resource: withMark(resource, mark) } : body;
      try {
        return await this.#options.client.entitlements.consume(marked, { ...WHILE_BUYER_WAITS, idempotencyKey: key });
      } catch (error) {
        throw withoutMark(error, mark);
      }
    };
    try {
      const { answer, isOwn, abandon } = await this.#underKey(ask.subject, JSON.stringify(body), callerKey, send);
      const isReplay = callerKey !== null && servesReplays ? answer.replayed : !isOwn;
      if (isReplay && !servesReplays) return { refusal: refuse.requestReplayed() };
      const customer = caller.customer ?? answer.customer ?? null;
      const access: Access = { ...accessOf(answer), customer, payment: null, isReplay, isFailOpen: false };
      this.#uses.set(access, { holders: ask.holders, resume: isMarked ? abandon : null });
      return { access, paymentResponse: null };
    } catch (error) {
      // The key covers the complete request, so a conflicting body under it is the same request from another process.
      const isTaken = isMarked && error instanceof SvcError && error.code === 'idempotency_conflict';
      if (isTaken) return { refusal: refuse.requestReplayed() };
      // A sign-in that is too long, or that no body may carry, is the buyer's fault.
      if (signIn === null || !(error instanceof SvcError) || error.code !== 'validation_error') throw error;
      const sign_in = { valid: false, reason: 'invalid_siwx_header' };
      return this.#challenge(ask, 'entitlement_missing', 'Pay as the PAYMENT-REQUIRED header says.', { sign_in });
    }
  }

  async #settle(ask: Ask, payment: string, request: R): Promise<Verdict> {
    const { product, customer, units, resource } = ask;
    const body = { ...product, payment_signature: payment, consume_units: units, resource, ...(customer ? { customer } : {}) };
    try {
      // Not the caller's key: the payment identifies the settlement, and the service answers other keys with `duplicate`.
      const send = ({ key }: OwnWrite) => this.#settleOnce(body, key);
      const { answer, isOwn } = await this.#underKey(ask.subject, JSON.stringify(body), null, send);
      if (!answer.success) return { refusal: refuse.settlementPending(answer.retry_after, answer.tx_signature) };
      const isDuplicate = !isOwn || answer.duplicate === true || answer.response.headers.get('X-Svc-Duplicate-Settlement') === 'true';
      if (isDuplicate && this.#options.onReplay !== 'serve') return { refusal: refuse.paymentReplayed(answer.consumption_id) };
      if (!isDuplicate && !offersSignIn(payment)) this.#watchLeftovers(answer, units, request);
      // A duplicate consumes nothing, because the original request consumed.
      if (!isDuplicate && answer.consumed_units < units) {
        const detail = `The payment was settled and ${answer.remaining} units are held, but this request uses ${units}.`;
        return this.#challenge(ask, 'entitlement_missing', detail, {
          headers: { 'PAYMENT-RESPONSE': withoutReceipt(answer.payment_response) },
        });
      }
      const paidBy = customer ?? { wallet_address: answer.payer };
      const access: Access = {
        ...accessOf({ ...answer, units: answer.consumed_units }),
        customer: paidBy,
        payment: answer as SettleResponse,
        isReplay: isDuplicate,
        isFailOpen: false,
      };
      this.#uses.set(access, { holders: [payment, holderOf(paidBy)], resume: null });
      return { access, paymentResponse: answer.payment_response };
    } catch (error) {
      // A malformed payment is the buyer's fault, so the answer is a new challenge.
      const isUnreadable = error instanceof SvcError && (error.code === 'validation_error' || error.code === 'payment_mismatch');
      if (!isUnreadable || error.headers.has('PAYMENT-REQUIRED')) throw error;
      this.#report(error, request);
      return this.#challenge(ask, 'payment_mismatch', 'The payment was refused. Pay as the PAYMENT-REQUIRED header says.');
    }
  }

  /** Settles. While the outcome is open, retries once under the same key like the reference resource server. */
  async #settleOnce(
    body: Parameters<Client['x402']['settle']>[0],
    idempotencyKey: string,
  ): Promise<Answer<SettleResponse | SettlePending>> {
    const { settle } = this.#options.client.x402;
    const first = await settle(body, { ...WHILE_BUYER_WAITS, idempotencyKey });
    if (first.success || first.retry_after > PENDING_WAIT_MAX_SECONDS) return first;
    await sleep(first.retry_after * 1000);
    const second = await settle(body, { ...WHILE_BUYER_WAITS, idempotencyKey });
    // Either of the two calls may have stored the answer under this key.
    second.response.isAmbiguous = true;
    return second;
  }

  /** Without `customer` or a sign-in no later request names the paying wallet, so surplus units of a payment would never be used. */
  #watchLeftovers({ granted_units: granted }: { granted_units: number | null }, units: number, request: R): void {
    if (this.#options.customer || this.#warnedOfLeftovers || (granted !== null && granted <= units)) return;
    this.#warnedOfLeftovers = true;
    this.#report(leftoversWarning(granted, units), request);
  }

  /** Creates a 402 challenge by consuming for a random customer without units. */
  async #challenge(ask: Ask, code: string, detail: string, shown: refuse.ShownWith = {}): Promise<Verdict> {
    const { product, units, resource } = ask;
    const body = { ...product, customer: stranger(), units, resource };
    const denial = await this.#options.client.entitlements.consume(body, WHILE_BUYER_WAITS).then(
      () => null,
      (error: unknown) => error,
    );
    if (!(denial instanceof SvcError)) throw denial ?? new Error('A stranger was let in');
    const challenge = denial.headers.get('PAYMENT-REQUIRED');
    if (challenge === null) throw denial;
    return { refusal: refuse.paymentRequired(challenge, code, detail, shown) };
  }

  /** Key and options of one write of this request: random, or derived from the caller's key, with a mark in its body. */
  async #underKey<T extends object>(subject: string, body: string, callerKey: string | null, send: (own: OwnWrite) => Promise<Answer<T>>) {
    const same = await digestText(subject, body);
    for (let generation = 0; ; generation++) {
      const derived = callerKey === null ? null : await digestText(same, callerKey, String(generation));
      const slot = derived ?? same;
      const resumed = this.#ledger.resume(slot);
      const own = resumed ?? { key: derived ?? crypto.randomUUID(), mark: crypto.randomUUID() };
      const abandon = () => this.#ledger.abandon(slot, own);
      try {
        const answer = await send(own);
        if (answer.response.status === 202) abandon();
        return { answer, isOwn: !answer.replayed || answer.response.isAmbiguous || resumed !== null, abandon };
      } catch (error) {
        if (isRefunded(error) && generation < GENERATIONS_MAX) {
          // Retained, so that this process skips this generation the next time.
          if (derived !== null) abandon();
          continue;
        }
        const isServedAnyway = this.#options.failOpen && refuse.isOutage(error);
        const hasNoVerdict = error instanceof SvcError && error.isAmbiguous && error.retryable;
        // Under a caller's key another request may be in progress. It must not displace a write that is known to be abandoned.
        const isDoubtful = resumed === null && isUndecided(error) && this.#ledger.has(slot);
        if (!isServedAnyway && !isDoubtful && (hasNoVerdict || resumed !== null)) abandon();
        throw error;
      }
    }
  }

  #report(error: unknown, request: R): void {
    try {
      this.#onError(error, request);
    } catch {
      // An error in the hook must not decide which request is served.
    }
  }
}
