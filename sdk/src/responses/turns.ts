import { within } from '../api/signals.ts';
import { type Recording, type ResponseStore, Responses, type StoredAnswer } from './responses.ts';

export type { ResponseStore };

const WAIT_MS = 5_000;
const UNDER_WAY_MAX = 1_000;

interface Incoming {
  method: string;
  url: string;
  header(name: string): string | null | undefined;
}

/** Turn of a request with an identified payment. Other requests under the same key wait for its end. */
interface Turn {
  stored: StoredAnswer | null;
  /** Null, and the end of the turn, if nothing was settled. Otherwise the turn ends with the recording. */
  record(access: object | undefined, paymentResponse: string | null | undefined): Recording | null;
}

/** Lets requests with the same identified payment run one after another, so that a repeat gets the answer of the first. */
export class Turns {
  /** Requests in progress by their keys. */
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #recordings = new WeakMap<object, Recording>();

  /** Waits for the turn of a request, for a limited time. Null without a store or an identified payment. */
  async take(store: ResponseStore | undefined, request: Incoming, report: (error: unknown) => void): Promise<Turn | null> {
    const responses = store && new Responses(store, report);
    const { method, url } = request;
    const key = await responses?.keyOf({ method, url, payment: request.header('PAYMENT-SIGNATURE') || null });
    if (!responses || !key) return null;
    const end = await this.#enter(key);
    const record: Turn['record'] = (access, paymentResponse) => {
      if (!access || !paymentResponse) {
        end();
        return null;
      }
      const recording = responses.record(key, paymentResponse, end);
      this.#recordings.set(access, recording);
      return recording;
    };
    const stored = await responses.find(key);
    if (stored) end();
    return { stored, record };
  }

  /** Stores no answer of a handler that failed or never ran, and ends its turn. */
  discard(access: object): void {
    this.#recordings.get(access)?.discard();
  }

  async #enter(key: string): Promise<() => void> {
    const until = Date.now() + WAIT_MS;
    for (let left = WAIT_MS; left > 0; left = until - Date.now()) {
      const work = this.#underWay.get(key);
      if (!work) break;
      await within(left, work);
    }
    let resolve: () => void = () => {};
    const work = new Promise<void>((settle) => {
      resolve = settle;
    });
    this.#underWay.delete(key);
    this.#underWay.set(key, work);
    // Answers that never end must not fill the memory.
    if (this.#underWay.size > UNDER_WAY_MAX) this.#underWay.delete(this.#underWay.keys().next().value as string);
    return () => {
      if (this.#underWay.get(key) === work) this.#underWay.delete(key);
      resolve();
    };
  }
}
