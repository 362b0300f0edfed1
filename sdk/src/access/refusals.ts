import { SvcError } from '../api/errors.ts';

/** What the buyer is told instead of being served. */
export interface Refusal {
  status: 402 | 409 | 503;
  headers: Record<string, string>;
  body: { code: string; detail: string } & Record<string, unknown>;
}

export const EXPOSED_HEADERS = 'PAYMENT-REQUIRED, PAYMENT-RESPONSE, Retry-After';
/** What a buyer is told to wait where the service named no time. */
const RETRY_AFTER_SECONDS = 5;
const SETUP_RETRY_AFTER_SECONDS = 60;

const refusal = (status: Refusal['status'], body: Refusal['body'], headers: Record<string, string> = {}): Refusal => ({
  status,
  headers: { 'Cache-Control': 'no-store', 'Access-Control-Expose-Headers': EXPOSED_HEADERS, ...headers },
  body,
});
const retryAfter = (seconds: number | null) => ({ 'Retry-After': String(Math.max(1, Math.ceil(seconds ?? RETRY_AFTER_SECONDS))) });

/** The challenge of the service, as far as a page shows it. */
export interface Challenge {
  resource?: { url?: string; description?: string };
  accepts?: { asset?: string; amount?: string; network?: string; payTo?: string }[];
}

/** The challenge of a PAYMENT-REQUIRED header, decoded; undefined where it cannot be read. */
function decodedChallenge(header: string): Challenge | undefined {
  try {
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(header), (byte) => byte.charCodeAt(0)))) as Challenge;
  } catch {
    return undefined;
  }
}

/** The resource's own 402, with the challenge the service prepared, and what it says in the body, because many tools show no headers. */
export function paymentRequired(challenge: string, code: string, detail: string, headers: Record<string, string> = {}): Refusal {
  const decoded = decodedChallenge(challenge);
  return refusal(402, { code, detail, ...(decoded ? { payment_required: decoded } : {}) }, { 'PAYMENT-REQUIRED': challenge, ...headers });
}

/** The product cannot be paid for yet: a 402 without a challenge would only break the buyer's client. */
export const notReady = (): Refusal => {
  const detail = 'This resource cannot be paid for yet: its owner has not finished the setup of payments (setup_not_ready).';
  return refusal(503, { code: 'setup_not_ready', detail }, retryAfter(SETUP_RETRY_AFTER_SECONDS));
};

/** Answers 503 and never a new 402, because the buyer's money may be on its way. */
export const settlementPending = (seconds: number, txSignature: string): Refusal => {
  const detail = 'Your payment was sent and is not decided yet. Repeat this request with the same PAYMENT-SIGNATURE; do not pay again.';
  return refusal(503, { code: 'settlement_pending', detail, tx_signature: txSignature }, retryAfter(seconds));
};

/** The consumption is named, so that a buyer who was never served can tell the merchant which one to give back. */
export const paymentReplayed = (consumptionId?: string): Refusal => {
  const detail = 'This payment was already used. Send the request without PAYMENT-SIGNATURE to pay anew.';
  return refusal(409, { code: 'payment_replayed', detail, ...(consumptionId === undefined ? {} : { consumption_id: consumptionId }) });
};

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

/** Refusals of the service that are the buyer's to hear; null for everything that is not. Only the code decides. */
export function toRefusal(error: SvcError): Refusal | null {
  const challenge = error.headers.get('PAYMENT-REQUIRED');
  switch (error.code) {
    case 'entitlement_missing':
    case 'subscription_expired':
      return challenge ? paymentRequired(challenge, error.code, 'Pay as the PAYMENT-REQUIRED header says.') : notReady();
    case 'payment_mismatch': {
      if (!challenge) return null;
      const reason = typeof error.meta.reason === 'string' ? error.meta.reason : 'payment_mismatch';
      return paymentRequired(challenge, error.code, `The payment was refused: ${reason}. Pay as the PAYMENT-REQUIRED header says.`);
    }
    // No challenge: the money of this payment went somewhere, and an invitation to pay again would be the wrong answer.
    case 'duplicate_settlement':
      return refusal(409, { code: error.code, detail: 'This payment was made for something else and cannot be used here.' });
    case 'idempotency_conflict':
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

/** The service is away, which is what `failOpen` is about. 429 and 401 are answers: a buyer or a revoked key could bring them about. */
export const isOutage = (error: unknown): boolean =>
  error instanceof SvcError && (error.status >= 500 || error.code === 'connection_failed' || error.code === 'request_timeout');
