import type { Identity, PageFacts, Session } from '../view/model.ts';
import { serverNow } from './api.ts';

/** The payment this page has begun, kept in the browser: over a refresh, the back button and a closed laptop. */
const VERSION = 1;

/** One payment per product and way in: a payment session or hand-off is its own purchase. */
const keyOf = ({ slug, paymentSessionId, handoffToken }: PageFacts): string =>
  `svc:payment:${slug}:${paymentSessionId ?? handoffToken?.slice(-24) ?? ''}`;

function readItem<T>(key: string): T | null {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? 'null') as { version: number; value: T } | null;
    return kept?.version === VERSION ? kept.value : null;
  } catch {
    return null;
  }
}

function writeItem(key: string, value: unknown): void {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify({ version: VERSION, value }));
  } catch {
    // A browser that keeps nothing still pays; it only forgets.
  }
}

export class Memory {
  readonly #key: string;
  constructor(facts: PageFacts) {
    this.#key = keyOf(facts);
  }

  read(): Session | null {
    const session = readItem<Session>(this.#key);
    return typeof session?.paymentId === 'string' ? session : null;
  }

  write(session: Session): void {
    writeItem(this.#key, session);
  }

  forget(): void {
    writeItem(this.#key, null);
  }

  readIdentity(): Identity | null {
    const identity = readItem<Identity>(`${this.#key}:identity`);
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

  /** One tab at a time, so that two of them never begin two payments. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    if (!('locks' in navigator)) return work();
    return (await navigator.locks.request(this.#key, work)) as T;
  }
}
