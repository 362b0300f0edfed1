/**
 * One wallet is asked for one payment at a time, and only its answer to the present question is sent.
 * @module
 */

import type { PageFacts, PagePayment } from '../facts.ts';
import { problemOfWallet } from '../problems.ts';
import { type Connecting, type PageAt, type PageState, paymentOf, paymentStatusOf, requestOf, type WalletRequest } from '../state.ts';
import type { PageEffect, PageEvent, Turn } from './events.ts';
import { backToChoice, enter, enterSeen, followPayment, HOUR_MS, isTaken, refuse, turnTo } from './moves.ts';
import { applyStatus } from './watching.ts';

type Of<K extends PageEvent['kind']> = Extract<PageEvent, { kind: K }>;

/** After this time a transaction cannot land any more, and the service has seen one that did. */
const UNCLEAR_MS = 150_000;

/** Whether the wallet that answers is the one that is being connected, in the stage its answer belongs to. */
const isAt = (state: PageState, attempt: number, stage: Connecting['stage']): state is PageAt<'connecting'> =>
  state.step === 'connecting' && state.attempt === attempt && state.stage === stage;

export function pressWallet(_facts: PageFacts, state: PageState, { walletName }: Of<'walletPressed'>): Turn {
  if (state.step !== 'choosing' || state.busyWith !== null) return turnTo(state);
  const { openRequest, payment, status } = state;
  if (openRequest?.sends) return turnTo({ ...state, problem: { key: 'pStillAsked', values: { wallet: openRequest.walletName } } });
  if (state.isUnclear) return turnTo(state);
  const attempt = state.attempt + 1;
  const step = { step: 'connecting', walletName, stage: 'opening wallet', account: '', sends: false, transaction: null } as const;
  const connecting = enter(state, { ...step, payment, status, secondsLeft: null }, { attempt });
  return turnTo(connecting, { kind: 'openWallet', attempt, walletName });
}

export function connectWallet(_facts: PageFacts, state: PageState, { attempt, account, sends }: Of<'walletOpened'>): Turn {
  if (!isAt(state, attempt, 'opening wallet')) return turnTo(state);
  const { payment, asset, declinedIds } = state;
  if (payment) {
    const turn = { kind: 'takeTurn', attempt, paymentId: payment.paymentId } as const;
    return turnTo({ ...state, account, sends, stage: 'taking turn' }, turn);
  }
  const beginning = { kind: 'beginPayment', attempt, asset, walletAddress: account, declinedIds, replacesId: null } as const;
  return turnTo({ ...state, account, sends, stage: 'beginning payment' }, beginning);
}

/** Looks at what is stored before it asks: another tab may have paid while this one opened its wallet. */
export function takeTurn(facts: PageFacts, state: PageState, { attempt, stored, at }: Of<'turnTaken'>): Turn {
  if (!isAt(state, attempt, 'taking turn') || state.payment === null) return turnTo(state);
  const { payment, transaction, account } = state;
  const isSame = stored?.paymentId === payment.paymentId;
  if (isSame && stored.txSignature !== null) return turnTo(enterSeen(state, { payment: stored, at }));
  if (isSame && (stored.unclearUntil ?? 0) > at) return turnTo(backToChoice(facts, state, { payment: stored }));
  if (transaction !== null) return askWallet({ ...state, payment }, transaction);
  const preparing = { kind: 'prepareTransaction', attempt, paymentId: payment.paymentId, account } as const;
  return turnTo({ ...state, stage: 'preparing transaction' }, preparing);
}

export function refuseTurn(facts: PageFacts, state: PageState, { attempt }: Of<'turnRefused'>): Turn {
  if (!isAt(state, attempt, 'taking turn')) return turnTo(state);
  return turnTo(backToChoice(facts, state, { problem: { key: 'pElsewhere' } }));
}

export function askPrepared(_facts: PageFacts, state: PageState, event: Of<'transactionPrepared'>): Turn {
  if (!isAt(state, event.attempt, 'preparing transaction') || state.payment === null) return turnTo(state);
  return askWallet({ ...state, payment: state.payment }, event.transaction);
}

export function refusePreparing(facts: PageFacts, state: PageState, { attempt, failure }: Of<'prepareRefused'>): Turn {
  return isAt(state, attempt, 'preparing transaction') ? refuse(facts, state, failure) : turnTo(state);
}

function askWallet(state: PageAt<'connecting'> & { payment: PagePayment }, transaction: string): Turn {
  const { attempt, walletName, payment, status, sends } = state;
  const request: WalletRequest = { attempt, walletName, payment, sends };
  const waiting = enter(state, { step: 'waiting', request, payment, status, secondsLeft: state.secondsLeft });
  return turnTo(waiting, { kind: 'askWallet', attempt, transaction });
}

/** Back to the choice. The wallet cannot be told: its request stays open until the person closes it. */
export function cancelChoice(facts: PageFacts, state: PageState): Turn {
  if (state.step === 'connecting' || state.step === 'identity') return turnTo(backToChoice(facts, state));
  if (state.step !== 'waiting') return turnTo(state);
  const { walletName, sends } = state.request;
  const problem = { key: 'pCloseFirst', values: { wallet: walletName } } as const;
  return turnTo(backToChoice(facts, state, { problem, openRequest: sends ? state.request : null }));
}

/** The page without the request that was answered. */
function withoutRequest(facts: PageFacts, state: PageState): PageState {
  if (state.step === 'waiting') return backToChoice(facts, state, { openRequest: null });
  return 'openRequest' in state ? { ...state, openRequest: null } : state;
}

/** Takes the answer of a wallet that only signs. What another way has paid meanwhile is not paid once more. */
export function sendSigned(facts: PageFacts, state: PageState, event: Of<'walletSigned'>): Turn {
  const request = requestOf(state);
  if (request?.attempt !== event.attempt) return turnTo(state);
  const payment = paymentOf(state);
  if (payment?.paymentId !== request.payment.paymentId || isTaken(state) || isOver(state)) return turnTo(withoutRequest(facts, state));
  const { transaction, txSignature } = event;
  const signed = { ...payment, txSignature };
  const sending = enter(state, { step: 'sending', payment: signed, status: paymentStatusOf(state) });
  // Stored before it goes out: a page that ends here still knows what to look for.
  const store = { kind: 'storePayment', payment: signed } as const;
  return turnTo(sending, store, { kind: 'sendTransaction', paymentId: payment.paymentId, transaction, txSignature });
}

const isOver = ({ step }: PageState): boolean => step === 'failed' || step === 'expired' || step === 'late' || step === 'short';

/** A wallet that sends by itself: its money has moved, whatever the page is about by now. */
export function seeSent(facts: PageFacts, state: PageState, { attempt, txSignature, at }: Of<'walletSent'>): Turn {
  const request = requestOf(state);
  if (request?.attempt !== attempt) return turnTo(state);
  const free = withoutRequest(facts, state);
  const present = paymentOf(state);
  const isSame = present?.paymentId === request.payment.paymentId;
  if (present && isTaken(state)) {
    const known = present.txSignature ?? paymentStatusOf(state)?.tx_signature ?? txSignature;
    if (isSame && known === txSignature) return turnTo(free);
    const tell = { kind: 'tellSecond', paymentId: request.payment.paymentId, txSignature } as const;
    return turnTo({ ...free, isTwice: true }, tell);
  }
  const paid = { ...(isSame ? present : request.payment), txSignature };
  return turnTo(enterSeen(free, { payment: paid, at }), { kind: 'storePayment', payment: paid });
}

/** Where a wallet that sends has not said whether it has, every way to pay is closed until that is seen, or cannot be any more. */
export function refuseWallet(facts: PageFacts, state: PageState, event: Of<'walletRefused'>): Turn {
  const { attempt, walletName, refusal, at } = event;
  const request = requestOf(state);
  const isAnswer = request?.attempt === attempt;
  const isConnecting = state.step === 'connecting' && state.attempt === attempt;
  const problem = problemOfWallet(facts, event, paymentOf(state)?.price.asset ?? state.asset);
  if (!isAnswer && !isConnecting) {
    // A request that the buyer has closed is in the way of no other any more.
    const isSaid = state.step === 'choosing' && state.problem?.values?.wallet === walletName;
    return turnTo(isSaid ? { ...state, problem: null } : state);
  }
  if (isAnswer && refusal === 'unclear') return closeUnclear(facts, state, { request, problem, at });
  if (isConnecting || state.step === 'waiting') return turnTo(backToChoice(facts, state, { problem, openRequest: null }));
  const free = withoutRequest(facts, state);
  const isSaid = free.step === 'choosing' && free.problem?.values?.wallet === walletName;
  return turnTo(isSaid ? { ...free, problem: null } : free);
}

function closeUnclear(
  facts: PageFacts,
  state: PageState,
  { request, problem, at }: { request: WalletRequest; problem: ReturnType<typeof problemOfWallet>; at: number },
): Turn {
  const free = withoutRequest(facts, state);
  // Paid another way while the wallet was asked: that is the news.
  const isChoice = free.step === 'choosing';
  const said = isChoice ? { ...free, problem } : free;
  const payment = paymentOf(said);
  if (payment?.paymentId !== request.payment.paymentId || isTaken(said)) return turnTo(said);
  const unclearUntil = at + UNCLEAR_MS;
  const effects: PageEffect[] = [{ kind: 'storeUnclear', paymentId: payment.paymentId, unclearUntil }, { kind: 'lookNow' }];
  return turnTo(changePayment(said, { ...payment, unclearUntil }), ...effects);
}

/** What is newly known of the payment of this page. */
const changePayment = (state: PageState, payment: PagePayment): PageState => ('payment' in state ? { ...state, payment } : state);

export function finishSending(facts: PageFacts, state: PageState, event: Of<'transactionSent'>): Turn {
  const { paymentId, status, txSignature, at } = event;
  const payment = paymentOf(state);
  if (payment?.paymentId !== paymentId) return turnTo(state);
  const paid = { ...payment, txSignature };
  const turn = applyStatus(facts, changePayment(state, paid), { status, redirectUrl: null, at });
  return turnTo(turn.state, { kind: 'storePayment', payment: paid }, ...turn.effects, { kind: 'lookNow' });
}

/** Where it is unknown whether the transaction was sent, the page looks on; one that never will be sent is forgotten. */
export function refuseSending(facts: PageFacts, state: PageState, event: Of<'sendRefused'>): Turn {
  const payment = paymentOf(state);
  if (payment?.paymentId !== event.paymentId || payment.txSignature !== event.txSignature) return turnTo(state);
  const isSending = state.step === 'sending';
  if (!event.isFinal) return turnTo(isSending ? enterSeen(state, { payment, at: event.at, isSlow: true }) : state);
  const unsigned = { ...payment, txSignature: paymentStatusOf(state)?.tx_signature ?? null };
  const changed = changePayment(state, unsigned);
  if (isOver(state) || state.step === 'confirmed') return turnTo(changed, { kind: 'storeEnd', payment: unsigned, keptMs: HOUR_MS });
  // Where the service has seen another payment meanwhile, that is the news.
  const turn = isSending ? refuse(facts, changed, event.failure) : turnTo(changed);
  return turnTo(turn.state, { kind: 'storePayment', payment: unsigned }, ...turn.effects);
}

/** Another tab has begun a payment, or has told what is unclear about this one. */
export function shareStored(facts: PageFacts, state: PageState, { stored, at }: Of<'storedChanged'>): Turn {
  const payment = paymentOf(state);
  if (payment?.paymentId === stored.paymentId) {
    const unclearUntil = Math.max(payment.unclearUntil ?? 0, stored.unclearUntil ?? 0);
    return turnTo(unclearUntil === 0 ? state : changePayment(state, { ...payment, unclearUntil }), { kind: 'lookNow' });
  }
  // What this page has paid is followed to its end first.
  if (state.step === 'sending' || (state.step === 'seen' && state.payment.txSignature !== null)) return turnTo(state);
  const free =
    state.step === 'waiting' || state.step === 'connecting' || state.step === 'identity' ? cancelChoice(facts, state).state : state;
  return turnTo(followPayment(facts, free, { payment: stored, at }));
}
