import type { TextKey } from '../locales/dictionaries.ts';
import type { WalletChoice } from '../parts/wallet-choice.ts';
import type { FoundPayment, Identity, PageFacts, PagePayment, Problem } from './facts.ts';
import type { PaymentStatus, SeenMoney } from './wire.ts';

/** A request that a wallet shows and has not answered. */
export interface WalletRequest {
  attempt: number;
  walletName: string;
  payment: PagePayment;
  /** Whether the wallet sends what it signs: then its answer moves money, whatever the buyer chose meanwhile. */
  sends: boolean;
}

/** What outlives every step. */
export interface Kept {
  /** The wallets of this browser; null until the browser has looked for them. */
  wallets: WalletChoice[] | null;
  asset: string;
  customer: string | null;
  isPhoneOpen: boolean;
  /** True once two wallets have paid. */
  isTwice: boolean;
  /** Rises with every choice of a wallet, so that an answer to an older one is known as such. */
  attempt: number;
  /** Whether the payment was not yet paid when this page saw it: only then does the page take the buyer to the shop. */
  hasSeenPending: boolean;
  wasIdentityAsked: boolean;
  /** The payments begun elsewhere that the buyer does not go on with. */
  declinedIds: string[];
  /** Transactions that paid too little, in whose place the buyer pays the whole price all the same. */
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
/** A step in which no wallet is asked, but an earlier request may still stand open in one. */
interface BesideRequest {
  openRequest: WalletRequest | null;
}

interface Choosing extends PerhapsWatched, BesideRequest {
  step: 'choosing';
  /** What the page waits for before another choice is possible. */
  busyWith: 'opening page' | 'beginning payment' | 'checking signature' | null;
  problem: Problem | null;
  secondsLeft: number | null;
  /** A wallet may have paid already: no way to pay is open. */
  isUnclear: boolean;
  /** `isSelected`: the browser would not copy it, so the buyer does. */
  copied: { what: string; isSelected: boolean } | null;
}

/** Nothing can be bought here: for good, or until the payment that was begun has ended. */
interface Unavailable extends PerhapsWatched, BesideRequest {
  step: 'unavailable';
  reason: TextKey;
}

/** No request can stand open beside this step or the next two, so no second wallet is ever asked. */
export interface Connecting extends PerhapsWatched {
  step: 'connecting';
  walletName: string;
  stage: 'opening wallet' | 'beginning payment' | 'taking turn' | 'preparing transaction';
  account: string;
  sends: boolean;
  /** The transaction that connect made already, where this choice began the payment. */
  transaction: string | null;
  secondsLeft: number | null;
}

interface Waiting extends Watched {
  step: 'waiting';
  request: WalletRequest;
  secondsLeft: number | null;
}

/** The payment is stored with its signature before it is sent. */
interface Sending extends Watched {
  step: 'sending';
}

interface Seen extends Watched, BesideRequest {
  step: 'seen';
  seenAt: number;
  isSlow: boolean;
}

interface Confirmed extends Watched, BesideRequest {
  step: 'confirmed';
  status: PaymentStatus;
  redirectUrl: string | null;
  isLeaving: boolean;
  copied: Choosing['copied'];
}

interface Failed extends Watched, BesideRequest {
  step: 'failed';
  status: PaymentStatus;
}

interface Expired extends Watched, BesideRequest {
  step: 'expired';
  status: PaymentStatus;
}

/** The time of the session is over, but a payment may still be on its way. */
interface Closing extends Watched, BesideRequest {
  step: 'closing';
  /** Until it is certain that nothing is on its way. */
  secondsToCertain: number | null;
  /** Another payment is being begun in its place. */
  isBusy: boolean;
  problem: Problem | null;
}

/** Less than the price arrived. Nothing else is paid before the seller was asked. */
interface Short extends Watched, BesideRequest {
  step: 'short';
  status: PaymentStatus;
  money: SeenMoney[];
  copied: Choosing['copied'];
}

interface Late extends Watched, BesideRequest {
  step: 'late';
}

interface Identifying extends BesideRequest {
  step: 'identity';
  identity: Identity;
  problem: Problem | null;
  isBusy: boolean;
  /** The page asks by itself: where the buyer is not there yet, it says nothing. */
  isQuiet: boolean;
  /** When the service was asked last, in epoch ms. */
  askedAt: number;
}

/** One was begun elsewhere, and the buyer says whether it is theirs to go on with. */
interface Underway extends BesideRequest {
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
export type PageState = Kept & StepState;
/** The page in one of its steps. */
export type PageAt<S extends Step> = Kept & Extract<StepState, { step: S }>;

export const CHOOSING: Omit<Choosing, 'payment' | 'status' | 'openRequest'> = {
  step: 'choosing',
  busyWith: null,
  problem: null,
  secondsLeft: null,
  isUnclear: false,
  copied: null,
};

export const firstKept = (facts: PageFacts): Kept => ({
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

/** The page as the server renders it and the browser takes it over. */
export function firstState(facts: PageFacts): PageState {
  const nothing = { payment: null, status: null, openRequest: null };
  if (facts.obstacle !== null) return { ...firstKept(facts), ...nothing, step: 'unavailable', reason: facts.obstacle };
  return { ...firstKept(facts), ...nothing, ...CHOOSING };
}

/** The payment the page is about, at any step. */
export const paymentOf = (state: PageState): PagePayment | null => ('payment' in state ? state.payment : null);
export const paymentStatusOf = (state: PageState): PaymentStatus | null => ('status' in state ? state.status : null);

/** The request a wallet still shows, at any step. */
export const requestOf = (state: PageState): WalletRequest | null =>
  state.step === 'waiting' ? state.request : 'openRequest' in state ? state.openRequest : null;

/** Whether another payment may take the place of the page's one: as far as the page knows, it is unsigned and no wallet is asked. */
export const isReplaceable = (state: PageState): boolean =>
  requestOf(state) === null &&
  payingSignatureOf(state) === null &&
  paymentOf(state)?.unclearUntil === undefined &&
  (paymentStatusOf(state)?.status ?? 'PENDING_SIGNATURE') === 'PENDING_SIGNATURE';

/** The transaction that pays, as far as it is known. */
export const payingSignatureOf = (state: PageState): string | null =>
  paymentStatusOf(state)?.tx_signature ?? paymentOf(state)?.txSignature ?? null;
