import type { Dictionary, TextKey } from '../locales/en.ts';
import type { Amount } from '../parts/text.ts';
import type { Connected, Fee } from './wire.ts';

/** What the server tells the browser with the page: everything that is not asked for later. */
export interface PageFacts {
  slug: string;
  /** This page, for wallets that open it in a browser of their own. */
  pageUrl: string;
  locale: string;
  text: Dictionary;
  /** Whether a payment can be begun at all. One that was begun before is followed to its end all the same. */
  isPayable: boolean;
  /** Why not, if so. */
  obstacle: TextKey | null;
  productName: string;
  /** The account's own name: what a merchant calls the shop is not enough to say who was paid. */
  sellerName: string;
  price: Amount;
  /** What may be paid in, what connect begins with first. */
  assets: string[];
  /** The wallet that is paid, by asset. */
  payees: Record<string, string>;
  /** How long after its end it is uncertain whether a payment arrived: until then no other may begin. */
  uncertainMs: number;
  network: 'mainnet' | 'devnet';
  buttonLabel: string | null;
  /** A phone shows links to wallets where a desktop shows a QR code. */
  isPhone: boolean;
  paymentSessionId: string | null;
  handoffToken: string | null;
  /** The payment its payment session holds already, paid or not: this browser need not have begun it. */
  begun: (Connected & { tx_signature: string | null }) | null;
  /** Local development only: the node a demo wallet takes its play money from. */
  demoRpcUrl: string | null;
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

export interface WalletChoice {
  name: string;
  icon: string | null;
  /** False where it does not know the network we are on. */
  isUsable: boolean;
  isDemo: boolean;
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
  // Always what one SOL is worth, whichever of the two is paid.
  quote: answer.price_quote ? { rate: answer.price_quote.rate, expiresAt: answer.price_quote.expires_at } : null,
  txSignature,
});
