import { ApiError, unreachable } from '#core/errors.ts';
import { SECOND } from '#core/time.ts';
import type { Purchase } from '#features/memberships/membership.ts';
import type { Shard } from '#platform/context.ts';
import { type Change, unchanged } from '#platform/db/commit.ts';
import type { Payment, Unmatched } from '#platform/db/tables/payments.ts';
import { isErasedRef } from '#rules/access/erased-customer.ts';
import type { PeriodTimes } from '#rules/subscriptions/schedule.ts';
import { matchPayment, type PaidTransfer } from '#solana/match.ts';
import { type ChainTransaction, svcMemos, transfersOf } from '#solana/transaction.ts';
import { type CollectionMatch, isOvertaken, matchCollection, planCollected, planReplaced, subscribedBy } from '../collected-period.ts';
import { expectationOf, planFail, stepPayment } from '../payment.ts';
import { type Proof, planPurchase } from '../purchase.ts';
import { missingIdentity } from '../required-identity.ts';
import { memoOf } from '../resource.ts';
import { abortIfRecovered, claimTransaction, closeUnmatched, updatePayment } from '../store.ts';
import { planRecovery, planUnmatched } from '../unmatched/unmatched.ts';
import { dropCandidate } from '../watch/candidate.store.ts';
import type { loadConfirmation } from './store.ts';

export type Loaded = NonNullable<Awaited<ReturnType<typeof loadConfirmation>>>;
/** `refused` may have stored something first: money that arrived is recorded even if it does not pay this session. */
export type Verdict =
  | { outcome: 'already' | 'done' | 'unknown'; payment: Payment }
  | { outcome: 'refused'; error: ApiError; isUnseen?: boolean; recovered?: Payment };

export const failureOf = (payment: Payment, meta: Record<string, unknown> = {}): ApiError =>
  new ApiError(payment.failureCode === 'session_expired' ? 'session_expired' : 'payment_failed', { meta });

type Decision =
  | { kind: 'refuse'; error: ApiError }
  | { kind: 'fail' }
  /** Money arrived that does not pay this session. It is recorded for the merchant to decide. */
  | { kind: 'unmatched'; error: ApiError; reason: Unmatched['reason']; proof: Proof }
  /** `confirm` an open session, or `recover` money that missed its session: as a payment of its own, named in `error`. */
  | { kind: 'confirm'; match: Paying; proof: Proof }
  | { kind: 'recover'; error: ApiError; match: Paying; proof: Proof };
type Paying = Extract<CollectionMatch, { payment: PaidTransfer }>;

/** Plans what a transaction that the chain confirmed means for this session. Money is never overlooked. */
export function planVerdict(ctx: Shard, loaded: Loaded, transaction: ChainTransaction): Change<Verdict> {
  const { payment } = loaded;
  const decision = decide(loaded, transaction);
  switch (decision.kind) {
    case 'refuse':
      return unchanged({ outcome: 'refused', error: decision.error });
    case 'fail': {
      const failed = planFail(ctx, payment, { failureCode: 'transaction_failed', txSignature: transaction.signature });
      return { ...failed, result: { outcome: 'done', payment: failed.result } };
    }
    case 'unmatched':
      return { ...planUnmatched(ctx, loaded, decision.proof, decision.reason), result: { outcome: 'refused', error: decision.error } };
    case 'confirm': {
      const { proof, match } = decision;
      const proven = planProven(ctx, loaded, { proof, period: periodIn(match, transaction) }, (sold, subscription) =>
        planConfirmed(ctx, sold, { proof, paid: match.payment }, subscription),
      );
      // The transaction pays and is stored, unless the batch of another request was stored first.
      return { ...proven, result: { outcome: 'done', payment: proven.result } };
    }
    case 'recover': {
      const { proof, match } = decision;
      const proven = planRecovered(ctx, loaded, { proof, period: periodIn(match, transaction) });
      const error = withMeta(decision.error, { recovered_payment_id: proven.result.id });
      const writes = [abortIfRecovered(ctx, payment), ...proven.writes];
      return { ...proven, writes, result: { outcome: 'refused', error, recovered: proven.result } };
    }
    default:
      return unreachable(decision);
  }
}

/** Decides what a transaction means for a session, by the state that it meets. */
function decide(loaded: Loaded, transaction: ChainTransaction): Decision {
  const { payment, claim } = loaded;
  const expected = expectationOf(payment);
  const match: CollectionMatch = loaded.authorization
    ? matchCollection(transaction, loaded.authorization, expected)
    : matchPayment(transaction, expected);
  const mismatch = (reason: string) => new ApiError('payment_mismatch', { meta: { reason } });
  const ended = stateError(payment);

  if (!('payment' in match)) {
    if (match.reason === 'transaction_failed' && !ended && isOwnFailure(payment, transaction)) return { kind: 'fail' };
    return { kind: 'refuse', error: ended ?? mismatch(match.reason) };
  }
  if (claim) {
    // The merchant accepted the money while this session was open, so the buyer sees the recovered payment.
    const isRecovered = ended !== null || loaded.unmatched?.recoveredPaymentId === claim.subjectId;
    const error = ended ?? mismatch('transaction_already_used');
    const shown = isRecovered ? withMeta(error, { ...error.options.meta, recovered_payment_id: claim.subjectId }) : error;
    return { kind: 'refuse', error: shown };
  }
  const proof = proofOf(transaction, match.payment);
  const leave = (reason: Unmatched['reason'], error: ApiError): Decision => ({ kind: 'unmatched', reason, error, proof });
  if (payment.status === 'CONFIRMED') return leave('second_payment', ended!);
  // The buyer pays the replacement. Money for this payment is left to the merchant.
  if (payment.failureCode === 'replaced') return leave('late', withMeta(ended!, { reason: 'late' }));
  if (!match.ok) {
    const error = ended ?? (match.reason === 'late' ? new ApiError('session_expired') : mismatch(match.reason));
    // Block time precedes the session (clock skew). It is recorded as `late`, so that the merchant can accept it.
    return leave(match.reason === 'too_early' ? 'late' : match.reason, withMeta(error, { reason: match.reason }));
  }
  // A buyer without a proven identity is sold nothing. The merchant decides at once about the money.
  const unidentified = missingIdentity(loaded);
  if (unidentified) return leave('identity_missing', ended ?? unidentified);
  if (!ended) return { kind: 'confirm', match, proof };
  // An erased customer has no access.
  if (isErasedRef(payment.customerRef ?? '')) return leave('late', ended);
  // A decision already left to the merchant remains the merchant's.
  if (loaded.timesRecovered > 0 || loaded.unmatched) return leave('second_payment', ended);
  return { kind: 'recover', error: ended, match, proof };
}

const periodIn = ({ period }: CollectionMatch, transaction: ChainTransaction): ProvenPeriod | null =>
  period ? { period, transaction } : null;

/** Error that a session past its end answers to any other transaction. */
export function stateError(payment: Payment): ApiError | null {
  if (payment.status === 'CONFIRMED') return new ApiError('payment_transaction_conflict');
  return payment.status === 'FAILED' ? failureOf(payment) : null;
}

const withMeta = (error: ApiError, meta: Record<string, unknown>): ApiError => new ApiError(error.code, { ...error.options, meta });

export interface ProvenPeriod {
  period: PeriodTimes;
  transaction: ChainTransaction;
}
interface Proven {
  proof: Proof;
  period: ProvenPeriod | null;
}
type Apply = (sold: Loaded, subscription: Purchase['subscription']) => Change<Payment>;

/**
 * Applies proven money in any state: confirms an open session, or creates a separate payment for money that missed its session. A first
 * period begins the subscription in the same batch, unless the wallet has begun another one since the session failed.
 */
function planProven(ctx: Shard, loaded: Loaded, { period: collected }: Proven, apply: Apply): Change<Payment> {
  const { payment, authorization, rivals } = loaded;
  if (!collected) return apply(loaded, null);
  const { period, transaction } = collected;
  const sold = { ...loaded, payment: { ...payment, terms: periodTerms(payment, period, transaction) } };
  if (!authorization || (payment.status === 'FAILED' && isOvertaken(authorization, rivals))) return apply(sold, null);
  const applied = apply(sold, subscribedBy(authorization));
  const replaced = planReplaced(ctx, rivals);
  const begun = planCollected(ctx, authorization, { payment: applied.result, period });
  return {
    events: [...applied.events, ...replaced.events, ...begun.events],
    writes: [...applied.writes, ...replaced.writes, ...begun.writes],
    result: applied.result,
  };
}

export const planRecovered = (ctx: Shard, loaded: Loaded, proven: Proven): Change<Payment> =>
  planProven(ctx, loaded, proven, (sold, subscription) => planRecovery(ctx, sold, proven.proof, subscription));

const periodTerms = (payment: Payment, { endsAt }: PeriodTimes, { memos }: ChainTransaction): Payment['terms'] => ({
  ...payment.terms,
  periodEndsAt: endsAt,
  ...(svcMemos(memos).join() === memoOf(payment) ? {} : { isOwnersCollection: true as const }),
});

function planConfirmed(
  ctx: Shard,
  { payment, ...sale }: Loaded,
  { proof, paid }: { proof: Proof; paid: PaidTransfer },
  subscription: Purchase['subscription'],
): Change<Payment> {
  const { txSignature, slot, blockTime, payer: payerWallet } = proof;
  // A checkout without a transaction of its own may wait for confirmation: its plan's owner, or a call that crashed, collected the period.
  const submit = payment.txSignature === null ? stepPayment(ctx, payment, 'submit', { txSignature }) : null;
  const bought = planPurchase(ctx, payment, sale, proof, subscription);
  const confirm = stepPayment(ctx, submit?.after ?? payment, 'confirm', {
    txSignature,
    slot,
    blockTime,
    payerWallet,
    overpaidAmount: paid.overpaidUnits > 0n ? paid.overpaidUnits : null,
    feeOwedAmount: paid.feeOwedUnits > 0n ? paid.feeOwedUnits : null,
    membershipId: bought.result.membership.id,
    receiptId: bought.result.receipt.id,
    confirmedAt: ctx.now,
  });
  return {
    events: [...(submit ? [submit.event] : []), confirm.event, ...bought.events],
    writes: [
      claimTransaction(ctx, payment, proof),
      ...updatePayment(ctx, payment, confirm.after),
      closeUnmatched(ctx.db, txSignature, payment),
      ...bought.writes,
      // Other candidates remain: a second payment must not go unnoticed.
      dropCandidate(ctx.db, payment.id, txSignature),
    ],
    result: confirm.after,
  };
}

const proofOf = (
  { signature: txSignature, slot, blockTimeSeconds }: ChainTransaction,
  { payer, paidUnits, feePaidUnits }: PaidTransfer,
): Proof => ({
  txSignature,
  slot,
  blockTime: blockTimeSeconds! * SECOND,
  payer,
  paidUnits,
  feePaidUnits,
});

/**
 * True for a failed transaction that the expected wallet signed and paid for, with the memo, to this recipient. Only such a transaction can
 * fail a payment.
 */
const isOwnFailure = (payment: Payment, transaction: ChainTransaction): boolean =>
  payment.expectedWallet !== null &&
  transaction.feePayer === payment.expectedWallet &&
  svcMemos(transaction.memos).join() === memoOf(payment) &&
  transfersOf(transaction, payment.mint).some(
    ({ destination, authority }) => destination === payment.recipientAta && authority === payment.expectedWallet,
  );

export const transactionErrors = [
  'not_found',
  'payment_transaction_conflict',
  'setup_not_ready',
  'payment_failed',
  'session_expired',
  'payment_mismatch',
  'identity_verification_required',
  'rate_limited',
] as const;
