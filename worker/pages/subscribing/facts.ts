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
  periodDays: number;
  slug: string;
  productName: string;
  pageUrl: string;
  isPhone: boolean;
}

export interface SubscribeFacts extends CommonFacts {
  page: 'subscribe';
  obstacle: TextKey | null;
  paymentSessionId: string | null;
  handoffToken: string | null;
  onrampUrl: string | null;
  supportUrl: string | null;
  nextChargeAt: string;
  begunId: string | null;
}

export interface ManageFacts extends CommonFacts {
  page: 'manage';
  authorizationId: string;
  wallet: string;
  recipient: string;
  isCancellable: boolean;
  subscription: SubscriptionState;
}

export interface SubscriptionState {
  status: AuthorizationStatus;
  nextChargeAt: string | null;
  paidThrough: string | null;
}

export type SubscribingFacts = SubscribeFacts | ManageFacts;

export type ConsentKind = 'approve' | 'subscribe' | 'resume' | 'revoke' | 'cancel';

export interface Problem {
  key: AnyKey;
  values?: Record<string, string>;
}
