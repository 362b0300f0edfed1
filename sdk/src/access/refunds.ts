import { within } from '../api/signals.ts';
import { SvcError } from '../errors/svc-error.ts';

/** Extends work beyond the answer on platforms that end it otherwise: `ctx.waitUntil` of Workers. */
export type WaitUntil = (work: Promise<unknown>) => void;

export interface PendingRefund {
  consumptionId: string;
  send(): Promise<unknown>;
  giveUp(error: unknown): void;
}

const WAITING_MAX = 1_000;
const RETRY_FOR_MS = 60 * 60_000;
const BACKOFF_FIRST_MS = 1_000;
const BACKOFF_MAX_MS = 60_000;
/** Longer than any try. A loop silent for this long ended with its request. */
const TRY_MAX_MS = 120_000;
/** Workers end `waitUntil` work after 30 seconds. The next request continues. */
const WAIT_UNTIL_MS = 25_000;

/** Longest wait for a refund, of an answer and of the buyer's next request. */
export const REFUND_WAIT_MS = 3_000;

/** Refunds of this process that are being sent, by holder: a payment or a customer. An immediate retry waits, and finds the unit free. */
export class RefundsUnderWay {
  readonly #recent = new Map<string, { work: Promise<unknown>; until: number }>();

  /** Remembers the work for the longest wait. It must not reject. */
  add(holders: string[], work: Promise<void>): void {
    const now = Date.now();
    for (const [holder, { until }] of this.#recent) {
      if (until > now) break;
      this.#recent.delete(holder);
    }
    for (const holder of holders) {
      const earlier = this.#recent.get(holder)?.work;
      // Moves to the end, so that the map stays in the order of `until`.
      this.#recent.delete(holder);
      const both = Promise.all([earlier, work]).then(() => {});
      this.#recent.set(holder, { work: both, until: now + REFUND_WAIT_MS });
    }
  }

  /** Waits for the refunds of these holders. Cheap if none is under way. */
  async wait(holders: string[]): Promise<void> {
    for (const holder of holders) {
      const refund = this.#recent.get(holder);
      const left = refund ? refund.until - Date.now() : 0;
      if (refund && left > 0) await within(left, refund.work);
    }
  }
}

/**
 * Refunds that could not be made yet, tried again one after another with growing pauses, for an hour. In memory: what waits when
 * the process ends is lost. Trying twice is harmless, because a refund has the Idempotency-Key of its consumption.
 */
export class RefundQueue {
  readonly #waiting = new Map<string, PendingRefund & { until: number }>();
  #failures = 0;
  #nextAt = 0;
  #aliveUntil = 0;

  /** Returns false if the failure is permanent or the queue is full: nothing is retried. */
  add(refund: PendingRefund, failure: unknown): boolean {
    if (!mayPass(failure) || this.#waiting.size >= WAITING_MAX) return false;
    this.#waiting.set(refund.consumptionId, { ...refund, until: Date.now() + RETRY_FOR_MS });
    if (this.#waiting.size === 1) this.#failures = 0;
    this.#pause(failure);
    return true;
  }

  /** Continues the queue unless a loop is running. Cheap if empty, so every request may call it. */
  run(waitUntil?: WaitUntil): void {
    const now = Date.now();
    const endsAt = waitUntil ? now + WAIT_UNTIL_MS : Number.POSITIVE_INFINITY;
    if (this.#waiting.size === 0 || now < this.#aliveUntil || this.#nextAt > endsAt) return;
    const work = this.#work(endsAt);
    waitUntil?.(work);
  }

  async #work(endsAt: number): Promise<void> {
    while (this.#waiting.size > 0 && this.#nextAt < endsAt) {
      const waitMs = Math.max(0, this.#nextAt - Date.now());
      this.#aliveUntil = Date.now() + waitMs + TRY_MAX_MS;
      if (waitMs > 0) await idle(waitMs);
      const [next] = this.#waiting.values();
      if (next) await this.#try(next);
    }
    this.#aliveUntil = 0;
  }

  async #try(refund: PendingRefund & { until: number }): Promise<void> {
    const { consumptionId, until } = refund;
    try {
      await refund.send();
      this.#waiting.delete(consumptionId);
      this.#failures = 0;
      this.#nextAt = 0;
    } catch (error) {
      const wasWaiting = this.#waiting.delete(consumptionId);
      if (!wasWaiting) return;
      // Moves to the end, so that a failing refund delays no other.
      if (mayPass(error) && Date.now() < until) this.#waiting.set(consumptionId, refund);
      else refund.giveUp(error);
      this.#pause(error);
    }
  }

  #pause(failure: unknown): void {
    const backoffMs = Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** this.#failures++);
    const askedMs = failure instanceof SvcError ? (failure.retryAfterSeconds ?? 0) * 1000 : 0;
    this.#nextAt = Math.max(this.#nextAt, Date.now() + Math.max(backoffMs, Math.min(askedMs, RETRY_FOR_MS)));
  }
}

const mayPass = (error: unknown): boolean => error instanceof SvcError && error.retryable;

/** Waits on a timer that does not hold the process open. */
const idle = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    const timer: unknown = setTimeout(resolve, ms);
    (timer as { unref?(): void }).unref?.();
  });

/** Names the consumption, so that the operator can refund it manually. */
export function refundFailure(error: unknown, consumptionId: string, outlook: string): Error {
  const reason = error instanceof Error ? error.message : String(error);
  const message = `The units of ${consumptionId} could not be given back (${outlook}): ${reason}`;
  return error instanceof SvcError ? new SvcError(error.code, message, { ...error, cause: error }) : new Error(message, { cause: error });
}
