import type { Address } from '@solana/kit';
import { ApiError } from '#core/errors.ts';
import { SECOND } from '#core/time.ts';
import { routeOf, stepAuthorization } from '#features/authorizations/authorization.ts';
import { findStanding } from '#features/authorizations/store.ts';
import { confirmFound, confirmPayment } from '#features/payments/confirm/confirm.ts';
import { planSubmit, planWaiting } from '#features/payments/payment.ts';
import { memoOf } from '#features/payments/resource.ts';
import { getPayment } from '#features/payments/store.ts';
import { isSending, rememberSent } from '#features/payments/watch/candidates.ts';
import { countFee } from '#features/settlements/fee-budget.ts';
import { ownSignatureOf } from '#features/settlements/new-settlement.ts';
import { heldKey } from '#platform/chain/fee-payer.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { transact, unchanged } from '#platform/db/commit.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import type { CollectionCode } from '#rules/subscriptions/schedule.ts';
import type { Operator } from '#solana/programs/own-transaction.ts';
import type { Subscription } from '#solana/programs/subscriptions/subscription.ts';
import { isAgreed, isSameSubscription } from './consent.ts';
import { findCollection } from './find-collection.ts';
import { lookAtSubscriptions, type SubscriptionLook } from './look.ts';
import { isMeantFor } from './meant-for.ts';
import { type PreparedCollection, prepareCollection } from './prepare-collection.ts';
import { getAuthorization } from './reconcile.ts';

/** Why nothing was sent for a checkout: nothing to collect from yet, or nothing that can be collected. */
type WaitingReason =
  | 'not_subscribed'
  /** What stands there was agreed to on other terms. */
  | 'other_terms'
  /** Another authorization is collected from the same subscription. */
  | 'held'
  /** No node could tell, or the moment is too close to a period's end. */
  | 'unknown'
  | CollectionCode;

/** What became of the first collection. `sent`: it may land yet, and is looked for by itself. `over`: the checkout is. */
export type FirstCollection =
  | { kind: 'collected' | 'sent' | 'over'; payment: Payment }
  | { kind: 'waiting'; reason: WaitingReason; payment: Payment };

/** The key that collects what a plan names it for; null where this deployment does not hold it. */
export const pullerOf = ({ config }: Ctx, address: string): Operator | null => heldKey(config, 'SUBSCRIPTION_KEYS', address);

/**
 * Collects the first period of a checkout's subscription, once its buyer's wallet has made that on the chain, however it was made: the
 * transaction carries the payment's memo and references, and confirms it as any other would. Called as often as one likes; at most one
 * transaction is on its way, and the program collects a period once. `known`: a look that was just made. `patienceMs`: how long the
 * caller waits for what was sent.
 */
export async function collectFirst(
  ctx: Shard,
  payment: Payment,
  row: AuthorizationRow,
  { known, patienceMs = PATIENCE_MS }: { known?: SubscriptionLook; patienceMs?: number } = {},
): Promise<FirstCollection> {
  if (payment.status === 'CONFIRMED') return { kind: 'collected', payment };
  if (payment.status === 'FAILED' || row.status !== 'pending' || ctx.now >= payment.expiresAt) return { kind: 'over', payment };
  if (await isSending(ctx, payment.id)) return { kind: 'sent', payment };
  const puller = pullerOf(ctx, row.puller);
  const [look = null] = known ? [known] : puller === null ? [] : await lookAtSubscriptions(ctx, [routeOf(row)]);
  if (puller === null || look === null) return { kind: 'waiting', reason: 'unknown', payment };
  const { subscription } = look.sight;
  if (subscription === null) return { kind: 'waiting', reason: 'not_subscribed', payment };
  if (!(await isMeantFor(ctx, payment, row, subscription))) return { kind: 'waiting', reason: 'held', payment };
  if (await isHeld(ctx, row, subscription)) return { kind: 'waiting', reason: 'held', payment };
  const waiting = await waitForCollection(ctx, payment);
  // Replaced or expired since it was read.
  if (waiting.status === 'FAILED') return { kind: 'over', payment: waiting };
  if (!isAgreed(row, subscription)) return { kind: 'waiting', reason: 'other_terms', payment: waiting };
  const marks = { memo: memoOf(payment), references: [payment.reference, ctx.config.SERVICE_REFERENCE] };
  const prepared = await prepareCollection(ctx, routeOf(row), marks, puller, { known: look });
  return prepared.kind === 'ready' ? sendFirst(ctx, waiting, prepared, patienceMs) : explain(ctx, waiting, row, prepared);
}

/** The buyer has signed: from now on the checkout waits for the collection. */
const waitForCollection = (ctx: Shard, payment: Payment): Promise<Payment> =>
  transact(ctx, { known: payment, reload: () => getPayment(ctx, payment.id) }, (current) =>
    current.status === 'PENDING_SIGNATURE' ? planWaiting(ctx, current) : unchanged(current),
  );

/** One that has to be approved anew may be replaced: its buyer came back for that. */
async function isHeld(ctx: Shard, row: AuthorizationRow, subscription: Subscription): Promise<boolean> {
  const standing = await findStanding(ctx.db, row.subscriptionAddress, row);
  return standing !== null && standing.status !== 'requires_reapproval' && isSameSubscription(standing, subscription);
}

/** How long a buyer's call is kept for the chain to show it. */
const PATIENCE_MS = 8 * SECOND;
/** Waits between looks, as far as a caller is kept. */
const LOOKS_MS = [250, 400, 600, 900, 1300, 1800, 2500];

async function sendFirst(
  ctx: Shard,
  payment: Payment,
  { wire }: Extract<PreparedCollection, { kind: 'ready' }>,
  patienceMs: number,
): Promise<FirstCollection> {
  const txSignature = ownSignatureOf(wire);
  await countFee(ctx, payment);
  try {
    const { isSent } = await rememberSent(ctx, payment.id, txSignature);
    // It has failed meanwhile: what went out now would charge for nothing.
    if (!isSent) return { kind: 'over', payment: await getPayment(ctx, payment.id) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { kind: 'sent', payment };
  }
  const sent = await ctx.chain.sendTransaction(wire, { preflight: false });
  if (sent.kind !== 'sent') ctx.note(`broadcast: ${sent.reason}`);
  const submitted = await transact(ctx, { known: payment, reload: () => getPayment(ctx, payment.id) }, (current) =>
    current.status === 'PENDING_CONFIRMATION' ? planSubmit(ctx, current, txSignature) : unchanged(current),
  );
  return watchFirst(ctx, submitted, txSignature, patienceMs);
}

/** What is not seen within the caller's patience is found by the looks that were scheduled with it. */
async function watchFirst(ctx: Shard, payment: Payment, txSignature: string, patienceMs: number): Promise<FirstCollection> {
  let waited = 0;
  for (const wait of LOOKS_MS) {
    waited += wait;
    if (waited > patienceMs || ctx.leftMs() <= wait) break;
    await new Promise((resolve) => setTimeout(resolve, wait));
    const confirmed = await confirmSent(ctx, payment, txSignature);
    if (confirmed?.status === 'CONFIRMED') return { kind: 'collected', payment: confirmed };
  }
  return { kind: 'sent', payment };
}

async function confirmSent(ctx: Shard, { id: paymentId }: Payment, txSignature: string): Promise<Payment | null> {
  try {
    return (await confirmPayment(ctx, { paymentId, txSignature, viewer: null })).payment;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    ctx.note(`collection: ${error.code}`);
    return null;
  }
}

async function explain(
  ctx: Shard,
  payment: Payment,
  row: AuthorizationRow,
  prepared: Exclude<PreparedCollection, { kind: 'ready' }>,
): Promise<FirstCollection> {
  if (prepared.kind !== 'not_now') return { kind: 'waiting', reason: 'unknown', payment };
  const { standing } = prepared;
  switch (standing.kind) {
    case 'paid':
      return takeFound(ctx, payment, row, standing.period.startTs);
    case 'cancelled':
      return refuse(ctx, payment, row, 'subscription_cancelled');
    case 'lost':
      return refuse(ctx, payment, row, 'subscription_requires_reapproval');
    default:
      return refuse(ctx, payment, row, standing.reason);
  }
}

/** The period is collected: by a transaction of ours whose caller went away, or by the plan's owner. */
async function takeFound(ctx: Shard, payment: Payment, row: AuthorizationRow, periodStartTs: bigint): Promise<FirstCollection> {
  const found = await findCollection(ctx, row.subscriptionAddress as Address, periodStartTs);
  if (found.kind !== 'found') return { kind: 'waiting', reason: 'unknown', payment };
  const { transaction } = found;
  const input = { paymentId: payment.id, txSignature: transaction.signature, viewer: null };
  try {
    return { kind: 'collected', payment: (await confirmFound(ctx, input, { kind: 'found', transaction })).payment };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { kind: 'waiting', reason: 'held', payment };
  }
}

/** Noted where it is another reason than before, so that the buyer's page can tell. */
async function refuse(ctx: Shard, payment: Payment, row: AuthorizationRow, code: CollectionCode): Promise<FirstCollection> {
  if (row.lastCollection?.code !== code)
    await transact(ctx, { known: row, reload: () => getAuthorization(ctx, row.id) }, (current) =>
      current.status === 'pending' && current.lastCollection?.code !== code
        ? stepAuthorization(ctx, current, null, { lastCollection: { at: ctx.now, status: 'failed', code } })
        : unchanged(current),
    );
  return { kind: 'waiting', reason: code, payment };
}
