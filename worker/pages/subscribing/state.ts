/**
 * What the pages of subscribing and cancelling are, and what can happen to them: plain data.
 * @module
 */

import type { Failure } from '../parts/answer.ts';
import type { WalletChoice, WalletRefusal } from '../parts/wallet-choice.ts';
import type { AuthorizationStatus, ConsentKind, Problem, Standing } from './facts.ts';

/** One signature that is left. */
interface Consent {
  kind: ConsentKind;
  transaction: string;
  /** From 1, and of how many. */
  step: number;
  steps: number;
}

/** What the service says of a subscription that is being made. */
export interface Progress {
  paymentId: string;
  status: 'PENDING_SIGNATURE' | 'PENDING_CONFIRMATION' | 'CONFIRMED' | 'FAILED';
  failureCode: string | null;
  receiptId: string | null;
  redirectUrl: string | null;
  authorizationId: string | null;
  steps: { kind: ConsentKind; transaction: string | null }[];
  problem: string | null;
  /** Page of the subscription that the wallet has already. */
  manageUrl: string | null;
  /** Subscription as it stands now, once its first period is paid. */
  renewal: { status: AuthorizationStatus; nextChargeAt: string | null } | null;
  accessUntil: string | null;
  expiresAt: string;
}

/** Payment of this page as the browser stores it, until what it began is over. */
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
  /** `looks`: how often the chain was looked at since the step was sent. */
  | { step: 'landing'; consent: Consent; looks: number }
  | { step: 'collecting'; looks: number; expiresAt: string }
  | { step: 'done'; receiptId: string | null; redirectUrl: string | null; accessUntil: string | null; nextChargeAt: string | null }
  | { step: 'cancelled'; standing: Standing; effectiveAt: string | null }
  /** The wallet has a subscription, with this page of its own. */
  | { step: 'already'; path: string }
  | { step: 'failed'; isCollection: boolean };

export interface Kept {
  wallets: WalletChoice[] | null;
  walletName: string;
  account: string;
  attempt: number;
  paymentId: string | null;
  /** The wallet that the payment was begun with. */
  payer: string | null;
  authorizationId: string | null;
  /** The QR code with the address of this page is shown. */
  isPhoneOpen: boolean;
  /** How many of the steps are signed, for counting on. */
  signed: number;
  txSignature: string | null;
}

export type SubscribingState = Kept & Step;
export type StateAt<K extends Step['step']> = Extract<SubscribingState, { step: K }>;

export type SubscribingNews =
  | { kind: 'pageOpened'; stored: Stored | null }
  | { kind: 'walletsChanged'; wallets: WalletChoice[] }
  | { kind: 'walletPressed'; walletName: string }
  | { kind: 'continuePressed' }
  | { kind: 'backPressed' }
  | { kind: 'startAgainPressed' }
  | { kind: 'identityFinished' }
  /** The page asks by itself whether the buyer has shown who they are. */
  | { kind: 'identityDue' }
  | { kind: 'phonePressed' }
  /** Another tab asks a wallet for the same. */
  | { kind: 'turnRefused'; attempt: number }
  | { kind: 'walletOpened'; attempt: number; account: string }
  | { kind: 'walletRefused'; attempt: number; refusal: WalletRefusal }
  | { kind: 'prepared'; progress: Progress }
  | { kind: 'cancelPrepared'; transaction: string; effectiveAt: string }
  | { kind: 'identityWanted'; provider: string; deepLink: string; isNew: boolean }
  | { kind: 'refused'; failure: Failure }
  /** `transaction`: null where the wallet has sent it by itself. */
  | { kind: 'signed'; attempt: number; transaction: string | null; txSignature: string }
  | { kind: 'sent' }
  | { kind: 'cancelled'; standing: Standing; effectiveAt: string | null }
  | { kind: 'progressed'; progress: Progress }
  | { kind: 'unanswered' };

export type SubscribingEffect =
  | { kind: 'openWallet'; attempt: number; walletName: string }
  | { kind: 'prepare'; account: string; paymentId: string | null }
  | { kind: 'ask'; attempt: number; transaction: string }
  | { kind: 'send'; paymentId: string | null; transaction: string | null; txSignature: string }
  /** `asksChain`: the account is looked at, and the first period collected where it can be. */
  | { kind: 'look'; paymentId: string; txSignature: string | null; asksChain: boolean; afterMs: number }
  /** null: it is over. */
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
