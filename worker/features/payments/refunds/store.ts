import { and, eq, inArray, isNotNull, isNull, lte, sql } from 'drizzle-orm';
import type { PaymentId, RefundId } from '#core/ids.ts';
import { rowsOnChain } from '#platform/chain/clock-filter.store.ts';
import type { Db, Shard } from '#platform/context.ts';
import { boundId } from '#platform/db/among.ts';
import { abortIf, abortUnlessChanged, commit, isAborted, type Write } from '#platform/db/commit.ts';
import { insertClaim } from '#platform/db/outcome.ts';
import { archivedPayments, archivedSales, archivedSubjects, PAYMENT_FIELDS } from '#platform/db/tables/archives.ts';
import { type Payment, payments, type RefundRow, refunds } from '#platform/db/tables/payments.ts';
import { casUpdate } from '#platform/db/versioned.ts';
import { loadArchivedBodies } from '../store.ts';

export const findRefundByNonce = (ctx: Shard, nonce: string) =>
  ctx.db
    .select()
    .from(refunds)
    .where(and(eq(refunds.nonce, nonce), rowsOnChain(ctx, refunds)))
    .get();

export const findRefund = (db: Db, refundId: RefundId) => db.select().from(refunds).where(eq(refunds.id, refundId)).get();

/** Lists the signatures of a payment's seen refunds that revoke access, including dropped ones. */
export async function listRevoking(db: Db, paymentId: PaymentId): Promise<string[]> {
  const rows = await db
    .select({ txSignature: refunds.txSignature })
    .from(refunds)
    .where(and(eq(refunds.paymentId, paymentId), eq(refunds.revokesAccess, true), isNotNull(refunds.txSignature)));
  return rows.map(({ txSignature }) => txSignature!);
}

/**
 * Matches refunds that may still land, or have landed without a verdict. A refund that lapsed before `readUntil` was scanned for and has
 * not landed.
 */
const isUnderWay = (paymentId: PaymentId, readUntil: number) =>
  sql`EXISTS (SELECT 1 FROM refunds WHERE payment_id = ${boundId(paymentId)} AND seen_at IS NULL AND (lapsed_at IS NULL OR lapsed_at > ${readUntil}))
    OR EXISTS (SELECT 1 FROM payment_candidates WHERE payment_id = ${boundId(paymentId)} AND +origin = 'found')`;

const ofUnlapsed = (paymentId: PaymentId) => and(eq(refunds.paymentId, paymentId), isNull(refunds.seenAt), isNull(refunds.lapsedAt));

export async function hasUnlapsed(db: Db, paymentId: PaymentId): Promise<boolean> {
  return (await db.select({ id: refunds.id }).from(refunds).where(ofUnlapsed(paymentId)).get()) !== undefined;
}

const lapsed = (now: number, finalHeight: number) => ({
  lapsedAt: sql`CASE WHEN last_valid_block_height < ${finalHeight} THEN ${now} END`,
});

export const noteLapsed = ({ db, now }: Shard, paymentId: PaymentId, finalHeight: number): Promise<unknown> =>
  db.update(refunds).set(lapsed(now, finalHeight)).where(ofUnlapsed(paymentId));

/** Old prepared refunds that were not seen. Must match the index expression exactly. */
const isOld = (before: number) => sql`seen_at IS NULL AND ${lte(refunds.expiresAt, before)}`;
const LIVE_UNLAPSED = sql`livemode = 1 AND lapsed_at IS NULL`;

export const hasOldUnlapsed = async (db: Db, before: number): Promise<boolean> =>
  (await db
    .select({ id: refunds.id })
    .from(refunds)
    .where(and(isOld(before), LIVE_UNLAPSED))
    .limit(1)
    .get()) !== undefined;

export const noteOldLapsed = ({ db, now }: Shard, before: number, finalHeight: number, max: number): Promise<unknown> => {
  const old = db
    .select({ id: refunds.id })
    .from(refunds)
    .where(and(isOld(before), LIVE_UNLAPSED))
    .limit(max);
  return db.update(refunds).set(lapsed(now, finalHeight)).where(inArray(refunds.id, old));
};

/**
 * Deletes old refunds that have not landed: lapsed before `readUntil`, and without a found transaction of the payment that awaits its
 * verdict. A simulated chain has no lag. Returns how many.
 */
export async function forgetUnlanded(
  db: Db,
  { before, readUntil, max }: { before: number; readUntil: number; max: number },
): Promise<number> {
  const isJudged = sql`NOT EXISTS (SELECT 1 FROM payment_candidates c WHERE c.payment_id = refunds.payment_id AND +c.origin = 'found')`;
  const unlanded = db
    .select({ id: refunds.id })
    .from(refunds)
    .where(and(isOld(before), sql`(livemode = 0 OR lapsed_at <= ${readUntil} AND ${isJudged})`))
    .limit(max);
  return (await db.delete(refunds).where(inArray(refunds.id, unlanded))).meta.changes;
}

export async function hasUnderWay(db: Db, paymentId: PaymentId, readUntil: number): Promise<boolean> {
  const [row] = await db.all<{ found: number }>(sql`SELECT (${isUnderWay(paymentId, readUntil)}) AS found`);
  return row?.found === 1;
}

/**
 * Inserts a refund. Aborts the batch while another refund of the payment is pending. Increments the payment's version, so that nothing
 * planned without this refund is stored: neither another refund nor the payment's archiving.
 */
export const insertRefund = (ctx: Shard, payment: Payment, refund: RefundRow, readUntil: number): Write[] => [
  abortIf(ctx, isUnderWay(refund.paymentId, readUntil)),
  ctx.db.insert(refunds).values(refund),
  ...casUpdate(ctx, payments, payment, { updatedAt: ctx.now }),
];

export const storeSeenRefund = (ctx: Shard, refund: RefundRow, slot: number): Write[] => [
  insertClaim(
    ctx.db,
    { txSignature: refund.txSignature!, livemode: refund.livemode, kind: 'refund', subjectId: refund.id },
    { now: ctx.now, slot },
  ),
  ctx.db
    .update(refunds)
    .set(refund)
    .where(and(eq(refunds.id, refund.id), isNull(refunds.seenAt))),
  abortUnlessChanged(ctx),
];

/**
 * Restores an archived payment as a row. The row's version is one above the archived one, because archiving was a
 * step: a verb that read the payment before sees a conflict. Idempotent.
 */
export async function restoreArchived(ctx: Shard, paymentId: PaymentId): Promise<void> {
  const { db } = ctx;
  const archived = await db.select().from(archivedPayments).where(eq(archivedPayments.id, paymentId)).get();
  if (!archived) return;
  const [payment] = await loadArchivedBodies(ctx, [archived]);
  const { archiveId, lineAt, membershipId } = archived;
  const isArchivedRow = and(
    eq(archivedSales.paymentId, paymentId),
    eq(archivedSales.archiveId, archiveId),
    eq(archivedSales.lineAt, lineAt),
    // A merge moves the payment to another membership.
    membershipId === null ? isNull(archivedSales.membershipId) : eq(archivedSales.membershipId, membershipId),
  );
  // The row remains that of the receipt.
  const ofReceipt = {
    ...Object.fromEntries(PAYMENT_FIELDS.map((field) => [field, null])),
    receiptArchiveId: sql`coalesce(receipt_archive_id, archive_id)`,
  };
  const writes = [
    db
      .insert(archivedSubjects)
      .select(
        sql`SELECT subject_id, archive_id FROM (SELECT payment_id AS subject_id, archive_id FROM archived_sales WHERE ${isArchivedRow}
          UNION ALL SELECT membership_id, archive_id FROM archived_sales WHERE ${isArchivedRow}) WHERE subject_id IS NOT NULL`,
      )
      .onConflictDoNothing(),
    db.update(archivedSales).set(ofReceipt).where(isArchivedRow),
    abortUnlessChanged(ctx),
    db.delete(archivedSales).where(and(eq(archivedSales.paymentId, paymentId), isNull(archivedSales.receiptId))),
    db.insert(payments).values({ ...payment!, version: payment!.version + 1 }),
  ];
  await commit(ctx, { events: [], writes, result: undefined }).catch((error: unknown) => {
    if (!isAborted(error)) throw error;
  });
}
