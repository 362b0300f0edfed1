import type { Failure } from '../../parts/answer.ts';
import type { WalletChoice, WalletRefusal } from '../../parts/wallet-choice.ts';
import type { FoundPayment, Identity, PagePayment } from '../facts.ts';
import type { PageState } from '../state.ts';
import type { PaymentStatus } from '../wire.ts';

type Deed =
  | { kind: 'walletPressed'; walletName: string }
  | { kind: 'phonePressed' }
  | { kind: 'cancelPressed' }
  | { kind: 'startAgainPressed' }
  | { kind: 'startAnewPressed' }
  | { kind: 'stayPressed' }
  | { kind: 'shortDismissed' }
  | { kind: 'assetChosen'; asset: string }
  | { kind: 'signatureEntered'; txSignature: string; isWellFormed: boolean }
  | { kind: 'identityFinished' }
  | { kind: 'foundContinued' }
  | { kind: 'foundDeclined' }
  | { kind: 'textCopied'; what: string; isSelected: boolean }
  | { kind: 'copyShown'; what: string };

type BrowserNews =
  | { kind: 'pageOpened'; stored: PagePayment | null; isOver: boolean; identity: Identity | null; addressedId: string | null }
  | { kind: 'pageRestored' }
  | { kind: 'buyerReturned' }
  | { kind: 'secondPassed' }
  | { kind: 'leaveDue' }
  | { kind: 'walletsChanged'; wallets: WalletChoice[] }
  | { kind: 'storedChanged'; stored: PagePayment };

type WalletNews =
  | { kind: 'walletOpened'; attempt: number; account: string; sends: boolean }
  /** `stored`: read after the lock was taken, so that another tab's change is included. */
  | { kind: 'turnTaken'; attempt: number; stored: PagePayment | null }
  | { kind: 'turnRefused'; attempt: number }
  | { kind: 'walletSigned'; attempt: number; transaction: string; txSignature: string }
  | { kind: 'walletSent'; attempt: number; txSignature: string }
  | { kind: 'walletRefused'; attempt: number; walletName: string; refusal: WalletRefusal; message: string };

/** `attempt`: null if no wallet waits for the answer. */
type ServiceNews =
  | { kind: 'handoffRead'; customer: string | null }
  | { kind: 'handoffRefused'; failure: Failure }
  | { kind: 'foundElsewhere'; found: FoundPayment }
  /** `otherwise`: the payment to show if none is found. */
  | { kind: 'nothingElsewhere'; otherwise: PagePayment | null }
  | { kind: 'elsewhereUnknown'; failure: Failure }
  | { kind: 'paymentBegun'; attempt: number | null; payment: PagePayment; transaction: string | null; isOnItsWay: boolean }
  | { kind: 'paymentKnown'; attempt: number | null; payment: PagePayment }
  | { kind: 'paymentAdopted'; payment: PagePayment; status: PaymentStatus }
  | { kind: 'beginRefused'; attempt: number | null; failure: Failure }
  | { kind: 'identityWanted'; identity: Identity; isNew: boolean }
  | { kind: 'transactionPrepared'; attempt: number; transaction: string }
  | { kind: 'prepareRefused'; attempt: number; failure: Failure }
  | { kind: 'transactionSent'; paymentId: string; status: PaymentStatus; txSignature: string }
  /** `isFinal`: not sent and never will be. */
  | { kind: 'sendRefused'; paymentId: string; txSignature: string; failure: Failure; isFinal: boolean }
  | { kind: 'signatureChecked'; paymentId: string; status: PaymentStatus; txSignature: string; redirectUrl: string | null }
  | { kind: 'checkRefused'; paymentId: string; failure: Failure }
  | { kind: 'paymentRead'; paymentId: string; status: PaymentStatus; redirectUrl: string | null }
  | { kind: 'paymentGone'; paymentId: string }
  /** The money was credited to another payment of the same purchase. */
  | { kind: 'paymentRecovered'; paymentId: string; recoveredId: string }
  | { kind: 'paymentLate'; paymentId: string; txSignature: string }
  | { kind: 'signatureMismatched'; paymentId: string; txSignature: string };

export type PageNews = Deed | BrowserNews | WalletNews | ServiceNews;
/** `at`: service time in epoch ms. */
export type PageEvent = PageNews & { at: number };

export type WalletEffect =
  | { kind: 'openWallet'; attempt: number; walletName: string }
  /** Takes the lock that lets one tab at a time ask a wallet for the payment. */
  | { kind: 'takeTurn'; attempt: number; paymentId: string }
  | { kind: 'askWallet'; attempt: number; transaction: string };

export type ServiceEffect =
  | { kind: 'readHandoff'; token: string }
  /** `paymentIds` null: those of the address and of this browser. */
  | { kind: 'tryElsewhere'; paymentIds: string[] | null; declinedIds: string[]; otherwise: PagePayment | null }
  | {
      kind: 'beginPayment';
      attempt: number | null;
      asset: string;
      walletAddress: string | null;
      declinedIds: string[];
      replacesId: string | null;
    }
  | { kind: 'prepareTransaction'; attempt: number; paymentId: string; account: string }
  | { kind: 'sendTransaction'; paymentId: string; transaction: string; txSignature: string }
  | { kind: 'checkSignature'; paymentId: string; txSignature: string }
  /** Two wallets have paid: the service gets the second signature too. */
  | { kind: 'tellSecond'; paymentId: string; txSignature: string }
  | { kind: 'lookNow' };

export type StoreEffect =
  | { kind: 'storePayment'; payment: PagePayment }
  | { kind: 'storeEnd'; payment: PagePayment; storeMs: number }
  | { kind: 'storeUnclear'; paymentId: string; unclearUntil: number }
  | { kind: 'forgetPayment'; paymentId: string }
  | { kind: 'storeIdentity'; identity: Identity }
  | { kind: 'forgetIdentity' };

type BrowserEffect = { kind: 'leaveSoon' } | { kind: 'leave'; url: string };
export type PageEffect = WalletEffect | ServiceEffect | StoreEffect | BrowserEffect;

const WALLET_EFFECTS: Record<WalletEffect['kind'], true> = { openWallet: true, takeTurn: true, askWallet: true };
const STORE_EFFECTS: Record<StoreEffect['kind'], true> = {
  storePayment: true,
  storeEnd: true,
  storeUnclear: true,
  forgetPayment: true,
  storeIdentity: true,
  forgetIdentity: true,
};
export const isWalletEffect = (effect: PageEffect): effect is WalletEffect => effect.kind in WALLET_EFFECTS;
export const isStoreEffect = (effect: PageEffect): effect is StoreEffect => effect.kind in STORE_EFFECTS;

export interface Turn {
  state: PageState;
  effects: PageEffect[];
}
