import { raise } from '#core/errors.ts';
import { newId, newNonce, type PaymentId } from '#core/ids.ts';
import { findLocale } from '#core/locales.ts';
import { toMoneyResource } from '#core/money.ts';
import { DAY, HOUR, iso, MINUTE, SECOND } from '#core/time.ts';
import { findPayee, getAccount } from '#features/accounts/store.ts';
import { claimPeriod, factsOf, scheduleAuthorization, stepAuthorization } from '#features/authorizations/authorization.ts';
import { findCollectionRow } from '#features/authorizations/store.ts';
import { planEmail } from '#features/email/outbox.ts';
import { periodOf, planRenewal } from '#features/payments/collected-period.ts';
import { claimOwn } from '#features/settlements/follow-through.ts';
import { newSettlementColumns, ownTransactionColumns } from '#features/settlements/new-settlement.ts';
import { loadSettlement } from '#features/settlements/store.ts';
import type { Shard } from '#platform/context.ts';
import { abortUnlessChanged, commit, isConstraint, unchanged, type Write } from '#platform/db/commit.ts';
import { insertClaim } from '#platform/db/outcome.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import { hasMail } from '#platform/providers/mail/mail-providers.ts';
import { isCollected, stepAfterShortage } from '#rules/subscriptions/authorization.ts';
import { firstAttemptAt, jitterFraction, nextAttemptAt, type PeriodTimes } from '#rules/subscriptions/schedule.ts';
import type { Shortage } from '#solana/programs/subscriptions/subscription-state.ts';
import { collectPeriod, findPeriodCollection, findPuller, type ReadyCollection, shareLifetime } from './collect-period.ts';
import type { SubscriptionReading } from './read-subscriptions.ts';
import { applyReading, changeAuthorization } from './reconcile.ts';

/** Interval after which an authorization is read again while nothing is known, or a transaction is under way. */
const AGAIN_MS = 2 * MINUTE;

/** True if the row says that a period is to be collected. */
export const isDue = ({ status, nextAttemptAt: at }: AuthorizationRow, now: number): boolean =>
  isCollected(status) && at !== null && at <= now;

/**
 * Applies what the accounts show to an authorization, and collects the running period if it is due. A transaction is claimed before it is
 * sent, so that a crash leads to a check of its settlement and never to a second payment.
 */
export async function followUp(
  ctx: Shard,
  row: AuthorizationRow,
  reading: SubscriptionReading,
  lifetime: Lifetime = shareLifetime(ctx),
): Promise<void> {
  const current = await applyReading(ctx, row, reading);
  if (!isDue(current, ctx.now)) return schedule(ctx, current, current.nextAttemptAt, await planRenewalEmail(ctx, current));
  const nextAt = await collectRenewal(ctx, current, reading, lifetime);
  if (nextAt !== null) await schedule(ctx, current, nextAt);
}

type Lifetime = ReturnType<typeof shareLifetime>;

/** Collects the running period. Returns the time of the next attempt, or null if the attempt has stored it. */
async function collectRenewal(ctx: Shard, row: AuthorizationRow, reading: SubscriptionReading, lifetime: Lifetime): Promise<number | null> {
  const puller = findPuller(ctx, row);
  if (puller === null) {
    ctx.note(`puller ${row.puller} is not in SUBSCRIPTION_KEYS: ${row.id} cannot be collected`);
    return withoutKeyAt(row, ctx.now);
  }
  const nonce = newNonce(row.merchantId);
  const marks = { memo: `svc:${nonce}`, references: [] };
  const attempt = await collectPeriod(ctx, row, {
    puller,
    reading,
    marks,
    lifetime,
    claim: (ready) => claimRenewal(ctx, row, ready, nonce),
  });
  switch (attempt.kind) {
    case 'sent':
      return null;
    case 'unclaimed':
      return attempt.refusal.nextAt;
    case 'paid':
      return followPaid(ctx, row, attempt.period);
    case 'short':
      await noteShortage(ctx, row, attempt.code, attempt.period);
      return null;
    case 'out_of_time':
      return attemptAt(row, attempt.period, ctx.now);
    // The attempt may have read newer accounts. The next read applies a loss of consent.
    default:
      return ctx.now + AGAIN_MS;
  }
}

/** Retries at growing intervals, and within an hour after the key is configured again. */
function withoutKeyAt(row: AuthorizationRow, now: number): number {
  const waited = now - (row.paidThrough ?? row.createdAt);
  return now + Math.min(HOUR, Math.max(AGAIN_MS, Math.floor(waited / 8)));
}

/** Returns the time of a period's first attempt, or the next period's if it has passed. */
const attemptAt = (row: AuthorizationRow, { startsAt, endsAt }: PeriodTimes, now: number): number => {
  const first = firstAttemptAt(startsAt, jitterFraction(row.id));
  return first > now ? first : firstAttemptAt(endsAt, jitterFraction(row.id));
};

const schedule = (ctx: Shard, row: AuthorizationRow, at: number | null, email: Write[] = []): Promise<void> =>
  commit(ctx, { events: [], writes: [scheduleAuthorization(ctx.db, row, scheduleOf(row, at, ctx.now)), ...email], result: undefined });

/** Schedules a collection at `at`, and the next read: within a day, for the renewal email, or when paid time ends after a cancellation. */
function scheduleOf(row: AuthorizationRow, at: number | null, now: number): Pick<AuthorizationRow, 'nextAttemptAt' | 'nextCheckAt'> {
  if (row.endedAt !== null) return { nextAttemptAt: null, nextCheckAt: null };
  const ends = row.cancelledAt === null ? [] : [row.paidThrough, row.cancelEffectiveAt];
  const reads = [emailDueAt(row), ...ends].filter((time) => time !== null && time > now) as number[];
  return { nextAttemptAt: at, nextCheckAt: Math.min(now + DAY, ...reads) };
}

async function noteShortage(ctx: Shard, row: AuthorizationRow, code: Shortage, period: PeriodTimes): Promise<void> {
  await changeAuthorization(ctx, row, (current) => {
    if (!isDue(current, ctx.now)) return unchanged(current);
    const failures = current.failures + 1;
    const at = nextAttemptAt(period, { failures, now: ctx.now, jitter: jitterFraction(current.id) });
    return stepAuthorization(ctx, current, stepAfterShortage(current.status), {
      lastCollection: { at: ctx.now, status: 'failed', code },
      // The next period counts its failures from zero.
      failures: at >= period.endsAt ? 0 : failures,
      ...scheduleOf(current, at, ctx.now),
    });
  });
}

/** Follows a period that the chain shows as paid: by a stored payment, by a transaction under way, or by the plan's owner. */
async function followPaid(ctx: Shard, row: AuthorizationRow, period: PeriodTimes): Promise<number | null> {
  if (row.periodEndsAt !== null && row.periodEndsAt >= period.endsAt) return attemptAt(row, period, ctx.now);
  const isTaken = (await findPeriodClaim(ctx, row, period)) === 'taken';
  return !isTaken && (await recordOwnersCollection(ctx, row, period)) ? null : ctx.now + AGAIN_MS;
}

/** Returns `taken` if the period is collected or our transaction may land, else the failed attempt that claimed it before. */
async function findPeriodClaim(
  ctx: Shard,
  row: AuthorizationRow,
  { startsAt }: PeriodTimes,
): Promise<'taken' | { before: PaymentId | null }> {
  const claim = await findCollectionRow(ctx.db, row.id, startsAt);
  if (claim === null) return { before: null };
  if (claim.collectedAt !== null) return 'taken';
  const stored = await loadSettlement(ctx, claim.paymentId);
  const mayLand = stored !== null && stored.settlement.status !== 'failed' && !stored.isLost;
  return mayLand ? 'taken' : { before: claim.paymentId };
}

/** `nextAt`: time of the next attempt, or null if the row has changed or another request was faster. */
interface Unclaimed {
  nextAt: number | null;
}

/** Claims the period for a settlement. The sweep of settlements finds the transaction. */
async function claimRenewal(ctx: Shard, row: AuthorizationRow, ready: ReadyCollection, nonce: string): Promise<Unclaimed | null> {
  const { period } = ready;
  const claim = await findPeriodClaim(ctx, row, period);
  if (claim === 'taken') return { nextAt: ctx.now + AGAIN_MS };
  const merchant = (await findPayee(ctx.db, row.merchantId, row.recipientWallet)) ?? raise('not_found');
  // A suspended merchant serves no buyer, and a wallet that is no longer theirs is not paid: the period is skipped.
  if (merchant.status !== 'active' || (row.livemode && merchant.isKnown !== 1)) return { nextAt: attemptAt(row, period, ctx.now) };
  const settlement = draftSettlement(ctx, row, ready, { nonce, merchantName: merchant.displayName });
  const { paymentId } = settlement;
  const claimed = { authorizationId: row.id, periodStartsAt: period.startsAt, periodEndsAt: period.endsAt, paymentId };
  const writes = [
    ...claimPeriod(ctx, { ...claimed, collectedAt: null, createdAt: ctx.now }, claim.before),
    scheduleAuthorization(ctx.db, row, scheduleOf(row, ctx.now + AGAIN_MS, ctx.now)),
    // Aborts if the authorization was cancelled or changed since it was read: nothing is sent then.
    abortUnlessChanged(ctx),
  ];
  return (await claimOwn(ctx, settlement, writes)) ? null : { nextAt: null };
}

/** Time until the sweep of settlements reads the transaction. */
const FIRST_CHECK_MS = 10 * SECOND;

function draftSettlement(
  ctx: Shard,
  row: AuthorizationRow,
  { wire, amount, lastValidBlockHeight, period }: ReadyCollection,
  { nonce, merchantName }: { nonce: string; merchantName: string },
): Settlement {
  return {
    ...newSettlementColumns(ctx.now, row.merchantId, lastValidBlockHeight, FIRST_CHECK_MS),
    ...ownTransactionColumns(wire),
    merchantId: row.merchantId,
    livemode: row.livemode,
    purpose: 'subscription',
    productId: row.productId,
    setupIntentId: null,
    customerWallet: null,
    customerRef: row.customerRef,
    mint: row.mint,
    amount,
    payerWallet: row.subscriberWallet,
    feePayer: row.puller,
    recipientWallet: row.recipientWallet,
    recipientAta: row.recipientAta,
    nonce,
    terms: {
      productName: row.terms.productName,
      slug: row.slug,
      merchantName,
      accessPeriodDays: row.terms.accessPeriodDays,
      usageUnits: row.terms.usageUnits,
      authorizationId: row.id,
      period,
    },
  };
}

/** Records the transfer by which the plan's owner collected a period. Returns false if no node shows it, or it is stored already. */
async function recordOwnersCollection(ctx: Shard, row: AuthorizationRow, period: PeriodTimes): Promise<boolean> {
  const found = await findPeriodCollection(ctx, row, period);
  if (found.kind !== 'found' || found.collected.receiverTokenAccount !== row.recipientAta) return false;
  const { signature: txSignature, slot, blockTimeSeconds } = found.transaction;
  const { amount: paidUnits, subscriber: payer } = found.collected;
  const paymentId = newId<PaymentId>(ctx.now, row.merchantId);
  const renewed = await planRenewal(ctx, row.id, {
    paymentId,
    nonce: newNonce(row.merchantId),
    period: periodOf(found.collected),
    proof: { txSignature, slot, blockTime: blockTimeSeconds! * SECOND, payer, paidUnits, feePaidUnits: 0n },
    isOwners: true,
  });
  const claim = { txSignature, livemode: row.livemode, kind: 'subscription' as const, subjectId: paymentId };
  try {
    await commit(ctx, { ...renewed, writes: [insertClaim(ctx.db, claim, { now: ctx.now, slot }), ...renewed.writes] });
    return true;
  } catch (error) {
    // The transaction pays something else, or another sweep was faster.
    if (!isConstraint(error)) throw error;
    return false;
  }
}

/** Time before a period at which its subscriber gets the renewal email. */
const BEFORE_MS = 3 * DAY;
/** Shortest period that is announced. */
const PERIOD_MIN_MS = 7 * DAY;

function emailDueAt(row: AuthorizationRow): number | null {
  const isAnnounced = row.livemode && row.status === 'active' && row.email !== null && factsOf(row).periodMs >= PERIOD_MIN_MS;
  return isAnnounced && row.paidThrough !== null ? row.paidThrough - BEFORE_MS : null;
}

/** Plans the email about the next period, once per period. */
async function planRenewalEmail(ctx: Shard, row: AuthorizationRow): Promise<Write[]> {
  const { paidThrough, email } = row;
  const dueAt = emailDueAt(row);
  if (dueAt === null || ctx.now < dueAt || ctx.now >= paidThrough! || !hasMail(ctx)) return [];
  const { displayName: seller } = await getAccount(ctx.db, row.merchantId);
  return planEmail(ctx, {
    template: 'subscription_renews',
    facts: {
      authorization_id: row.id,
      product: row.terms.productName,
      seller,
      amount: toMoneyResource({ asset: 'USDC', units: row.amount }),
      at: iso(paidThrough!),
    },
    accountId: row.merchantId,
    address: email!,
    locale: row.terms.locale === undefined ? null : findLocale(row.terms.locale),
    cause: `subscription_renews ${row.id} ${paidThrough}`,
  }).writes;
}
