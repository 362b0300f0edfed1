import { type Answer, type Failure, isPassing } from '../../parts/answer.ts';
import type { PageFacts } from '../facts.ts';
import type { PageNews, ServiceEffect } from '../machine/events.ts';
import { watchOf } from '../machine/next.ts';
import { paymentOf } from '../state.ts';
import { confirmPayment, prepareTransaction, sendTransaction } from './api.ts';
import { BeginPayment } from './begin-payment.ts';
import type { CheckoutHolder } from './page-state.ts';
import type { StoredPayment } from './stored-payment.ts';
import { WatchPayment } from './watch-payment.ts';

const TRIES_MAX = 6;
const CONFIRM_EVERY_MS = 1500;
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Without a lock no payment is begun: another tab may be beginning one. */
const NO_LOCK: Failure = { ok: false, status: 0, code: 'lock_unavailable', detail: '', meta: {}, retryAfterMs: null };

/** Another tab asks a wallet for the payment to be replaced. */
const IN_OTHER_TAB: Failure = { ...NO_LOCK, code: 'state_conflict', meta: { reason: 'in_flight' } };

/** Retries while the failure may be temporary. `onTry` receives the status of each such failure. */
async function askAgain<T>(call: () => Promise<Answer<T>>, onTry: (status: number) => void = () => {}): Promise<Answer<T>> {
  let answer = await call();
  for (let tries = 1; !answer.ok && isPassing(answer) && tries < TRIES_MAX; tries++) {
    onTry(answer.status);
    await wait(answer.retryAfterMs ?? 800 * 2 ** tries);
    answer = await call();
  }
  return answer;
}

export class ServiceEffects {
  readonly #page: CheckoutHolder;
  readonly #stored: StoredPayment;
  readonly #beginning: BeginPayment;
  readonly #watching = new WatchPayment();
  readonly #poller = new Poller(() => this.#poll());
  #watched = '';

  constructor(facts: PageFacts, page: CheckoutHolder, stored: StoredPayment) {
    this.#page = page;
    this.#stored = stored;
    this.#beginning = new BeginPayment(facts, stored);
  }

  async run(effect: ServiceEffect): Promise<void> {
    const { report } = this.#page;
    switch (effect.kind) {
      case 'readHandoff':
        return report(await this.#beginning.readHandoff(effect));
      case 'tryElsewhere':
        return report(await this.#beginning.tryElsewhere(effect));
      case 'beginPayment':
        return this.#begin(effect);
      case 'prepareTransaction':
        return report(await this.#prepare(effect));
      case 'sendTransaction':
        return report(await this.#send(effect));
      case 'checkSignature':
        return report(await this.#check(effect));
      case 'tellSecond':
        await askAgain(() => confirmPayment(effect.paymentId, effect.txSignature));
        return;
      case 'lookNow':
        return this.#poller.start();
    }
  }

  watch(): void {
    const target = watchOf(this.#page.state);
    const watched = target ? `${target.paymentId} ${target.txSignature}` : '';
    if (watched === this.#watched) return;
    this.#watched = watched;
    if (target) this.#poller.start();
    else this.#poller.stop();
  }

  async #begin(effect: Extract<ServiceEffect, { kind: 'beginPayment' }>): Promise<void> {
    const begin = async () => {
      const known = paymentOf(this.#page.state) ?? this.#stored.read();
      // Reports inside the lock: the payment is stored before another tab may begin one.
      this.#page.report(effect.replacesId === null ? await this.#beginning.begin(effect, known) : await this.#replace(effect));
    };
    await this.#stored.alone(begin).catch(() => {
      this.#page.report({ kind: 'beginRefused', attempt: effect.attempt, failure: NO_LOCK });
    });
  }

  /**
   * Refuses with code state_conflict while another tab asks a wallet for this payment. Returns the stored payment if another tab replaced
   * it already.
   */
  async #replace(effect: Extract<ServiceEffect, { kind: 'beginPayment' }>): Promise<PageNews> {
    const { attempt, replacesId } = effect;
    const present = paymentOf(this.#page.state);
    const stored = this.#stored.read() ?? present;
    if (stored?.paymentId !== replacesId && stored) return { kind: 'paymentKnown', attempt, payment: stored };
    let news: PageNews = { kind: 'beginRefused', attempt, failure: IN_OTHER_TAB };
    if (stored)
      await this.#stored.takingTurn(stored.paymentId, async () => {
        news = await this.#beginning.replace(effect, stored);
      });
    return news;
  }

  async #poll(): Promise<PollResult> {
    const target = watchOf(this.#page.state);
    if (!target) return { afterMs: null };
    const watched = this.#watched;
    const news = await this.#watching.poll(target);
    if ('kind' in news) this.#page.report(news);
    const now = watchOf(this.#page.state);
    if (!now) return { afterMs: null };
    if (watched !== this.#watched) return { afterMs: 0 };
    if (!('kind' in news)) return { failed: true, afterMs: news.retryAfterMs };
    const isConfirming = this.#page.state.step === 'seen' && this.#watching.asksChain(now);
    return { afterMs: isConfirming ? CONFIRM_EVERY_MS : now.afterMs };
  }

  async #prepare({ attempt, paymentId, account }: Extract<ServiceEffect, { kind: 'prepareTransaction' }>): Promise<PageNews> {
    const answer = await prepareTransaction(paymentId, account);
    if (!answer.ok) return { kind: 'prepareRefused', attempt, failure: answer };
    return { kind: 'transactionPrepared', attempt, transaction: answer.value.transaction };
  }

  /** Sending the same bytes twice is idempotent. */
  async #send({ paymentId, transaction, txSignature }: Extract<ServiceEffect, { kind: 'sendTransaction' }>): Promise<PageNews> {
    // After any failure other than 429 the service may have sent the transaction.
    let isUnsent = true;
    const answer = await askAgain(
      () => sendTransaction(paymentId, transaction),
      (status) => {
        isUnsent &&= status === 429;
      },
    );
    if (answer.ok) return { kind: 'transactionSent', paymentId, status: answer.value.payment, txSignature: answer.value.tx_signature };
    const isFinal = answer.code === 'payment_mismatch' || (isUnsent && !isPassing(answer));
    return { kind: 'sendRefused', paymentId, txSignature, failure: answer, isFinal };
  }

  async #check({ paymentId, txSignature }: Extract<ServiceEffect, { kind: 'checkSignature' }>): Promise<PageNews> {
    const answer = await confirmPayment(paymentId, txSignature);
    if (!answer.ok) return { kind: 'checkRefused', paymentId, failure: answer };
    const { payment: status, redirect_url: redirectUrl = null } = answer.value;
    return { kind: 'signatureChecked', paymentId, status, txSignature, redirectUrl };
  }
}

const DEFAULT_MS = 3000;
const BACKOFF_MAX_MS = 30_000;

/** Delay until the next poll, chosen by the service. Null ends polling. `failed`: no answer came. */
type PollResult = { afterMs: number | null } | { failed: true; afterMs: number | null };

/** Polls at the service's pace, backs off on failures and pauses while the page is hidden. */
class Poller {
  readonly #poll: () => Promise<PollResult>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isRunning = false;
  #isPolling = false;
  #failures = 0;

  constructor(poll: () => Promise<PollResult>) {
    this.#poll = poll;
    document.addEventListener('visibilitychange', () => (document.hidden ? this.#pause() : this.now()));
    // A page restored from the back-forward cache, or online again, may have missed a change.
    addEventListener('pageshow', () => this.now());
    addEventListener('online', () => this.now());
  }

  start(): void {
    this.#isRunning = true;
    this.now();
  }

  stop(): void {
    this.#isRunning = false;
    this.#pause();
  }

  /** Polls at once, unless stopped or a poll is running. */
  now(): void {
    if (!this.#isRunning || this.#isPolling) return;
    this.#pause();
    void this.#run();
  }

  #pause(): void {
    clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    this.#isPolling = true;
    const poll = await this.#poll();
    this.#isPolling = false;
    if ('failed' in poll) {
      this.#failures++;
      this.#wait(Math.max(poll.afterMs ?? 0, Math.min(BACKOFF_MAX_MS, DEFAULT_MS * 2 ** (this.#failures - 1))));
      return;
    }
    this.#failures = 0;
    if (poll.afterMs === null) this.stop();
    else this.#wait(poll.afterMs);
  }

  #wait(ms: number): void {
    if (!this.#isRunning || document.hidden) return;
    this.#timer = setTimeout(() => this.now(), ms);
  }
}
