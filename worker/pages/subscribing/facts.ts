import type { SubscribingKey, TextKey } from '../locales/dictionaries.ts';
import type { Amount, Say } from '../parts/text.ts';
import type { WalletTerms } from '../parts/wallet-choice.ts';

export type AuthorizationStatus = 'pending' | 'active' | 'past_due' | 'cancel_requested' | 'cancelled' | 'requires_reapproval' | 'expired';

export type AnyKey = TextKey | SubscribingKey;
export type SayAny = Say<AnyKey>;

interface CommonFacts extends WalletTerms {
  locale: string;
  text: Record<AnyKey, string>;
  price: Amount;
  /** Days of a period. */
  periodDays: number;
  /** Of the product's page. */
  slug: string;
  productName: string;
}

/** The page on which a buyer subscribes. */
export interface SubscribeFacts extends CommonFacts {
  page: 'subscribe';
  /** Why there is nothing to subscribe to; null where there is. */
  obstacle: TextKey | null;
  paymentSessionId: string | null;
  handoffToken: string | null;
  /** Where this page stands: shown to a phone as a code, and opened inside a wallet. */
  pageUrl: string;
  isPhone: boolean;
  onrampUrl: string | null;
  supportUrl: string | null;
  /** Time of the second charge of who subscribes now. */
  nextChargeAt: string;
  /** The payment that the payment session of the link holds already. */
  begunId: string | null;
}

/** The page on which a subscriber sees what runs, and ends it. */
export interface ManageFacts extends CommonFacts {
  page: 'manage';
  authorizationId: string;
  wallet: string;
  recipient: string;
  isCancellable: boolean;
  standing: Standing;
}

/** How a subscription stands: all that a cancellation changes on its page. */
export interface Standing {
  status: AuthorizationStatus;
  nextChargeAt: string | null;
  paidThrough: string | null;
}

export type SubscribingFacts = SubscribeFacts | ManageFacts;

/** What a wallet is asked for. */
export type ConsentKind = 'approve' | 'subscribe' | 'resume' | 'revoke' | 'cancel';

export interface Problem {
  key: AnyKey;
  values?: Record<string, string>;
}
