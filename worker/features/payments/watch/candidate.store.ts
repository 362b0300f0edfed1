import { and, asc, eq, gt, lte, type SQL, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import type { PaymentId } from '#core/ids.ts';
import { clockFilterForPayment, rowsOnChain } from '#platform/chain/clock-filter.store.ts';
import type { Db, Shard } from '#platform/context.ts';
import { boundId, digitsField, idField, jsonRows } from '#platform/db/among.ts';

import { abortIf, type Write } from '#platform/db/commit.ts';
import { transactionRows } from '#platform/db/outcome.ts';
import { isAmongRows, listDueInTurns } from '#platform/db/sweeps.ts';
import { archiveOwners } from '#platform/db/tables/archives.ts';
import { type Candidate, paymentCandidates } from '#platform/db/tables/candidates.ts';
import { payments, refunds } from '#platform/db/tables/payments.ts';

/** Limit of named signatures per payment. Sent and found ones count too, but are never refused. */
const CANDIDATES_MAX = 5;

export type NewCandidate = Omit<Candidate, 'merchantId'>;

const same = ({ paymentId, txSignature }: Pick<Candidate, 'paymentId' | 'txSignature'>) =>
  and(eq(paymentCandidates.paymentId, paymentId), eq(paymentCandidates.txSignature, txSignature));

/** Judged candidates have no payment: strangers can create any number of them on the chain, and none must slow a payment down. */
const OF_NO_PAYMENT = '' as PaymentId;

/**
 * Inserts a candidate signature and removes `displaced`. `named`: only below the limit. `sent`: only if no other transaction sent after
 * `rivalsSince` (epoch ms) may still land and the payment has not failed. `canSend`: the transaction may be broadcast.
 */
export async function insertCandidate(
  { db }: Shard,
  candidate: NewCandidate,
  { rivalsSince = candidate.createdAt, displaced }: { rivalsSince?: number; displaced?: Candidate } = {},
): Promise<{ isNew: boolean; isKnown: boolean; canSend: boolean; hasRival: boolean; named: Candidate[] }> {
  const { paymentId, txSignature, origin, attempt, nextCheckAt, createdAt, sentAt, livemode } = candidate;
  const ofPayment = sql`payment_id = ${boundId(paymentId)}`;
  const unjudged = sql`SELECT 1 FROM payment_candidates WHERE ${ofPayment} AND origin <> 'judged' LIMIT ${CANDIDATES_MAX}`;
  const isRival = sql`${ofPayment} AND tx_signature <> ${txSignature} AND sent_at > ${rivalsSince}`;
  const [, , inserted, known, rivals, named] = await db.batch([
    db.delete(paymentCandidates).where(displaced ? and(same(displaced), eq(paymentCandidates.origin, 'named')) : sql`false`),
    // Changes `sent_at` on each resend, so that `dropRefused` sees that another request sent the same bytes.
    db
      .update(paymentCandidates)
      .set({ sentAt: sql`sent_at + 1` })
      .where(sentAt === null ? sql`false` : same(candidate)),
    db
      .insert(paymentCandidates)
      .select(
        sql`SELECT ${boundId(paymentId)}, ${txSignature}, ${origin}, ${attempt}, ${nextCheckAt}, ${createdAt}, ${sentAt}, ${livemode ? 1 : 0},
            coalesce((SELECT merchant_id FROM payments WHERE id = ${boundId(paymentId)}), '')
          WHERE ${
            origin === 'named'
              ? sql`(SELECT count(*) FROM (${unjudged})) < ${CANDIDATES_MAX}`
              : sql`NOT EXISTS (SELECT 1 FROM payment_candidates WHERE ${isRival})
                  AND NOT EXISTS (SELECT 1 FROM payments WHERE id = ${boundId(paymentId)} AND status = 'FAILED')`
          }`,
      )
      // A named signature that the service now sends counts as sent and may land for the full time.
      .onConflictDoUpdate({
        target: [paymentCandidates.paymentId, paymentCandidates.txSignature],
        set: { origin, attempt, nextCheckAt, createdAt, sentAt },
        setWhere: sql`payment_candidates.origin = 'named' AND excluded.origin = 'sent'`,
      })
      .returning({ createdAt: paymentCandidates.createdAt }),
    db.select({ origin: paymentCandidates.origin }).from(paymentCandidates).where(same(candidate)),
    db.select({ origin: paymentCandidates.origin }).from(paymentCandidates).where(isRival).limit(1),
    db.select().from(paymentCandidates).where(sql`${ofPayment} AND +origin = 'named'`).orderBy(paymentCandidates.createdAt, sql`rowid`),
  ]);
  const canSend = known.some((one) => one.origin !== 'named');
  return { isNew: inserted.length > 0, isKnown: known.length > 0, canSend, hasRival: rivals.length > 0, named };
}

export const isCandidate = async (db: Db, paymentId: PaymentId, txSignature: string): Promise<boolean> =>
  (await db.$count(paymentCandidates, same({ paymentId, txSignature }))) > 0;

export async function hasSent(db: Db, paymentId: PaymentId, since: number): Promise<boolean> {
  const found = await db
    .select({ paymentId: paymentCandidates.paymentId })
    .from(paymentCandidates)
    .where(and(eq(paymentCandidates.paymentId, paymentId), gt(paymentCandidates.sentAt, since)))
    .limit(1)
    .get();
  return found !== undefined;
}

/** Matches payments with a transaction that may still land or has landed: sent or named since then, or shown by the chain. */
const mayLand = (paymentId: PaymentId, since: number): SQL =>
  sql`EXISTS (SELECT 1 FROM payment_candidates WHERE payment_id = ${boundId(paymentId)}
    AND (sent_at > ${since} OR created_at > ${since} OR origin = 'found'))`;

export const abortIfSentSince = (ctx: Shard, paymentId: PaymentId, since: number): Write => abortIf(ctx, mayLand(paymentId, since));

export const isInFlight = async ({ db }: Shard, paymentId: PaymentId, since: number): Promise<boolean> =>
  (await db.get<{ mayLand: number }>(sql`SELECT ${mayLand(paymentId, since)} AS mayLand`)).mayLand === 1;

/** Deletes a candidate that the network refused. Returns false if another request has sent the same bytes since. */
export async function dropRefused(db: Db, candidate: NewCandidate): Promise<boolean> {
  const dropped = await db
    .delete(paymentCandidates)
    .where(and(same(candidate), eq(paymentCandidates.sentAt, candidate.sentAt ?? 0)))
    .returning({ paymentId: paymentCandidates.paymentId });
  return dropped.length > 0;
}

export type CheckKey = Pick<Candidate, 'attempt' | 'txSignature'> & { paymentId: string };
const keyOf = ({ paymentId, txSignature, attempt }: CheckKey): CheckKey => ({ paymentId, txSignature, attempt });
/** True until another check claims the attempt. */
const IS_SAME_CHECK = sql`${paymentCandidates.paymentId} = ${idField('paymentId')} AND ${paymentCandidates.txSignature} = j.value ->> 'txSignature'
  AND ${paymentCandidates.attempt} = j.value ->> 'attempt' AND ${paymentCandidates.origin} <> 'judged'`;

export const listCandidates = (db: Db, checks: readonly CheckKey[]): Promise<Candidate[]> => {
  const rowids = sql`SELECT payment_candidates.rowid FROM ${jsonRows(checks)} CROSS JOIN ${paymentCandidates} ON ${IS_SAME_CHECK}`;
  return db.select().from(paymentCandidates).where(sql`rowid IN (${rowids})`);
};

/** Reschedules candidates before they are checked, in one statement. Returns those that no other check claimed first. */
export async function takeChecks(db: Db, checks: { candidate: Candidate; nextCheckAt: number }[]): Promise<Candidate[]> {
  const rows = checks.map(({ candidate, nextCheckAt }) => ({ ...keyOf(candidate), nextCheckAt }));
  return db
    .update(paymentCandidates)
    .set({ attempt: sql`${paymentCandidates.attempt} + 1`, nextCheckAt: sql`j.value ->> 'nextCheckAt'` })
    .from(jsonRows(rows))
    .where(IS_SAME_CHECK)
    .returning();
}

export const findCandidate = (db: Db, paymentId: PaymentId, txSignature: string) =>
  db.select().from(paymentCandidates).where(same({ paymentId, txSignature })).get();

export const dropCandidate = (db: Db, paymentId: PaymentId, txSignature: string): Write =>
  db.delete(paymentCandidates).where(same({ paymentId, txSignature }));

export const markJudged = ({ db, now }: Shard, { paymentId, txSignature }: Candidate, forgetAt: number): Write[] => [
  db
    .insert(paymentCandidates)
    .select(
      sql`SELECT ${boundId(OF_NO_PAYMENT)}, tx_signature, 'judged', 0, ${forgetAt}, ${now}, NULL, livemode, '' FROM payment_candidates
        WHERE payment_id = ${boundId(paymentId)} AND tx_signature = ${txSignature}`,
    )
    .onConflictDoNothing(),
  dropCandidate(db, paymentId, txSignature),
];

export const deleteJudged = (db: Db, forgetBefore: number, limit: number) =>
  db
    .delete(paymentCandidates)
    .where(
      sql`rowid IN (SELECT rowid FROM payment_candidates WHERE origin = 'judged' AND livemode = 1 AND next_check_at <= ${forgetBefore} LIMIT ${limit})`,
    );

const [P, O, R] = [alias(payments, 'p'), alias(archiveOwners, 'o'), alias(refunds, 'r')];

/**
 * Inserts found transactions as candidates of the payments that their memos name as session or refund, unless they were paid, recorded or
 * judged in this mode. A known candidate retains its sent time. One SQL parameter for any number.
 */
export const insertFound = (ctx: Shard, found: { signature: string; nonce: string }[], dueAt: number): Write =>
  ctx.db
    .insert(paymentCandidates)
    .select(
      sql`SELECT f.id, f.signature, 'found', 0, ${dueAt}, ${ctx.now}, NULL, f.livemode, f.merchant_id
        FROM (SELECT j.value ->> 'signature' AS signature, j.value ->> 'key' AS key, coalesce(p.id, iif(o.id IS NULL, NULL, a.payment_id), r.payment_id) AS id,
            coalesce(p.livemode, o.livemode, r.livemode) AS livemode, coalesce(p.merchant_id, o.merchant_id, r.merchant_id) AS merchant_id
          FROM ${transactionRows(found)}
          LEFT JOIN payments p ON ${rowsOnChain(ctx, P)} AND p.nonce = j.value ->> 'nonce' AND p.recovers_payment_id IS NULL AND p.reference <> ''
          LEFT JOIN archived_sales a ON a.nonce = CASE WHEN p.id IS NULL THEN ${digitsField('memo')} END
          LEFT JOIN archive_owners o ON o.id = a.owner AND ${rowsOnChain(ctx, O)}
          LEFT JOIN refunds r ON ${rowsOnChain(ctx, R)} AND r.nonce = j.value ->> 'nonce') f
        WHERE f.id IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM tx_claims c WHERE c.tx_key = f.key AND c.livemode = f.livemode)
          AND NOT EXISTS (SELECT 1 FROM payment_candidates k WHERE k.payment_id = ${boundId(OF_NO_PAYMENT)} AND k.tx_signature = f.signature AND k.livemode = f.livemode)
          AND NOT EXISTS (SELECT 1 FROM unmatched_payments u WHERE u.tx_signature = f.signature AND u.livemode = f.livemode)`,
    )
    .onConflictDoUpdate({
      target: [paymentCandidates.paymentId, paymentCandidates.txSignature],
      set: { origin: 'found', attempt: 0, nextCheckAt: dueAt, createdAt: ctx.now },
      setWhere: sql`payment_candidates.origin IN ('sent', 'named')`,
    });

/** Lists live candidates by the time since which they are due. */
export const listBacklog = (
  { db }: Shard,
  origin: Exclude<Candidate['origin'], 'judged'>,
  dueBefore: number,
  limit: number,
): Promise<CheckKey[]> =>
  db
    .select({ paymentId: paymentCandidates.paymentId, txSignature: paymentCandidates.txSignature, attempt: paymentCandidates.attempt })
    .from(paymentCandidates)
    .where(and(eq(paymentCandidates.origin, origin), sql`livemode = 1`, lte(paymentCandidates.nextCheckAt, dueBefore)))
    .orderBy(asc(paymentCandidates.nextCheckAt))
    .limit(limit);

export async function listDueCandidates(
  ctx: Shard,
  origin: Exclude<Candidate['origin'], 'judged'>,
  dueBefore: number,
  limit: number,
): Promise<Candidate[]> {
  const isOf = sql`origin = ${origin}`;
  const waiting = {
    table: paymentCandidates,
    at: paymentCandidates.nextCheckAt,
    isLive: sql`livemode = 1 AND origin IN ('found', 'sent', 'named') AND ${isOf}`,
    byMerchant: 'payment_candidates_by_merchant',
  };
  const matchesClock = sql`${isOf} AND ${clockFilterForPayment(ctx, 'payment_id')}`;
  const rowids = await listDueInTurns(ctx, waiting, { matchesClock, dueBefore, limit });
  const rows = await ctx.db
    .select({ candidate: paymentCandidates, rowNumber: sql<number>`rowid` })
    .from(paymentCandidates)
    .where(isAmongRows(rowids));
  const turns = new Map(rowids.map((rowid, turn) => [rowid, turn]));
  return rows.sort((a, b) => turns.get(a.rowNumber)! - turns.get(b.rowNumber)!).map(({ candidate }) => candidate);
}
