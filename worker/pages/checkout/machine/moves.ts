import type { Failure } from '../../parts/answer.ts';
import type { PageFacts, PagePayment, Problem } from '../facts.ts';
import { DEAD_ENDS, problemOfFailure } from '../problems.ts';
import {
  CHOOSING,
  type PageState,
  paymentOf,
  paymentStatusOf,
  requestOf,
  type SharedState,
  type StepState,
  type WalletRequest,
} from '../state.ts';
import type { PaymentStatus } from '../wire.ts';
import type { PageEffect, Turn } from './events.ts';

export const HOUR_MS = 3_600_000;
/** Time before a payment's end at which the page closes the payment, because a wallet's answer would come too late. */
const ENDING_MS = 15_000;

export const msLeft = ({ expiresAt }: PagePayment, at: number): number => Date.parse(expiresAt) - at;
export const isEnding = (payment: PagePayment, at: number): boolean => msLeft(payment, at) <= ENDING_MS;

export const turnTo = (state: PageState, ...effects: PageEffect[]): Turn => ({ state, effects });

/** Enters a step. Retains only the fields that survive every step. */
export function enter(state: PageState, step: StepState, changed: Partial<SharedState> = {}): PageState {
  const { wallets, asset, customer, isPhoneOpen, isTwice, attempt, hasSeenPending, wasIdentityAsked, declinedIds, dismissed } = state;
  const shared = { wallets, asset, customer, isPhoneOpen, isTwice, attempt, hasSeenPending, wasIdentityAsked, declinedIds, dismissed };
  return { ...shared, ...changed, ...step };
}

/** True if the payment is paid or a transaction for it is known. */
export function isTaken(state: PageState): boolean {
  const status = paymentStatusOf(state)?.status;
  return paymentOf(state)?.txSignature != null || status === 'PENDING_CONFIRMATION' || status === 'CONFIRMED';
}

interface ChoiceTerms {
  payment?: PagePayment | null;
  problem?: Problem | null;
  openRequest?: WalletRequest | null;
}

/** Returns to the choice of a way to pay, or to the reason why there is none. */
export function backToChoice(facts: PageFacts, state: PageState, terms: ChoiceTerms = {}): PageState {
  const { payment = paymentOf(state), problem = null, openRequest = requestOf(state) } = terms;
  const status = payment?.paymentId === paymentOf(state)?.paymentId ? paymentStatusOf(state) : null;
  const about = { payment, status, openRequest };
  const deadEnd = DEAD_ENDS.find((key) => key === problem?.key) ?? facts.obstacle;
  // A payment begun before the seller required identification would buy nothing.
  const reason = problem?.key === 'pIdentityNow' ? problem.key : payment === null ? deadEnd : null;
  if (reason !== null) return enter(state, { step: 'unavailable', reason, ...about });
  return enter(state, { ...CHOOSING, ...about, problem });
}

const OVER = ['session_expired', 'payment_failed', 'state_conflict', 'payment_transaction_conflict'];

export function refuse(facts: PageFacts, state: PageState, failure: Failure): Turn {
  const payment = paymentOf(state);
  const isOver = payment !== null && OVER.includes(failure.code) && failure.meta.reason !== 'in_flight';
  const problem = isOver ? null : problemOfFailure(facts, failure, payment?.price.asset ?? state.asset);
  return turnTo(backToChoice(facts, state, { problem }), ...(payment ? [{ kind: 'lookNow' } as const] : []));
}

/** The money is moving. From here the page only watches. */
export function enterSeen(
  state: PageState,
  { payment, at, isSlow = false }: { payment: PagePayment; at: number; isSlow?: boolean },
): PageState {
  const status = payment.paymentId === paymentOf(state)?.paymentId ? paymentStatusOf(state) : null;
  if (state.step === 'seen' && status) return { ...state, payment };
  return enter(state, { step: 'seen', payment, status, openRequest: requestOf(state), seenAt: at, isSlow });
}

export function followPayment(
  facts: PageFacts,
  state: PageState,
  { payment, at, isOnItsWay = payment.txSignature !== null }: { payment: PagePayment; at: number; isOnItsWay?: boolean },
): PageState {
  if (isOnItsWay) return enterSeen(state, { payment, at });
  const status: PaymentStatus | null = payment.paymentId === paymentOf(state)?.paymentId ? paymentStatusOf(state) : null;
  if (state.step === 'choosing') return { ...state, payment, status, busyWith: null };
  if (state.step === 'connecting') return { ...state, payment, status };
  return backToChoice(facts, state, { payment });
}
