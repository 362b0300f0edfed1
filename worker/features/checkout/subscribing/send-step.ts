import { ApiError, raise } from '#core/errors.ts';
import { SECOND, unixSeconds } from '#core/time.ts';
import { routeOf, scheduleAuthorization } from '#features/authorizations/authorization.ts';
import { findAuthorizationFor } from '#features/authorizations/store.ts';
import { failureOf } from '#features/payments/confirm/verdict.ts';
import { planWaiting } from '#features/payments/payment.ts';
import { type IdentityRequirement, missingIdentity } from '#features/payments/required-identity.ts';
import { getPayment } from '#features/payments/store.ts';
import { newOutageError, sendableUntil } from '#features/rails/quote.ts';
import { consentMemoOf } from '#features/subscriptions/collect-first.ts';
import { readSubscriptions } from '#features/subscriptions/read-subscriptions.ts';
import type { Shard } from '#platform/context.ts';
import { commit, transact, unchanged } from '#platform/db/commit.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import { checkConsent, type SignedConsent } from '#solana/programs/subscriptions/consents.ts';
import { buyerSteps } from '#solana/programs/subscriptions/steps.ts';

/** Delay until the account is read that a step creates or changes, if the buyer does not report back. */
const LANDED_AFTER_MS = 3 * SECOND;

/**
 * Broadcasts a signed step, which must concern only this wallet's subscription to this plan. After the last step with this checkout's memo,
 * the payment waits for its first collection. A step without the memo may be copied from the chain and proves nothing. Safe to repeat.
 * Throws the errors of `sendTransaction`.
 */
export async function sendStep(
  ctx: Shard,
  known: IdentityRequirement,
  wire: Uint8Array,
): Promise<{ payment: Payment; txSignature: string }> {
  const { payment } = known;
  const isPaid = payment.status === 'CONFIRMED';
  if (payment.status === 'FAILED') throw failureOf(payment);
  if (!isPaid && ctx.now > sendableUntil(payment)) throw new ApiError('session_expired');
  const unidentified = isPaid ? null : missingIdentity(known);
  if (unidentified) throw unidentified;
  const authorization = (await findAuthorizationFor(ctx.db, payment.id)) ?? raise('not_found');
  const { consent, isLast } = await checkStep(ctx, authorization, wire, consentMemoOf(payment));
  if (isPaid) return { payment, txSignature: consent.signature };

  await broadcast(ctx, wire, consent.signature);
  const schedule = { nextAttemptAt: null, nextCheckAt: ctx.now + LANDED_AFTER_MS };
  await commit(ctx, { events: [], writes: [scheduleAuthorization(ctx.db, authorization, schedule)], result: null });
  const after = await transact(ctx, { reload: () => getPayment(ctx, payment.id) }, (current) => {
    const isSigned = isLast && consent.isMarked && current.status === 'PENDING_SIGNATURE';
    return isSigned ? planWaiting(ctx, current) : unchanged(current);
  });
  return { payment: after, txSignature: consent.signature };
}

async function checkStep(
  ctx: Shard,
  authorization: AuthorizationRow,
  wire: Uint8Array,
  memo: string,
): Promise<{ consent: SignedConsent; isLast: boolean }> {
  const route = routeOf(authorization);
  const [schedule = null] = await readSubscriptions(ctx, [route]);
  if (schedule === null) throw newOutageError('rpc_unavailable');
  const { plan } = schedule.sight;
  if (plan === null) throw new ApiError('setup_not_ready', { meta: { reason: 'subscription_plan_published' } });
  const checked = checkConsent(wire, route, plan, memo);
  if (!checked.ok) throw new ApiError('payment_mismatch', { meta: { reason: checked.reason } });
  const left = buyerSteps(schedule.sight, plan, route, BigInt(unixSeconds(ctx.now)));
  const isComplete = checked.value.names.some((name) => name === 'subscribe' || name === 'resume');
  return { consent: checked.value, isLast: isComplete || (left.length <= 1 && left.every(({ kind }) => kind === 'approve')) };
}

/** Simulates and sends a transaction. A refused one that is on the chain already was sent before. Throws 422 payment_mismatch. */
async function broadcast(ctx: Shard, wire: Uint8Array, signature: string): Promise<void> {
  const sent = await ctx.chain.sendTransaction(wire);
  if (sent.kind === 'rejected') {
    const { kind } = await ctx.chain.findTransaction(signature);
    if (kind === 'found' || kind === 'seen') return;
    const detail = `The network refused the transaction: ${sent.reason}`;
    throw new ApiError('payment_mismatch', { detail, meta: { reason: 'transaction_rejected' } });
  }
  // An unclear result is not a refusal: the transaction may be pending, and the account will show it.
  if (sent.kind !== 'sent') ctx.note(`rpc: ${sent.reason}`);
}
