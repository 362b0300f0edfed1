/**
 * What the service says of the payment of this page, and of the signature that is known to pay it.
 * @module
 */

import type { Failure } from '../../parts/answer.ts';
import type { PageNews } from '../machine/events.ts';
import type { PaymentStatus } from '../wire.ts';
import { confirmPayment, readStatus } from './api.ts';

/** Asking for a confirmation makes the service look at the chain itself; a few times, then its own rechecks do. */
const CONFIRMS_MAX = 8;

interface Target {
  paymentId: string;
  txSignature: string | null;
  entrySession?: string;
  shortBy?: string[];
}

/** The service gave no answer, or one that says when to ask again. */
interface NoAnswer {
  retryAfterMs: number | null;
}

/** What a refused confirmation tells of money that did arrive; null where it tells nothing. */
function readRefusal(paymentId: string, txSignature: string, { meta }: Failure): PageNews | null {
  if (meta.recovered_payment_id) return { kind: 'paymentRecovered', paymentId, recoveredId: meta.recovered_payment_id };
  return meta.reason === 'late' ? { kind: 'paymentLate', paymentId, txSignature } : null;
}

const isSeen = ({ seen = [] }: PaymentStatus, txSignature: string): boolean => seen.some((one) => one.tx_signature === txSignature);

export class WatchPayment {
  /** The signature that is confirmed, and how often. */
  #confirmed = '';
  #confirms = 0;

  /** Whether the service is asked to look at the chain itself when it is asked the next time. */
  asksChain({ txSignature }: Target): boolean {
    return txSignature !== null && (this.#confirmed !== txSignature || this.#confirms < CONFIRMS_MAX);
  }

  async look(target: Target): Promise<PageNews | NoAnswer> {
    const { paymentId, txSignature, entrySession } = target;
    if (entrySession !== undefined) {
      const answer = await readStatus(paymentId, entrySession);
      return answer.ok
        ? { kind: 'paymentRead', paymentId, status: answer.value, redirectUrl: null }
        : { retryAfterMs: answer.retryAfterMs };
    }
    if (txSignature !== null && this.asksChain(target)) {
      const answer = await this.#confirm(paymentId, txSignature);
      if (answer.ok) {
        const { payment, redirect_url: redirectUrl = null } = answer.value;
        return { kind: 'paymentRead', paymentId, status: await this.#withAccess(payment), redirectUrl };
      }
      const told = readRefusal(paymentId, txSignature, answer);
      if (told) return told;
      if (answer.code === 'payment_mismatch') return this.#explainMismatch(paymentId, txSignature);
      if (answer.status === 0 || answer.status === 429) return { retryAfterMs: answer.retryAfterMs };
    }
    const answer = await readStatus(paymentId);
    if (answer.ok) return (await this.#readDecision(target, answer.value)) ?? this.#complete(target, answer.value);
    return answer.status === 404 ? { kind: 'paymentGone', paymentId } : { retryAfterMs: answer.retryAfterMs };
  }

  /** A transaction that does not pay may be money that came short: then its status says so. */
  async #explainMismatch(paymentId: string, txSignature: string): Promise<PageNews> {
    const answer = await readStatus(paymentId);
    return answer.ok && isSeen(answer.value, txSignature)
      ? { kind: 'paymentRead', paymentId, status: answer.value, redirectUrl: null }
      : { kind: 'signatureMismatched', paymentId, txSignature };
  }

  /** What the seller made of money that came short; null: nothing yet. */
  async #readDecision({ paymentId, shortBy = [] }: Target, status: PaymentStatus): Promise<PageNews | null> {
    const decided = shortBy.find((txSignature) => !isSeen(status, txSignature));
    if (decided === undefined) return null;
    const answer = await confirmPayment(paymentId, decided);
    return answer.ok ? null : readRefusal(paymentId, decided, answer);
  }

  /** How long the buyer has access now, only the status of the payment says. */
  async #withAccess(payment: PaymentStatus): Promise<PaymentStatus> {
    if (payment.status !== 'CONFIRMED') return payment;
    const answer = await readStatus(payment.payment_id);
    return answer.ok ? answer.value : payment;
  }

  #confirm(paymentId: string, txSignature: string): ReturnType<typeof confirmPayment> {
    this.#confirms = this.#confirmed === txSignature ? this.#confirms + 1 : 1;
    this.#confirmed = txSignature;
    return confirmPayment(paymentId, txSignature);
  }

  /** The status says neither where to go from here nor whether late money has arrived; confirming again, which changes nothing, does. */
  async #complete(target: Target, status: PaymentStatus): Promise<PageNews> {
    const { paymentId } = target;
    const signature = status.tx_signature ?? target.txSignature;
    const isExpired = status.status === 'FAILED' && status.failure_code === 'session_expired';
    if (!signature || (status.status !== 'CONFIRMED' && !isExpired)) return { kind: 'paymentRead', paymentId, status, redirectUrl: null };
    const answer = await confirmPayment(paymentId, signature);
    const redirectUrl = answer.ok ? (answer.value.redirect_url ?? null) : null;
    const told = isExpired && !answer.ok ? readRefusal(paymentId, signature, answer) : null;
    return told ?? { kind: 'paymentRead', paymentId, status, redirectUrl };
  }
}
