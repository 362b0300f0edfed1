import { ApiError, raise } from '#core/errors.ts';
import type { PaymentId } from '#core/ids.ts';
import type { Scope } from '#platform/context.ts';
import { transact, unchanged } from '#platform/db/commit.ts';
import { type StoreAnswer, withAnswer } from '#platform/db/once.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import { isErasedRef } from '#rules/access/erased-customer.ts';
import { matchCollection } from '../collected-period.ts';
import { loadConfirmation } from '../confirm/store.ts';
import { type Loaded, type ProvenPeriod, planRecovered } from '../confirm/verdict.ts';
import { expectationOf } from '../payment.ts';
import { grantAccess } from '../purchase.ts';
import { acceptUnmatchedRow, findPayment } from '../store.ts';
import { restoreEnded } from '../watch/ended-sessions.ts';

const newOrphanedError = (): ApiError =>
  new ApiError('state_conflict', {
    detail: 'The chain dropped this transaction, so the money did not arrive. It can be accepted if it lands again.',
    meta: { reason: 'transaction_orphaned' },
  });

const newErasedError = (): ApiError =>
  new ApiError('state_conflict', {
    detail: 'The customer of this checkout was erased, so nobody would have the access. Send the money back.',
    meta: { reason: 'customer_erased' },
  });

/** Accepts money that missed its session as a new confirmed payment. Idempotent. Throws 404, 409 state_conflict. */
export async function acceptUnmatched(
  ctx: Scope,
  { paymentId, txSignature, storeAnswer }: { paymentId: PaymentId; txSignature: string; storeAnswer: StoreAnswer<Payment> },
): Promise<Payment> {
  const load = () => loadConfirmation(ctx, paymentId, txSignature, []);
  const reload = async () => (await load()) ?? ((await restoreEnded(ctx, { paymentId })) ? await load() : null) ?? raise('not_found');
  const accepted = await transact(ctx, { reload }, async (known) => {
    const { unmatched } = known;
    if (!unmatched || unmatched.paymentId !== paymentId) throw new ApiError('not_found');
    if (unmatched.recoveredPaymentId) return unchanged((await findPayment(ctx, unmatched.recoveredPaymentId)) ?? raise('not_found'));
    if (unmatched.droppedAt !== null) throw newOrphanedError();
    const { customerRef, terms } = known.payment;
    if (terms.isErased || isErasedRef(customerRef ?? '')) throw newErasedError();
    // Reads again with the recorded payer, because only the payer determines the membership to extend.
    const loaded = (await loadConfirmation(ctx, paymentId, txSignature, [unmatched.payerWallet])) ?? raise('not_found');
    if (loaded.claim) throw new ApiError('state_conflict', { meta: { reason: 'transaction_already_used' } });
    const { slot, blockTime, payerWallet: payer, amount: paidUnits, feePaidAmount: feePaidUnits } = unmatched;
    const proof = { txSignature, slot, blockTime, payer, paidUnits, feePaidUnits };
    const recovery = planRecovered(ctx, loaded, { proof, period: await findFirstPeriod(ctx, loaded, txSignature) });
    const accepted = { ...recovery, writes: [...acceptUnmatchedRow(ctx, unmatched, recovery.result.id), ...recovery.writes] };
    return withAnswer(accepted, storeAnswer(recovery.result));
  });
  await grantAccess(ctx, accepted);
  return accepted;
}

/**
 * Returns the period of the transaction if it is the first of a pending subscription, which it begins. Throws 503 rpc_unavailable if no
 * node shows the transaction, because the period is stored nowhere else.
 */
async function findFirstPeriod(ctx: Scope, { payment, authorization }: Loaded, txSignature: string): Promise<ProvenPeriod | null> {
  if (!authorization || authorization.startedAt !== null) return null;
  const sighting = await ctx.chain.findTransaction(txSignature);
  if (sighting.kind !== 'found') throw new ApiError('rpc_unavailable', { retryAfterSeconds: 2 });
  const { transaction } = sighting;
  const { period } = matchCollection(transaction, authorization, expectationOf(payment));
  return period ? { period, transaction } : null;
}
