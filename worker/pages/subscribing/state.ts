import type { Failure } from '../parts/answer.ts';
import type { WalletChoice, WalletRefusal } from '../parts/wallet-choice.ts';
import type { AuthorizationStatus, ConsentKind, Problem, SubscriptionState } from './facts.ts';

interface Consent {
  kind: ConsentKind;
  transaction: string;
  step: number;
  steps: number;
}

export interface Progress {
  paymentId: string;
  status: 'PENDING_SIGNATURE' | 'PENDING_CONFIRMATION' | 'CONFIRMED' | 'FAILED';
  failureCode: string | null;
  receiptId: string | null;
  redirectUrl: string | null;
  authorizationId: string | null;
  steps: { kind: ConsentKind; transaction: string | null }[];
  problem: string | null;
  /** Page of the wallet's existing subscription. */
  manageUrl: string | null;
  /** Subscription once its first period is paid. */
  renewal: { status: AuthorizationStatus; nextChargeAt: string | null } | null;
  accessUntil: string | null;
  expiresAt: string;
}

/** Payment in the browser's storage, until it and its subscription are over. */
export interface Stored {
  paymentId: string;
  payer: string | null;
}

export type Step =
  | { step: 'choosing'; problem: Problem | null }
  | { step: 'opening' | 'preparing' }
  | { step: 'identity'; provider: string; deepLink: string; problem: Problem | null }
  | { step: 'explaining'; consent: Consent; effectiveAt: string | null }
  | { step: 'asking' | 'sending'; consent: Consent }
  /** `checks`: chain checks since the transaction was sent. */
  | { step: 'landing'; consent: Consent; checks: number }
  | { step: 'collecting'; checks: number; expiresAt: string }
  | { step: 'done'; receiptId: string | null; redirectUrl: string | null; accessUntil: string | null; nextChargeAt: string | null }
  | { step: 'cancelled'; subscription: SubscriptionState; effectiveAt: string | null }
  | { step: 'already'; path: string }
  | { step: 'failed'; isCollection: boolean };

export interface SharedState {
  wallets: WalletChoice[] | null;
  walletName: string;
  account: string;
  attempt: number;
  paymentId: string | null;
  payer: string | null;
  authorizationId: string | null;
  isPhoneOpen: boolean;
  signed: number;
  txSignature: string | null;
}

export type SubscribingState = SharedState & Step;
export type StateAt<K extends Step['step']> = Extract<SubscribingState, { step: K }>;

export type SubscribingNews =
  | { kind: 'pageOpened'; stored: Stored | null }
  | { kind: 'walletsChanged'; wallets: WalletChoice[] }
  | { kind: 'walletPressed'; walletName: string }
  | { kind: 'continuePressed' }
  | { kind: 'backPressed' }
  | { kind: 'startAgainPressed' }
  | { kind: 'identityFinished' }
  | { kind: 'identityDue' }
  | { kind: 'phonePressed' }
  /** Another tab asks a wallet for the same payment. */
  | { kind: 'turnRefused'; attempt: number }
  | { kind: 'walletOpened'; attempt: number; account: string }
  | { kind: 'walletRefused'; attempt: number; refusal: WalletRefusal }
  | { kind: 'prepared'; progress: Progress }
  | { kind: 'cancelPrepared'; transaction: string; effectiveAt: string }
  | { kind: 'identityWanted'; provider: string; deepLink: string; isNew: boolean }
  | { kind: 'refused'; failure: Failure }
  /** `transaction`: null if the wallet has sent it. */
  | { kind: 'signed'; attempt: number; transaction: string | null; txSignature: string }
  | { kind: 'sent' }
  | { kind: 'cancelled'; subscription: SubscriptionState; effectiveAt: string | null }
  | { kind: 'progressed'; progress: Progress }
  | { kind: 'unanswered' };

export type SubscribingEffect =
  | { kind: 'openWallet'; attempt: number; walletName: string }
  | { kind: 'prepare'; account: string; paymentId: string | null }
  | { kind: 'ask'; attempt: number; transaction: string }
  | { kind: 'send'; paymentId: string | null; transaction: string | null; txSignature: string }
  /** `asksChain`: makes the service read the account and collect the first period. */
  | { kind: 'look'; paymentId: string; txSignature: string | null; asksChain: boolean; afterMs: number }
  /** Null: nothing to store. */
  | { kind: 'store'; stored: Stored | null };

export const FIRST_SUBSCRIBING: SubscribingState = {
  wallets: null,
  walletName: '',
  account: '',
  attempt: 0,
  paymentId: null,
  payer: null,
  authorizationId: null,
  isPhoneOpen: false,
  signed: 0,
  txSignature: null,
  step: 'choosing',
  problem: null,
};
