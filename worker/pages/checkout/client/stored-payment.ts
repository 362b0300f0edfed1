import { serverNow } from '../../browser/call-api.ts';
import { ifNoOtherTab, inOneTab } from '../../browser/one-tab.ts';
import type { Identity, PageFacts, PagePayment } from '../facts.ts';
import type { StoreEffect } from '../machine/events.ts';

const VERSION = 1;

interface StoredItem<T> {
  version: number;
  value: T;
  until?: number;
}

/** Storage key per product and entry link, because a payment session or hand-off is a purchase of its own. */
const keyOf = ({ slug, paymentSessionId, handoffToken }: PageFacts): string =>
  `svc:payment:${slug}:${paymentSessionId ?? handoffToken?.slice(-24) ?? ''}`;

function readItem<T>(key: string): StoredItem<T> | null {
  try {
    const item = JSON.parse(localStorage.getItem(key) ?? 'null') as StoredItem<T> | null;
    return item?.version === VERSION && !(Number(item.until) < serverNow()) ? item : null;
  } catch {
    return null;
  }
}

function writeItem(key: string, value: unknown, until?: number): void {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify({ version: VERSION, value, ...(until === undefined ? {} : { until }) }));
  } catch {
    // Without storage the buyer can still pay, but a reload loses the payment.
  }
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isDecimal = (value: unknown): boolean => typeof value === 'string' && /^\d+(?:\.\d+)?$/.test(value);
const isMoney = (value: PagePayment['price'] | null | undefined): boolean => isText(value?.asset) && isDecimal(value?.amount);
const isInstant = (value: string | undefined): boolean => !Number.isNaN(Date.parse(value ?? ''));

/** Validates a stored payment: a malformed one would break the page at every visit. */
const isPagePayment = (value: Partial<PagePayment> | null): value is PagePayment =>
  [value?.paymentId, value?.recipient, value?.memo, value?.solanaPayUrl].every(isText) &&
  isMoney(value?.price) &&
  isInstant(value?.expiresAt) &&
  (value?.fee === null || isMoney(value?.fee)) &&
  (value?.quote === null || (isInstant(value?.quote?.expiresAt) && isDecimal(value?.quote?.rate))) &&
  (value?.txSignature === null || isText(value?.txSignature)) &&
  (value?.identitySessionId === undefined || isText(value.identitySessionId)) &&
  (value?.unclearUntil === undefined || Number.isFinite(value.unclearUntil));

export class StoredPayment {
  readonly #key: string;
  /** Id of the product's unfinished payment, regardless of the entry link. */
  readonly #runningKey: string;
  constructor(facts: PageFacts) {
    this.#key = keyOf(facts);
    this.#runningKey = `svc:running:${facts.slug}`;
  }

  read(): PagePayment | null {
    const payment = readItem<Partial<PagePayment>>(this.#key)?.value ?? null;
    return isPagePayment(payment) ? payment : null;
  }

  isOver(): boolean {
    return readItem(this.#key)?.until !== undefined;
  }

  readRunning(): string | null {
    const paymentId = readItem<unknown>(this.#runningKey)?.value;
    return typeof paymentId === 'string' ? paymentId : null;
  }

  readIdentity(): Identity | null {
    const identity = readItem<Identity>(`${this.#key}:identity`)?.value;
    return identity && Date.parse(identity.expiresAt) > serverNow() ? identity : null;
  }

  apply(effect: StoreEffect): void {
    if (effect.kind === 'storePayment') this.#store(effect.payment);
    else if (effect.kind === 'storeEnd') this.#storeEnd(effect.payment, effect.storeMs);
    else if (effect.kind === 'storeUnclear') this.#storeUnclear(effect.paymentId, effect.unclearUntil);
    else if (effect.kind === 'forgetPayment') this.#forget(effect.paymentId);
    else writeItem(`${this.#key}:identity`, effect.kind === 'storeIdentity' ? effect.identity : null);
  }

  onChange(listener: (stored: PagePayment) => void): void {
    addEventListener('storage', ({ key }) => {
      const stored = key === this.#key ? this.read() : null;
      if (stored) listener(stored);
    });
  }

  /** Runs in one tab of a product at a time, so that two tabs never begin two payments. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return inOneTab(this.#runningKey, work);
  }

  /** Runs while this tab alone asks a wallet for the payment. Returns false if another tab does. A closed tab releases its turn. */
  takingTurn(paymentId: string, work: () => Promise<void>): Promise<boolean> {
    return ifNoOtherTab(`svc:asking:${paymentId}`, work);
  }

  #store(payment: PagePayment): void {
    writeItem(this.#key, payment);
    writeItem(this.#runningKey, payment.paymentId);
  }

  /** Stores an ended payment for `storeMs` after its end was first shown. */
  #storeEnd(payment: PagePayment, storeMs: number): void {
    this.#endRunning(payment.paymentId);
    const known = readItem<Partial<PagePayment>>(this.#key);
    const isSame = known?.value?.paymentId === payment.paymentId;
    // Another tab has begun the next payment, which has precedence.
    if (known && !isSame && known.until === undefined && isPagePayment(known.value)) return;
    writeItem(this.#key, payment, (isSame ? known.until : undefined) ?? serverNow() + storeMs);
  }

  #storeUnclear(paymentId: string, unclearUntil: number): void {
    const payment = this.read();
    if (payment?.paymentId === paymentId && !this.isOver()) this.#store({ ...payment, unclearUntil });
  }

  #forget(paymentId: string): void {
    if (this.read()?.paymentId === paymentId) writeItem(this.#key, null);
    this.#endRunning(paymentId);
  }

  #endRunning(paymentId: string): void {
    if (this.readRunning() === paymentId) writeItem(this.#runningKey, null);
  }
}
