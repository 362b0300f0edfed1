import type { Address } from '@solana/kit';
import { DAY, SECOND } from '#core/time.ts';
import { noteCollected, overAt, stepAuthorization } from '#features/authorizations/authorization.ts';
import type { Shard } from '#platform/context.ts';
import type { Change } from '#platform/db/commit.ts';
import type { Membership } from '#platform/db/tables/memberships.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import { AUTHORIZATION } from '#rules/states.ts';
import type { AuthorizationStep } from '#rules/subscriptions/authorization.ts';
import { firstAttemptAt, luckOf, type PeriodTimes } from '#rules/subscriptions/schedule.ts';
import type { Match } from '#solana/match.ts';
import { type CollectedPeriod, collectionsIn } from '#solana/programs/subscriptions/collected.ts';
import type { ChainTransaction } from '#solana/transaction.ts';

/** A transaction that collected a period, and which one that was. */
export type CollectionMatch = Match & { period?: PeriodTimes };

/** When a session may be paid, in seconds of chain time, both inclusive. */
interface Bounds {
  notBeforeSeconds: number;
  notAfterSeconds: number;
}

/**
 * Does this transaction collect a period of an authorization? What counts is the program's own word, whichever key signed: the plan's
 * owner may collect without us, and a part of the price as well, which is then the period's payment.
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

/** What a payment of a period is, as far as the authorization is told of it. */
type PeriodPayment = Pick<Payment, 'id' | 'txSignature' | 'membershipId'>;

/**
 * The step that a collected period makes; null if the authorization is over, because another may have taken its place. One that never began
 * begins with its first period, also if its checkout has failed.
 */
const stepOf = ({ status, startedAt, endedAt }: AuthorizationRow): AuthorizationStep | null => {
  if (startedAt === null) return 'authorize';
  return endedAt === null && AUTHORIZATION.can(status, 'collect') ? 'collect' : null;
};

/** True if the wallet has begun another subscription since, which what stands at the address on the chain is collected for. */
export const isOvertaken = ({ createdAt }: AuthorizationRow, rivals: AuthorizationRow[]): boolean =>
  rivals.some((rival) => rival.createdAt > createdAt);

/** How a membership's subscription stands once the authorization has collected another period; null: it pays for none any more. */
export const subscribedBy = (row: AuthorizationRow): Pick<Membership, 'authorizationId' | 'subscriptionStatus'> | null => {
  const step = stepOf(row);
  return step === null ? null : { authorizationId: row.id, subscriptionStatus: AUTHORIZATION.next(row.status, step) };
};

/**
 * The authorization after a period was collected, to be stored in the batch that stores the payment: paid to the period's end, and due
 * again at the start of the next. One that is over stays so, unless this is its first period. The batch fails where the period was collected before.
 */
export function planCollected(
  ctx: Shard,
  before: AuthorizationRow,
  { payment, period }: { payment: PeriodPayment; period: PeriodTimes },
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

/** A period that was collected late leaves a later one as it is. What is cancelled is not collected again, and what is over not looked at. */
function collectedPatch({ now }: Shard, before: AuthorizationRow, { startsAt, endsAt }: PeriodTimes): Partial<AuthorizationRow> {
  if (before.periodEndsAt !== null && endsAt <= before.periodEndsAt) return {};
  const nextAttemptAt = firstAttemptAt(endsAt, luckOf(before.id));
  const paid = { periodStartsAt: startsAt, periodEndsAt: endsAt, paidThrough: endsAt, failures: 0 };
  if (before.endedAt !== null) return paid;
  if (before.status === 'cancel_requested' || before.status === 'cancelled') return { ...paid, nextLookAt: Math.min(endsAt, now + DAY) };
  return { ...paid, nextAttemptAt, nextLookAt: now + DAY };
}

/** What stands at one address is collected for the newest authorization alone: those before it are over. */
export const planReplaced = (ctx: Shard, rivals: AuthorizationRow[]): Change<null> => {
  const steps = rivals.map((rival) => {
    const step: AuthorizationStep = AUTHORIZATION.can(rival.status, 'expire') ? 'expire' : 'cancel';
    return stepAuthorization(ctx, rival, step, overAt(ctx.now));
  });
  return { events: steps.flatMap(({ events }) => events), writes: steps.flatMap(({ writes }) => writes), result: null };
};
