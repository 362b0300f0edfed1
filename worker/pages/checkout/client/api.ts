import { callApi } from '../../browser/call-api.ts';
import { receiptEmail } from '../../browser/receipt-email.ts';
import type { PageFacts, PagePayment } from '../facts.ts';
import type { Connected, PaymentStatus } from '../wire.ts';

interface IdentityWanted {
  identity: { required: true; provider: string };
}

interface IdentityOpened {
  identity_session_id: string;
  provider: string;
  deep_link: string;
  expires_at: string;
}

interface Confirmation {
  payment: PaymentStatus;
  receipt_id?: string;
  redirect_url?: string;
}

interface ConnectWishes {
  asset: string;
  walletAddress: string | null;
  identitySessionId: string | null;
}

export const connect = (facts: PageFacts, { asset, walletAddress, identitySessionId }: ConnectWishes) =>
  callApi<Connected | IdentityWanted>('POST', `/v1/products/p/${encodeURIComponent(facts.slug)}/connect`, {
    body: {
      locale: facts.locale,
      ...(facts.assets.length > 1 ? { asset } : {}),
      ...(walletAddress ? { wallet_address: walletAddress } : {}),
      ...(facts.paymentSessionId ? { payment_session_id: facts.paymentSessionId } : {}),
      ...(facts.handoffToken ? { handoff_token: facts.handoffToken } : receiptEmail()),
      ...(identitySessionId ? { identity_session_id: identitySessionId } : {}),
    },
  });

/** Replaces an unsigned payment by one in another asset. Buyer, session and hand-off carry over. */
export const replacePayment = (facts: PageFacts, replacesId: string, asset: string) =>
  callApi<Connected>('POST', `/v1/products/p/${encodeURIComponent(facts.slug)}/connect`, {
    body: { locale: facts.locale, asset, replaces_payment_id: replacesId },
  });

export const readStatus = (paymentId: string, identitySession?: string) =>
  callApi<PaymentStatus>('GET', `/v1/payments/${paymentId}`, identitySession === undefined ? {} : { identitySession });
export const confirmPayment = (paymentId: string, txSignature: string) =>
  callApi<Confirmation>('POST', '/v1/pay/confirm', { body: { payment_id: paymentId, tx_signature: txSignature } });
export const sendTransaction = (paymentId: string, transaction: string) =>
  callApi<{ payment: PaymentStatus; tx_signature: string }>('POST', `/v1/payments/${paymentId}/transaction`, { body: { transaction } });
/** Prepares the transaction of an existing payment for a wallet, so that no second payment is created. */
export const prepareTransaction = (paymentId: string, account: string) =>
  callApi<{ transaction: string }>('POST', `/v1/pay/${paymentId}/solana-pay`, { body: { account } });
/** Test wallet of a test product: returns its address and, if a transaction was shown, the signature it sent. */
export const payAtPage = (slug: string, walletId: string, shown?: { transaction: string; outcome: 'paid' | 'underpaid' }) =>
  callApi<{ address: string; tx_signature?: string }>('POST', `/p/${encodeURIComponent(slug)}/test-wallet`, {
    body: { wallet_id: walletId, ...(shown ? { shown } : {}) },
  });
export const openIdentity = (slug: string) => callApi<IdentityOpened>('POST', `/v1/products/p/${slug}/identity`, { body: {} });
export const readHandoff = (slug: string, token: string) =>
  callApi<{ customer_label?: string }>('GET', `/v1/products/p/${slug}/handoff/${encodeURIComponent(token)}`);

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
