import type { PageFacts, PagePayment } from '../../../worker/pages/checkout/facts.ts';
import { isStoreEffect, type PageEffect, type PageNews, type ServiceEffect } from '../../../worker/pages/checkout/machine/events.ts';
import { next, watchOf } from '../../../worker/pages/checkout/machine/next.ts';
import { firstState, type PageState, paymentOf } from '../../../worker/pages/checkout/state.ts';
import type { PaymentStatus } from '../../../worker/pages/checkout/wire.ts';
import { DEEDS, failure, newPayment, newStatus, pageFacts, START, UNCERTAIN_MS } from '../fixtures/page-values.ts';

/** Enough rounds for the longest way to an end, with a minute between two polls. */
const ROUNDS = 24;

interface Prompt {
  attempt: number;
  paymentId: string;
  /** Signature that the prompt would produce. A reopened page restarts its attempts, and no two transactions are alike. */
  txSignature: string;
  sends: boolean;
}
type Option = () => void;

/** Model of a browser, its wallets and the service: every possible answer, in any order. */
export class PageModel {
  readonly facts: PageFacts;
  state: PageState;
  now = START;
  stored: { payment: PagePayment; until: number | null } | null = null;
  identity: Extract<PageEffect, { kind: 'storeIdentity' }>['identity'] | null = null;
  pending: PageEffect[] = [];
  prompts: Prompt[] = [];
  #prompted = 0;
  readonly payments = new Map<string, PaymentStatus>();
  readonly sent = new Map<string, string>();
  readonly refused = new Set<string>();
  readonly reportedSecond = new Set<string>();
  /** Payments with an end that the page has shown. */
  readonly shown = new Set<string>();

  constructor(facts = pageFacts()) {
    this.facts = facts;
    this.state = firstState(facts);
    this.open();
  }

  open(): void {
    const { payment = null, until = null } = this.stored ?? {};
    this.state = firstState(this.facts);
    this.pending = [];
    // A closed page cannot receive a wallet's answer.
    this.prompts = [];
    this.report({ kind: 'walletsChanged', wallets: [] });
    this.report({ kind: 'pageOpened', stored: payment, isOver: until !== null, identity: this.identity, addressedId: null });
  }

  report(news: PageNews): PageEffect[] {
    const { state, effects } = next(this.facts, this.state, { ...news, at: this.now });
    this.state = state;
    for (const effect of effects) this.#begin(effect);
    if (state.step === 'confirmed' || state.step === 'failed' || state.step === 'expired' || state.step === 'late')
      this.shown.add(state.payment.paymentId);
    return effects;
  }

  #begin(effect: PageEffect): void {
    if (isStoreEffect(effect)) this.#store(effect);
    else if (effect.kind === 'askWallet') {
      if (this.state.step !== 'waiting') throw new Error('a wallet is asked only where the page waits for it');
      const { payment, request } = this.state;
      const txSignature = `tx-${++this.#prompted}`;
      this.prompts.push({ attempt: effect.attempt, paymentId: payment.paymentId, txSignature, sends: request.sends });
    } else if (effect.kind === 'tellSecond') this.reportedSecond.add(effect.txSignature);
    else if (effect.kind !== 'lookNow' && effect.kind !== 'leave' && effect.kind !== 'leaveSoon') this.pending.push(effect);
    if (effect.kind === 'sendTransaction') this.sent.set(effect.txSignature, effect.paymentId);
  }

  #store(effect: Extract<PageEffect, { kind: `store${string}` | `forget${string}` }>): void {
    if (effect.kind === 'storePayment') this.stored = { payment: effect.payment, until: null };
    else if (effect.kind === 'storeEnd') this.stored = { payment: effect.payment, until: this.now + effect.storeMs };
    else if (effect.kind === 'forgetPayment' && this.stored?.payment.paymentId === effect.paymentId) this.stored = null;
    else if (effect.kind === 'storeIdentity') this.identity = effect.identity;
    else if (effect.kind === 'forgetIdentity') this.identity = null;
    else if (effect.kind === 'storeUnclear' && this.stored?.payment.paymentId === effect.paymentId)
      this.stored = { ...this.stored, payment: { ...this.stored.payment, unclearUntil: effect.unclearUntil } };
  }

  /** Possible next events. The service answers more often than a buyer acts, so that walks go far. */
  options(): Option[] {
    const answers = this.pending.flatMap((effect) => this.#answers(effect));
    const deeds = this.#deeds();
    return [...answers, ...answers, ...answers, ...answers, ...deeds, ...deeds, ...this.#walletAnswers(), ...this.#world()];
  }

  /** Actions of the buyer to which the page reacts. */
  #deeds(): Option[] {
    const does = (deed: PageNews) => next(this.facts, this.state, { ...deed, at: this.now }).state !== this.state;
    return DEEDS.filter(does).map((deed) => () => void this.report(deed));
  }

  #answer(effect: PageEffect, ...news: PageNews[]): Option[] {
    return news.map((one) => () => {
      this.pending = this.pending.filter((other) => other !== effect);
      this.report(one);
    });
  }

  #answers(effect: PageEffect): Option[] {
    switch (effect.kind) {
      case 'openWallet': {
        const { attempt, walletName } = effect;
        return this.#answer(
          effect,
          { kind: 'walletOpened', attempt, account: 'buyer', sends: walletName === 'Sender' },
          { kind: 'walletRefused', attempt, walletName, refusal: 'rejected', message: '' },
        );
      }
      case 'takeTurn': {
        const { attempt } = effect;
        const stored = this.stored?.payment ?? null;
        return this.#answer(effect, { kind: 'turnTaken', attempt, stored }, { kind: 'turnRefused', attempt });
      }
      case 'beginPayment':
        return this.#beginnings(effect);
      case 'prepareTransaction': {
        const { attempt } = effect;
        const refused = { kind: 'prepareRefused', attempt, failure: failure('rpc_unavailable', 503) } as const;
        return this.#answer(effect, { kind: 'transactionPrepared', attempt, transaction: 'unsigned' }, refused);
      }
      case 'sendTransaction':
        return this.#sendings(effect);
      case 'tryElsewhere':
        return this.#answer(
          effect,
          { kind: 'nothingElsewhere', otherwise: effect.otherwise },
          { kind: 'elsewhereUnknown', failure: failure('offline', 0) },
        );
      case 'readHandoff':
        return this.#answer(
          effect,
          { kind: 'handoffRead', customer: 'Grace' },
          { kind: 'handoffRefused', failure: failure('handoff_expired', 410) },
        );
      default:
        return [];
    }
  }

  #beginnings(effect: Extract<ServiceEffect, { kind: 'beginPayment' }>): Option[] {
    const { attempt, replacesId } = effect;
    const known = this.stored?.payment ?? null;
    const replaced = replacesId === null ? undefined : this.payments.get(replacesId);
    if (replaced && replaced.status !== 'PENDING_SIGNATURE') {
      const refused = { ...failure('state_conflict', 409), meta: { reason: 'in_flight' } };
      return this.#answer(effect, { kind: 'beginRefused', attempt, failure: refused });
    }
    if (known && known.paymentId !== replacesId) return this.#answer(effect, { kind: 'paymentKnown', attempt, payment: known });
    const identity = {
      sessionId: 'i',
      provider: 'Telegram',
      deepLink: 'https://t.me/',
      expiresAt: new Date(this.now + 600_000).toISOString(),
    };
    const begin = () => {
      if (replaced) this.payments.set(replacesId!, { ...replaced, status: 'FAILED', failure_code: 'replaced', poll_after_ms: null });
      const begun = newPayment(`payment-${this.payments.size + 1}`, this.now);
      const payment = { ...begun, price: { ...begun.price, asset: effect.asset } };
      this.payments.set(payment.paymentId, newStatus(payment));
      const transaction = attempt === null ? null : 'unsigned';
      this.#answer(effect, { kind: 'paymentBegun', attempt, payment, transaction, isOnItsWay: false })[0]!();
    };
    const refused = { kind: 'beginRefused', attempt, failure: failure('price_unavailable', 503) } as const;
    // Identity was verified for the payment that is replaced.
    if (replaced) return [begin, begin, ...this.#answer(effect, refused)];
    return [begin, begin, ...this.#answer(effect, refused, { kind: 'identityWanted', identity, isNew: this.identity === null })];
  }

  #sendings(effect: Extract<ServiceEffect, { kind: 'sendTransaction' }>): Option[] {
    const { paymentId, txSignature } = effect;
    const refusedFor = (code: string, isFinal: boolean): PageNews => ({
      kind: 'sendRefused',
      paymentId,
      txSignature,
      failure: failure(code),
      isFinal,
    });
    const accept = () => {
      this.land(paymentId, txSignature);
      const status = this.payments.get(paymentId)!;
      this.#answer(effect, { kind: 'transactionSent', paymentId, status, txSignature })[0]!();
    };
    const lose = () => {
      this.land(paymentId, txSignature);
      this.#answer(effect, refusedFor('offline', false))[0]!();
    };
    const refuse = () => {
      this.sent.delete(txSignature);
      this.refused.add(txSignature);
      this.#answer(effect, refusedFor('payment_mismatch', true))[0]!();
    };
    return [accept, lose, refuse];
  }

  #walletAnswers(): Option[] {
    return this.prompts.flatMap((prompt) => {
      const { attempt, sends, paymentId, txSignature } = prompt;
      const walletName = sends ? 'Sender' : 'Signer';
      const close = (news: PageNews) => () => {
        this.prompts = this.prompts.filter((other) => other !== prompt);
        this.report(news);
      };
      const refused = (refusal: 'rejected' | 'unclear') => close({ kind: 'walletRefused', attempt, walletName, refusal, message: '' });
      if (!sends) return [close({ kind: 'walletSigned', attempt, transaction: 'signed', txSignature }), refused('rejected')];
      const send = (news: PageNews) => () => {
        this.land(paymentId, txSignature);
        close(news)();
      };
      const sent = () => {
        this.sent.set(txSignature, paymentId);
        send({ kind: 'walletSent', attempt, txSignature })();
      };
      const unclear: PageNews = { kind: 'walletRefused', attempt, walletName, refusal: 'unclear', message: '' };
      return [sent, send(unclear), refused('unclear'), refused('rejected')];
    });
  }

  land(paymentId: string, txSignature: string): void {
    const status = this.payments.get(paymentId)!;
    if (status.status === 'PENDING_SIGNATURE')
      this.payments.set(paymentId, { ...status, status: 'PENDING_CONFIRMATION', tx_signature: txSignature });
  }

  #world(): Option[] {
    const settle = () => {
      for (const [id, status] of this.payments)
        if (status.status === 'PENDING_CONFIRMATION') this.payments.set(id, { ...status, status: 'CONFIRMED', poll_after_ms: null });
    };
    const wait = (ms: number) => () => this.pass(ms);
    const payElsewhere = () => {
      if (this.payment && this.payments.has(this.payment.paymentId))
        this.land(this.payment.paymentId, `elsewhere-${this.payment.paymentId}`);
    };
    const often = this.prompts.some(({ sends }) => sends) ? Array.from({ length: 6 }, () => payElsewhere) : [];
    return [
      ...often,
      settle,
      payElsewhere,
      wait(1000),
      wait(20_000),
      wait(120_000),
      () => this.poll(),
      () => this.poll(),
      () => this.open(),
    ];
  }

  pass(ms: number): void {
    this.now += ms;
    for (const [id, status] of this.payments) {
      const isOver = status.status === 'PENDING_SIGNATURE' && Date.parse(status.expires_at) + UNCERTAIN_MS < this.now;
      if (isOver) this.payments.set(id, { ...status, status: 'FAILED', failure_code: 'session_expired', poll_after_ms: null });
    }
    this.report({ kind: 'secondPassed' });
  }

  poll(): void {
    const target = watchOf(this.state);
    if (!target) return;
    const status = this.payments.get(target.paymentId)!;
    this.report({ kind: 'paymentRead', paymentId: target.paymentId, status, redirectUrl: null });
  }

  end(): void {
    for (let round = 0; round < ROUNDS; round++) {
      for (const effect of [...this.pending]) this.#answers(effect)[0]?.();
      for (const answer of this.#walletAnswers().slice(-1)) answer();
      this.#world()[0]!();
      this.pass(60_000);
      this.poll();
    }
  }

  /** Open prompts that would move money: of wallets that send, and those with a signature that would be sent. */
  movingPrompts(): Prompt[] {
    return this.prompts.filter(({ attempt, sends }) => {
      if (sends) return true;
      const answer = { kind: 'walletSigned', attempt, transaction: 'signed', txSignature: 'probe', at: this.now } as const;
      return next(this.facts, this.state, answer).effects.some(({ kind }) => kind === 'sendTransaction');
    });
  }

  get payment(): PagePayment | null {
    return paymentOf(this.state);
  }
}
