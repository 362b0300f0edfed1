import type { Dictionary, TextKey } from '../locales/en.ts';
import type { Amount } from '../parts/text.ts';

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
  /** How long after its end it is uncertain whether a session was paid: until then no other may begin. */
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

/** The service's share of a price: a transfer of its own. */
interface Fee extends Amount {
  /** Not known of a payment that was begun elsewhere. */
  recipient?: string;
}

/** What connect answers; only what the page reads. */
export interface Connected {
  payment_id: string;
  status: 'PENDING_SIGNATURE' | 'PENDING_CONFIRMATION';
  price: Amount;
  fee?: Fee;
  recipient: string;
  memo: string;
  solana_pay_url: string;
  transaction?: string;
  expires_at: string;
  price_quote?: { rate: string; expires_at: string };
}

/** A session as the page remembers it, over refreshes and closed laptops. */
export interface Session {
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

/** A payment that was begun elsewhere. `isOurs`: by this browser; otherwise by whoever made the link. */
export interface Offered {
  session: Session;
  isOurs: boolean;
}

/** A payment as the status answers it; only what the page reads. */
export interface PaymentStatus {
  payment_id: string;
  slug: string;
  status: 'PENDING_SIGNATURE' | 'PENDING_CONFIRMATION' | 'CONFIRMED' | 'FAILED';
  failure_code?: 'session_expired' | 'underpaid' | 'transaction_failed';
  price: Amount;
  fee?: Amount;
  recipient_wallet: string;
  memo: string;
  price_quote?: { rate: string; expires_at: string };
  overpaid?: Amount;
  tx_signature?: string;
  receipt_id?: string;
  expires_at: string;
  poll_after_ms: number | null;
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

/**
 * Where the buyer is. `closing`: out of time, but a payment may still be on its way. `underway`: one was begun elsewhere, and
 * they say whether it is theirs to go on with.
 */
export type Step =
  | 'choosing'
  | 'connecting'
  | 'waiting'
  | 'sending'
  | 'seen'
  | 'confirmed'
  | 'failed'
  | 'expired'
  | 'closing'
  | 'late'
  | 'identity'
  | 'underway';

export interface Problem {
  key: TextKey;
  values?: Record<string, string>;
}

export interface State {
  step: Step;
  /** Null until the browser has looked. */
  wallets: WalletChoice[] | null;
  walletName: string | null;
  session: Session | null;
  payment: PaymentStatus | null;
  asset: string;
  isPhoneOpen: boolean;
  isBusy: boolean;
  isSlow: boolean;
  qr: { size: number; path: string } | null;
  secondsLeft: number | null;
  redirectUrl: string | null;
  isLeaving: boolean;
  problem: Problem | null;
  customer: string | null;
  identity: Identity | null;
  copied: string | null;
  /** Copied by the person: the browser would not do it. */
  isSelected: boolean;
  /** Begun elsewhere and not over. */
  offered: Offered | null;
  /** A wallet may have paid already: no way to pay is open. */
  isUnclear: boolean;
  /** Two wallets have paid. */
  isTwice: boolean;
}

export const firstState = (facts: PageFacts): State => ({
  step: 'choosing',
  wallets: null,
  walletName: null,
  session: null,
  payment: null,
  asset: facts.assets[0] ?? facts.price.asset,
  isPhoneOpen: false,
  isBusy: false,
  isSlow: false,
  qr: null,
  secondsLeft: null,
  redirectUrl: null,
  isLeaving: false,
  problem: null,
  customer: null,
  identity: null,
  copied: null,
  isSelected: false,
  offered: null,
  isUnclear: false,
  isTwice: false,
});

/** What a person can do on the page. */
export interface Actions {
  payWith(walletName: string): void;
  openPhone(): void;
  copy(what: string, text: string, event: Event): void;
  cancel(): void;
  startAgain(): void;
  stay(): void;
  submitSignature(event: Event): void;
  chooseAsset(asset: string): void;
  finishIdentity(): void;
  /** Go on with the payment that was begun elsewhere, or with one of its own. */
  takeOffered(): void;
  leaveOffered(): void;
}
