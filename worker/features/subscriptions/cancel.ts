import { type Address, getAddressDecoder, getI64Decoder, getStructDecoder } from '@solana/kit';
import { base64 } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import type { AuthorizationId } from '#core/ids.ts';
import { planStop, routeOf } from '#features/authorizations/authorization.ts';
import { type Actor, belongsTo, type Ctx, type Scope } from '#platform/context.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import { transact } from '#platform/db/commit.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import { poll } from '#platform/deadline.ts';
import { requireFreshSignIn } from '#platform/http/callers.ts';
import { checkConsent } from '#solana/programs/subscriptions/consents.ts';
import { SUBSCRIPTIONS_PROGRAM } from '#solana/programs/subscriptions/subscription.ts';
import type { CollectionRoute } from '#solana/programs/subscriptions/subscription-state.ts';
import type { ChainTransaction } from '#solana/transaction.ts';
import { type CancellationProblem, type PreparedCancellation, prepareCancellation } from './prepare-consent.ts';
import { isSameSubscription, readSubscriptions, type SubscriptionReading } from './read-subscriptions.ts';
import { applyReading, getAuthorization } from './reconcile.ts';

/** Proof that a buyer cancelled: a transaction that landed, or a signed one to send. */
type CancelProof = { txSignature: string } | { wire: string };

const PROBLEMS: Record<CancellationProblem, () => ApiError> = {
  cancelled: () => new ApiError('subscription_cancelled'),
  nothing_left: () =>
    new ApiError('subscription_requires_reapproval', { detail: 'The subscription does not exist on the chain. Nothing can be cancelled.' }),
  unavailable: () => newOutage(),
};

const newOutage = (): ApiError => new ApiError('rpc_unavailable', { retryAfterSeconds: 2 });
const newMismatch = (reason: string, { retryable = false } = {}): ApiError =>
  new ApiError('payment_mismatch', {
    detail: 'The transaction does not cancel the subscription. Check the signature.',
    retryable,
    ...(retryable ? { retryAfterSeconds: 2 } : {}),
    meta: { reason },
  });

/**
 * Prepares a cancellation for the subscriber's wallet, and changes nothing. Throws 404 for any other wallet, 409 subscription_cancelled, 409
 * subscription_requires_reapproval if nothing is left to cancel, 503.
 */
export async function prepareCancel(ctx: Scope, row: AuthorizationRow, walletAddress: string): Promise<PreparedCancellation> {
  if (row.subscriberWallet !== walletAddress) throw new ApiError('not_found');
  const reading = await readSubscription(ctx, row);
  const { subscription } = reading.sight;
  // A subscription that the buyer began again without a checkout is not this one.
  const isTheirs = subscription !== null && (row.startedAt === null || isSameSubscription(row, subscription));
  if (!isTheirs) throw PROBLEMS[row.cancelledAt === null ? 'nothing_left' : 'cancelled']();
  const prepared = await prepareCancellation(ctx, routeOf(row), reading);
  if (!prepared.ok) throw PROBLEMS[prepared.reason]();
  return prepared.value;
}

/**
 * Records a buyer's cancellation, which the account on the chain and the proof's transaction must show. Safe to repeat. 404, 422
 * payment_mismatch with the reason (retryable while the transaction may land), 503.
 */
export async function confirmCancel(ctx: Scope, row: AuthorizationRow, proof: CancelProof): Promise<AuthorizationRow> {
  const txSignature = 'wire' in proof ? await sendCancellation(ctx, row, proof.wire) : proof.txSignature;
  await requireCancellation(ctx, row, txSignature);
  const reading = await readSubscription(ctx, row);
  const { subscription } = reading.sight;
  // After a later revocation or a new subscription the transaction alone is the proof.
  if (subscription !== null && subscription.expiresAtTs === 0n && (row.startedAt === null || isSameSubscription(row, subscription)))
    throw newMismatch('not_cancelled');
  return applyReading(ctx, row, reading);
}

async function readSubscription(ctx: Ctx, row: AuthorizationRow): Promise<SubscriptionReading> {
  const [reading = null] = await readSubscriptions(ctx, [routeOf(row)]);
  if (reading === null) throw newOutage();
  return reading;
}

/** Sends a transaction that must cancel this subscription and do nothing else. Returns its signature. */
async function sendCancellation(ctx: Ctx, row: AuthorizationRow, wire: string): Promise<string> {
  const bytes = base64.decode(wire);
  const checked = checkConsent(bytes, routeOf(row), null);
  if (!checked.ok) throw newMismatch(checked.reason);
  if (checked.value.names.some((name) => name !== 'cancel')) throw newMismatch('foreign_instruction');
  const sent = await ctx.chain.sendTransaction(bytes);
  if (sent.kind !== 'sent') ctx.note(`cancellation: ${sent.reason}`);
  // The network refuses a transaction that has landed, which is proof all the same.
  return checked.value.signature;
}

const WAITS_MS = [0, 400, 800, 1500, 2500];

async function requireCancellation(ctx: Ctx, row: AuthorizationRow, txSignature: string): Promise<void> {
  const transaction = await poll(ctx, { waitsMs: WAITS_MS, patienceMs: Number.POSITIVE_INFINITY }, async () => {
    const sighting = await ctx.chain.findTransaction(txSignature);
    if (sighting.kind === 'unavailable') throw newOutage();
    return sighting.kind === 'found' ? sighting.transaction : null;
  });
  if (transaction === null) throw newMismatch('not_found', { retryable: true });
  if (transaction.failed) throw newMismatch('transaction_failed');
  if (!isCancelledIn(transaction, routeOf(row))) throw newMismatch('foreign_subscription');
}

const CANCELLED = 1;
const decoder = getStructDecoder([
  ['plan', getAddressDecoder()],
  ['subscriber', getAddressDecoder()],
  ['expiresAtTs', getI64Decoder()],
]);

/** True if the program's event shows that the transaction cancelled this subscription. (subscriptions program 0.4.0, event 1) */
const isCancelledIn = (
  { failed, events }: Pick<ChainTransaction, 'failed' | 'events'>,
  { plan, subscriber }: { plan: Address; subscriber: Address } | CollectionRoute,
): boolean =>
  !failed &&
  events
    .filter(({ programId, data }) => programId === SUBSCRIPTIONS_PROGRAM && data[0] === CANCELLED && data.length > decoder.fixedSize)
    .map(({ data }) => decoder.decode(data, 1))
    .some((cancelled) => cancelled.plan === plan && cancelled.subscriber === subscriber);

/**
 * Stops collecting from a subscriber for good. Paid time lasts. Safe to repeat. 404 for another merchant's, 403 sign_in_required for an old
 * session, 409 state_conflict while the checkout is under way.
 */
export async function stopAuthorization(
  ctx: Scope,
  actor: Actor,
  { id, reason }: { id: AuthorizationId; reason: string | undefined },
): Promise<AuthorizationRow> {
  const reload = async () => {
    const row = await getAuthorization(ctx, id);
    if (!belongsTo(ctx, row)) throw new ApiError('not_found');
    return row;
  };
  const known = await reload();
  requireFreshSignIn(ctx, actor);
  return transact(ctx, { known, reload }, (row) => {
    if (row.status === 'pending') {
      const detail = 'The first period is not paid yet. Wait until the checkout is over, then stop the subscription.';
      throw new ApiError('state_conflict', { detail, meta: { reason: 'pending' } });
    }
    const change = planStop(ctx, row);
    if (change.writes.length === 0) return change;
    const statuses = { before: { status: row.status }, after: { status: change.result.status } };
    const entry = { action: 'subscription.stopped', subject: { type: 'subscription', id }, ...statuses, reason } as const;
    return { ...change, writes: [...change.writes, recordAction(ctx, row, entry)] };
  });
}
