import type { PageFacts, PagePayment } from '../facts.ts';
import { type PageAt, type PageState, paymentOf, paymentStatusOf, requestOf } from '../state.ts';
import type { PaymentStatus, SeenMoney } from '../wire.ts';
import type { PageEvent, Turn } from './events.ts';
import { backToChoice, enter, enterSeen, HOUR_MS, isEnding, msLeft, refuse, turnTo } from './moves.ts';

type Of<K extends PageEvent['kind']> = Extract<PageEvent, { kind: K }>;

const SLOW_AFTER_MS = 75_000;
const DAY_MS = 24 * HOUR_MS;

interface ServiceAnswer {
  status: PaymentStatus;
  redirectUrl: string | null;
  at: number;
}

export function applyStatus(facts: PageFacts, state: PageState, answer: ServiceAnswer): Turn {
  const payment = paymentOf(state);
  if (!payment) return turnTo(state);
  const paymentAnswer = { ...answer, payment };
  const money = shortMoney(state, payment, answer.status);
  if (money.length > 0) return showShort(state, paymentAnswer, money);
  switch (answer.status.status) {
    case 'CONFIRMED':
      return showConfirmed(state, paymentAnswer);
    case 'FAILED':
      return showEnded(facts, state, paymentAnswer);
    case 'PENDING_CONFIRMATION':
      return showSeen(state, paymentAnswer);
    case 'PENDING_SIGNATURE':
      return payment.txSignature === null || state.step === 'sending'
        ? waitForPayment(facts, state, paymentAnswer)
        : showSeen(state, paymentAnswer);
  }
}

/** Underpayments that neither seller nor buyer has settled. Empty while the payment is under way. */
function shortMoney({ dismissed }: PageState, { txSignature }: PagePayment, { status, seen = [] }: PaymentStatus): SeenMoney[] {
  if (status === 'CONFIRMED' || status === 'PENDING_CONFIRMATION') return [];
  const short = seen.filter((one) => one.reason === 'underpaid' && !dismissed.includes(one.tx_signature));
  return txSignature === null || short.some((one) => one.tx_signature === txSignature) ? short : [];
}

/** Removes the signature, because the underpayment does not pay. */
function showShort(state: PageState, { payment, status }: PaymentAnswer, money: SeenMoney[]): Turn {
  const known = { ...payment, txSignature: null, expiresAt: status.expires_at };
  const copied = state.step === 'short' ? state.copied : null;
  const short = enter(
    state,
    { step: 'short', payment: known, status, money, copied, openRequest: requestOf(state) },
    { hasSeenPending: true },
  );
  if (status.status === 'FAILED') return turnTo(short, { kind: 'storeEnd', payment: known, storeMs: DAY_MS });
  return turnTo(short, ...(payment.txSignature === null ? [] : [{ kind: 'storePayment', payment: known } as const]));
}

type PaymentAnswer = ServiceAnswer & { payment: PagePayment };

function showConfirmed(state: PageState, { payment, status, redirectUrl }: PaymentAnswer): Turn {
  if (state.step === 'confirmed') return turnTo({ ...state, status });
  const url = redirectUrl !== null && URL.parse(redirectUrl)?.protocol === 'https:' ? redirectUrl : null;
  // A buyer who returns to this page is not redirected again.
  const isLeaving = url !== null && state.hasSeenPending;
  const paid = { ...payment, txSignature: status.tx_signature ?? payment.txSignature };
  const openRequest = requestOf(state);
  const confirmed = enter(state, { step: 'confirmed', payment: paid, status, openRequest, redirectUrl: url, isLeaving, copied: null });
  const stored = { kind: 'storeEnd', payment: paid, storeMs: DAY_MS } as const;
  return turnTo(confirmed, stored, ...(isLeaving ? [{ kind: 'leaveSoon' } as const] : []));
}

function showEnded(facts: PageFacts, state: PageState, { payment, status, at }: PaymentAnswer): Turn {
  if (state.step === 'late') return turnTo({ ...state, status });
  const late = status.seen?.find(({ reason }) => reason === 'late');
  if (late) return seeLate(facts, state, { kind: 'paymentLate', paymentId: payment.paymentId, txSignature: late.tx_signature, at });
  const step = status.failure_code === 'session_expired' ? 'expired' : 'failed';
  const ended = { ...payment, txSignature: payment.txSignature ?? status.tx_signature ?? null };
  const storeMs = Math.max(0, msLeft({ ...payment, expiresAt: status.expires_at }, at) + HOUR_MS);
  const stored = { kind: 'storeEnd', payment: ended, storeMs } as const;
  return turnTo(enter(state, { step, payment: ended, status, openRequest: requestOf(state) }), stored);
}

function showSeen(state: PageState, { payment, status, at }: PaymentAnswer): Turn {
  const isNew = payment.txSignature === null && status.tx_signature !== undefined;
  const signed = isNew ? { ...payment, txSignature: status.tx_signature! } : payment;
  const store = isNew ? [{ kind: 'storePayment', payment: signed } as const] : [];
  if (state.step === 'late') return turnTo({ ...state, status });
  const seen = enterSeen(state, { payment: signed, at });
  return turnTo({ ...seen, status, hasSeenPending: true } as PageState, ...store);
}

/** Nothing is paid: ways to pay stay open until the payment ends. */
function waitForPayment(facts: PageFacts, state: PageState, { payment, status, at }: PaymentAnswer): Turn {
  // The service's end time, so that both sides close the payment at the same moment.
  const due = { ...payment, expiresAt: status.expires_at };
  const known = { ...state, payment: due, status, hasSeenPending: true } as PageState;
  // The send request reports whether the transaction was sent.
  if (state.step === 'sending') return turnTo(known);
  // A wallet request already open may still be answered in time.
  if (state.step === 'waiting' ? msLeft(due, at) <= 0 : isEnding(due, at)) return turnTo(enterClosing(known, due));
  const isOpen = state.step === 'choosing' || state.step === 'connecting' || state.step === 'waiting' || state.step === 'unavailable';
  return turnTo(isOpen ? known : backToChoice(facts, known));
}

function enterClosing(state: PageState, payment: PagePayment): PageState {
  const status = paymentStatusOf(state);
  if (state.step === 'closing') return { ...state, payment, status };
  const openRequest = requestOf(state);
  return enter(state, { step: 'closing', payment, status, openRequest, secondsToCertain: null, isBusy: false, problem: null });
}

export function applyRead(facts: PageFacts, state: PageState, { paymentId, status, redirectUrl, at }: Of<'paymentRead'>): Turn {
  return paymentOf(state)?.paymentId === paymentId ? applyStatus(facts, state, { status, redirectUrl, at }) : turnTo(state);
}

/** Forgets a payment that the service does not have (404), as after its data was reset. */
export function forgetGone(facts: PageFacts, state: PageState, { paymentId }: Of<'paymentGone'>): Turn {
  if (paymentOf(state)?.paymentId !== paymentId) return turnTo(state);
  const openRequest = requestOf(state);
  return turnTo(backToChoice(facts, state, { payment: null, openRequest: openRequest?.sends ? openRequest : null }), {
    kind: 'forgetPayment',
    paymentId,
  });
}

export function recoverPayment(_facts: PageFacts, state: PageState, { paymentId, recoveredId, at }: Of<'paymentRecovered'>): Turn {
  const payment = paymentOf(state);
  if (payment?.paymentId !== paymentId) return turnTo(state);
  const recovered = { ...payment, paymentId: recoveredId };
  return turnTo(enterSeen(state, { payment: recovered, at }), { kind: 'storePayment', payment: recovered });
}

/** Late money is not lost: the seller can accept it. */
export function seeLate(_facts: PageFacts, state: PageState, { paymentId, txSignature }: Of<'paymentLate'>): Turn {
  const payment = paymentOf(state);
  if (payment?.paymentId !== paymentId || state.step === 'late') return turnTo(state);
  const late = { ...payment, txSignature };
  const status = 'status' in state ? state.status : null;
  const stored = { kind: 'storeEnd', payment: late, storeMs: DAY_MS } as const;
  return turnTo(enter(state, { step: 'late', payment: late, status, openRequest: requestOf(state) }), stored);
}

/** The stored signature pays something else. */
export function dropSignature(facts: PageFacts, state: PageState, event: Of<'signatureMismatched'>): Turn {
  const payment = paymentOf(state);
  if (payment?.paymentId !== event.paymentId || payment.txSignature !== event.txSignature) return turnTo(state);
  const unsigned = { ...payment, txSignature: null };
  const choice = backToChoice(facts, state, { payment: unsigned, problem: { key: 'pMismatch' } });
  return turnTo(choice, { kind: 'storePayment', payment: unsigned });
}

export function submitSignature(_facts: PageFacts, state: PageState, event: Of<'signatureEntered'>): Turn {
  if (state.step !== 'choosing' || state.busyWith !== null || state.payment === null) return turnTo(state);
  if (!event.isWellFormed) return turnTo({ ...state, problem: { key: 'pMismatch' } });
  const { paymentId } = state.payment;
  const check = { kind: 'checkSignature', paymentId, txSignature: event.txSignature } as const;
  return turnTo({ ...state, busyWith: 'checking signature', problem: null }, check);
}

export function acceptSignature(facts: PageFacts, state: PageState, event: Of<'signatureChecked'>): Turn {
  const { paymentId, txSignature, status, redirectUrl, at } = event;
  const payment = paymentOf(state);
  if (payment?.paymentId !== paymentId || payment.txSignature !== null) return turnTo(state);
  const signed = { ...payment, txSignature };
  const turn = applyStatus(facts, { ...state, payment: signed } as PageState, { status, redirectUrl, at });
  return turnTo(turn.state, { kind: 'storePayment', payment: signed }, ...turn.effects, { kind: 'lookNow' });
}

export function refuseSignature(facts: PageFacts, state: PageState, { paymentId, failure }: Of<'checkRefused'>): Turn {
  const isAsked = state.step === 'choosing' && state.busyWith === 'checking signature';
  return isAsked && state.payment?.paymentId === paymentId ? refuse(facts, state, failure) : turnTo(state);
}

export function passTime(facts: PageFacts, state: PageState, at: number): Turn {
  if (state.step === 'seen' && !state.isSlow && at - state.seenAt > SLOW_AFTER_MS) return turnTo({ ...state, isSlow: true });
  if (state.step === 'closing') return turnTo(passToCertain(facts, state, at));
  const isTimed = state.step === 'choosing' || state.step === 'connecting' || state.step === 'waiting' || state.step === 'unavailable';
  if (!isTimed || state.payment === null) return turnTo(state);
  const { payment } = state;
  if (state.step === 'waiting' ? msLeft(payment, at) <= 0 : isEnding(payment, at))
    return turnTo(enterClosing(state, payment), { kind: 'lookNow' });
  if (state.step === 'unavailable') return turnTo(state);
  const secondsLeft = Math.max(0, Math.ceil(msLeft(payment, at) / 1000));
  const timed = state.secondsLeft === secondsLeft ? state : { ...state, secondsLeft };
  const isUnclear = (payment.unclearUntil ?? 0) > at;
  return turnTo(timed.step === 'choosing' && timed.isUnclear !== isUnclear ? { ...timed, isUnclear } : timed);
}

function passToCertain(facts: PageFacts, state: PageAt<'closing'>, at: number): PageState {
  const secondsToCertain = Math.max(0, Math.ceil((msLeft(state.payment, at) + facts.uncertainMs) / 1000));
  return state.secondsToCertain === secondsToCertain ? state : { ...state, secondsToCertain };
}
