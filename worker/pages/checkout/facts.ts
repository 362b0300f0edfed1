import type { Dictionary, TextKey } from '../locales/dictionaries.ts';
import type { Amount } from '../parts/text.ts';
import type { WalletTerms } from '../parts/wallet-choice.ts';
import type { Connected, Fee } from './wire.ts';

/** What the server tells the browser with the page: everything that is not asked for later. */
export interface PageFacts extends WalletTerms {
  /** Service time at which the page was rendered. */
  now: string;
  slug: string;
  /** This page, for wallets that open it in a browser of their own. */
  pageUrl: string;
  locale: string;
  text: Dictionary;
  /** Whether a payment can be begun at all. One that was begun before is followed to its end all the same. */
  isPayable: boolean;
  /** Why no payment can be begun; null where one can. */
  obstacle: TextKey | null;
  productName: string;
  /** The account's own name: what a merchant calls the shop is not enough to say who was paid. */
  sellerName: string;
  /** Known to be the seller's; null: none is. */
  sellerDomain: string | null;
  price: Amount;
  /** What a buyer has once it is paid, line by line. */
  gains: string[];
  /** The one of these lines that is a time of access: its end takes its place once it is known. */
  accessGain: string | null;
  /** The assets a buyer may pay in; connect begins with the first of them. */
  assets: string[];
  /** What the price is in the other assets by now, as far as a rate is known: the exact amount is fixed when a payment begins. */
  estimates: Record<string, Amount>;
  /** How long a payment that begins now lasts, in seconds. */
  sessionSeconds: number;
  /** Where money is bought with a card: a template with `{wallet}`, `{asset}` and `{amount}`. */
  onrampUrl: string | null;
  /** Where the seller helps. */
  supportUrl: string | null;
  /** The wallet that is paid, by asset. */
  payees: Record<string, string>;
  /** How long after its end it is uncertain whether a payment arrived: until then no other may begin. */
  uncertainMs: number;
  buttonLabel: string | null;
  /** Where a buyer who does not pay goes back to. */
  cancelUrl: string | null;
  /** A phone shows links to wallets where a desktop shows a QR code. */
  isPhone: boolean;
  paymentSessionId: string | null;
  handoffToken: string | null;
  /** The payment that the payment session of the link holds already, paid or not; another browser may have begun it. */
  begun: (Connected & { tx_signature: string | null }) | null;
}

/** The payment this page is about, as the browser stores it: over refreshes and closed laptops. */
export interface PagePayment {
  paymentId: string;
  price: Amount;
  fee: Fee | null;
  recipient: string;
  memo: string;
  solanaPayUrl: string;
  expiresAt: string;
  quote: { rate: string; expiresAt: string } | null;
  /** The transaction this browser knows to have been sent. */
  txSignature: string | null;
  /** In which its buyer showed who they are: it shows them how to get in. */
  identitySessionId?: string;
  /** Epoch ms until which a wallet that did not say whether it has paid may still have. */
  unclearUntil?: number;
}

/** A payment found under way. `isOurs`: this browser began it; otherwise the maker of the link did. */
export interface FoundPayment {
  payment: PagePayment;
  isOurs: boolean;
}

/** Where the buyer shows who they are. */
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

/** The payment that connect has answered. */
export const toPagePayment = (answer: Connected, txSignature: string | null = null): PagePayment => ({
  paymentId: answer.payment_id,
  price: answer.price,
  fee: answer.fee ?? null,
  recipient: answer.recipient,
  memo: answer.memo,
  solanaPayUrl: answer.solana_pay_url,
  expiresAt: answer.expires_at,
  // The rate is always that of one SOL in USDC, whichever of the two is paid.
  quote: answer.price_quote ? { rate: answer.price_quote.rate, expiresAt: answer.price_quote.expires_at } : null,
  txSignature,
});
