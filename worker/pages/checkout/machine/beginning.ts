/**
 * Chooses the page's payment: the stored one, one begun elsewhere, or a new one.
 * @module
 */

import { isPassing } from '../../parts/answer.ts';
import { type PageFacts, type PagePayment, toPagePayment } from '../facts.ts';
import { problemOfFailure } from '../problems.ts';
import { firstCarried, firstState, isReplaceable, type PageState, paymentOf, requestOf } from '../state.ts';
import type { PageEvent, ServiceEffect, Turn } from './events.ts';
import { backToChoice, enter, followPayment, isTaken, refuse, turnTo } from './moves.ts';
import { applyStatus } from './watching.ts';

type Of<K extends PageEvent['kind']> = Extract<PageEvent, { kind: K }>;

const waitForOpening = (state: PageState): PageState => (state.step === 'choosing' ? { ...state, busyWith: 'opening page' } : state);

function endWait(facts: PageFacts, state: PageState): PageState {
  if (state.step === 'choosing') return { ...state, busyWith: null };
  if (state.step === 'closing') return { ...state, isBusy: false };
  return state.step === 'connecting' && state.stage === 'beginning payment' ? backToChoice(facts, state) : state;
}

const tryElsewhere = (state: PageState): ServiceEffect => ({
  kind: 'tryElsewhere',
  paymentIds: null,
  declinedIds: state.declinedIds,
  otherwise: null,
});

/** A stored payment comes first, so that no second payment is begun. */
export function openPage(facts: PageFacts, state: PageState, event: Of<'pageOpened'>): Turn {
  const { stored, isOver, identity, addressedId, at } = event;
  const { begun, handoffToken, isPayable } = facts;
  const known = stored ?? (begun && toPagePayment(begun, begun.tx_signature));
  // A finished payment is shown again, except to a buyer sent here for another one.
  if (known && isOver && addressedId !== null && addressedId !== known.paymentId)
    return turnTo(waitForOpening(state), { ...tryElsewhere(state), paymentIds: [addressedId], otherwise: known } as ServiceEffect);
  if (known) {
    const isOnItsWay = known.txSignature !== null || begun?.status === 'PENDING_CONFIRMATION';
    return turnTo(followPayment(facts, state, { payment: known, at, isOnItsWay }));
  }
  if (identity && isPayable) {
    const step = { step: 'identity', identity, problem: null, isBusy: false, isQuiet: false, askedAt: at, openRequest: null } as const;
    return turnTo(enter(state, step, { wasIdentityAsked: true }));
  }
  if (handoffToken && isPayable) return turnTo(waitForOpening(state), { kind: 'readHandoff', token: handoffToken });
  return turnTo(waitForOpening(state), tryElsewhere(state));
}

export const greetBuyer = (_facts: PageFacts, state: PageState, { customer }: Of<'handoffRead'>): Turn =>
  turnTo({ ...state, customer }, ...(paymentOf(state) ? [] : [tryElsewhere(state)]));

export function refuseHandoff(facts: PageFacts, state: PageState, { failure }: Of<'handoffRefused'>): Turn {
  if (paymentOf(state)) return turnTo(endWait(facts, state));
  return turnTo(waitForOpening(refuse(facts, state, failure).state), tryElsewhere(state));
}

/** Asks the buyer whether to continue the payment found elsewhere. */
export function askAboutFound(facts: PageFacts, state: PageState, { found }: Of<'foundElsewhere'>): Turn {
  if (paymentOf(state)) return turnTo(endWait(facts, state));
  return turnTo(enter(state, { step: 'underway', found, openRequest: requestOf(state) }));
}

export const openChoice = (facts: PageFacts, state: PageState, { otherwise, at }: Of<'nothingElsewhere'>): Turn =>
  turnTo(endWait(facts, otherwise && !paymentOf(state) ? followPayment(facts, state, { payment: otherwise, at }) : state));

/** Begins nothing while a possible payment has an unknown status. An existing problem is not overwritten. */
export function stopUnknown(facts: PageFacts, state: PageState, { failure }: Of<'elsewhereUnknown'>): Turn {
  if (paymentOf(state) || state.step !== 'choosing' || state.problem !== null) return turnTo(endWait(facts, state));
  return refuse(facts, state, failure);
}

export function continueFound(facts: PageFacts, state: PageState, { at }: Of<'foundContinued'>): Turn {
  if (state.step !== 'underway') return turnTo(state);
  const { payment } = state.found;
  return turnTo(followPayment(facts, state, { payment, at }), { kind: 'storePayment', payment });
}

export function declineFound(facts: PageFacts, state: PageState): Turn {
  if (state.step !== 'underway') return turnTo(state);
  const declinedIds = [...state.declinedIds, state.found.payment.paymentId];
  return turnTo(backToChoice(facts, { ...state, declinedIds }));
}

const beginWithoutWallet = (state: PageState): Extract<ServiceEffect, { kind: 'beginPayment' }> => {
  const { asset, declinedIds } = state;
  return { kind: 'beginPayment', attempt: null, asset, walletAddress: null, declinedIds, replacesId: null };
};

/** Without a payment only the selection changes. An unsigned payment is replaced by one in the new asset. */
export function chooseAsset(_facts: PageFacts, state: PageState, { asset }: Of<'assetChosen'>): Turn {
  if (state.step !== 'choosing' || state.busyWith !== null || state.isUnclear) return turnTo(state);
  const { payment } = state;
  if (asset === (payment?.price.asset ?? state.asset)) return turnTo(state);
  if (payment === null) return turnTo({ ...state, asset });
  if (!isReplaceable(state)) return turnTo(state);
  const chosen = { ...state, asset, problem: null };
  return turnTo({ ...chosen, busyWith: 'beginning payment' }, { ...beginWithoutWallet(chosen), replacesId: payment.paymentId });
}

/** Replaces an unsigned payment before the uncertain time is over. The service checks that nothing was paid. */
export function startOver(facts: PageFacts, state: PageState): Turn {
  if (state.step !== 'closing' || state.isBusy || !facts.isPayable || !isReplaceable(state)) return turnTo(state);
  const { paymentId, price } = state.payment;
  const beginning = { ...beginWithoutWallet({ ...state, asset: price.asset }), replacesId: paymentId };
  return turnTo({ ...state, isBusy: true, problem: null }, beginning);
}

export function openPhone(_facts: PageFacts, state: PageState): Turn {
  if (state.step !== 'choosing' || state.busyWith !== null || state.isUnclear) return turnTo(state);
  if (state.payment) return turnTo({ ...state, isPhoneOpen: true, problem: null });
  return turnTo({ ...state, busyWith: 'beginning payment', problem: null }, beginWithoutWallet(state));
}

export function finishIdentity(_facts: PageFacts, state: PageState): Turn {
  if (state.step !== 'identity') return turnTo(state);
  const asking = { ...state, isBusy: true, isQuiet: false, problem: null };
  return state.isBusy ? turnTo(asking) : turnTo(asking, beginWithoutWallet(state));
}

const IDENTITY_EVERY_MS = 10_000;

/** Checks every 10 s, and when the buyer returns, whether identification is complete. */
export function watchIdentity(_facts: PageFacts, state: PageState, { kind, at }: Of<'secondPassed' | 'buyerReturned'>): Turn {
  if (state.step !== 'identity' || state.isBusy) return turnTo(state);
  if (kind === 'secondPassed' && at - state.askedAt < IDENTITY_EVERY_MS) return turnTo(state);
  return turnTo({ ...state, isBusy: true, isQuiet: true, askedAt: at }, beginWithoutWallet(state));
}

/** Takes the turn of a wallet that waits for this payment. Otherwise shows the choice with the payment. */
function goOnWith(
  facts: PageFacts,
  state: PageState,
  terms: { payment: PagePayment; attempt: number | null; transaction: string | null; isOnItsWay: boolean; at: number },
): Turn {
  const { payment, attempt, transaction, isOnItsWay, at } = terms;
  if (state.step === 'connecting' && state.stage === 'beginning payment' && state.attempt === attempt && !isOnItsWay) {
    const turn = { kind: 'takeTurn', attempt, paymentId: payment.paymentId } as const;
    return turnTo({ ...state, stage: 'taking turn', payment, status: null, transaction }, turn);
  }
  const isForPhone = attempt === null && state.step === 'choosing' && state.busyWith === 'beginning payment' && state.payment === null;
  return turnTo({ ...followPayment(facts, state, { payment, at, isOnItsWay }), ...(isForPhone ? { isPhoneOpen: true } : {}) });
}

export function takeBegun(facts: PageFacts, state: PageState, event: Of<'paymentBegun'>): Turn {
  const { payment } = event;
  // A payment with money on its way is never left for an unpaid one.
  if (isTaken(state) && paymentOf(state)?.paymentId !== payment.paymentId) return turnTo(state);
  const turn = goOnWith(facts, { ...state, hasSeenPending: true }, event);
  return turnTo(turn.state, { kind: 'storePayment', payment }, { kind: 'forgetIdentity' }, ...turn.effects);
}

export function takeKnown(facts: PageFacts, state: PageState, { attempt, payment, at }: Of<'paymentKnown'>): Turn {
  if (isTaken(state) && paymentOf(state)?.paymentId !== payment.paymentId) return turnTo(state);
  const isOnItsWay = payment.txSignature !== null;
  return goOnWith(facts, state, { payment, attempt, transaction: null, isOnItsWay, at });
}

export function takeAdopted(facts: PageFacts, state: PageState, { payment, status, at }: Of<'paymentAdopted'>): Turn {
  if (isTaken(state)) return turnTo(state);
  const adopted = backToChoice(facts, state, { payment });
  const turn = applyStatus(facts, adopted, { status, redirectUrl: null, at });
  return turnTo(turn.state, { kind: 'storePayment', payment }, ...turn.effects);
}

export function refuseBeginning(facts: PageFacts, state: PageState, { attempt, failure }: Of<'beginRefused'>): Turn {
  if (state.step === 'closing' && state.isBusy && attempt === null) {
    const problem = problemOfFailure(facts, failure, state.payment.price.asset);
    return turnTo({ ...state, isBusy: false, problem }, { kind: 'lookNow' });
  }
  // A failed background check is repeated at the next interval.
  if (state.step === 'identity' && state.isQuiet && attempt === null && isPassing(failure))
    return turnTo({ ...state, isBusy: false, isQuiet: false });
  const isWithoutWallet =
    (state.step === 'choosing' && state.busyWith === 'beginning payment') || (state.step === 'identity' && state.isBusy);
  const isWithWallet = state.step === 'connecting' && state.attempt === attempt;
  return (attempt === null ? isWithoutWallet : isWithWallet) ? refuse(facts, state, failure) : turnTo(state);
}

/** Shows the identification link. It is stored, because the buyer leaves the page. */
export function askIdentity(facts: PageFacts, state: PageState, { identity, isNew, at }: Of<'identityWanted'>): Turn {
  if (paymentOf(state)) return turnTo(endWait(facts, state));
  if (!isNew && state.step === 'identity' && state.isQuiet) return turnTo({ ...state, isBusy: false, isQuiet: false });
  const key = !isNew ? 'identityNotYet' : state.wasIdentityAsked ? 'identityRenewed' : null;
  const problem = key === null ? null : ({ key, values: { provider: identity.provider } } as const);
  const asked = { isBusy: false, isQuiet: false, askedAt: at };
  const step = { step: 'identity', identity, problem, ...asked, openRequest: requestOf(state) } as const;
  return turnTo(enter(state, step, { wasIdentityAsked: true }), ...(isNew ? [{ kind: 'storeIdentity', identity } as const] : []));
}

/** Runs only after an ended payment. A wallet that may still send retains its open request. */
export function startAgain(facts: PageFacts, state: PageState): Turn {
  if (state.step !== 'failed' && state.step !== 'expired' && state.step !== 'confirmed' && state.step !== 'short') return turnTo(state);
  if (!facts.isPayable) return turnTo(state);
  const { wallets, attempt, declinedIds, openRequest } = state;
  const fresh = { ...firstState(facts), ...firstCarried(facts), wallets, attempt: attempt + 1, declinedIds };
  const first = backToChoice(facts, fresh, { payment: null, openRequest: openRequest?.sends ? openRequest : null });
  return turnTo(first, { kind: 'forgetPayment', paymentId: state.payment.paymentId }, { kind: 'forgetIdentity' });
}

export function dismissShort(facts: PageFacts, state: PageState, { at }: Of<'shortDismissed'>): Turn {
  if (state.step !== 'short') return turnTo(state);
  const dismissed = [...state.dismissed, ...state.money.map((one) => one.tx_signature)];
  if (state.status.status === 'FAILED') return startAgain(facts, state);
  return turnTo(backToChoice(facts, followPayment(facts, { ...state, dismissed }, { payment: state.payment, at })));
}
