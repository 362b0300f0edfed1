import { ApiError } from '#core/errors.ts';
import type { AuthorizationId, PaymentId, RefundId } from '#core/ids.ts';
import { iso, SECOND } from '#core/time.ts';
import { planStop } from '#features/authorizations/authorization.ts';
import { findAuthorization } from '#features/authorizations/store.ts';
import { planReinstatement, planRevocation } from '#features/memberships/membership.ts';
import type { Scope, Shard } from '#platform/context.ts';
import { type Change, transact, unchanged } from '#platform/db/commit.ts';
import { type StoreAnswer, skipStoring, unchangedWithAnswer, withAnswer } from '#platform/db/once.ts';
import { type OutcomeHandler, type OutcomeStep, storeStep } from '#platform/db/outcome.ts';
import type { Payment, Refund, RefundRow } from '#platform/db/tables/payments.ts';
import type { NewEvent } from '#rules/events.ts';
import { deriveAccount } from '#solana/checkout-transaction.ts';
import { matchRefund, refundNonceOf } from '#solana/refund.ts';
import type { ChainTransaction } from '#solana/transaction.ts';
import { paymentAfter, paymentEvent } from '../payment.ts';
import { getPayment, updatePayment } from '../store.ts';
import { dropCandidate } from '../watch/candidate.store.ts';
import { rememberNamed } from '../watch/candidates.ts';
import { refundableOf, restorePaymentRow } from './refund.ts';
import { toRefundResource } from './resource.ts';
import { findRefund, findRefundByNonce, listRevoking, storeSeenRefund } from './store.ts';

const mismatch = (reason: string): ApiError =>
  new ApiError('payment_mismatch', { detail: 'The transaction is not the prepared refund.', meta: { reason } });

/**
 * Records the refund transaction that the merchant names. A signature that the chain does not show yet is stored and checked again.
 * Idempotent. Throws 409 payment_transaction_conflict, 422 payment_mismatch, 503 rpc_unavailable.
 */
export async function confirmRefund(
  scope: Scope,
  payment: Payment,
  { txSignature, storeAnswer }: { txSignature: string; storeAnswer: StoreAnswer<Payment> },
): Promise<Payment> {
  if (hasRefund(payment, txSignature)) return payment;
  const sighting = await scope.chain.findTransaction(txSignature);
  if (sighting.kind === 'found') return recordRefund(scope, sighting.transaction, { paymentId: payment.id, storeAnswer });
  await rememberNamed(scope, payment.id, txSignature);
  if (sighting.kind === 'unavailable') throw new ApiError('rpc_unavailable', { retryAfterSeconds: 2 });
  return payment;
}

const hasRefund = ({ refunds }: Payment, txSignature: string): boolean =>
  (refunds ?? []).some((refund) => refund.txSignature === txSignature);

/**
 * Records a refund seen on the chain: payment, claim, refund and revocation in one batch, once for all callers and sweeps. Throws 409 if
 * another transaction paid the refund, 422 payment_mismatch, also for a refund of another payment or chain.
 */
export async function recordRefund(
  ctx: Shard,
  transaction: ChainTransaction,
  { paymentId, storeAnswer = skipStoring }: { paymentId: PaymentId; storeAnswer?: StoreAnswer<Payment> },
): Promise<Payment> {
  const nonce = refundNonceOf(transaction);
  if (nonce === null) throw mismatch('memo_missing');
  return transact(ctx, { reload: async () => ({ refund: await findRefundByNonce(ctx, nonce) }) }, async ({ refund }) => {
    if (refund?.paymentId !== paymentId) throw mismatch('memo_mismatch');
    const payment = await getPayment(ctx, paymentId);
    if (hasRefund(payment, transaction.signature)) return unchangedWithAnswer(payment, storeAnswer);
    if (refund.seenAt !== null)
      throw new ApiError('payment_transaction_conflict', { detail: 'Another transaction already paid this refund.' });
    const destination = await deriveAccount(payment.payerWallet!, payment.mint);
    const match = matchRefund(transaction, { mint: payment.mint, fromWallet: payment.recipientWallet, destination, units: refund.amount });
    if (!match.ok) throw mismatch(match.reason);
    const left = refundableOf(payment);
    const seen: RefundRow = {
      ...refund,
      amount: match.units < left ? match.units : left,
      txSignature: transaction.signature,
      seenAt: ctx.now,
      blockTime: transaction.blockTimeSeconds === null ? null : transaction.blockTimeSeconds * SECOND,
    };
    const change = await planRestated(ctx, payment, [...(payment.refunds ?? []), toRefund(seen)], seen);
    const writes = [
      ...storeSeenRefund(ctx, seen, transaction.slot),
      ...change.writes,
      dropCandidate(ctx.db, payment.id, transaction.signature),
    ];
    return withAnswer({ ...change, writes }, storeAnswer(change.result));
  });
}

const toRefund = ({ amount, txSignature, blockTime, seenAt }: RefundRow): Refund => ({
  units: amount.toString(),
  txSignature: txSignature!,
  at: blockTime ?? seenAt!,
});

/** Plans a payment with changed refunds: access remains revoked while one of them revokes it, and is reinstated without. */
async function planRestated(ctx: Shard, payment: Payment, refunds: Refund[], about: RefundRow): Promise<Change<Payment>> {
  const revoking = new Set(await listRevoking(ctx.db, payment.id));
  if (about.revokesAccess) revoking.add(about.txSignature!);
  const isRevoked = payment.accessRevokedAt !== null;
  const accessRevokedAt = refunds.some(({ txSignature }) => revoking.has(txSignature)) ? (payment.accessRevokedAt ?? ctx.now) : null;
  const after = paymentAfter(ctx, payment, { refunds: refunds.length > 0 ? refunds : null, accessRevokedAt });
  const resource = toRefundResource(payment.asset, toRefund(about));
  const previous = {
    refunded: (payment.refunds ?? []).map((refund) => toRefundResource(payment.asset, refund)),
    ...(isRevoked ? { access_revoked_at: iso(payment.accessRevokedAt!) } : {}),
  };
  const event: NewEvent = { ...paymentEvent(ctx, 'payment.refunded', after, previous), related: { refund: resource } };
  const membership =
    after.orphanedAt !== null || isRevoked === (accessRevokedAt !== null)
      ? unchanged(null)
      : isRevoked
        ? await planReinstatement(ctx, after)
        : await planRevocation(ctx, payment);
  const stopped = accessRevokedAt !== null && !isRevoked ? await planStopped(ctx, payment) : unchanged(null);
  return {
    events: [event, ...membership.events, ...stopped.events],
    writes: [...updatePayment(ctx, payment, after), ...membership.writes, ...stopped.writes],
    result: after,
  };
}

/** A refund that revokes a period stops collecting at the merchant's request. Collecting stays stopped if the chain drops the refund. */
async function planStopped(ctx: Shard, { terms: { authorizationId } }: Payment): Promise<Change<unknown>> {
  const row = authorizationId === undefined ? null : await findAuthorization(ctx.db, authorizationId as AuthorizationId);
  return row ? planStop(ctx, row) : unchanged(null);
}

/** Removes a refund from its payment when the chain drops its transaction, and adds the refund again if the transaction returns. */
export const refundOutcome: OutcomeHandler = {
  onFinal: (ctx, _ids, step) => storeStep(ctx, step),
  onDropped: (ctx, refundId, step) => restate(ctx, refundId as RefundId, { step, isThere: false }),
  onReturned: (ctx, refundId, step) => restate(ctx, refundId as RefundId, { step, isThere: true }),
};

const restate = (ctx: Shard, refundId: RefundId, { step, isThere }: { step: OutcomeStep; isThere: boolean }) =>
  transact(ctx, { reload: () => step.isOver() }, async (isOver): Promise<Change<null>> => {
    if (isOver) return unchanged(null);
    const refund = await findRefund(ctx.db, refundId);
    const noted: Change<null> = { events: [], writes: step.writes, result: null };
    if (!refund) return noted;
    const payment = await restorePaymentRow(ctx, refund.paymentId);
    if (hasRefund(payment, refund.txSignature!) === isThere) return noted;
    const others = (payment.refunds ?? []).filter(({ txSignature }) => txSignature !== refund.txSignature);
    const change = await planRestated(ctx, payment, isThere ? [...others, toRefund(refund)] : others, refund);
    return { events: change.events, writes: [...step.writes, ...change.writes], result: null };
  });
