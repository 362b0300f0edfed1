import type { Identity, PageFacts, Session } from '../state.ts';
import { serverNow } from './api.ts';

/** The payment this page has begun, kept in the browser: over a refresh, the back button and a closed laptop. */
const VERSION = 1;

interface Kept<T> {
  version: number;
  value: T;
  /** Epoch ms after which nobody needs it any more. */
  until?: number;
}

/** One payment per product and way in: a payment session or hand-off is its own purchase. */
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
const isMoney = (value: Session['price'] | null | undefined): boolean => isText(value?.asset) && isDecimal(value?.amount);
const isInstant = (value: string | undefined): boolean => !Number.isNaN(Date.parse(value ?? ''));

/** Whether what was kept is what this version keeps: anything else would break the page at every visit. */
const isSession = (value: Partial<Session> | null): value is Session =>
  [value?.paymentId, value?.recipient, value?.memo, value?.solanaPayUrl].every(isText) &&
  isMoney(value?.price) &&
  isInstant(value?.expiresAt) &&
  (value?.fee === null || isMoney(value?.fee)) &&
  (value?.quote === null || (isInstant(value?.quote?.expiresAt) && isDecimal(value?.quote?.rate))) &&
  (value?.txSignature === null || isText(value?.txSignature)) &&
  (value?.unclearUntil === undefined || Number.isFinite(value.unclearUntil));

export class Memory {
  readonly #key: string;
  /** Which payment of this product is not over, whichever way in it was begun by. */
  readonly #runningKey: string;
  constructor(facts: PageFacts) {
    this.#key = keyOf(facts);
    this.#runningKey = `svc:running:${facts.slug}`;
  }

  read(): Session | null {
    const session = readItem<Partial<Session>>(this.#key)?.value ?? null;
    return isSession(session) ? session : null;
  }

  /** Whether the end of what is kept was shown. */
  isOver(): boolean {
    return readItem(this.#key)?.until !== undefined;
  }

  /** Of a payment that is not over. */
  write(session: Session): void {
    writeItem(this.#key, session);
    writeItem(this.#runningKey, session.paymentId);
  }

  /** How it ended was shown; from the first time on it is kept for so long. */
  end(session: Session, keptMs: number): void {
    const known = readItem<Partial<Session>>(this.#key);
    const until = (known?.value?.paymentId === session.paymentId ? known.until : undefined) ?? serverNow() + keptMs;
    writeItem(this.#key, session, until);
    if (this.readRunning() === session.paymentId) this.forgetRunning();
  }

  forget(): void {
    const known = this.read();
    writeItem(this.#key, null);
    if (known && this.readRunning() === known.paymentId) this.forgetRunning();
  }

  readRunning(): string | null {
    const paymentId = readItem<unknown>(this.#runningKey)?.value;
    return typeof paymentId === 'string' ? paymentId : null;
  }

  forgetRunning(): void {
    writeItem(this.#runningKey, null);
  }

  readIdentity(): Identity | null {
    const identity = readItem<Identity>(`${this.#key}:identity`)?.value;
    return identity && Date.parse(identity.expiresAt) > serverNow() ? identity : null;
  }

  writeIdentity(identity: Identity): void {
    writeItem(`${this.#key}:identity`, identity);
  }

  forgetIdentity(): void {
    writeItem(`${this.#key}:identity`, null);
  }

  /** Another tab of the same product began, finished or forgot a payment. */
  onChange(listener: () => void): void {
    addEventListener('storage', ({ key }) => {
      if (key === this.#key) listener();
    });
  }

  /** One tab of a product at a time, so that two of them never begin two payments. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    if (!('locks' in navigator)) return work();
    return (await navigator.locks.request(this.#runningKey, work)) as T;
  }

  /** One wallet at a time is asked for a payment, in all tabs. False where another is being asked; a closed tab asks nobody. */
  async asking(paymentId: string, work: () => Promise<void>): Promise<boolean> {
    if (!('locks' in navigator)) return work().then(() => true);
    return (await navigator.locks.request(`svc:asking:${paymentId}`, { ifAvailable: true }, async (lock) => {
      if (lock) await work();
      return lock !== null;
    })) as boolean;
  }
}
