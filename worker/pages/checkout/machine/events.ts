/**
 * What can happen to the checkout page, and what the page can have done about it: plain data, so that both can be replayed.
 * @module
 */

import type { Failure } from '../../parts/answer.ts';
import type { WalletChoice, WalletRefusal } from '../../parts/wallet-choice.ts';
import type { FoundPayment, Identity, PagePayment } from '../facts.ts';
import type { PageState } from '../state.ts';
import type { PaymentStatus } from '../wire.ts';

/** What the buyer does. */
type Deed =
  | { kind: 'walletPressed'; walletName: string }
  | { kind: 'phonePressed' }
  | { kind: 'cancelPressed' }
  | { kind: 'startAgainPressed' }
  /** Of a payment whose time is over: the buyer says that they have not paid it. */
  | { kind: 'startAnewPressed' }
  | { kind: 'stayPressed' }
  /** Of money that came short: the whole price is paid all the same. */
  | { kind: 'shortDismissed' }
  | { kind: 'assetChosen'; asset: string }
  | { kind: 'signatureEntered'; txSignature: string; isWellFormed: boolean }
  | { kind: 'identityFinished' }
  | { kind: 'foundContinued' }
  | { kind: 'foundDeclined' }
  | { kind: 'textCopied'; what: string; isSelected: boolean }
  | { kind: 'copyShown'; what: string };

/** What the browser says. */
type BrowserNews =
  | { kind: 'pageOpened'; stored: PagePayment | null; isOver: boolean; identity: Identity | null; addressedId: string | null }
  | { kind: 'pageRestored' }
  | { kind: 'buyerReturned' }
  | { kind: 'secondPassed' }
  | { kind: 'leaveDue' }
  | { kind: 'walletsChanged'; wallets: WalletChoice[] }
  /** Another tab has written down a payment. */
  | { kind: 'storedChanged'; stored: PagePayment };

/** What a wallet says, of the attempt it was asked in. */
type WalletNews =
  | { kind: 'walletOpened'; attempt: number; account: string; sends: boolean }
  /** `stored`: the payment as another tab may have left it meanwhile. */
  | { kind: 'turnTaken'; attempt: number; stored: PagePayment | null }
  | { kind: 'turnRefused'; attempt: number }
  | { kind: 'walletSigned'; attempt: number; transaction: string; txSignature: string }
  | { kind: 'walletSent'; attempt: number; txSignature: string }
  | { kind: 'walletRefused'; attempt: number; walletName: string; refusal: WalletRefusal; message: string };

/** What the service says. `attempt`: of the wallet that wants the answer; null where none does. */
type ServiceNews =
  | { kind: 'handoffRead'; customer: string | null }
  | { kind: 'handoffRefused'; failure: Failure }
  | { kind: 'foundElsewhere'; found: FoundPayment }
  /** `otherwise`: the payment to show where there is no other. */
  | { kind: 'nothingElsewhere'; otherwise: PagePayment | null }
  | { kind: 'elsewhereUnknown'; failure: Failure }
  | { kind: 'paymentBegun'; attempt: number | null; payment: PagePayment; transaction: string | null; isOnItsWay: boolean }
  /** Another tab had stored one already. */
  | { kind: 'paymentKnown'; attempt: number | null; payment: PagePayment }
  /** A refusal named the payment there is already. */
  | { kind: 'paymentAdopted'; payment: PagePayment; status: PaymentStatus }
  | { kind: 'beginRefused'; attempt: number | null; failure: Failure }
  | { kind: 'identityWanted'; identity: Identity; isNew: boolean }
  | { kind: 'transactionPrepared'; attempt: number; transaction: string }
  | { kind: 'prepareRefused'; attempt: number; failure: Failure }
  | { kind: 'transactionSent'; paymentId: string; status: PaymentStatus; txSignature: string }
  /** `isFinal`: it was not sent and never will be. */
  | { kind: 'sendRefused'; paymentId: string; txSignature: string; failure: Failure; isFinal: boolean }
  | { kind: 'signatureChecked'; paymentId: string; status: PaymentStatus; txSignature: string; redirectUrl: string | null }
  | { kind: 'checkRefused'; paymentId: string; failure: Failure }
  | { kind: 'paymentRead'; paymentId: string; status: PaymentStatus; redirectUrl: string | null }
  | { kind: 'paymentGone'; paymentId: string }
  /** The money arrived, and counts for another payment of the same purchase. */
  | { kind: 'paymentRecovered'; paymentId: string; recoveredId: string }
  | { kind: 'paymentLate'; paymentId: string; txSignature: string }
  | { kind: 'signatureMismatched'; paymentId: string; txSignature: string };

export type PageNews = Deed | BrowserNews | WalletNews | ServiceNews;
/** `at`: epoch ms by the service's clock. */
export type PageEvent = PageNews & { at: number };

export type WalletEffect =
  | { kind: 'openWallet'; attempt: number; walletName: string }
  /** One wallet at a time is asked for a payment, in all tabs. */
  | { kind: 'takeTurn'; attempt: number; paymentId: string }
  | { kind: 'askWallet'; attempt: number; transaction: string };

export type ServiceEffect =
  | { kind: 'readHandoff'; token: string }
  /** Null: those that the address and this browser name. */
  | { kind: 'lookElsewhere'; paymentIds: string[] | null; declinedIds: string[]; otherwise: PagePayment | null }
  | {
      kind: 'beginPayment';
      attempt: number | null;
      asset: string;
      walletAddress: string | null;
      declinedIds: string[];
      /** The payment whose place it takes; null: there is none. */
      replacesId: string | null;
    }
  | { kind: 'prepareTransaction'; attempt: number; paymentId: string; account: string }
  | { kind: 'sendTransaction'; paymentId: string; transaction: string; txSignature: string }
  | { kind: 'checkSignature'; paymentId: string; txSignature: string }
  /** Two wallets have paid: the service is told of the second too. */
  | { kind: 'tellSecond'; paymentId: string; txSignature: string }
  | { kind: 'lookNow' };

export type StoreEffect =
  | { kind: 'storePayment'; payment: PagePayment }
  | { kind: 'storeEnd'; payment: PagePayment; keptMs: number }
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

/** The page after an event, and what is to be done, in this order. */
export interface Turn {
  state: PageState;
  effects: PageEffect[];
}
