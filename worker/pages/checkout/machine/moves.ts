/**
 * The moves from one step to another that several events share.
 * @module
 */

import type { Failure } from '../../parts/answer.ts';
import type { PageFacts, PagePayment, Problem } from '../facts.ts';
import { DEAD_ENDS, problemOfFailure } from '../problems.ts';
import {
  CHOOSING,
  type Kept,
  type PageState,
  paymentOf,
  paymentStatusOf,
  requestOf,
  type StepState,
  type WalletRequest,
} from '../state.ts';
import type { PaymentStatus } from '../wire.ts';
import type { PageEffect, Turn } from './events.ts';

/** How long the end of a payment is stored at least. */
export const HOUR_MS = 3_600_000;
/** What the buyer's wallet would be asked so near the end of a payment would come too late. */
const ENDING_MS = 15_000;

export const msLeft = ({ expiresAt }: PagePayment, at: number): number => Date.parse(expiresAt) - at;
export const isEnding = (payment: PagePayment, at: number): boolean => msLeft(payment, at) <= ENDING_MS;

export const turnTo = (state: PageState, ...effects: PageEffect[]): Turn => ({ state, effects });

/** The page in another step: it keeps what outlives every step, and nothing else of the step it leaves. */
export function enter(state: PageState, step: StepState, changed: Partial<Kept> = {}): PageState {
  const { wallets, asset, customer, isPhoneOpen, isTwice, attempt, hasSeenPending, wasIdentityAsked, declinedIds, dismissed } = state;
  const kept = { wallets, asset, customer, isPhoneOpen, isTwice, attempt, hasSeenPending, wasIdentityAsked, declinedIds, dismissed };
  return { ...kept, ...changed, ...step };
}

/** Whether the page's payment is paid, or a transaction that pays it is known. */
export function isTaken(state: PageState): boolean {
  const status = paymentStatusOf(state)?.status;
  return paymentOf(state)?.txSignature != null || status === 'PENDING_CONFIRMATION' || status === 'CONFIRMED';
}

interface ChoiceTerms {
  payment?: PagePayment | null;
  problem?: Problem | null;
  openRequest?: WalletRequest | null;
}

/** Back to the choice of a way to pay, or to the reason why there is none. */
export function backToChoice(facts: PageFacts, state: PageState, terms: ChoiceTerms = {}): PageState {
  const { payment = paymentOf(state), problem = null, openRequest = requestOf(state) } = terms;
  const status = payment?.paymentId === paymentOf(state)?.paymentId ? paymentStatusOf(state) : null;
  const about = { payment, status, openRequest };
  const deadEnd = DEAD_ENDS.find((key) => key === problem?.key) ?? facts.obstacle;
  // A payment that was begun without what the seller asks by now would buy nothing.
  const reason = problem?.key === 'pIdentityNow' ? problem.key : payment === null ? deadEnd : null;
  if (reason !== null) return enter(state, { step: 'unavailable', reason, ...about });
  return enter(state, { ...CHOOSING, ...about, problem });
}

/** Codes with which the service says that the payment is over; how it ended, its status tells. */
const OVER = ['session_expired', 'payment_failed', 'state_conflict', 'payment_transaction_conflict'];

/** The service said no: why, in one sentence, and back to the choice. */
export function refuse(facts: PageFacts, state: PageState, failure: Failure): Turn {
  const payment = paymentOf(state);
  const isOver = payment !== null && OVER.includes(failure.code) && failure.meta.reason !== 'in_flight';
  const problem = isOver ? null : problemOfFailure(facts, failure, payment?.price.asset ?? state.asset);
  return turnTo(backToChoice(facts, state, { problem }), ...(payment ? [{ kind: 'lookNow' } as const] : []));
}

/** The money is known to be moving: from here the page only looks on. */
export function enterSeen(
  state: PageState,
  { payment, at, isSlow = false }: { payment: PagePayment; at: number; isSlow?: boolean },
): PageState {
  const status = payment.paymentId === paymentOf(state)?.paymentId ? paymentStatusOf(state) : null;
  if (state.step === 'seen' && status) return { ...state, payment };
  return enter(state, { step: 'seen', payment, status, openRequest: requestOf(state), seenAt: at, isSlow });
}

/** From now on the page is about this payment. */
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
