import { and, eq, inArray, isNotNull, isNull, lte, sql } from 'drizzle-orm';
import type { PaymentId, RefundId } from '#core/ids.ts';
import { rowsOnChain } from '#platform/chain/reach.store.ts';
import type { Db, Shard } from '#platform/context.ts';
import { paymentOf, readLines, settlementOf } from '#platform/db/archive.ts';
import { abortIf, abortUnlessChanged, commit, isAborted, type Write } from '#platform/db/commit.ts';
import { insertClaim } from '#platform/db/fate.ts';
import { archivedPayments } from '#platform/db/tables/archives.ts';
import { type Payment, payments, type RefundRow, refunds } from '#platform/db/tables/payments.ts';
import { settlements } from '#platform/db/tables/settlements.ts';
import { casUpdate } from '#platform/db/versioned.ts';

/** By the nonce of the memo that this chain shows. */
export const findRefundByNonce = (ctx: Shard, nonce: string) =>
  ctx.db
    .select()
    .from(refunds)
    .where(and(eq(refunds.nonce, nonce), rowsOnChain(ctx, refunds)))
    .get();

export const findRefund = (db: Db, refundId: RefundId) => db.select().from(refunds).where(eq(refunds.id, refundId)).get();

/** Signatures of the refunds of a payment that were seen and take back what it bought, whether they still stand or not. */
export async function listRevoking(db: Db, paymentId: PaymentId): Promise<string[]> {
  const rows = await db
    .select({ txSignature: refunds.txSignature })
    .from(refunds)
    .where(and(eq(refunds.paymentId, paymentId), eq(refunds.revokesAccess, true), isNotNull(refunds.txSignature)));
  return rows.map(({ txSignature }) => txSignature!);
}

/**
 * A refund that may still land, or has landed without having been judged. One that lapsed by `readUntil`, up to when all the chain showed
 * was read, was looked for and is not there.
 */
const isUnderWay = (paymentId: PaymentId, readUntil: number) =>
  sql`EXISTS (SELECT 1 FROM refunds WHERE payment_id = ${paymentId} AND seen_at IS NULL AND (lapsed_at IS NULL OR lapsed_at > ${readUntil}))
    OR EXISTS (SELECT 1 FROM payment_candidates WHERE payment_id = ${paymentId} AND +origin = 'found')`;

const ofUnlapsed = (paymentId: PaymentId) => and(eq(refunds.paymentId, paymentId), isNull(refunds.seenAt), isNull(refunds.lapsedAt));

/** Whether a refund was prepared of which it is not known that it can land no more. */
export async function hasUnlapsed(db: Db, paymentId: PaymentId): Promise<boolean> {
  return (await db.select({ id: refunds.id }).from(refunds).where(ofUnlapsed(paymentId)).get()) !== undefined;
}

const lapsed = (now: number, finalHeight: number) => ({
  lapsedAt: sql`CASE WHEN last_valid_block_height < ${finalHeight} THEN ${now} END`,
});

/** Notes the refunds of a payment that can land no more, now that the chain is final up to a height. */
export const noteLapsed = ({ db, now }: Shard, paymentId: PaymentId, finalHeight: number): Promise<unknown> =>
  db.update(refunds).set(lapsed(now, finalHeight)).where(ofUnlapsed(paymentId));

/** Prepared long ago and not seen. As the index has it, word for word. */
const isOld = (before: number) => sql`seen_at IS NULL AND ${lte(refunds.expiresAt, before)}`;
const LIVE_UNLAPSED = sql`livemode = 1 AND lapsed_at IS NULL`;

/** Whether there is an old refund, live, of which it is not known that it can land no more. */
export const hasOldUnlapsed = async (db: Db, before: number): Promise<boolean> =>
  (await db
    .select({ id: refunds.id })
    .from(refunds)
    .where(and(isOld(before), LIVE_UNLAPSED))
    .limit(1)
    .get()) !== undefined;

/** The same as `noteLapsed` of up to so many old ones. */
export const noteOldLapsed = ({ db, now }: Shard, before: number, finalHeight: number, max: number): Promise<unknown> => {
  const old = db
    .select({ id: refunds.id })
    .from(refunds)
    .where(and(isOld(before), LIVE_UNLAPSED))
    .limit(max);
  return db.update(refunds).set(lapsed(now, finalHeight)).where(inArray(refunds.id, old));
};

/**
 * Deletes up to so many old refunds that have not landed: those that had lapsed when all that the chain showed until `readUntil` was read, and
 * of whose payment nothing that was found waits to be judged. A simulated chain shows all it has at any moment. Answers how many.
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
 * Fails the batch while another refund of the payment is under way. The payment moves to its next version, so that nothing that was planned
 * without this refund is stored: neither another refund nor the payment's way to the archive.
 */
export const insertRefund = (ctx: Shard, payment: Payment, refund: RefundRow, readUntil: number): Write[] => [
  abortIf(ctx, isUnderWay(refund.paymentId, readUntil)),
  ctx.db.insert(refunds).values(refund),
  ...casUpdate(ctx, payments, payment, { updatedAt: ctx.now }),
];

/** A refund is on the chain, by this transaction and no other. */
export const noteSeen = (ctx: Shard, refund: RefundRow, slot: number): Write[] => [
  insertClaim(
    ctx.db,
    { txSignature: refund.txSignature!, livemode: refund.livemode, kind: 'refund', subjectId: refund.id, createdAt: ctx.now },
    slot,
  ),
  ctx.db
    .update(refunds)
    .set(refund)
    .where(and(eq(refunds.id, refund.id), isNull(refunds.seenAt))),
  abortUnlessChanged(ctx),
];

/**
 * Makes a payment in the archive a row again, with the settlement that brought it. The move to the archive was a step of its version, so the
 * row is one version above its line: a verb that had read the payment before the move finds its version neither gone nor come back.
 * Harmless if the payment is not in the archive, or was restored by another request.
 */
export async function restoreArchived(ctx: Shard, paymentId: PaymentId): Promise<void> {
  const { db } = ctx;
  const place = await db.select().from(archivedPayments).where(eq(archivedPayments.id, paymentId)).get();
  if (!place) return;
  const [line] = await readLines(ctx, [place]);
  const settlement = settlementOf(line!);
  const payment = paymentOf(line!);
  const { archiveId, lineAt } = place;
  const isPlace = and(eq(archivedPayments.id, paymentId), eq(archivedPayments.archiveId, archiveId), eq(archivedPayments.lineAt, lineAt));
  const writes = [
    db.delete(archivedPayments).where(isPlace),
    abortUnlessChanged(ctx),
    db.insert(payments).values({ ...payment, version: payment.version + 1 }),
    ...(settlement ? [db.insert(settlements).values(settlement)] : []),
  ];
  await commit(ctx, { events: [], writes, result: undefined }).catch((error: unknown) => {
    if (!isAborted(error)) throw error;
  });
}
