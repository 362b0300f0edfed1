import type { Address } from '@solana/kit';
import { base58 } from '#core/encoding.ts';
import { raise } from '#core/errors.ts';
import { newId, type PaymentId } from '#core/ids.ts';
import { findLocale } from '#core/locales.ts';
import { toMoneyResource } from '#core/money.ts';
import { DAY, HOUR, iso, MINUTE, SECOND } from '#core/time.ts';
import { findPayee, getAccount } from '#features/accounts/store.ts';
import { claimPeriod, factsOf, routeOf, scheduleAuthorization, stepAuthorization } from '#features/authorizations/authorization.ts';
import { findCollectionRow } from '#features/authorizations/store.ts';
import { planLetter } from '#features/mail/outbox.ts';
import { periodOf } from '#features/payments/confirm/collected.ts';
import { planRenewal } from '#features/payments/renewal.ts';
import { countFee } from '#features/settlements/fee-budget.ts';
import { claimOwn } from '#features/settlements/follow-through.ts';
import { newSettlementColumns, ownTransactionColumns } from '#features/settlements/new-settlement.ts';
import { loadSettlement } from '#features/settlements/store.ts';
import type { Shard } from '#platform/context.ts';
import { abortUnlessChanged, commit, isConstraint, transact, unchanged, type Write } from '#platform/db/commit.ts';
import { insertClaim } from '#platform/db/fate.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import { hasMail } from '#platform/providers/mail/mail-providers.ts';
import { isCollected, stepAfterShortage } from '#rules/subscriptions/authorization.ts';
import { firstAttemptAt, luckOf, nextAttemptAt, type PeriodTimes } from '#rules/subscriptions/schedule.ts';
import type { Shortage, Standing } from '#solana/programs/subscriptions/standing.ts';
import { pullerOf } from './collect-first.ts';
import { findCollection } from './find-collection.ts';
import type { SubscriptionLook } from './look.ts';
import { type PreparedCollection, prepareCollection, shareLifetime, timesOf } from './prepare-collection.ts';
import { applyLook, getAuthorization } from './reconcile.ts';

/** When it is looked at again where nothing could be concluded, or where a transaction is on its way. */
const AGAIN_MS = 2 * MINUTE;

/** True where a period is to be collected by now, as far as the row tells. */
export const isDue = ({ status, nextAttemptAt: at }: AuthorizationRow, now: number): boolean =>
  isCollected(status) && at !== null && at <= now;

/**
 * Brings an authorization to what a look shows, and collects the period that runs where that is due: one transaction at a time, claimed
 * before it is sent, so that a crash anywhere is followed by the settlement's own looks, and never by a second payment. The outcome is
 * stored when the chain shows it.
 */
export async function followUp(
  ctx: Shard,
  row: AuthorizationRow,
  look: SubscriptionLook,
  lifetime: ReturnType<typeof shareLifetime> = shareLifetime(ctx),
): Promise<void> {
  const current = await applyLook(ctx, row, look);
  if (!isDue(current, ctx.now)) return schedule(ctx, current, current.nextAttemptAt, await renewalLetter(ctx, current));
  const puller = pullerOf(ctx, current.puller);
  if (puller === null) return waitForKey(ctx, current);
  const nonce = base58.encode(crypto.getRandomValues(new Uint8Array(16)));
  const prepared = await prepareCollection(ctx, routeOf(current), { memo: `svc:${nonce}`, references: [] }, puller, {
    known: look,
    lifetime,
  });
  if (prepared.kind === 'ready') return collect(ctx, current, prepared, nonce);
  if (prepared.kind === 'unknown') return schedule(ctx, current, ctx.now + AGAIN_MS);
  if (prepared.kind === 'out_of_time') return schedule(ctx, current, attemptAt(ctx, current, prepared.period));
  return followRefusal(ctx, current, prepared.standing);
}

/** What no key of this deployment collects is looked at ever more rarely, and within the hour once the key is there again. */
function waitForKey(ctx: Shard, row: AuthorizationRow): Promise<void> {
  ctx.note(`puller ${row.puller} is not in SUBSCRIPTION_KEYS: ${row.id} cannot be collected`);
  const waited = ctx.now - (row.paidThrough ?? row.createdAt);
  return schedule(ctx, row, ctx.now + Math.min(HOUR, Math.max(AGAIN_MS, Math.floor(waited / 8))));
}

/** The look that a period's collection was refused by may be newer than the one that was given: what it says of consent is seen by the next. */
function followRefusal(ctx: Shard, row: AuthorizationRow, standing: Exclude<Standing, { kind: 'collectable' }>): Promise<void> {
  if (standing.kind === 'short') return noteShortage(ctx, row, standing.reason, timesOf(standing.period));
  return standing.kind === 'paid' ? followPaid(ctx, row, timesOf(standing.period)) : schedule(ctx, row, ctx.now + AGAIN_MS);
}

/** In the period where that has not begun long enough, else in the one after it. */
const attemptAt = ({ now }: Shard, row: AuthorizationRow, { startsAt, endsAt }: PeriodTimes): number => {
  const first = firstAttemptAt(startsAt, luckOf(row.id));
  return first > now ? first : firstAttemptAt(endsAt, luckOf(row.id));
};

/** No change of the authorization. */
const schedule = (ctx: Shard, row: AuthorizationRow, at: number | null, beside: Write[] = []): Promise<void> =>
  commit(ctx, { events: [], writes: [scheduleAuthorization(ctx.db, row, scheduleOf(ctx, row, at)), ...beside], result: undefined });

/** Collected at `at`. Looked at once a day whatever is collected, when its subscriber is to be told of the next period, and when paid time ends that nothing follows. */
function scheduleOf({ now }: Shard, row: AuthorizationRow, at: number | null): Pick<AuthorizationRow, 'nextAttemptAt' | 'nextLookAt'> {
  if (row.endedAt !== null) return { nextAttemptAt: null, nextLookAt: null };
  const ends = [row.paidThrough, row.cancelEffectiveAt].filter((end) => end !== null && end > now) as number[];
  const tells = [tellsAt(row)].filter((tell) => tell !== null && tell > now) as number[];
  const looks = [now + DAY, ...tells, ...(row.cancelledAt === null ? [] : ends)];
  return { nextAttemptAt: at, nextLookAt: Math.min(...looks) };
}

async function noteShortage(ctx: Shard, row: AuthorizationRow, code: Shortage, period: PeriodTimes): Promise<void> {
  await transact(ctx, { known: row, reload: () => getAuthorization(ctx, row.id) }, (current) => {
    if (!isDue(current, ctx.now)) return unchanged(current);
    const failures = current.failures + 1;
    const at = nextAttemptAt(period, { failures, now: ctx.now, luck: luckOf(current.id) });
    return stepAuthorization(ctx, current, stepAfterShortage(current.status), {
      lastCollection: { at: ctx.now, status: 'failed', code },
      // What comes next is of another period, which is tried from the beginning.
      failures: at >= period.endsAt ? 0 : failures,
      ...scheduleOf(ctx, current, at),
    });
  });
}

/** The chain says that the period is paid: by what is stored already, by what is on its way, or by the plan's owner. */
async function followPaid(ctx: Shard, row: AuthorizationRow, period: PeriodTimes): Promise<void> {
  if (row.periodEndsAt !== null && row.periodEndsAt >= period.endsAt) return schedule(ctx, row, attemptAt(ctx, row, period));
  if ((await findPlace(ctx, row, period)) === 'taken') return schedule(ctx, row, ctx.now + AGAIN_MS);
  const isTaken = await takeOwnersCollection(ctx, row, period);
  if (!isTaken) await schedule(ctx, row, ctx.now + AGAIN_MS);
}

/**
 * Whose the period is: `taken` while a transaction of ours may land, or where the period is collected, and what collects it will be, or is,
 * stored; else the payment whose attempt the chain refused, or dropped, null: nothing was attempted.
 */
async function findPlace(ctx: Shard, row: AuthorizationRow, { startsAt }: PeriodTimes): Promise<'taken' | { before: PaymentId | null }> {
  const place = await findCollectionRow(ctx.db, row.id, startsAt);
  if (place === null) return { before: null };
  if (place.collectedAt !== null) return 'taken';
  const stored = await loadSettlement(ctx, place.paymentId);
  const mayLand = stored !== null && stored.settlement.status !== 'failed' && !stored.isLost;
  return mayLand ? 'taken' : { before: place.paymentId };
}

async function collect(
  ctx: Shard,
  row: AuthorizationRow,
  prepared: Extract<PreparedCollection, { kind: 'ready' }>,
  nonce: string,
): Promise<void> {
  const { period, wire } = prepared;
  const place = await findPlace(ctx, row, period);
  if (place === 'taken') return schedule(ctx, row, ctx.now + AGAIN_MS);
  const merchant = (await findPayee(ctx.db, row.merchantId, row.recipientWallet)) ?? raise('not_found');
  // A merchant whose keys are refused serves no buyer, and a wallet that is theirs no more is not paid: the period is passed over.
  const isPayable = merchant.status === 'active' && (!row.livemode || merchant.isKnown === 1);
  if (!isPayable) return schedule(ctx, row, attemptAt(ctx, row, period));
  const settlement = draft(ctx, row, prepared, { nonce, merchantName: merchant.displayName });
  const { paymentId } = settlement;
  const claimed = { authorizationId: row.id, periodStartsAt: period.startsAt, periodEndsAt: period.endsAt, paymentId };
  const beside = [
    ...claimPeriod(ctx, { ...claimed, collectedAt: null, createdAt: ctx.now }, place.before),
    scheduleAuthorization(ctx.db, row, scheduleOf(ctx, row, ctx.now + AGAIN_MS)),
    // Nothing is sent for an authorization that was cancelled, or changed otherwise, since it was read.
    abortUnlessChanged(ctx),
  ];
  if (!(await claimOwn(ctx, settlement, beside))) return;
  await countFee(ctx, row);
  const sent = await ctx.chain.sendTransaction(wire, { preflight: false });
  if (sent.kind !== 'sent') ctx.note(`broadcast: ${sent.reason}`);
}

/** The sweep of settlements looks for it from then on. */
const LOOKED_FOR_AFTER_MS = 10 * SECOND;

function draft(
  ctx: Shard,
  row: AuthorizationRow,
  { wire, amount, lastValidBlockHeight, period }: Extract<PreparedCollection, { kind: 'ready' }>,
  { nonce, merchantName }: { nonce: string; merchantName: string },
): Settlement {
  return {
    ...newSettlementColumns(ctx.now, lastValidBlockHeight, LOOKED_FOR_AFTER_MS),
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

/**
 * The plan's owner has collected a period without us: that transfer is the period's payment, with a receipt and all that follows, once. False
 * where no node shows it yet, or where it was stored meanwhile.
 */
async function takeOwnersCollection(ctx: Shard, row: AuthorizationRow, { startsAt }: PeriodTimes): Promise<boolean> {
  const found = await findCollection(ctx, row.subscriptionAddress as Address, BigInt(startsAt / SECOND));
  if (found.kind !== 'found' || found.collected.receiverTokenAccount !== row.recipientAta) return false;
  const { signature: txSignature, slot, blockTimeSeconds } = found.transaction;
  const { amount: paidUnits, subscriber: payer } = found.collected;
  const paymentId = newId<PaymentId>(ctx.now);
  const renewed = await planRenewal(ctx, row.id, {
    paymentId,
    nonce: base58.encode(crypto.getRandomValues(new Uint8Array(16))),
    period: periodOf(found.collected),
    proof: { txSignature, slot, blockTime: blockTimeSeconds! * SECOND, payer, paidUnits, feePaidUnits: 0n },
    isOwners: true,
  });
  const claim = insertClaim(
    ctx.db,
    { txSignature, livemode: row.livemode, kind: 'subscription', subjectId: paymentId, createdAt: ctx.now },
    slot,
  );
  try {
    await commit(ctx, { ...renewed, writes: [claim, ...renewed.writes] });
    return true;
  } catch (error) {
    // It pays something else, or another sweep was faster.
    if (!isConstraint(error)) throw error;
    return false;
  }
}

/** So long before the next period a subscriber is told of it. */
const BEFORE_MS = 3 * DAY;
/** A period shorter than this is over before a letter about it helps anyone. */
const PERIOD_MIN_MS = 7 * DAY;

/** From when on the subscriber is to be told of the next period; null: there is nothing to tell. */
function tellsAt(row: AuthorizationRow): number | null {
  const isTold = row.livemode && row.status === 'active' && row.email !== null && factsOf(row).periodMs >= PERIOD_MIN_MS;
  return isTold && row.paidThrough !== null ? row.paidThrough - BEFORE_MS : null;
}

/** The letter about the next period, to a subscriber who gave an address: once for each, and where it can be ended. Belongs into a batch. */
async function renewalLetter(ctx: Shard, row: AuthorizationRow): Promise<Write[]> {
  const { paidThrough, email } = row;
  const tellAt = tellsAt(row);
  if (tellAt === null || ctx.now < tellAt || ctx.now >= paidThrough! || !hasMail(ctx)) return [];
  const { displayName: seller } = await getAccount(ctx.db, row.merchantId);
  return planLetter(ctx, {
    letter: 'subscription_renews',
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
