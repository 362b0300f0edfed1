/**
 * Asks one wallet for one payment at a time. Only the answer to the current request is sent.
 * @module
 */

import type { PageFacts, PagePayment } from '../facts.ts';
import { problemOfWallet } from '../problems.ts';
import { type Connecting, type PageAt, type PageState, paymentOf, paymentStatusOf, requestOf, type WalletRequest } from '../state.ts';
import type { PageEffect, PageEvent, Turn } from './events.ts';
import { backToChoice, enter, enterSeen, followPayment, HOUR_MS, isTaken, refuse, turnTo } from './moves.ts';
import { applyStatus } from './watching.ts';

type Of<K extends PageEvent['kind']> = Extract<PageEvent, { kind: K }>;

/** After 150 s the transaction can no longer land, and the service has seen one that did. */
const UNCLEAR_MS = 150_000;

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

/** Checks the stored payment first: another tab may have paid while the wallet opened. */
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

/** Returns to the choice. A wallet request cannot be cancelled and stays open until the person closes it. */
export function cancelChoice(facts: PageFacts, state: PageState): Turn {
  if (state.step === 'connecting' || state.step === 'identity') return turnTo(backToChoice(facts, state));
  if (state.step !== 'waiting') return turnTo(state);
  const { walletName, sends } = state.request;
  const problem = { key: 'pCloseFirst', values: { wallet: walletName } } as const;
  return turnTo(backToChoice(facts, state, { problem, openRequest: sends ? state.request : null }));
}

function withoutRequest(facts: PageFacts, state: PageState): PageState {
  if (state.step === 'waiting') return backToChoice(facts, state, { openRequest: null });
  return 'openRequest' in state ? { ...state, openRequest: null } : state;
}

/** Sends the signed transaction, unless the payment was paid another way. */
export function sendSigned(facts: PageFacts, state: PageState, event: Of<'walletSigned'>): Turn {
  const request = requestOf(state);
  if (request?.attempt !== event.attempt) return turnTo(state);
  const payment = paymentOf(state);
  if (payment?.paymentId !== request.payment.paymentId || isTaken(state) || isOver(state)) return turnTo(withoutRequest(facts, state));
  const { transaction, txSignature } = event;
  const signed = { ...payment, txSignature };
  const sending = enter(state, { step: 'sending', payment: signed, status: paymentStatusOf(state) });
  // Stored before sending, so that a page that closes here can resume with the signature.
  const store = { kind: 'storePayment', payment: signed } as const;
  return turnTo(sending, store, { kind: 'sendTransaction', paymentId: payment.paymentId, transaction, txSignature });
}

const isOver = ({ step }: PageState): boolean => step === 'failed' || step === 'expired' || step === 'late' || step === 'short';

/** The wallet has sent the transaction, so the money has moved, whatever the page shows. */
export function seeSent(facts: PageFacts, state: PageState, { attempt, txSignature, at }: Of<'walletSent'>): Turn {
  const request = requestOf(state);
  if (request?.attempt !== attempt) return turnTo(state);
  const free = withoutRequest(facts, state);
  const present = paymentOf(state);
  const isSame = present?.paymentId === request.payment.paymentId;
  if (present && isTaken(state)) {
    const known = present.txSignature ?? paymentStatusOf(state)?.tx_signature ?? txSignature;
    if (isSame && known === txSignature) return turnTo(free);
    const confirmSecond = { kind: 'tellSecond', paymentId: request.payment.paymentId, txSignature } as const;
    return turnTo({ ...free, isTwice: true }, confirmSecond);
  }
  const paid = { ...(isSame ? present : request.payment), txSignature };
  return turnTo(enterSeen(free, { payment: paid, at }), { kind: 'storePayment', payment: paid });
}

/** Closes all ways to pay if a sending wallet gave no clear answer, until the transaction is seen or can no longer land. */
export function refuseWallet(facts: PageFacts, state: PageState, event: Of<'walletRefused'>): Turn {
  const { attempt, walletName, refusal, at } = event;
  const request = requestOf(state);
  const isAnswer = request?.attempt === attempt;
  const isConnecting = state.step === 'connecting' && state.attempt === attempt;
  const problem = problemOfWallet(facts, event, paymentOf(state)?.price.asset ?? state.asset);
  if (!isAnswer && !isConnecting) {
    // A closed request no longer blocks other wallets.
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
  // Paid another way while the wallet was open.
  const isChoice = free.step === 'choosing';
  const said = isChoice ? { ...free, problem } : free;
  const payment = paymentOf(said);
  if (payment?.paymentId !== request.payment.paymentId || isTaken(said)) return turnTo(said);
  const unclearUntil = at + UNCLEAR_MS;
  const effects: PageEffect[] = [{ kind: 'storeUnclear', paymentId: payment.paymentId, unclearUntil }, { kind: 'lookNow' }];
  return turnTo(changePayment(said, { ...payment, unclearUntil }), ...effects);
}

const changePayment = (state: PageState, payment: PagePayment): PageState => ('payment' in state ? { ...state, payment } : state);

export function finishSending(facts: PageFacts, state: PageState, event: Of<'transactionSent'>): Turn {
  const { paymentId, status, txSignature, at } = event;
  const payment = paymentOf(state);
  if (payment?.paymentId !== paymentId) return turnTo(state);
  const paid = { ...payment, txSignature };
  const turn = applyStatus(facts, changePayment(state, paid), { status, redirectUrl: null, at });
  return turnTo(turn.state, { kind: 'storePayment', payment: paid }, ...turn.effects, { kind: 'lookNow' });
}

/** Watches for a transaction that may have been sent. Removes the signature of one that never will be. */
export function refuseSending(facts: PageFacts, state: PageState, event: Of<'sendRefused'>): Turn {
  const payment = paymentOf(state);
  if (payment?.paymentId !== event.paymentId || payment.txSignature !== event.txSignature) return turnTo(state);
  const isSending = state.step === 'sending';
  if (!event.isFinal) return turnTo(isSending ? enterSeen(state, { payment, at: event.at, isSlow: true }) : state);
  const unsigned = { ...payment, txSignature: paymentStatusOf(state)?.tx_signature ?? null };
  const changed = changePayment(state, unsigned);
  if (isOver(state) || state.step === 'confirmed') return turnTo(changed, { kind: 'storeEnd', payment: unsigned, storeMs: HOUR_MS });
  // The service may have seen another payment, which the page then shows instead.
  const turn = isSending ? refuse(facts, changed, event.failure) : turnTo(changed);
  return turnTo(turn.state, { kind: 'storePayment', payment: unsigned }, ...turn.effects);
}

export function shareStored(facts: PageFacts, state: PageState, { stored, at }: Of<'storedChanged'>): Turn {
  const payment = paymentOf(state);
  if (payment?.paymentId === stored.paymentId) {
    const unclearUntil = Math.max(payment.unclearUntil ?? 0, stored.unclearUntil ?? 0);
    return turnTo(unclearUntil === 0 ? state : changePayment(state, { ...payment, unclearUntil }), { kind: 'lookNow' });
  }
  // A payment made by this page is followed to its end first.
  if (state.step === 'sending' || (state.step === 'seen' && state.payment.txSignature !== null)) return turnTo(state);
  const free =
    state.step === 'waiting' || state.step === 'connecting' || state.step === 'identity' ? cancelChoice(facts, state).state : state;
  return turnTo(followPayment(facts, free, { payment: stored, at }));
}
