import type { Address } from '@solana/kit';
import { raise } from '#core/errors.ts';
import type { AuthorizationId, PaymentId } from '#core/ids.ts';
import { DAY, SECOND } from '#core/time.ts';
import { getAccount } from '#features/accounts/store.ts';
import { noteCollected, overAt, stepAuthorization } from '#features/authorizations/authorization.ts';
import { findAuthorization } from '#features/authorizations/store.ts';
import { findMembership } from '#features/memberships/store.ts';
import { loadAnchor } from '#features/receipts/hash-chain.ts';
import type { Shard } from '#platform/context.ts';
import type { Change } from '#platform/db/commit.ts';
import type { Membership } from '#platform/db/tables/memberships.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import { AUTHORIZATION } from '#rules/states.ts';
import type { AuthorizationStep } from '#rules/subscriptions/authorization.ts';
import { firstAttemptAt, jitterFraction, type PeriodTimes } from '#rules/subscriptions/schedule.ts';
import type { Match } from '#solana/match.ts';
import { type CollectedPeriod, collectionsIn } from '#solana/programs/subscriptions/collected.ts';
import type { ChainTransaction } from '#solana/transaction.ts';
import { newPayment } from './new-payment.store.ts';
import { paymentEvent } from './payment.ts';
import { type Proof, planPurchase } from './purchase.ts';
import { insertPayment } from './store.ts';

/** Match of a transaction, with the period that it collected. */
export type CollectionMatch = Match & { period?: PeriodTimes };

/** Seconds of chain time in which a session may be paid, both inclusive. */
interface Bounds {
  notBeforeSeconds: number;
  notAfterSeconds: number;
}

/**
 * Matches a transaction with an authorization by the program's own event, whichever key signed. The plan's owner may collect without us, and
 * only a part of the price.
 */
export function matchCollection(transaction: ChainTransaction, authorization: AuthorizationRow, bounds: Bounds): CollectionMatch {
  if (transaction.failed) return { ok: false, reason: 'transaction_failed' };
  const [collected] = collectionsIn(transaction, authorization.subscriptionAddress as Address);
  if (collected?.receiverTokenAccount !== authorization.recipientAta) return { ok: false, reason: 'recipient_mismatch' };
  const matched = { payment: paidBy(collected), period: periodOf(collected) };
  const at = transaction.blockTimeSeconds;
  if (at === null || at < bounds.notBeforeSeconds) return { ok: false, reason: 'too_early', ...matched };
  return at > bounds.notAfterSeconds ? { ok: false, reason: 'late', ...matched } : { ok: true, ...matched };
}

const paidBy = ({ subscriber: payer, amount: paidUnits }: CollectedPeriod) => ({
  payer,
  paidUnits,
  overpaidUnits: 0n,
  feePaidUnits: 0n,
  feeOwedUnits: 0n,
});

export const periodOf = ({ periodStartTs, periodEndTs }: CollectedPeriod): PeriodTimes => ({
  startsAt: Number(periodStartTs) * SECOND,
  endsAt: Number(periodEndTs) * SECOND,
});

/**
 * Returns the step of a collected period, or null if the authorization is over and another may have replaced it. The first period begins
 * the authorization, even if its checkout has failed.
 */
const stepOf = ({ status, startedAt, endedAt }: AuthorizationRow): AuthorizationStep | null => {
  if (startedAt === null) return 'authorize';
  return endedAt === null && AUTHORIZATION.can(status, 'collect') ? 'collect' : null;
};

/** True if the wallet has begun a newer subscription, for which the account on the chain is collected. */
export const isOvertaken = ({ createdAt }: AuthorizationRow, rivals: AuthorizationRow[]): boolean =>
  rivals.some((rival) => rival.createdAt > createdAt);

/** Returns a membership's subscription after another period was collected, or null if the authorization is over. */
export const subscribedBy = (row: AuthorizationRow): Pick<Membership, 'authorizationId' | 'subscriptionStatus'> | null => {
  const step = stepOf(row);
  return step === null ? null : { authorizationId: row.id, subscriptionStatus: AUTHORIZATION.next(row.status, step) };
};

/**
 * Plans the authorization after a collected period, for the batch of the payment: paid to the period's end, and due again at the next. The
 * batch aborts if the period was collected before.
 */
export function planCollected(
  ctx: Shard,
  before: AuthorizationRow,
  { payment, period }: { payment: Pick<Payment, 'id' | 'txSignature' | 'membershipId'>; period: PeriodTimes },
): Change<AuthorizationRow> {
  const step = stepOf(before);
  const begun = step === 'authorize' ? { startedAt: period.startsAt, endedAt: null } : {};
  const after = stepAuthorization(ctx, before, step, {
    ...collectedPatch(ctx, { ...before, ...begun }, period),
    ...begun,
    ...(step === null ? {} : { membershipId: payment.membershipId }),
    lastCollection: { at: ctx.now, status: 'collected', txSignature: payment.txSignature! },
  });
  const collected = {
    authorizationId: before.id,
    periodStartsAt: period.startsAt,
    periodEndsAt: period.endsAt,
    paymentId: payment.id,
    collectedAt: ctx.now,
    createdAt: ctx.now,
  };
  return { ...after, writes: [...noteCollected(ctx, collected), ...after.writes] };
}

/** A late period leaves a later one unchanged. A cancelled authorization is not collected again, and one that is over is not read. */
function collectedPatch({ now }: Shard, before: AuthorizationRow, { startsAt, endsAt }: PeriodTimes): Partial<AuthorizationRow> {
  if (before.periodEndsAt !== null && endsAt <= before.periodEndsAt) return {};
  const nextAttemptAt = firstAttemptAt(endsAt, jitterFraction(before.id));
  const paid = { periodStartsAt: startsAt, periodEndsAt: endsAt, paidThrough: endsAt, failures: 0 };
  if (before.endedAt !== null) return paid;
  if (before.status === 'cancel_requested' || before.status === 'cancelled') return { ...paid, nextCheckAt: Math.min(endsAt, now + DAY) };
  return { ...paid, nextAttemptAt, nextCheckAt: now + DAY };
}

/** Ends older authorizations of a wallet: an account is collected for the newest alone. */
export const planReplaced = (ctx: Shard, rivals: AuthorizationRow[]): Change<null> => {
  const steps = rivals.map((rival) => {
    const step: AuthorizationStep = AUTHORIZATION.can(rival.status, 'expire') ? 'expire' : 'cancel';
    return stepAuthorization(ctx, rival, step, overAt(ctx.now));
  });
  return { events: steps.flatMap(({ events }) => events), writes: steps.flatMap(({ writes }) => writes), result: null };
};

/** A later period that the chain shows as collected. `isOwners`: by the plan's owner, without us. */
interface CollectedRenewal {
  paymentId: PaymentId;
  nonce: string;
  period: PeriodTimes;
  proof: Proof;
  isOwners: boolean;
}

/**
 * Plans the confirmed payment of a later period, with its receipt, membership and authorization, in one batch. A change of the authorization
 * since does not matter: the money has arrived. Throws 404 if it is deleted.
 */
export async function planRenewal(ctx: Shard, authorizationId: AuthorizationId, renewal: CollectedRenewal): Promise<Change<Payment>> {
  const authorization = (await findAuthorization(ctx.db, authorizationId)) ?? raise('not_found');
  const { membershipId } = authorization;
  const [merchant, anchor, held] = await Promise.all([
    getAccount(ctx.db, authorization.merchantId),
    loadAnchor(ctx, { ...authorization, isPaidByOwner: false }),
    membershipId === null ? undefined : findMembership(ctx.db, membershipId),
  ]);
  const payment = paymentOf(ctx, authorization, renewal);
  const sale = { merchantName: merchant.displayName, memberships: held ? [held] : [], anchor };
  const bought = planPurchase(ctx, payment, sale, renewal.proof, subscribedBy(authorization));
  const row = { ...payment, membershipId: bought.result.membership.id, receiptId: bought.result.receipt.id };
  const collected = planCollected(ctx, authorization, { payment: row, period: renewal.period });
  return {
    events: [paymentEvent(ctx, 'payment.confirmed', row), ...bought.events, ...collected.events],
    writes: [insertPayment(ctx.db, row), ...bought.writes, ...collected.writes],
    result: row,
  };
}

const paymentOf = (ctx: Shard, authorization: AuthorizationRow, { paymentId, nonce, period, proof, isOwners }: CollectedRenewal): Payment =>
  newPayment(ctx.now, {
    id: paymentId,
    merchantId: authorization.merchantId,
    livemode: authorization.livemode,
    productId: authorization.productId,
    slug: authorization.slug,
    status: 'CONFIRMED',
    nonce,
    // The service collects the period itself, so no scan has to find it.
    reference: '',
    asset: 'USDC',
    mint: authorization.mint,
    priceAmount: proof.paidUnits,
    recipientWallet: authorization.recipientWallet,
    recipientAta: authorization.recipientAta,
    terms: {
      ...authorization.terms,
      authorizationId: authorization.id,
      periodEndsAt: period.endsAt,
      ...(isOwners ? { isOwnersCollection: true as const } : {}),
    },
    customerRef: authorization.customerRef,
    email: authorization.email,
    payerWallet: proof.payer,
    txSignature: proof.txSignature,
    slot: proof.slot,
    blockTime: proof.blockTime,
    expiresAt: period.endsAt,
    lateGraceSeconds: 0,
    confirmedAt: ctx.now,
  });
