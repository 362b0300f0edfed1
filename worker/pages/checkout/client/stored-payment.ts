import { serverNow } from '../../browser/call-api.ts';
import { ifNoOtherTab, inOneTab } from '../../browser/one-tab.ts';
import type { Identity, PageFacts, PagePayment } from '../facts.ts';
import type { StoreEffect } from '../machine/events.ts';

const VERSION = 1;

interface Kept<T> {
  version: number;
  value: T;
  /** The page forgets the payment at this time, in epoch ms. */
  until?: number;
}

/** The browser keeps one payment for each product and way in, because a payment session or a hand-off is a purchase of its own. */
const keyOf = ({ slug, paymentSessionId, handoffToken }: PageFacts): string =>
  `svc:payment:${slug}:${paymentSessionId ?? handoffToken?.slice(-24) ?? ''}`;

function readItem<T>(key: string): Kept<T> | null {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? 'null') as Kept<T> | null;
    return kept?.version === VERSION && !(Number(kept.until) < serverNow()) ? kept : null;
  } catch {
    return null;
  }
}

function writeItem(key: string, value: unknown, until?: number): void {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify({ version: VERSION, value, ...(until === undefined ? {} : { until }) }));
  } catch {
    // A browser that keeps nothing still pays; it only forgets.
  }
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isDecimal = (value: unknown): boolean => typeof value === 'string' && /^\d+(?:\.\d+)?$/.test(value);
const isMoney = (value: PagePayment['price'] | null | undefined): boolean => isText(value?.asset) && isDecimal(value?.amount);
const isInstant = (value: string | undefined): boolean => !Number.isNaN(Date.parse(value ?? ''));

/** Whether what was kept is what this version keeps: anything else would break the page at every visit. */
const isPagePayment = (value: Partial<PagePayment> | null): value is PagePayment =>
  [value?.paymentId, value?.recipient, value?.memo, value?.solanaPayUrl].every(isText) &&
  isMoney(value?.price) &&
  isInstant(value?.expiresAt) &&
  (value?.fee === null || isMoney(value?.fee)) &&
  (value?.quote === null || (isInstant(value?.quote?.expiresAt) && isDecimal(value?.quote?.rate))) &&
  (value?.txSignature === null || isText(value?.txSignature)) &&
  (value?.identitySessionId === undefined || isText(value.identitySessionId)) &&
  (value?.unclearUntil === undefined || Number.isFinite(value.unclearUntil));

/** The payment this page has begun, stored by the browser: over a refresh, the back button and a closed laptop. */
export class StoredPayment {
  readonly #key: string;
  /** Which payment of this product is not over, whichever way in it was begun by. */
  readonly #runningKey: string;
  constructor(facts: PageFacts) {
    this.#key = keyOf(facts);
    this.#runningKey = `svc:running:${facts.slug}`;
  }

  read(): PagePayment | null {
    const payment = readItem<Partial<PagePayment>>(this.#key)?.value ?? null;
    return isPagePayment(payment) ? payment : null;
  }

  /** Whether the end of the stored payment was shown. */
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
    else if (effect.kind === 'storeEnd') this.#storeEnd(effect.payment, effect.keptMs);
    else if (effect.kind === 'storeUnclear') this.#storeUnclear(effect.paymentId, effect.unclearUntil);
    else if (effect.kind === 'forgetPayment') this.#forget(effect.paymentId);
    else writeItem(`${this.#key}:identity`, effect.kind === 'storeIdentity' ? effect.identity : null);
  }

  /** Another tab of the same product has stored a payment. */
  onChange(listener: (stored: PagePayment) => void): void {
    addEventListener('storage', ({ key }) => {
      const stored = key === this.#key ? this.read() : null;
      if (stored) listener(stored);
    });
  }

  /** One tab of a product at a time, so that two of them never begin two payments. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return inOneTab(this.#runningKey, work);
  }

  /** One wallet at a time is asked for a payment, in all tabs. False where another is being asked; a closed tab asks none. */
  takingTurn(paymentId: string, work: () => Promise<void>): Promise<boolean> {
    return ifNoOtherTab(`svc:asking:${paymentId}`, work);
  }

  /** Of a payment that is not over. */
  #store(payment: PagePayment): void {
    writeItem(this.#key, payment);
    writeItem(this.#runningKey, payment.paymentId);
  }

  /** How it ended was shown; from the first time on it is kept for so long. */
  #storeEnd(payment: PagePayment, keptMs: number): void {
    this.#endRunning(payment.paymentId);
    const known = readItem<Partial<PagePayment>>(this.#key);
    const isSame = known?.value?.paymentId === payment.paymentId;
    // Another tab has begun the next payment meanwhile: that is the one to come back to.
    if (known && !isSame && known.until === undefined && isPagePayment(known.value)) return;
    writeItem(this.#key, payment, (isSame ? known.until : undefined) ?? serverNow() + keptMs);
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
