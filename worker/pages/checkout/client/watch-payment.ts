import type { PaymentStatus, Session } from '../state.ts';
import { confirm, type Failure, readPayment, serverNow } from './api.ts';
import type { Store } from './page-state.ts';
import { type Look, Poller } from './poller.ts';
import type { Memory } from './stored-payment.ts';

/** Asking for a confirmation makes the service look at the chain itself; a few times, then its own rechecks do. */
const CONFIRMS_MAX = 8;
const CONFIRM_EVERY_MS = 1500;
const SLOW_AFTER_MS = 75_000;
/** Out of time, the end is near: looked for a little more often than the server asks. */
const CLOSING_EVERY_MS = 5000;
const LEAVE_AFTER_MS = 5000;
/** After that a transaction can land no more, and one that has landed was seen. */
const UNCLEAR_MS = 150_000;
/** Nobody reads, compares and approves faster: a request so near the end would only come too late. */
const ENDING_MS = 15_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const msLeft = (expiresAt: string): number => Date.parse(expiresAt) - serverNow();
export const isEnding = (expiresAt: string): boolean => msLeft(expiresAt) <= ENDING_MS;

/** Follows the one payment of this page to its end, and turns what the service says into steps. */
export class Watch {
  readonly #store: Store;
  readonly #memory: Memory;
  readonly #poller = new Poller(() => this.#look());
  #confirms = 0;
  #seenAt = 0;
  /** Only who saw it happen is taken to the shop; who comes back to this page wants to see this page. */
  #isFresh = false;
  #leaving: ReturnType<typeof setTimeout> | undefined;

  constructor(store: Store, memory: Memory) {
    this.#store = store;
    this.#memory = memory;
    setInterval(() => this.#tick(), 1000);
    // Back from the shop to the page as it was left: it is not leaving any more.
    addEventListener('pageshow', ({ persisted }) => persisted && this.stay());
  }

  /** From now on the page is about this payment. `isOnItsWay`: money is known to be moving, so nothing is offered. */
  follow(session: Session, isOnItsWay = session.txSignature !== null): void {
    this.#confirms = 0;
    const isSame = session.paymentId === this.#store.state.session?.paymentId;
    this.#store.set({ session, ...(isSame ? {} : { payment: null }), ...(isOnItsWay ? { step: 'seen' } : {}) });
    this.#tick();
    this.#poller.start();
  }

  now(): void {
    this.#poller.start();
  }

  stop(): void {
    this.#poller.stop();
  }

  /** A transaction of this browser exists: from now on nothing else is paid. */
  remember(session: Session, txSignature: string): void {
    const signed = { ...session, txSignature };
    this.#memory.write(signed);
    this.#confirms = 0;
    if (this.#store.state.session?.paymentId === session.paymentId) this.#store.set({ session: signed });
  }

  /** A wallet may have paid without saying so: every way to pay is closed until that is seen, or cannot be any more. */
  doubt({ paymentId }: Session): void {
    const unclearUntil = serverNow() + UNCLEAR_MS;
    const kept = this.#memory.read();
    if (kept?.paymentId === paymentId && !this.#memory.isOver()) this.#memory.write({ ...kept, unclearUntil });
    this.shareDoubt({ paymentId, unclearUntil });
  }

  /** Takes over what is in doubt about the payment of this page, and looks at it. */
  shareDoubt({ paymentId, unclearUntil = 0 }: Pick<Session, 'paymentId' | 'unclearUntil'>): void {
    const { session } = this.#store.state;
    if (session?.paymentId === paymentId)
      this.#store.set({ session: { ...session, unclearUntil: Math.max(session.unclearUntil ?? 0, unclearUntil) } });
    this.#tick();
    this.now();
  }

  /** A tab may have gone on with another payment while the service was asked. */
  #isPresent({ paymentId }: Session): boolean {
    return this.#store.state.session?.paymentId === paymentId;
  }

  stay(): void {
    clearTimeout(this.#leaving);
    this.#store.set({ isLeaving: false });
  }

  #tick(): void {
    const { session, step, secondsLeft } = this.#store.state;
    const isUnclear = (session?.unclearUntil ?? 0) > serverNow();
    if (isUnclear !== this.#store.state.isUnclear) this.#store.set({ isUnclear });
    if (!session || !['choosing', 'connecting', 'waiting'].includes(step)) return;
    const left = Math.max(0, Math.ceil(msLeft(session.expiresAt) / 1000));
    if (left !== secondsLeft) this.#store.set({ secondsLeft: left });
    if (step === 'waiting' ? left > 0 : !isEnding(session.expiresAt)) return;
    this.#store.set({ step: 'closing', secondsLeft: null });
    this.#poller.now();
  }

  async #look(): Promise<Look> {
    const { session } = this.#store.state;
    if (!session) return { afterMs: null };
    const asksChain = session.txSignature !== null && this.#confirms < CONFIRMS_MAX && this.#store.state.step !== 'confirmed';
    if (asksChain) {
      this.#confirms++;
      const answer = await confirm(session.paymentId, session.txSignature!);
      if (!this.#isPresent(session)) return { afterMs: 0 };
      if (answer.ok) return this.apply(session, answer.value.payment, answer.value.redirect_url);
      if ((await this.#heed(session, answer)) === 'recovered') return { afterMs: 0 };
      if (answer.status === 0 || answer.status === 429) return { failed: true, afterMs: answer.retryAfterMs };
    }
    const answer = await readPayment(session.paymentId);
    if (!this.#isPresent(session)) return { afterMs: 0 };
    if (answer.ok) return this.apply(this.#store.state.session ?? session, answer.value);
    if (answer.status !== 404) return { failed: true, afterMs: answer.retryAfterMs };
    // Not ours any more: a service that was set up anew. There is nothing to wait for.
    this.#memory.forget();
    this.#store.set({ session: null, payment: null, step: 'choosing', secondsLeft: null });
    return { afterMs: null };
  }

  /** What a refused confirmation tells of money that did arrive; null where it tells nothing. */
  async #heed(session: Session, { code, meta }: Failure): Promise<'recovered' | 'late' | 'mismatch' | null> {
    if (meta.recovered_payment_id) {
      const recovered = { ...session, paymentId: meta.recovered_payment_id };
      this.#memory.write(recovered);
      this.#store.set({ session: recovered });
      return 'recovered';
    }
    if (meta.reason === 'late') {
      this.#memory.end(session, DAY_MS);
      this.#store.set({ step: 'late', secondsLeft: null });
      return 'late';
    }
    if (code === 'payment_mismatch') {
      const unsigned = { ...session, txSignature: null };
      this.#memory.write(unsigned);
      this.#store.set({ session: unsigned, step: 'choosing', problem: { key: 'pMismatch' } });
      return 'mismatch';
    }
    return null;
  }

  /** The service's word on the payment, as a step of this page. */
  async apply(session: Session, payment: PaymentStatus, redirectUrl?: string): Promise<Look> {
    if (!this.#isPresent(session)) return { afterMs: 0 };
    const { step } = this.#store.state;
    this.#store.set({ payment });
    switch (payment.status) {
      case 'CONFIRMED':
        await this.#finish(session, payment, redirectUrl);
        return { afterMs: null };
      case 'FAILED':
        await this.#end(session, payment);
        return { afterMs: null };
      case 'PENDING_CONFIRMATION':
        return this.#seen(session, payment);
      case 'PENDING_SIGNATURE': {
        if (session.txSignature) return this.#seen(session, payment);
        this.#isFresh = true;
        if (step === 'sending') return { afterMs: payment.poll_after_ms };
        // Who is asked by their wallet already may still answer in time.
        if (step === 'waiting' ? msLeft(payment.expires_at) <= 0 : isEnding(payment.expires_at)) {
          this.#store.set({ step: 'closing', secondsLeft: null });
          return { afterMs: CLOSING_EVERY_MS };
        }
        if (!['choosing', 'connecting', 'waiting', 'identity'].includes(step)) this.#store.set({ step: 'choosing' });
        return { afterMs: payment.poll_after_ms };
      }
    }
  }

  #seen(session: Session, payment: PaymentStatus): Look {
    this.#isFresh = true;
    this.#seenAt ||= Date.now();
    if (this.#store.state.step !== 'late')
      this.#store.set({ step: 'seen', problem: null, isSlow: Date.now() - this.#seenAt > SLOW_AFTER_MS });
    if (session.txSignature === null && payment.tx_signature) this.remember(session, payment.tx_signature);
    return { afterMs: this.#confirms < CONFIRMS_MAX ? CONFIRM_EVERY_MS : payment.poll_after_ms };
  }

  async #finish(session: Session, payment: PaymentStatus, redirectUrl?: string): Promise<void> {
    const { state } = this.#store;
    if (state.step === 'confirmed') return;
    const signature = payment.tx_signature ?? session.txSignature;
    // The status does not say where to go from here; confirming again, which changes nothing, does.
    const again = redirectUrl === undefined && signature ? await confirm(payment.payment_id, signature) : null;
    if (!this.#isPresent(session)) return;
    const url = redirectUrl ?? (again?.ok ? again.value.redirect_url : undefined) ?? null;
    const target = url === null ? null : URL.parse(url);
    const isSafe = target?.protocol === 'https:';
    const isLeaving = isSafe && this.#isFresh;
    this.#memory.end({ ...session, txSignature: signature }, DAY_MS);
    this.#store.set({ step: 'confirmed', problem: null, secondsLeft: null, redirectUrl: isSafe ? url : null, isLeaving });
    if (isLeaving) this.#leaving = setTimeout(() => location.assign(url!), LEAVE_AFTER_MS);
  }

  /** The session failed. Where a transaction is known, its fate is asked for once more: late money is not lost money. */
  async #end(session: Session, payment: PaymentStatus): Promise<void> {
    if (this.#store.state.step === 'late') return;
    const signature = session.txSignature ?? payment.tx_signature;
    if (payment.failure_code === 'session_expired' && signature) {
      const answer = await confirm(payment.payment_id, signature);
      if (!this.#isPresent(session)) return;
      const heeded = answer.ok ? null : await this.#heed({ ...session, txSignature: signature }, answer);
      if (heeded === 'recovered') setTimeout(() => this.#poller.start());
      if (heeded !== null) return;
    }
    this.#memory.end({ ...session, txSignature: signature ?? null }, Math.max(0, msLeft(payment.expires_at) + HOUR_MS));
    this.#store.set({ step: payment.failure_code === 'session_expired' ? 'expired' : 'failed', secondsLeft: null, problem: null });
  }
}
