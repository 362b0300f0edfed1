/**
 * State machine of the checkout page. Only `next` changes the page. It has no clock, network or wallet: effects are returned as data, and
 * results come back as events.
 * @module
 */

import type { PageFacts } from '../facts.ts';
import type { PageAt, PageState } from '../state.ts';
import {
  askPrepared,
  cancelChoice,
  connectWallet,
  finishSending,
  pressWallet,
  refusePreparing,
  refuseSending,
  refuseTurn,
  refuseWallet,
  seeSent,
  sendSigned,
  shareStored,
  takeTurn,
} from './asking.ts';
import {
  askAboutFound,
  askIdentity,
  chooseAsset,
  continueFound,
  declineFound,
  dismissShort,
  finishIdentity,
  greetBuyer,
  openChoice,
  openPage,
  openPhone,
  refuseBeginning,
  refuseHandoff,
  startAgain,
  startOver,
  stopUnknown,
  takeAdopted,
  takeBegun,
  takeKnown,
  watchIdentity,
} from './beginning.ts';
import type { PageEvent, Turn } from './events.ts';
import { turnTo } from './moves.ts';
import {
  acceptSignature,
  applyRead,
  dropSignature,
  forgetGone,
  passTime,
  recoverPayment,
  refuseSignature,
  seeLate,
  submitSignature,
} from './watching.ts';

type Kind = PageEvent['kind'];
type Move<K extends Kind> = (facts: PageFacts, state: PageState, event: Extract<PageEvent, { kind: K }>) => Turn;

const stayOnPage = (_facts: PageFacts, state: PageState): Turn =>
  turnTo(state.step === 'confirmed' && state.isLeaving ? { ...state, isLeaving: false } : state);

const hasCopies = (state: PageState): state is PageAt<'choosing' | 'confirmed' | 'short'> =>
  state.step === 'choosing' || state.step === 'confirmed' || state.step === 'short';

const MOVES: { [K in Kind]: Move<K> } = {
  walletPressed: pressWallet,
  phonePressed: openPhone,
  cancelPressed: cancelChoice,
  startAgainPressed: startAgain,
  startAnewPressed: startOver,
  stayPressed: stayOnPage,
  shortDismissed: dismissShort,
  assetChosen: chooseAsset,
  signatureEntered: submitSignature,
  identityFinished: finishIdentity,
  foundContinued: continueFound,
  foundDeclined: declineFound,
  textCopied: (_facts, state, { what, isSelected }) => turnTo(hasCopies(state) ? { ...state, copied: { what, isSelected } } : state),
  copyShown: (_facts, state, { what }) =>
    turnTo(hasCopies(state) && state.copied?.what === what && !state.copied.isSelected ? { ...state, copied: null } : state),

  pageOpened: openPage,
  pageRestored: stayOnPage,
  buyerReturned: watchIdentity,
  secondPassed: watchIdentity,
  leaveDue: (_facts, state) =>
    state.step === 'confirmed' && state.isLeaving && state.redirectUrl !== null
      ? turnTo(state, { kind: 'leave', url: state.redirectUrl })
      : turnTo(state),
  walletsChanged: (_facts, state, { wallets }) => turnTo({ ...state, wallets }),
  storedChanged: shareStored,

  walletOpened: connectWallet,
  turnTaken: takeTurn,
  turnRefused: refuseTurn,
  walletSigned: sendSigned,
  walletSent: seeSent,
  walletRefused: refuseWallet,

  handoffRead: greetBuyer,
  handoffRefused: refuseHandoff,
  foundElsewhere: askAboutFound,
  nothingElsewhere: openChoice,
  elsewhereUnknown: stopUnknown,
  paymentBegun: takeBegun,
  paymentKnown: takeKnown,
  paymentAdopted: takeAdopted,
  beginRefused: refuseBeginning,
  identityWanted: askIdentity,
  transactionPrepared: askPrepared,
  prepareRefused: refusePreparing,
  transactionSent: finishSending,
  sendRefused: refuseSending,
  signatureChecked: acceptSignature,
  checkRefused: refuseSignature,
  paymentRead: applyRead,
  paymentGone: forgetGone,
  paymentRecovered: recoverPayment,
  paymentLate: seeLate,
  signatureMismatched: dropSignature,
};

export function next(facts: PageFacts, state: PageState, event: PageEvent): Turn {
  const timely = passTime(facts, state, event.at);
  const move = MOVES[event.kind] as Move<Kind>;
  const turn = move(facts, timely.state, event);
  const settled = passTime(facts, turn.state, event.at);
  return turnTo(settled.state, ...timely.effects, ...turn.effects, ...settled.effects);
}

const CLOSING_EVERY_MS = 5000;
const LATE_EVERY_MS = 60_000;
const DEFAULT_EVERY_MS = 3000;

const ENTRY_EVERY_MS = 5000;

interface Watch {
  paymentId: string;
  txSignature: string | null;
  afterMs: number;
  /** Identity session that authorizes reading the entry details of a paid payment. */
  entrySession?: string;
  /** Underpayments shown to the buyer. One missing from the status was decided by the seller. */
  shortBy?: string[];
}

/** Returns the payment to poll and its delay. Null once its end and the buyer's entry are known. */
export function watchOf(state: PageState): Watch | null {
  if (!('payment' in state) || state.payment === null) return null;
  if (state.step === 'confirmed') {
    const { paymentId, txSignature, identitySessionId } = state.payment;
    const isWaited = (state.status.delivery?.status ?? 'pending') === 'pending';
    return identitySessionId && isWaited ? { paymentId, txSignature, afterMs: ENTRY_EVERY_MS, entrySession: identitySessionId } : null;
  }
  if (state.step === 'failed' || state.step === 'expired') return null;
  const { paymentId } = state.payment;
  // Before sending, no chain has the transaction.
  const txSignature = state.step === 'sending' ? null : state.payment.txSignature;
  const wished = state.status?.poll_after_ms ?? DEFAULT_EVERY_MS;
  if (state.step === 'short') {
    const everyMs = state.status.status === 'FAILED' ? LATE_EVERY_MS : CLOSING_EVERY_MS;
    return { paymentId, txSignature: null, afterMs: everyMs, shortBy: state.money.map((one) => one.tx_signature) };
  }
  const afterMs = state.step === 'closing' ? CLOSING_EVERY_MS : state.step === 'late' ? LATE_EVERY_MS : wished;
  return { paymentId, txSignature, afterMs };
}

/** True while no other tab may ask a wallet for this payment. */
export function holdsTurn(state: PageState): boolean {
  if (state.step === 'connecting') return state.stage === 'taking turn' || state.stage === 'preparing transaction';
  if (state.step === 'waiting' || state.step === 'sending') return true;
  return 'openRequest' in state && state.openRequest !== null;
}
