import type { Failure } from '../../parts/answer.ts';
import type { PageNews } from '../machine/events.ts';
import type { PaymentStatus } from '../wire.ts';
import { confirmPayment, readStatus } from './api.ts';

/** Each confirm call makes the service read the chain. After 8 calls the service's own rechecks take over. */
const CONFIRMS_MAX = 8;

interface Target {
  paymentId: string;
  txSignature: string | null;
  entrySession?: string;
  shortBy?: string[];
}

interface NoAnswer {
  retryAfterMs: number | null;
}

/** Reads a refused confirmation for money that did arrive: recovered by another payment, or late. Returns null otherwise. */
function readRefusal(paymentId: string, txSignature: string, { meta }: Failure): PageNews | null {
  if (meta.recovered_payment_id) return { kind: 'paymentRecovered', paymentId, recoveredId: meta.recovered_payment_id };
  return meta.reason === 'late' ? { kind: 'paymentLate', paymentId, txSignature } : null;
}

const isSeen = ({ seen = [] }: PaymentStatus, txSignature: string): boolean => seen.some((one) => one.tx_signature === txSignature);

export class WatchPayment {
  #confirmed = '';
  #confirms = 0;

  /** True if the next poll confirms the signature, which makes the service read the chain. */
  asksChain({ txSignature }: Target): boolean {
    return txSignature !== null && (this.#confirmed !== txSignature || this.#confirms < CONFIRMS_MAX);
  }

  async poll(target: Target): Promise<PageNews | NoAnswer> {
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
      const refusal = readRefusal(paymentId, txSignature, answer);
      if (refusal) return refusal;
      if (answer.code === 'payment_mismatch') return this.#explainMismatch(paymentId, txSignature);
      if (answer.status === 0 || answer.status === 429) return { retryAfterMs: answer.retryAfterMs };
    }
    const answer = await readStatus(paymentId);
    if (answer.ok) return (await this.#readDecision(target, answer.value)) ?? this.#complete(target, answer.value);
    return answer.status === 404 ? { kind: 'paymentGone', paymentId } : { retryAfterMs: answer.retryAfterMs };
  }

  /** A mismatching transaction may be an underpayment. Then the payment's status lists it. */
  async #explainMismatch(paymentId: string, txSignature: string): Promise<PageNews> {
    const answer = await readStatus(paymentId);
    return answer.ok && isSeen(answer.value, txSignature)
      ? { kind: 'paymentRead', paymentId, status: answer.value, redirectUrl: null }
      : { kind: 'signatureMismatched', paymentId, txSignature };
  }

  /** Reads the seller's decision on an underpayment. Returns null if there is none. */
  async #readDecision({ paymentId, shortBy = [] }: Target, status: PaymentStatus): Promise<PageNews | null> {
    const decided = shortBy.find((txSignature) => !isSeen(status, txSignature));
    if (decided === undefined) return null;
    const answer = await confirmPayment(paymentId, decided);
    return answer.ok ? null : readRefusal(paymentId, decided, answer);
  }

  /** Only the payment's status has the end of access. */
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

  /** Confirms a finished payment again, which changes nothing: only that answer has the redirect URL and late money. */
  async #complete(target: Target, status: PaymentStatus): Promise<PageNews> {
    const { paymentId } = target;
    const signature = status.tx_signature ?? target.txSignature;
    const isExpired = status.status === 'FAILED' && status.failure_code === 'session_expired';
    if (!signature || (status.status !== 'CONFIRMED' && !isExpired)) return { kind: 'paymentRead', paymentId, status, redirectUrl: null };
    const answer = await confirmPayment(paymentId, signature);
    const redirectUrl = answer.ok ? (answer.value.redirect_url ?? null) : null;
    const refusal = isExpired && !answer.ok ? readRefusal(paymentId, signature, answer) : null;
    return refusal ?? { kind: 'paymentRead', paymentId, status, redirectUrl };
  }
}
