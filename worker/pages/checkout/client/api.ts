import type { PageFacts, PagePayment } from '../facts.ts';
import type { Answer, Connected, Failure, PaymentStatus } from '../wire.ts';

/** The public API as a buyer's browser asks it: same origin, no credentials, every answer a value. */
interface IdentityWanted {
  identity: { required: true; provider: string };
}

interface IdentityOpened {
  identity_session_id: string;
  provider: string;
  deep_link: string;
  expires_at: string;
}

export interface Confirmation {
  payment: PaymentStatus;
  receipt_id?: string;
  redirect_url?: string;
}

const TIMEOUT_MS = 25_000;

/** How far this device's clock is behind the service's; a countdown by a wrong clock would be wrong. */
let skewMs = 0;
export const serverNow = (): number => Date.now() + skewMs;

async function callApi<T>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Answer<T>> {
  try {
    const response = await fetch(path, {
      method,
      credentials: 'omit',
      cache: 'no-store',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const date = Date.parse(response.headers.get('date') ?? '');
    // The header counts whole seconds; less than two of them is no skew.
    if (!Number.isNaN(date)) skewMs = Math.abs(date - Date.now()) > 2000 ? date - Date.now() : 0;
    const answer = (await response.json()) as T & { code?: string; detail?: unknown; meta?: Failure['meta'] };
    if (response.ok) return { ok: true, value: answer };
    const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
    return {
      ok: false,
      status: response.status,
      code: answer.code ?? 'unknown',
      detail: typeof answer.detail === 'string' ? answer.detail : '',
      meta: answer.meta ?? {},
      retryAfterMs: Number.isFinite(retryAfter) ? retryAfter * 1000 : null,
    };
  } catch {
    return { ok: false, status: 0, code: 'offline', detail: '', meta: {}, retryAfterMs: null };
  }
}

export interface ConnectWishes {
  asset: string;
  walletAddress: string | null;
  identitySessionId: string | null;
}

export const connect = (facts: PageFacts, { asset, walletAddress, identitySessionId }: ConnectWishes) =>
  callApi<Connected | IdentityWanted>('POST', `/v1/products/p/${encodeURIComponent(facts.slug)}/connect`, {
    locale: facts.locale,
    ...(facts.assets.length > 1 ? { asset } : {}),
    ...(walletAddress ? { wallet_address: walletAddress } : {}),
    ...(facts.paymentSessionId ? { payment_session_id: facts.paymentSessionId } : {}),
    ...(facts.handoffToken ? { handoff_token: facts.handoffToken } : {}),
    ...(identitySessionId ? { identity_session_id: identitySessionId } : {}),
  });

export const readStatus = (paymentId: string) => callApi<PaymentStatus>('GET', `/v1/payments/${paymentId}`);
export const confirmPayment = (paymentId: string, txSignature: string) =>
  callApi<Confirmation>('POST', '/v1/pay/confirm', { payment_id: paymentId, tx_signature: txSignature });
export const sendTransaction = (paymentId: string, transaction: string) =>
  callApi<{ payment: PaymentStatus; tx_signature: string }>('POST', `/v1/payments/${paymentId}/transaction`, { transaction });
/** The transaction of a payment already begun, for the wallet that is to sign it: so no payment is begun twice. */
export const prepareTransaction = (paymentId: string, account: string) =>
  callApi<{ transaction: string }>('POST', `/v1/pay/${paymentId}/solana-pay`, { account });
export const openIdentity = (slug: string) => callApi<IdentityOpened>('POST', `/v1/products/p/${slug}/identity`, {});
export const readHandoff = (slug: string, token: string) =>
  callApi<{ customer_label?: string }>('GET', `/v1/products/p/${slug}/handoff/${encodeURIComponent(token)}`);

/** A payment that was begun elsewhere, by what its status says of it. Every wallet takes a transaction request. */
export const toFoundPayment = (payment: PaymentStatus): PagePayment => ({
  paymentId: payment.payment_id,
  price: payment.price,
  fee: payment.fee ?? null,
  recipient: payment.recipient_wallet,
  memo: payment.memo,
  solanaPayUrl: `solana:${location.origin}/v1/pay/${payment.payment_id}/solana-pay`,
  expiresAt: payment.expires_at,
  quote: payment.price_quote ? { rate: payment.price_quote.rate, expiresAt: payment.price_quote.expires_at } : null,
  txSignature: payment.tx_signature ?? null,
});
