import { ApiError } from '#core/errors.ts';
import { SECOND } from '#core/time.ts';
import { routeOf, stepAuthorization } from '#features/authorizations/authorization.ts';
import { findCurrent, hasOther, hasSignedOther } from '#features/authorizations/store.ts';
import { confirmFound, confirmPayment } from '#features/payments/confirm/confirm.ts';
import { planSubmit, planWaiting } from '#features/payments/payment.ts';
import { memoOf, referencesOf } from '#features/payments/resource.ts';
import { getPayment } from '#features/payments/store.ts';
import { isSending, rememberSent } from '#features/payments/watch/candidates.ts';
import { ownSignatureOf } from '#features/settlements/new-settlement.ts';
import type { Shard } from '#platform/context.ts';
import { type Change, transact, unchanged } from '#platform/db/commit.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import { poll } from '#platform/deadline.ts';
import type { CollectionCode, PeriodTimes } from '#rules/subscriptions/schedule.ts';
import type { Subscription } from '#solana/programs/subscriptions/subscription.ts';
import { collectPeriod, findPeriodCollection, findPuller } from './collect-period.ts';
import { isAgreed, isSameSubscription, readSubscriptions, type SubscriptionReading } from './read-subscriptions.ts';
import { changeAuthorization } from './reconcile.ts';

/**
 * `held`: another authorization collects from the subscription, or another checkout began it. `unknown`: no node answered, this deployment
 * lacks the puller's key, or the period is about to end.
 */
type WaitingReason = 'not_subscribed' | 'other_terms' | 'held' | 'unknown' | CollectionCode;

/** `sent`: the transaction may land and is watched. `over`: the checkout has ended. */
export type FirstCollection =
  | { kind: 'collected' | 'sent' | 'over'; payment: Payment }
  | { kind: 'waiting'; reason: WaitingReason; payment: Payment };

const waiting = (payment: Payment, reason: WaitingReason): FirstCollection => ({ kind: 'waiting', reason, payment });

/** Default time that a buyer's call waits for the chain. */
const PATIENCE_MS = 8 * SECOND;

/**
 * Collects the first period of a checkout once the buyer's wallet is subscribed on the chain. The transaction carries the payment's memo and
 * references, and confirms it as any other would. Safe to repeat: one transaction is under way at a time.
 */
export async function collectFirst(
  ctx: Shard,
  payment: Payment,
  row: AuthorizationRow,
  { known, patienceMs = PATIENCE_MS }: { known?: SubscriptionReading; patienceMs?: number } = {},
): Promise<FirstCollection> {
  if (payment.status === 'CONFIRMED') return { kind: 'collected', payment };
  const isOver = payment.status === 'FAILED' || ctx.now >= payment.expiresAt;
  if (isOver || row.status !== 'pending' || row.stoppedAt !== null) return { kind: 'over', payment };
  if (await isSending(ctx, payment.id)) return { kind: 'sent', payment };
  const puller = findPuller(ctx, row);
  if (puller === null) return waiting(payment, 'unknown');
  const [reading = null] = known ? [known] : await readSubscriptions(ctx, [routeOf(row)]);
  if (reading === null) return waiting(payment, 'unknown');
  const { subscription } = reading.sight;
  if (subscription === null) return waiting(payment, 'not_subscribed');
  if (!(await isMeantFor(ctx, payment, row, subscription)) || (await isHeld(ctx, row, subscription))) return waiting(payment, 'held');
  const current = await changePayment(ctx, payment, (stored) =>
    stored.status === 'PENDING_SIGNATURE' ? planWaiting(ctx, stored) : unchanged(stored),
  );
  // Another request may have replaced or expired the payment.
  if (current.status === 'FAILED') return { kind: 'over', payment: current };
  if (!isAgreed(row, subscription)) return waiting(current, 'other_terms');
  const marks = { memo: memoOf(payment), references: referencesOf(ctx, payment) };
  const attempt = await collectPeriod(ctx, row, { puller, reading, marks, claim: ({ wire }) => claimFirst(ctx, current, wire) });
  switch (attempt.kind) {
    case 'sent':
      return watchFirst(ctx, current, attempt.txSignature, patienceMs);
    case 'unclaimed':
      return attempt.refusal;
    case 'paid':
      return takeFound(ctx, current, row, attempt.period);
    case 'short':
    case 'no_consent':
      await noteFailure(ctx, row, attempt.code);
      return waiting(current, attempt.code);
    default:
      return waiting(current, 'unknown');
  }
}

const changePayment = (ctx: Shard, known: Payment, plan: (stored: Payment) => Change<Payment>): Promise<Payment> =>
  transact(ctx, { known, reload: () => getPayment(ctx, known.id) }, plan);

/** Memo of a checkout's steps, so that a signed step counts for this checkout and no other. */
export const consentMemoOf = ({ nonce }: Pick<Payment, 'nonce'>): string => `svc-consent:${nonce}`;

/** Largest difference between the chain's clock and ours. */
const CLOCK_SKEW_MS = 30 * SECOND;

/**
 * True if a wallet's subscription was made for this checkout. A wallet that signed in no checkout buys for itself. A checkout with a
 * customer reference must be the only open one, or a stranger could name the wallet and get what it pays for.
 */
export async function isMeantFor(ctx: Shard, payment: Payment, row: AuthorizationRow, subscription: Subscription): Promise<boolean> {
  if (payment.status === 'PENDING_CONFIRMATION') return true;
  if (row.customerRef === null) return !(await hasSignedOther(ctx.db, row));
  const beganAt = Number(subscription.currentPeriodStartTs) * SECOND;
  return beganAt >= payment.createdAt - CLOCK_SKEW_MS && !(await hasOther(ctx.db, row));
}

/** True if another authorization collects from the subscription. One that requires approval may be replaced: its buyer came back. */
async function isHeld(ctx: Shard, row: AuthorizationRow, subscription: Subscription): Promise<boolean> {
  const holder = await findCurrent(ctx.db, row.subscriptionAddress, row);
  return holder !== null && holder.status !== 'requires_reapproval' && isSameSubscription(holder, subscription);
}

/** Stores the transaction as a candidate of the payment. Returns the outcome if the payment has failed or another one is under way. */
async function claimFirst(ctx: Shard, payment: Payment, wire: Uint8Array): Promise<FirstCollection | null> {
  try {
    const { canSend } = await rememberSent(ctx, payment.id, ownSignatureOf(wire));
    return canSend ? null : { kind: 'over', payment: await getPayment(ctx, payment.id) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { kind: 'sent', payment };
  }
}

const WAITS_MS = [250, 400, 600, 900, 1300, 1800, 2500];

/** Waits until the chain shows the transaction. The checks that were scheduled with it find a later one. */
async function watchFirst(ctx: Shard, payment: Payment, txSignature: string, patienceMs: number): Promise<FirstCollection> {
  const submitted = await changePayment(ctx, payment, (stored) =>
    stored.status === 'PENDING_CONFIRMATION' ? planSubmit(ctx, stored, txSignature) : unchanged(stored),
  );
  const confirmed = await poll(ctx, { waitsMs: WAITS_MS, patienceMs }, async () => {
    try {
      const confirmation = await confirmPayment(ctx, { paymentId: payment.id, txSignature, viewer: null });
      return confirmation.payment.status === 'CONFIRMED' ? confirmation.payment : null;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      ctx.note(`collection: ${error.code}`);
      return null;
    }
  });
  return confirmed ? { kind: 'collected', payment: confirmed } : { kind: 'sent', payment: submitted };
}

/** Confirms the payment by the transaction that collected its period: ours after its caller left, or the plan owner's. */
async function takeFound(ctx: Shard, payment: Payment, row: AuthorizationRow, period: PeriodTimes): Promise<FirstCollection> {
  const found = await findPeriodCollection(ctx, row, period);
  if (found.kind !== 'found') return waiting(payment, 'unknown');
  const { transaction } = found;
  const input = { paymentId: payment.id, txSignature: transaction.signature, viewer: null };
  try {
    return { kind: 'collected', payment: (await confirmFound(ctx, input, { kind: 'found', transaction })).payment };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return waiting(payment, 'held');
  }
}

/** Stores a new reason for the buyer's page. */
async function noteFailure(ctx: Shard, row: AuthorizationRow, code: CollectionCode): Promise<void> {
  if (row.lastCollection?.code === code) return;
  await changeAuthorization(ctx, row, (current) =>
    current.status === 'pending' && current.lastCollection?.code !== code
      ? stepAuthorization(ctx, current, null, { lastCollection: { at: ctx.now, status: 'failed', code } })
      : unchanged(current),
  );
}
