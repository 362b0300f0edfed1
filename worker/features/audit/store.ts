import { and, asc, desc, eq, gte, inArray, isNotNull, isNull, lt, lte, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { Db } from '#platform/context.ts';
import { amongIds } from '#platform/db/among.ts';
import type { Write } from '#platform/db/commit.ts';
import { claimedTransaction } from '#platform/db/outcome.ts';
import { archivedPayments, archivedReceipts } from '#platform/db/tables/archives.ts';
import { type Audit, audits } from '#platform/db/tables/audits.ts';
import { entitlements } from '#platform/db/tables/entitlements.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { receipts } from '#platform/db/tables/receipts.ts';
import { channelPayouts } from '#platform/db/tables/settlements.ts';
import { txClaims } from '#platform/db/tables/tx-claims.ts';

export type { Suspect } from '#platform/db/tables/audits.ts';

/** Claims the audit of a day for one run. Returns null if the audit is finished, not due, or leased by another run. */
export async function takeAudit(db: Db, day: string, now: number, leaseUntil: number): Promise<Audit | null> {
  const rows = await db
    .insert(audits)
    .values({ day, dueAt: leaseUntil, checked: 0, differing: 0, unknown: 0 })
    .onConflictDoUpdate({ target: audits.day, set: { dueAt: leaseUntil }, setWhere: lte(audits.dueAt, now) })
    .returning();
  return rows[0] ?? null;
}

/** Stores a run's result unless another run has started since, and deletes rows before a day. */
export const noteAudit = (db: Db, { day, dueAt }: Audit, after: Partial<Audit>, retainedFrom: string): Write[] => [
  db
    .update(audits)
    .set(after)
    .where(and(eq(audits.day, day), eq(audits.dueAt, dueAt!))),
  db.delete(audits).where(lt(audits.day, retainedFrom)),
];

export const latestAudit = (db: Db): Promise<Audit | undefined> =>
  db.select().from(audits).where(isNotNull(audits.suspects)).orderBy(desc(audits.day)).limit(1).get();

async function around<T>(page: (from: string, limit: number) => Promise<T[]>, cursor: string, count: number): Promise<T[]> {
  const after = await page(cursor, count);
  return after.length < count ? [...after, ...(await page('', count))] : after;
}

const CLAIMS_MAX = 300;
/** Claim kinds of merchant payments. Other claims have no payment row. */
const PAYMENT_KINDS = ['checkout', 'x402', 'metered', 'subscription'] as const;

/** Samples final payments after `cursor` in the order of signatures, which is random, with their recorded data. */
export async function samplePayments(db: Db, cursor: string, count: number) {
  const isFinal = and(
    eq(txClaims.livemode, true),
    inArray(txClaims.kind, PAYMENT_KINDS),
    isNotNull(txClaims.finalAt),
    isNull(txClaims.droppedAt),
  );
  const page = (from: string, limit: number) => {
    const near = sql`SELECT tx_key FROM ${txClaims} WHERE livemode = 1 AND ${txClaims.txKey} >= ${from} ORDER BY ${txClaims.txKey} LIMIT ${CLAIMS_MAX}`;
    return db
      .select()
      .from(txClaims)
      .where(and(sql`tx_key IN (${near})`, isFinal))
      .orderBy(asc(txClaims.txKey))
      .limit(limit);
  };
  const claims = uniqueBy(await around(page, cursor, count), ({ txKey }) => txKey).slice(0, count);
  if (claims.length === 0) return [];
  const among = (column: SQLiteColumn): SQL =>
    amongIds(
      column,
      claims.map(({ subjectId }) => subjectId),
    );
  const [paid, issued, oldPaid, oldIssued, payouts] = await db.batch([
    db.select().from(payments).where(among(payments.id)),
    db
      .select()
      .from(receipts)
      .where(sql`${receipts.id} IN (SELECT ${payments.receiptId} FROM ${payments} WHERE ${among(payments.id)})`),
    db.select().from(archivedPayments).where(among(archivedPayments.id)),
    db.select().from(archivedReceipts).where(among(archivedReceipts.paymentId)),
    db.select().from(channelPayouts).where(among(channelPayouts.paymentId)),
  ]);
  return claims.map((claim) => {
    const payment = paid.find(({ id }) => id === claim.subjectId);
    return {
      claim: { ...claim, txSignature: claim.txSignature && claimedTransaction(claim.txSignature) },
      payment: payment ?? oldPaid.find(({ id }) => id === claim.subjectId) ?? null,
      receipt:
        issued.find(({ id }) => id === payment?.receiptId) ?? oldIssued.find(({ paymentId }) => paymentId === claim.subjectId) ?? null,
      payouts: payouts.filter(({ paymentId }) => paymentId === claim.subjectId),
    };
  });
}

export type RecordedPayment = Awaited<ReturnType<typeof samplePayments>>[number];

/** Samples entitlement copies after `cursor`, hexadecimal digits, in the order of their ids, which are hashes. */
export async function sampleEntitlements(db: Db, cursor: string, count: number) {
  const page = (from: string, limit: number) =>
    db
      .select()
      .from(entitlements)
      .where(gte(entitlements.id, sql`unhex(${from})`))
      .orderBy(asc(entitlements.id))
      .limit(limit);
  return uniqueBy(await around(page, cursor, count), ({ id }) => id).slice(0, count);
}

export const listCopies = (db: Db, ids: readonly string[]) => db.select().from(entitlements).where(amongIds(entitlements.id, ids));

const uniqueBy = <T>(rows: T[], keyOf: (row: T) => string): T[] => [...new Map(rows.map((row) => [keyOf(row), row])).values()];
