import type { Connected, PageFacts, PaymentStatus, Session } from '../state.ts';

/** The public API as a buyer's browser asks it: same origin, no credentials, every answer a value. */
export interface Failure {
  ok: false;
  /** 0 where no answer came. */
  status: number;
  code: string;
  detail: string;
  meta: { reason?: string; provider?: string; payment_id?: string; recovered_payment_id?: string };
  retryAfterMs: number | null;
}
export type Answer<T> = { ok: true; value: T } | Failure;

interface IdentityWanted {
  identity: { required: true; provider: string };
}

interface IdentityOpened {
  identity_session_id: string;
  provider: string;
  deep_link: string;
  expires_at: string;
}

export interface Confirmed {
  payment: PaymentStatus;
  receipt_id?: string;
  redirect_url?: string;
}

const TIMEOUT_MS = 25_000;

/** How far this device's clock is behind ours; a countdown by a wrong clock would lie. */
let skewMs = 0;
export const serverNow = (): number => Date.now() + skewMs;

export async function ask<T>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Answer<T>> {
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
  walletAddress?: string;
  identitySessionId?: string;
}

export const connect = (facts: PageFacts, { asset, walletAddress, identitySessionId }: ConnectWishes) =>
  ask<Connected | IdentityWanted>('POST', `/v1/products/p/${encodeURIComponent(facts.slug)}/connect`, {
    locale: facts.locale,
    ...(facts.assets.length > 1 ? { asset } : {}),
    ...(walletAddress ? { wallet_address: walletAddress } : {}),
    ...(facts.paymentSessionId ? { payment_session_id: facts.paymentSessionId } : {}),
    ...(facts.handoffToken ? { handoff_token: facts.handoffToken } : {}),
    ...(identitySessionId ? { identity_session_id: identitySessionId } : {}),
  });

export const readPayment = (paymentId: string) => ask<PaymentStatus>('GET', `/v1/payments/${paymentId}`);
export const confirm = (paymentId: string, txSignature: string) =>
  ask<Confirmed>('POST', '/v1/pay/confirm', { payment_id: paymentId, tx_signature: txSignature });
export const send = (paymentId: string, transaction: string) =>
  ask<{ payment: PaymentStatus; tx_signature: string }>('POST', `/v1/payments/${paymentId}/transaction`, { transaction });
/** The transaction of a session already begun, for whichever wallet is to sign it: how a session is never doubled. */
export const prepare = (paymentId: string, account: string) =>
  ask<{ transaction: string }>('POST', `/v1/pay/${paymentId}/solana-pay`, { account });
export const openIdentity = (slug: string) => ask<IdentityOpened>('POST', `/v1/products/p/${slug}/identity`, {});
export const readHandoff = (slug: string, token: string) =>
  ask<{ customer_label?: string }>('GET', `/v1/products/p/${slug}/handoff/${encodeURIComponent(token)}`);

export const toSession = (answer: Connected, txSignature: string | null = null): Session => ({
  paymentId: answer.payment_id,
  price: answer.price,
  fee: answer.fee ?? null,
  recipient: answer.recipient,
  memo: answer.memo,
  solanaPayUrl: answer.solana_pay_url,
  expiresAt: answer.expires_at,
  // Always what one SOL is worth, whichever of the two is paid.
  quote: answer.price_quote ? { rate: answer.price_quote.rate, expiresAt: answer.price_quote.expires_at } : null,
  txSignature,
});

/** A payment that was begun elsewhere, by what its status says of it. Every wallet takes a transaction request. */
export const fromStatus = (payment: PaymentStatus): Session => ({
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
