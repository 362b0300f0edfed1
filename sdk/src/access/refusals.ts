import { SvcError } from '../errors/svc-error.ts';
import { decodedHeader } from './served.ts';

export interface Refusal {
  status: 402 | 409 | 429 | 503;
  headers: Record<string, string>;
  body: { code: string; detail: string } & Record<string, unknown>;
}

export const EXPOSED_HEADERS = 'PAYMENT-REQUIRED, PAYMENT-RESPONSE, WWW-Authenticate, Payment-Receipt, Retry-After';
const RETRY_AFTER_SECONDS = 5;
const SETUP_RETRY_AFTER_SECONDS = 60;

const refusal = (status: Refusal['status'], body: Refusal['body'], headers: Record<string, string> = {}): Refusal => ({
  status,
  headers: { 'Cache-Control': 'no-store', 'Access-Control-Expose-Headers': EXPOSED_HEADERS, ...headers },
  body,
});
const retryAfter = (seconds: number | null) => ({ 'Retry-After': String(Math.max(1, Math.ceil(seconds ?? RETRY_AFTER_SECONDS))) });

export interface Challenge {
  resource?: { url?: string; description?: string };
  accepts?: { asset?: string; amount?: string; network?: string; payTo?: string }[];
}

export interface ShownWith {
  headers?: Record<string, string>;
  /** Result of the sign-in that the buyer sent. */
  sign_in?: unknown;
}

/** Builds the resource's 402 with the service's challenge, repeated in the body because many tools hide headers. */
export function paymentRequired(challenge: string, code: string, detail: string, { headers, sign_in }: ShownWith = {}): Refusal {
  const decoded = decodedHeader<Challenge>(challenge);
  const body = { code, detail, ...(sign_in === undefined ? {} : { sign_in }), ...(decoded ? { payment_required: decoded } : {}) };
  return refusal(402, body, { 'PAYMENT-REQUIRED': challenge, ...headers });
}

/** The product cannot be paid for yet: a 402 without a challenge would break the buyer's client. */
export const notReady = (): Refusal => {
  const detail = 'This resource cannot be paid for yet: its owner has not finished the setup of payments (setup_not_ready).';
  return refusal(503, { code: 'setup_not_ready', detail }, retryAfter(SETUP_RETRY_AFTER_SECONDS));
};

/** Answers 503 instead of a new 402, because the buyer's money may be in flight. */
export const settlementPending = (seconds: number, txSignature: string): Refusal => {
  const detail = 'Your payment was sent and is not decided yet. Repeat this request with the same PAYMENT-SIGNATURE; do not pay again.';
  return refusal(503, { code: 'settlement_pending', detail, tx_signature: txSignature }, retryAfter(seconds));
};

/** Names the consumption, so that an unserved buyer can ask the merchant for its refund. */
export const paymentReplayed = (consumptionId?: string): Refusal => {
  const detail = 'This payment was already used. Send the request without PAYMENT-SIGNATURE to pay anew.';
  return refusal(409, { code: 'payment_replayed', detail, ...(consumptionId === undefined ? {} : { consumption_id: consumptionId }) });
};

/** Replaces the refusal of a replayed payment if its answer may be stored soon. Another process may still serve it. */
export function whileAnswered(replayed: Refusal): Refusal {
  if (replayed.body.code !== 'payment_replayed') return replayed;
  const detail =
    'This payment was already used, and its answer may still be in the making. Repeat this request with the same PAYMENT-SIGNATURE after Retry-After; do not pay again.';
  return refusal(409, { ...replayed.body, detail }, retryAfter(null));
}

export const requestReplayed = (): Refusal => {
  const detail =
    'A request with this Idempotency-Key was already served, is being served, or was given back. Use a new key for a new request.';
  return refusal(409, { code: 'request_replayed', detail });
};

export const unavailable = (error: unknown): Refusal => {
  const detail =
    'Access cannot be checked right now, so nothing was served. Repeat the same request, with the same payment if you sent one.';
  return refusal(503, { code: 'access_unavailable', detail }, retryAfter(error instanceof SvcError ? error.retryAfterSeconds : null));
};

/** Returns the refusal for the buyer, or null for other errors. Depends only on the code. */
export function toRefusal(error: SvcError): Refusal | null {
  const challenge = error.headers.get('PAYMENT-REQUIRED');
  switch (error.code) {
    case 'entitlement_missing':
    case 'subscription_expired': {
      const { sign_in } = error.meta;
      return challenge ? paymentRequired(challenge, error.code, 'Pay as the PAYMENT-REQUIRED header says.', { sign_in }) : notReady();
    }
    case 'payment_mismatch': {
      if (!challenge) return null;
      const reason = typeof error.meta.reason === 'string' ? error.meta.reason : 'payment_mismatch';
      return paymentRequired(challenge, error.code, `The payment was refused: ${reason}. Pay as the PAYMENT-REQUIRED header says.`);
    }
    // No challenge: the payment was used elsewhere, and the buyer must not pay again.
    case 'duplicate_settlement':
      return refusal(409, { code: error.code, detail: 'This payment was made for something else and cannot be used here.' });
    // No challenge: an agent in a loop would pay it.
    case 'payer_limit_reached': {
      const detail =
        'This payment would exceed the daily limit of this wallet for this resource. What it has paid for can still be used; do not pay again before Retry-After.';
      const { limit, paid, resets_at } = error.meta;
      return refusal(429, { code: error.code, detail, limit, paid, resets_at }, retryAfter(error.retryAfterSeconds));
    }
    // No challenge: the buyer's client must send its first payment again, and sign no other.
    case 'idempotency_conflict':
      if (error.meta.reason === 'payment_identifier') {
        const detail = 'Another payment was sent under this payment identifier. Send that one again; do not pay again.';
        return refusal(409, { code: error.code, reason: error.meta.reason, detail });
      }
      return refusal(409, { code: error.code, detail: 'This Idempotency-Key was used for a different request.' });
    case 'idempotency_in_progress':
    case 'idempotency_race':
      return refusal(409, { code: error.code, detail: 'The same request is still being served.' }, retryAfter(error.retryAfterSeconds));
    case 'setup_not_ready':
      return notReady();
    default:
      return null;
  }
}

/** True for an outage, which `failOpen` covers. 429 and 401 are answers that a buyer or a revoked key could cause. */
export const isOutage = (error: unknown): boolean =>
  error instanceof SvcError && (error.status >= 500 || error.code === 'connection_failed' || error.code === 'request_timeout');
