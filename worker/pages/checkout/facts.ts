import type { Dictionary, TextKey } from '../locales/dictionaries.ts';
import type { Amount } from '../parts/text.ts';
import type { WalletTerms } from '../parts/wallet-choice.ts';
import type { Connected, Fee } from './wire.ts';

export interface PageFacts extends WalletTerms {
  now: string;
  slug: string;
  /** URL of this page, for wallets with a browser of their own. */
  pageUrl: string;
  locale: string;
  text: Dictionary;
  /** False if no payment can begin. An existing payment is still followed. */
  isPayable: boolean;
  obstacle: TextKey | null;
  productName: string;
  /** Account name, because the shop name is freely chosen and does not identify the payee. */
  sellerName: string;
  /** Verified domain of the seller. */
  sellerDomain: string | null;
  price: Amount;
  gains: string[];
  /** Line of `gains` with the time of access. The end of access replaces it once known. */
  accessGain: string | null;
  assets: string[];
  /** Price in the other assets at the current rate. The exact amount is fixed when a payment begins. */
  estimates: Record<string, Amount>;
  /** Lifetime of a new payment, in seconds. */
  sessionSeconds: number;
  /** On-ramp URL template with `{wallet}`, `{asset}` and `{amount}`. */
  onrampUrl: string | null;
  supportUrl: string | null;
  payees: Record<string, string>;
  /** Time after a payment's end during which money may still arrive. No other payment may begin before. */
  uncertainMs: number;
  buttonLabel: string | null;
  cancelUrl: string | null;
  /** A phone shows wallet links, a desktop a QR code. */
  isPhone: boolean;
  paymentSessionId: string | null;
  handoffToken: string | null;
  /** Existing payment of the payment session, paid or not. Another browser may have begun it. */
  begun: (Connected & { tx_signature: string | null }) | null;
}

export interface PagePayment {
  paymentId: string;
  price: Amount;
  fee: Fee | null;
  recipient: string;
  memo: string;
  solanaPayUrl: string;
  expiresAt: string;
  quote: { rate: string; expiresAt: string } | null;
  txSignature: string | null;
  /** Identity session of the buyer, which authorizes reading the entry details. */
  identitySessionId?: string;
  /** Epoch ms until which a wallet without a clear answer may still have paid. */
  unclearUntil?: number;
}

/** Unfinished payment. `isOurs`: this browser began it, otherwise the link's creator did. */
export interface FoundPayment {
  payment: PagePayment;
  isOurs: boolean;
}

export interface Identity {
  sessionId: string;
  provider: string;
  deepLink: string;
  expiresAt: string;
}

export interface Problem {
  key: TextKey;
  values?: Record<string, string>;
}

export const toPagePayment = (answer: Connected, txSignature: string | null = null): PagePayment => ({
  paymentId: answer.payment_id,
  price: answer.price,
  fee: answer.fee ?? null,
  recipient: answer.recipient,
  memo: answer.memo,
  solanaPayUrl: answer.solana_pay_url,
  expiresAt: answer.expires_at,
  // The rate is USDC for one SOL, in either paid asset.
  quote: answer.price_quote ? { rate: answer.price_quote.rate, expiresAt: answer.price_quote.expires_at } : null,
  txSignature,
});
