import { base64 } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import { failureOf } from '#features/payments/confirm/verdict.ts';
import { planSubmit } from '#features/payments/payment.ts';
import { type IdentityRequirement, missingIdentity } from '#features/payments/required-identity.ts';
import { getPayment } from '#features/payments/store.ts';
import { dropRefused, rememberSent } from '#features/payments/watch/candidates.ts';
import { sendableUntil } from '#features/rails/quote.ts';
import type { Scope } from '#platform/context.ts';
import { transact, unchanged } from '#platform/db/commit.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import { checkPreparedTransaction } from '#solana/checkout-transaction.ts';
import { termsOf } from './prepare-transaction.ts';
import { isSubscribing } from './subscribing/follow.ts';
import { sendStep } from './subscribing/send-step.ts';

/**
 * Broadcasts a buyer's signed transaction if it is the prepared one. Stores its signature first, so that a crash or lost answer loses
 * nothing. Throws 409 state_conflict (in_flight) while another is pending, 410 after the session, 422 payment_mismatch with the reason, 422
 * identity_verification_required before any money moves.
 */
export async function sendTransaction(
  ctx: Scope,
  known: IdentityRequirement,
  wire: string,
): Promise<{ payment: Payment; txSignature: string }> {
  const { payment } = known;
  if (isSubscribing(payment)) return sendStep(ctx, known, base64.decode(wire));
  const checked = checkPreparedTransaction(base64.decode(wire), termsOf(ctx, payment));
  if (payment.status === 'CONFIRMED') {
    if (checked.ok && payment.txSignature === checked.value.signature) return { payment, txSignature: payment.txSignature };
    throw new ApiError('payment_transaction_conflict');
  }
  if (payment.status === 'FAILED') throw failureOf(payment);
  if (!checked.ok) throw new ApiError('payment_mismatch', { meta: { reason: checked.reason } });
  const txSignature = checked.value.signature;
  if (ctx.now > sendableUntil(payment)) throw new ApiError('session_expired');
  const unidentified = missingIdentity(known);
  if (unidentified) throw unidentified;

  const { candidate, isNew, canSend } = await rememberSent(ctx, payment.id, txSignature);
  if (!canSend) throw failureOf(await getPayment(ctx, payment.id));
  const broadcast = await ctx.chain.sendTransaction(base64.decode(wire));
  // A refusal concerns this request alone: another request with the same bytes may have delivered them.
  if (broadcast.kind === 'rejected' && isNew && (await dropRefused(ctx.db, candidate)))
    throw new ApiError('payment_mismatch', {
      detail: `The network refused the transaction: ${broadcast.reason}`,
      meta: { reason: 'transaction_rejected' },
    });
  // An unclear result is not a refusal: the transaction may be pending, and the rechecks will find it.
  if (broadcast.kind !== 'sent') ctx.note(`rpc: ${broadcast.reason}`);
  const after = await transact(ctx, { reload: () => getPayment(ctx, payment.id) }, (current) =>
    current.status === 'PENDING_SIGNATURE' ? planSubmit(ctx, current, txSignature) : unchanged(current),
  );
  return { payment: after, txSignature };
}
