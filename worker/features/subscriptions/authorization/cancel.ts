import { type Address, getAddressDecoder, getI64Decoder, getStructDecoder } from '@solana/kit';
import { base64 } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import { routeOf } from '#features/authorizations/authorization.ts';
import type { Ctx, Scope } from '#platform/context.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import { checkConsent } from '#solana/programs/subscriptions/consents.ts';
import type { CollectionRoute } from '#solana/programs/subscriptions/standing.ts';
import { SUBSCRIPTIONS_PROGRAM } from '#solana/programs/subscriptions/subscription.ts';
import type { ChainTransaction } from '#solana/transaction.ts';
import { isSameSubscription } from '../consent.ts';
import { lookAtSubscriptions, type SubscriptionLook } from '../look.ts';
import { type CancellationProblem, type PreparedCancellation, prepareCancellation } from '../prepare-consent.ts';
import { applyLook } from '../reconcile.ts';

/** By what a buyer shows that they cancelled: a transaction that landed, or one that is signed and sent by us. */
type CancelProof = { txSignature: string } | { wire: string };

const PROBLEMS: Record<CancellationProblem, () => ApiError> = {
  cancelled: () => new ApiError('subscription_cancelled'),
  nothing_left: () => new ApiError('subscription_requires_reapproval', { detail: 'There is no subscription left on the chain to cancel.' }),
  unavailable: () => newOutage(),
};

const newOutage = (): ApiError => new ApiError('rpc_unavailable', { retryAfterSeconds: 2 });
const newMismatch = (reason: string, { retryable = false } = {}): ApiError =>
  new ApiError('payment_mismatch', {
    detail: 'This does not prove that the subscription was cancelled.',
    retryable,
    ...(retryable ? { retryAfterSeconds: 2 } : {}),
    meta: { reason },
  });

/**
 * What the subscriber's wallet signs to cancel. Changes nothing: the buyer cancels on the chain, with us or without. 404 for
 * any wallet but the subscriber's, 409 subscription_cancelled, 409 subscription_requires_reapproval where nothing is left to cancel, 503.
 */
export async function prepareCancel(ctx: Scope, row: AuthorizationRow, walletAddress: string): Promise<PreparedCancellation> {
  if (row.subscriberWallet !== walletAddress) throw new ApiError('not_found');
  const look = await lookAt(ctx, row);
  const { subscription } = look.sight;
  // One that was ended, and begun anew without a checkout of ours, is the buyer's own.
  const isTheirs = subscription !== null && (row.startedAt === null || isSameSubscription(row, subscription));
  if (!isTheirs) throw PROBLEMS[row.cancelledAt === null ? 'nothing_left' : 'cancelled']();
  const prepared = await prepareCancellation(ctx, routeOf(row), look);
  if (!prepared.ok) throw PROBLEMS[prepared.reason]();
  return prepared.value;
}

/**
 * Notes that the buyer has cancelled, which the account on the chain proves; the transaction that is named, or sent, has to be the one that did
 * it. Repeated, the same. 422 payment_mismatch with the reason (retryable where it may not have landed yet), 503.
 */
export async function confirmCancel(ctx: Scope, row: AuthorizationRow, proof: CancelProof): Promise<AuthorizationRow> {
  const txSignature = 'wire' in proof ? await sendCancellation(ctx, row, proof.wire) : proof.txSignature;
  await requireCancellation(ctx, row, txSignature);
  const look = await lookAt(ctx, row);
  const { subscription } = look.sight;
  // Revoked since, or begun anew: what the transaction says then stands.
  if (subscription !== null && subscription.expiresAtTs === 0n && (row.startedAt === null || isSameSubscription(row, subscription)))
    throw newMismatch('not_cancelled');
  return applyLook(ctx, row, look);
}

async function lookAt(ctx: Ctx, row: AuthorizationRow): Promise<SubscriptionLook> {
  const [look = null] = await lookAtSubscriptions(ctx, [routeOf(row)]);
  if (look === null) throw newOutage();
  return look;
}

/** Sends what is the subscriber's cancellation of this subscription, and nothing else. Answers its signature. */
async function sendCancellation(ctx: Ctx, row: AuthorizationRow, wire: string): Promise<string> {
  const bytes = base64.decode(wire);
  const checked = checkConsent(bytes, routeOf(row), null);
  if (!checked.ok) throw newMismatch(checked.reason);
  if (checked.value.names.some((name) => name !== 'cancel')) throw newMismatch('foreign_instruction');
  const sent = await ctx.chain.sendTransaction(bytes);
  if (sent.kind !== 'sent') ctx.note(`cancellation: ${sent.reason}`);
  // One that landed before is refused by the network, and proves what it did all the same.
  return checked.value.signature;
}

/** Waits between looks: a transaction that was just sent takes a moment. */
const LOOKS_MS = [0, 400, 800, 1500, 2500];

async function requireCancellation(ctx: Ctx, row: AuthorizationRow, txSignature: string): Promise<void> {
  for (const wait of LOOKS_MS) {
    if (ctx.leftMs() <= wait) break;
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const sighting = await ctx.chain.findTransaction(txSignature);
    if (sighting.kind === 'unavailable') throw newOutage();
    if (sighting.kind !== 'found') continue;
    if (sighting.transaction.failed) throw newMismatch('transaction_failed');
    if (!isCancelledIn(sighting.transaction, routeOf(row))) throw newMismatch('foreign_subscription');
    return;
  }
  throw newMismatch('not_found', { retryable: true });
}

const CANCELLED = 1;
const decoder = getStructDecoder([
  ['plan', getAddressDecoder()],
  ['subscriber', getAddressDecoder()],
  ['expiresAtTs', getI64Decoder()],
]);

/**
 * True where a transaction cancelled this wallet's subscription to this plan, by the program's own word; whether it is cancelled still, only
 * its account tells. (subscriptions program 0.4.0, event 1)
 */
const isCancelledIn = (
  { failed, events }: Pick<ChainTransaction, 'failed' | 'events'>,
  { plan, subscriber }: { plan: Address; subscriber: Address } | CollectionRoute,
): boolean =>
  !failed &&
  events
    .filter(({ programId, data }) => programId === SUBSCRIPTIONS_PROGRAM && data[0] === CANCELLED && data.length > decoder.fixedSize)
    .map(({ data }) => decoder.decode(data, 1))
    .some((cancelled) => cancelled.plan === plan && cancelled.subscriber === subscriber);
