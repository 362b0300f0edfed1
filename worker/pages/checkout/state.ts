import type { TextKey } from '../locales/dictionaries.ts';
import type { WalletChoice } from '../parts/wallet-choice.ts';
import type { FoundPayment, Identity, PageFacts, PagePayment, Problem } from './facts.ts';
import type { PaymentStatus, SeenMoney } from './wire.ts';

export interface WalletRequest {
  attempt: number;
  walletName: string;
  payment: PagePayment;
  /** True if the wallet sends what it signs. Then its answer moves money, whatever the buyer has chosen since. */
  sends: boolean;
}

export interface SharedState {
  wallets: WalletChoice[] | null;
  asset: string;
  customer: string | null;
  isPhoneOpen: boolean;
  isTwice: boolean;
  /** Number of the current attempt. An answer to an earlier attempt is ignored. */
  attempt: number;
  /** True if this page saw the payment unpaid. Only then does it redirect the buyer to the shop. */
  hasSeenPending: boolean;
  wasIdentityAsked: boolean;
  declinedIds: string[];
  /** Underpayments after which the buyer still pays the full price. */
  dismissed: string[];
}

interface Watched {
  payment: PagePayment;
  status: PaymentStatus | null;
}
interface PerhapsWatched {
  payment: PagePayment | null;
  status: PaymentStatus | null;
}
/** Step without a wallet request of its own. An earlier request may still be open in a wallet. */
interface BackgroundRequest {
  openRequest: WalletRequest | null;
}

interface Choosing extends PerhapsWatched, BackgroundRequest {
  step: 'choosing';
  busyWith: 'opening page' | 'beginning payment' | 'checking signature' | null;
  problem: Problem | null;
  secondsLeft: number | null;
  /** A wallet may have paid already, so no way to pay is open. */
  isUnclear: boolean;
  /** `isSelected`: the browser refused to copy, so the text is selected for the buyer. */
  copied: { what: string; isSelected: boolean } | null;
}

/** Nothing can be bought, for good or until the existing payment has ended. */
interface Unavailable extends PerhapsWatched, BackgroundRequest {
  step: 'unavailable';
  reason: TextKey;
}

/** No earlier request is open in this step or the next two, so two wallets are never asked at once. */
export interface Connecting extends PerhapsWatched {
  step: 'connecting';
  walletName: string;
  stage: 'opening wallet' | 'beginning payment' | 'taking turn' | 'preparing transaction';
  account: string;
  sends: boolean;
  /** Transaction of the connect call, if this attempt began the payment. */
  transaction: string | null;
  secondsLeft: number | null;
}

interface Waiting extends Watched {
  step: 'waiting';
  request: WalletRequest;
  secondsLeft: number | null;
}

/** The payment is stored with its signature before sending. */
interface Sending extends Watched {
  step: 'sending';
}

interface Seen extends Watched, BackgroundRequest {
  step: 'seen';
  seenAt: number;
  isSlow: boolean;
}

interface Confirmed extends Watched, BackgroundRequest {
  step: 'confirmed';
  status: PaymentStatus;
  redirectUrl: string | null;
  isLeaving: boolean;
  copied: Choosing['copied'];
}

interface Failed extends Watched, BackgroundRequest {
  step: 'failed';
  status: PaymentStatus;
}

interface Expired extends Watched, BackgroundRequest {
  step: 'expired';
  status: PaymentStatus;
}

/** The session has expired, but a payment may still be on its way. */
interface Closing extends Watched, BackgroundRequest {
  step: 'closing';
  secondsToCertain: number | null;
  isBusy: boolean;
  problem: Problem | null;
}

/** Underpaid. Nothing else is paid before the buyer has asked the seller. */
interface Short extends Watched, BackgroundRequest {
  step: 'short';
  status: PaymentStatus;
  money: SeenMoney[];
  copied: Choosing['copied'];
}

interface Late extends Watched, BackgroundRequest {
  step: 'late';
}

interface Identifying extends BackgroundRequest {
  step: 'identity';
  identity: Identity;
  problem: Problem | null;
  isBusy: boolean;
  /** The page checks in the background and shows no problem if identification is not complete. */
  isQuiet: boolean;
  askedAt: number;
}

/** A payment was begun elsewhere, and the buyer decides whether to continue it. */
interface Underway extends BackgroundRequest {
  step: 'underway';
  found: FoundPayment;
}

export type StepState =
  | Choosing
  | Unavailable
  | Connecting
  | Waiting
  | Sending
  | Seen
  | Confirmed
  | Failed
  | Expired
  | Closing
  | Late
  | Short
  | Identifying
  | Underway;
export type Step = StepState['step'];
export type PageState = SharedState & StepState;
export type PageAt<S extends Step> = SharedState & Extract<StepState, { step: S }>;

export const CHOOSING: Omit<Choosing, 'payment' | 'status' | 'openRequest'> = {
  step: 'choosing',
  busyWith: null,
  problem: null,
  secondsLeft: null,
  isUnclear: false,
  copied: null,
};

export const firstCarried = (facts: PageFacts): SharedState => ({
  wallets: null,
  asset: facts.assets[0] ?? facts.price.asset,
  customer: null,
  isPhoneOpen: false,
  isTwice: false,
  attempt: 0,
  hasSeenPending: false,
  wasIdentityAsked: false,
  declinedIds: [],
  dismissed: [],
});

export function firstState(facts: PageFacts): PageState {
  const nothing = { payment: null, status: null, openRequest: null };
  if (facts.obstacle !== null) return { ...firstCarried(facts), ...nothing, step: 'unavailable', reason: facts.obstacle };
  return { ...firstCarried(facts), ...nothing, ...CHOOSING };
}

export const paymentOf = (state: PageState): PagePayment | null => ('payment' in state ? state.payment : null);
export const paymentStatusOf = (state: PageState): PaymentStatus | null => ('status' in state ? state.status : null);

export const requestOf = (state: PageState): WalletRequest | null =>
  state.step === 'waiting' ? state.request : 'openRequest' in state ? state.openRequest : null;

/** True if another payment may replace this one: no signature is known and no wallet is asked. */
export const isReplaceable = (state: PageState): boolean =>
  requestOf(state) === null &&
  payingSignatureOf(state) === null &&
  paymentOf(state)?.unclearUntil === undefined &&
  (paymentStatusOf(state)?.status ?? 'PENDING_SIGNATURE') === 'PENDING_SIGNATURE';

export const payingSignatureOf = (state: PageState): string | null =>
  paymentStatusOf(state)?.tx_signature ?? paymentOf(state)?.txSignature ?? null;
