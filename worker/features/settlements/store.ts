import { and, eq, exists, getTableColumns, inArray, isNull, type SQL, sql } from 'drizzle-orm';
import { raise } from '#core/errors.ts';
import type { AnswerId, PaymentId } from '#core/ids.ts';
import { DAY, HOUR, MINUTE, SECOND } from '#core/time.ts';
import { clockFilter, rowsOnChainOf } from '#platform/chain/clock-filter.store.ts';
import type { Db, Shard } from '#platform/context.ts';
import { type ArchivePosition, paymentOf, readLines, type StoredPayment } from '#platform/db/archive.ts';
import { abortIf, abortUnlessChanged, type Write } from '#platform/db/commit.ts';
import {
  claimKeyOf,
  freeIdentifier,
  freeLostIdentifier,
  identifierKey,
  insertClaim,
  isClaimOf,
  takeBackIdentifier,
  watchClaim,
} from '#platform/db/outcome.ts';
import { archivedPayments, archivedSales, PAYMENT_LINE } from '#platform/db/tables/archives.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { activations } from '#platform/db/tables/plans.ts';
import { type Settlement, settlements } from '#platform/db/tables/settlements.ts';
import { type ClaimKind, txClaims } from '#platform/db/tables/tx-claims.ts';
import { kindOf, type PaymentKind } from '#rules/payment-terms.ts';
import { PAYER_LIMITS } from '#rules/plans.ts';
import { SETTLEMENT } from '#rules/states.ts';

const PURPOSES: Partial<Record<PaymentKind, Settlement['purpose']>> = { x402: 'access', metered: 'metered', renewal: 'subscription' };

/** Restates the settlement that the insert of a payment deleted. Facts that only an open settlement needs are empty. */
function settlementOf(payment: StoredPayment): Settlement {
  const { merchantId, livemode, productId, customerRef, customerWallet, asset, mint, recipientWallet, recipientAta, nonce } = payment;
  const { productName, accessPeriodDays, usageUnits, paymentIdentifier, isErased } = payment.terms;
  return {
    ...{ merchantId, livemode, productId, customerRef, customerWallet, asset, mint, recipientWallet, recipientAta, nonce },
    paymentId: payment.id,
    purpose: PURPOSES[kindOf(payment)]!,
    amount: payment.priceAmount,
    txSignature: payment.txSignature!,
    payerWallet: payment.payerWallet!,
    terms: { productName, slug: payment.slug, accessPeriodDays, usageUnits, merchantName: '', paymentIdentifier, isErased },
    status: 'settled',
    createdAt: payment.createdAt,
    ...{ wire: '', feePayer: '', lastValidBlockHeight: 0 },
    ...{ setupIntentId: null, failureReason: null, doubtedAt: null, nextCheckAt: null, answeredBy: null },
  };
}

const restated = (payment: StoredPayment) => ({
  settlement: settlementOf(payment),
  receiptId: payment.receiptId,
  settledAt: payment.confirmedAt!,
});

/** Claims on messages of agents, who may send them again. The service signs each with one signature, so a message is claimed once. */
const AGENT_KINDS: ClaimKind[] = ['x402', 'activation', 'facilitator'];

/**
 * Finds the settlement with a transaction of this mode, of any merchant. A paid one is restated from its payment, an old payment from the
 * archive.
 */
export async function findSettlement(ctx: Shard, txSignature: string): Promise<Settlement | null> {
  const found = await ctx.db
    .select({ settlement: settlements, payment: payments, position: PAYMENT_LINE })
    .from(txClaims)
    .leftJoin(settlements, eq(settlements.paymentId, txClaims.subjectId))
    .leftJoin(payments, eq(payments.id, txClaims.subjectId))
    .leftJoin(archivedSales, sql`${archivedSales.paymentId} = ${txClaims.subjectId} AND ${archivedSales.archiveId} IS NOT NULL`)
    .where(
      and(eq(txClaims.txKey, claimKeyOf(txSignature)), eq(txClaims.livemode, ctx.sandbox === null), inArray(txClaims.kind, AGENT_KINDS)),
    )
    .get();
  if (!found) return null;
  if (found.settlement) return found.settlement;
  if (found.payment) return settlementOf(found.payment);
  const [line] = found.position ? await readLines(ctx, [found.position as ArchivePosition]) : [];
  return line === undefined ? null : settlementOf(paymentOf(line));
}

export async function getSettlement(db: Db, paymentId: PaymentId): Promise<Settlement> {
  return (await db.select().from(settlements).where(eq(settlements.paymentId, paymentId)).get()) ?? raise('not_found');
}

/**
 * Loads a settlement, the receipt of its payment or activation, and when it was settled. `isLost`: the chain dropped its transaction
 * before any request was answered with its success.
 */
export async function loadSettlement(ctx: Shard, paymentId: PaymentId) {
  // Renamed, because a batch returns rows by column name, and a settlement has a column of that name.
  const answeredBy = sql<string | null>`${txClaims.answeredBy}`.as('claim_answered_by');
  const claim = { droppedAt: txClaims.droppedAt, answeredBy };
  const [[open], [paid]] = await ctx.db.batch([
    ctx.db
      .select({
        settlement: settlements,
        receiptId: activations.receiptId,
        activatedAt: sql<number | null>`${activations.createdAt}`.as('activated_at'),
        ...claim,
      })
      .from(settlements)
      .leftJoin(txClaims, isClaimOf({ ...getTableColumns(settlements), id: settlements.paymentId }))
      .leftJoin(activations, eq(activations.paymentId, settlements.paymentId))
      .where(eq(settlements.paymentId, paymentId)),
    ctx.db
      .select({ payment: payments, ...claim })
      .from(payments)
      .leftJoin(txClaims, isClaimOf(getTableColumns(payments)))
      .where(eq(payments.id, paymentId)),
  ]);
  const isLost = (known: NonNullable<typeof open | typeof paid>) => known.droppedAt !== null && known.answeredBy === null;
  if (open) return { ...open, settledAt: open.activatedAt ?? open.settlement.createdAt, isLost: isLost(open) };
  if (paid) return { ...restated(paid.payment), isLost: isLost(paid) };
  return loadArchived(ctx, paymentId);
}

/** Loads from the archive, which contains only final payments. */
async function loadArchived(ctx: Shard, paymentId: PaymentId) {
  const { archiveId, lineAt, lineLength } = archivedPayments;
  const position = await ctx.db
    .select({ archiveId, lineAt, lineLength })
    .from(archivedPayments)
    .where(eq(archivedPayments.id, paymentId))
    .get();
  const [line] = position ? await readLines(ctx, [position]) : [];
  const payment = line === undefined ? null : paymentOf(line);
  return payment && { ...restated(payment), isLost: false };
}

const KIND_OF: Record<Settlement['purpose'], ClaimKind> = {
  access: 'x402',
  activation: 'activation',
  facilitator: 'facilitator',
  metered: 'metered',
  subscription: 'subscription',
};

export const findPendingSettlement = async (db: Db, paymentId: PaymentId): Promise<Settlement | null> =>
  (await db
    .select()
    .from(settlements)
    .where(and(eq(settlements.paymentId, paymentId), sql`status = 'pending'`))
    .get()) ?? null;

export type IdentifiedPayment = Pick<Settlement, 'merchantId' | 'livemode' | 'purpose' | 'productId'> & { identifier: string | null };

/** Returns the key of an identifier, which names one payment per merchant, mode and product (or purpose). Null without an identifier. */
export const identifierKeyOf = ({ merchantId, purpose, productId, identifier }: IdentifiedPayment): string | null =>
  identifier === null ? null : identifierKey(merchantId, identifier, productId ?? purpose);

const claimedIdentifier = (settlement: Settlement): string | null =>
  identifierKeyOf({ ...settlement, identifier: settlement.terms.paymentIdentifier ?? null });

/** Frees the identifier of a payment that failed, and binds that of a failed one that is on the chain after all. */
function moveIdentifier({ db }: Shard, settlement: Settlement, transition: 'settle' | 'fail'): Write[] {
  const identifier = claimedIdentifier(settlement);
  if (identifier === null) return [];
  if (transition === 'fail') return [freeIdentifier(db, settlement)];
  return settlement.status === 'failed' ? [takeBackIdentifier(db, settlement, identifier)] : [];
}

/** Plans the claim. The insert fails if any merchant's request claimed this transaction before. */
export const claimSettlement = (db: Db, settlement: Settlement): Write[] => {
  const { txSignature, livemode, purpose, paymentId: subjectId } = settlement;
  const identifier = claimedIdentifier(settlement);
  return [
    ...(identifier === null ? [] : [freeLostIdentifier(db, identifier, livemode)]),
    insertClaim(db, { txSignature, livemode, kind: KIND_OF[purpose], subjectId, identifier }, null),
    db.insert(settlements).values(settlement),
  ];
};

/**
 * Plans a successful end without a payment: from now on the finality of the transaction in this slot is watched. Aborts like
 * `endSettlement` if ended already.
 */
export const settleSettlement = (ctx: Shard, settlement: Settlement, slot: number): Write[] => [
  ...endSettlement(ctx, settlement, 'settle'),
  watchClaim(ctx, settlement, slot),
];

/** Variant of `settleSettlement` for the batch that inserts the payment, which says everything that the settlement said. */
export const replaceSettlement = (ctx: Shard, settlement: Settlement, slot: number): Write[] => [
  ctx.db.delete(settlements).where(isUnchanged(settlement)),
  abortUnlessChanged(ctx),
  ...moveIdentifier(ctx, settlement, 'settle'),
  watchClaim(ctx, settlement, slot),
];

/** Plans the end of a settlement. Aborts if the settlement has ended already. */
export const endSettlement = (
  ctx: Shard,
  settlement: Settlement,
  transition: 'settle' | 'fail',
  failureReason: string | null = null,
  nextCheckAt: number | null = null,
): Write[] => [
  ctx.db
    .update(settlements)
    .set({ status: SETTLEMENT.next(settlement.status, transition), failureReason, nextCheckAt, wire: '' })
    .where(isUnchanged(settlement)),
  abortUnlessChanged(ctx),
  ...moveIdentifier(ctx, settlement, transition),
];

const isUnchanged = ({ paymentId, status }: Settlement) => and(eq(settlements.paymentId, paymentId), eq(settlements.status, status));

export const noteReading = (db: Db, settlement: Settlement, seen: { doubtedAt: number | null } | { nextCheckAt: null }): Write =>
  db.update(settlements).set(seen).where(isUnchanged(settlement));

/**
 * Claims due settlements and sets their next check in one statement, before the node is asked: a crash costs one check, and concurrent
 * sweeps claim different rows. Pending: every minute at first, at least hourly later. Failed: after two hours and a day, until a node
 * answers.
 */
export const takeDueSettlements = (ctx: Shard, max: number): Promise<Settlement[]> => {
  const { db, now } = ctx;
  return db
    .update(settlements)
    .set({
      nextCheckAt: sql`CASE WHEN status = 'pending' THEN ${now}
          + max(min(${MINUTE}, max(${5 * SECOND}, ${now} - created_at)), min(${HOUR}, (${now} - created_at) / 8))
        WHEN created_at + ${2 * HOUR} > ${now} THEN created_at + ${2 * HOUR}
        WHEN created_at + ${DAY} > ${now} THEN created_at + ${DAY} ELSE ${now} + ${HOUR} END`,
    })
    .where(
      sql`payment_id IN (SELECT payment_id FROM settlements WHERE status <> 'settled' AND next_check_at IS NOT NULL
        AND next_check_at <= ${now} AND ${clockFilter(ctx)} ORDER BY next_check_at LIMIT ${max})`,
    )
    .returning();
};

export const EXPIRED = 'blockhash_expired';

const isItsClaim = (settlement: Settlement): SQL => isClaimOf({ ...settlement, id: settlement.paymentId });

/** Request that was answered with a payment's success. Null if none was yet. */
export async function findAnsweredBy(db: Db, settlement: Settlement): Promise<string | null> {
  const claim = db.select({ answeredBy: txClaims.answeredBy }).from(txClaims).where(isItsClaim(settlement));
  return (await claim.get())?.answeredBy ?? null;
}

/** The second statement fails the batch if another request was answered since `before` was found, or the money was dropped. */
export const assignSuccess = (ctx: Shard, settlement: Settlement, call: string, before: string | null): Write[] => [
  ctx.db
    .update(txClaims)
    .set({ answeredBy: call })
    .where(
      and(
        isItsClaim(settlement),
        before === null ? isNull(txClaims.answeredBy) : eq(txClaims.answeredBy, before),
        isNull(txClaims.droppedAt),
      ),
    ),
  abortUnlessChanged(ctx),
];

/**
 * Assigns the success of a settled payment to one call permanently: on its claim, which is never deleted, with a copy on the settlement for
 * later reads. Returns the call that owns the success. The same call may ask again.
 */
export async function claimSuccess(db: Db, settlement: Settlement, call: AnswerId): Promise<string | null> {
  const ofSettlement = and(eq(settlements.paymentId, settlement.paymentId), eq(settlements.status, 'settled'));
  const [, , [stored]] = await db.batch([
    db
      .update(txClaims)
      .set({ answeredBy: call })
      .where(
        and(
          isItsClaim(settlement),
          isNull(txClaims.answeredBy),
          isNull(txClaims.droppedAt),
          exists(db.select({ id: settlements.paymentId }).from(settlements).where(ofSettlement)),
        ),
      ),
    db
      .update(settlements)
      .set({ answeredBy: sql`(SELECT answered_by FROM tx_claims WHERE ${isItsClaim(settlement)})` })
      .where(and(ofSettlement, isNull(settlements.answeredBy))),
    db.select({ answeredBy: txClaims.answeredBy }).from(txClaims).where(isItsClaim(settlement)),
  ]);
  return stored?.answeredBy ?? null;
}

const PAYER_WINDOW_MS = PAYER_LIMITS.failedMinutes * MINUTE;

/**
 * SQL counts of a payer's open and failed settlements on one chain, in live mode across merchants. Expired ones never landed and cost
 * nothing. Channel payouts are excluded because the service sends them.
 */
const payerCounts = ({ payerWallet, createdAt, ...settlement }: Settlement) => ({
  open: sql`total(status = 'pending')`,
  failed: sql`total(failure_reason <> ${EXPIRED})`,
  ofPayer: sql`FROM settlements WHERE payer_wallet = ${payerWallet} AND ${rowsOnChainOf(settlement, settlements)} AND status <> 'settled' AND purpose NOT IN ('metered', 'subscription') AND created_at > ${createdAt - PAYER_WINDOW_MS}`,
});

/** Aborts if the payer has the maximum of open or failed settlements, each of which may cost the service its fee. */
export const abortIfPayerBusy = (ctx: Shard, settlement: Settlement): Write => {
  const { RATE_MULTIPLIER: times } = ctx.config;
  const { open, failed, ofPayer } = payerCounts(settlement);
  return abortIf(ctx, sql`(SELECT ${open} >= ${PAYER_LIMITS.open * times} OR ${failed} >= ${PAYER_LIMITS.failed * times} ${ofPayer})`);
};

export async function readPayerLimits(ctx: Shard, settlement: Settlement) {
  const { RATE_MULTIPLIER: times } = ctx.config;
  const { open, failed, ofPayer } = payerCounts(settlement);
  const used = await ctx.db.get<{ open: number; failed: number }>(sql`SELECT ${open} AS open, ${failed} AS failed ${ofPayer}`);
  const limit = { open: Math.floor(PAYER_LIMITS.open * times), failed: Math.floor(PAYER_LIMITS.failed * times) };
  const left = { open: Math.max(0, limit.open - (used?.open ?? 0)), failed: Math.max(0, limit.failed - (used?.failed ?? 0)) };
  return { limit, left };
}

export async function hasPaidBefore(
  db: Db,
  { merchantId, livemode, payerWallet }: Pick<Settlement, 'merchantId' | 'livemode' | 'payerWallet'>,
): Promise<boolean> {
  const { merchantId: seller, livemode: mode, payerWallet: payer, nonce } = archivedPayments;
  const [settled, paid, archived] = await db.batch([
    db
      .select({ paymentId: settlements.paymentId })
      .from(settlements)
      .where(
        and(
          eq(settlements.merchantId, merchantId),
          eq(settlements.livemode, livemode),
          eq(settlements.payerWallet, payerWallet),
          sql`status = 'settled'`,
        ),
      )
      .limit(1),
    // Excludes checkout payments, here by their reference key and below by their nonce.
    db
      .select({ id: payments.id })
      .from(payments)
      .where(
        and(
          eq(payments.merchantId, merchantId),
          eq(payments.livemode, livemode),
          eq(payments.payerWallet, payerWallet),
          sql`reference = '' AND recovers_payment_id IS NULL`,
        ),
      )
      .limit(1),
    db
      .select({ id: archivedPayments.id })
      .from(archivedPayments)
      .where(and(eq(seller, merchantId), eq(mode, livemode), eq(payer, payerWallet), isNull(nonce)))
      .limit(1),
  ]);
  return settled.length + paid.length + archived.length > 0;
}
