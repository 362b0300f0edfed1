import { and, eq, gt, inArray, type SQL, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import type { PaymentId } from '#core/ids.ts';
import { isOfPaymentInReach, rowsOnChain } from '#platform/chain/reach.store.ts';
import type { Db, Shard } from '#platform/context.ts';
import { jsonRows } from '#platform/db/among.ts';
import { uuidOf } from '#platform/db/archive.ts';
import { abortIf, abortUnlessChanged, type Write } from '#platform/db/commit.ts';
import { isAmongRows, listDueInTurns } from '#platform/db/sweeps.ts';
import { archivedPayments } from '#platform/db/tables/archives.ts';
import { type Candidate, type Cursor, cursors, paymentCandidates } from '#platform/db/tables/candidates.ts';
import { payments, refunds } from '#platform/db/tables/payments.ts';

/** Places for signatures that callers named, of one payment. What the service sent or found takes a place too, but never waits for one. */
const CANDIDATES_MAX = 5;

/** A candidate as it is kept: its payment names its owner. */
export type NewCandidate = Omit<Candidate, 'merchantId'>;

const same = ({ paymentId, txSignature }: Pick<Candidate, 'paymentId' | 'txSignature'>) =>
  and(eq(paymentCandidates.paymentId, paymentId), eq(paymentCandidates.txSignature, txSignature));

/** Judged candidates have no payment: strangers can make any number of them on the chain, and none must slow a payment down. */
const OF_NO_PAYMENT = '' as PaymentId;

/**
 * Remembers a signature to look for, in the place of `displaced` if one is given. A named one is not kept where all places are
 * taken, one to be sent not while another sent since `rivalsSince` (epoch ms) may still land, however close behind it this one
 * comes, and not for a payment that has failed by then. Afterwards: `isKnown` whether this signature is known, `isSent` whether as one
 * that may be sent, `hasRival` whether there is such another, and the `named` ones, oldest first. Reads a few rows, however many of the
 * payment's were judged.
 */
export async function keepCandidate(
  { db }: Shard,
  candidate: NewCandidate,
  { rivalsSince = candidate.createdAt, displaced }: { rivalsSince?: number; displaced?: Candidate } = {},
): Promise<{ isNew: boolean; isKnown: boolean; isSent: boolean; hasRival: boolean; named: Candidate[] }> {
  const { paymentId, txSignature, origin, attempt, nextCheckAt, createdAt, sentAt, livemode } = candidate;
  const ofPayment = sql`payment_id = ${paymentId}`;
  const places = sql`SELECT 1 FROM payment_candidates WHERE ${ofPayment} AND origin <> 'judged' LIMIT ${CANDIDATES_MAX}`;
  const isRival = sql`${ofPayment} AND tx_signature <> ${txSignature} AND sent_at > ${rivalsSince}`;
  const [, , inserted, known, rivals, named] = await db.batch([
    db.delete(paymentCandidates).where(displaced ? and(same(displaced), eq(paymentCandidates.origin, 'named')) : sql`false`),
    // Other requests that send the same bytes leave a trace: what the network tells one of them is not true of all.
    db
      .update(paymentCandidates)
      .set({ sentAt: sql`sent_at + 1` })
      .where(sentAt === null ? sql`false` : same(candidate)),
    db
      .insert(paymentCandidates)
      .select(
        sql`SELECT ${paymentId}, ${txSignature}, ${origin}, ${attempt}, ${nextCheckAt}, ${createdAt}, ${sentAt}, ${livemode ? 1 : 0},
            coalesce((SELECT merchant_id FROM payments WHERE id = ${paymentId}), '')
          WHERE ${
            origin === 'named'
              ? sql`(SELECT count(*) FROM (${places})) < ${CANDIDATES_MAX}`
              : sql`NOT EXISTS (SELECT 1 FROM payment_candidates WHERE ${isRival})
                  AND NOT EXISTS (SELECT 1 FROM payments WHERE id = ${paymentId} AND status = 'FAILED')`
          }`,
      )
      // Named before it was sent: from now on it is one of ours, and may land for as long as any.
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
  const isSent = known.some((one) => one.origin !== 'named');
  return { isNew: inserted.length > 0, isKnown: known.length > 0, isSent, hasRival: rivals.length > 0, named };
}

/** True where this signature is looked for, or was judged already, for this payment. */
export const isCandidate = async (db: Db, paymentId: PaymentId, txSignature: string): Promise<boolean> =>
  (await db.$count(paymentCandidates, same({ paymentId, txSignature }))) > 0;

/** True where the service has broadcast a transaction of this payment since then. */
export async function hasSent(db: Db, paymentId: PaymentId, since: number): Promise<boolean> {
  const found = await db
    .select({ paymentId: paymentCandidates.paymentId })
    .from(paymentCandidates)
    .where(and(eq(paymentCandidates.paymentId, paymentId), gt(paymentCandidates.sentAt, since)))
    .limit(1)
    .get();
  return found !== undefined;
}

/**
 * True where a transaction of this payment may still land, or has: one that the service sent or a caller named since then, or one that the
 * chain showed.
 */
const mayLand = (paymentId: PaymentId, since: number): SQL =>
  sql`EXISTS (SELECT 1 FROM payment_candidates WHERE payment_id = ${paymentId}
    AND (sent_at > ${since} OR created_at > ${since} OR origin = 'found'))`;

export const abortIfSentSince = (ctx: Shard, paymentId: PaymentId, since: number): Write => abortIf(ctx, mayLand(paymentId, since));

export const isInFlight = async ({ db }: Shard, paymentId: PaymentId, since: number): Promise<boolean> =>
  (await db.get<{ mayLand: number }>(sql`SELECT ${mayLand(paymentId, since)} AS mayLand`)).mayLand === 1;

/** Forgets one that the network refused: false where another request has sent the same bytes since. */
export async function dropRefused(db: Db, candidate: NewCandidate): Promise<boolean> {
  const dropped = await db
    .delete(paymentCandidates)
    .where(and(same(candidate), eq(paymentCandidates.sentAt, candidate.sentAt ?? 0)))
    .returning({ paymentId: paymentCandidates.paymentId });
  return dropped.length > 0;
}

/** Writes the next look of each down before this one is made, in one statement. Answers those that no other look was faster with. */
export async function takeLooks(db: Db, looks: { candidate: Candidate; nextCheckAt: number }[]): Promise<Candidate[]> {
  const rows = looks.map(({ candidate: { paymentId, txSignature, attempt }, nextCheckAt }) => ({
    paymentId,
    txSignature,
    attempt,
    nextCheckAt,
  }));
  return db
    .update(paymentCandidates)
    .set({ attempt: sql`${paymentCandidates.attempt} + 1`, nextCheckAt: sql`j.value ->> 'nextCheckAt'` })
    .from(jsonRows(rows))
    .where(
      sql`${paymentCandidates.paymentId} = j.value ->> 'paymentId' AND ${paymentCandidates.txSignature} = j.value ->> 'txSignature'
        AND ${paymentCandidates.attempt} = j.value ->> 'attempt' AND ${paymentCandidates.origin} <> 'judged'`,
    )
    .returning();
}

export const findCandidate = (db: Db, paymentId: PaymentId, txSignature: string) =>
  db.select().from(paymentCandidates).where(same({ paymentId, txSignature })).get();

export const dropCandidate = (db: Db, paymentId: PaymentId, txSignature: string): Write =>
  db.delete(paymentCandidates).where(same({ paymentId, txSignature }));

/** Found and judged, so that it is not looked up again until it is forgotten at `forgetAt`. */
export const markJudged = ({ db, now }: Shard, { paymentId, txSignature }: Candidate, forgetAt: number): Write[] => [
  db
    .insert(paymentCandidates)
    .select(
      sql`SELECT ${OF_NO_PAYMENT}, tx_signature, 'judged', 0, ${forgetAt}, ${now}, NULL, livemode, '' FROM payment_candidates
        WHERE payment_id = ${paymentId} AND tx_signature = ${txSignature}`,
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

const [P, A, R] = [alias(payments, 'p'), alias(archivedPayments, 'a'), alias(refunds, 'r')];

/**
 * Transactions the chain showed us become candidates of the payments of its mode whose session or refund their memos name, unless
 * they already paid or were recorded in their mode, or were judged lately. One that is looked for by now keeps the time it was sent.
 * Any number in one parameter.
 */
export const insertFound = (ctx: Shard, found: { signature: string; nonce: string }[], dueAt: number): Write =>
  ctx.db
    .insert(paymentCandidates)
    .select(
      sql`SELECT f.id, f.signature, 'found', 0, ${dueAt}, ${ctx.now}, NULL, f.livemode, f.merchant_id
        FROM (SELECT j.value ->> 'signature' AS signature, coalesce(p.id, ${uuidOf(sql`a.id`)}, r.payment_id) AS id,
            coalesce(p.livemode, a.livemode, r.livemode) AS livemode, coalesce(p.merchant_id, a.merchant_id, r.merchant_id) AS merchant_id
          FROM ${jsonRows(found)}
          LEFT JOIN payments p ON ${rowsOnChain(ctx, P)} AND p.nonce = j.value ->> 'nonce' AND p.recovers_payment_id IS NULL AND p.reference <> ''
          LEFT JOIN archived_payments a ON ${rowsOnChain(ctx, A)} AND a.nonce = CASE WHEN p.id IS NULL THEN j.value ->> 'nonce' END
          LEFT JOIN refunds r ON ${rowsOnChain(ctx, R)} AND r.nonce = j.value ->> 'nonce') f
        WHERE f.id IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM tx_claims c WHERE c.tx_signature = f.signature AND c.livemode = f.livemode)
          AND NOT EXISTS (SELECT 1 FROM payment_candidates k WHERE k.payment_id = ${OF_NO_PAYMENT} AND k.tx_signature = f.signature AND k.livemode = f.livemode)
          AND NOT EXISTS (SELECT 1 FROM unmatched_payments u WHERE u.tx_signature = f.signature AND u.livemode = f.livemode)`,
    )
    .onConflictDoUpdate({
      target: [paymentCandidates.paymentId, paymentCandidates.txSignature],
      set: { origin: 'found', attempt: 0, nextCheckAt: dueAt, createdAt: ctx.now },
      setWhere: sql`payment_candidates.origin IN ('sent', 'named')`,
    });

/** Candidates of one origin that are due, in turns of their merchants. */
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
  const isInReach = sql`${isOf} AND ${isOfPaymentInReach(ctx, 'payment_id')}`;
  const rowids = await listDueInTurns(ctx, waiting, { isInReach, dueBefore, limit });
  return ctx.db.select().from(paymentCandidates).where(isAmongRows(rowids)).all();
}

/** How far the transactions with the service's reference key are read: `newest` from the top, `backlog` what its walks did not get to. */
export interface Walks {
  newest: Cursor;
  backlog: Cursor;
}

const NEWEST = 'service-reference';
const BACKLOG = 'service-reference-backlog';

export async function loadWalks(db: Db): Promise<Walks> {
  const known = await db
    .select()
    .from(cursors)
    .where(inArray(cursors.name, [NEWEST, BACKLOG]));
  const named = (name: string): Cursor =>
    known.find((cursor) => cursor.name === name) ?? {
      name,
      until: null,
      walkTop: null,
      walkBefore: null,
      walkStartedAt: null,
      passedAt: 0,
      version: 0,
    };
  return { newest: named(NEWEST), backlog: named(BACKLOG) };
}

/** The step fails its batch where another walker was faster. */
export const stepCursor = (ctx: Shard, before: Cursor, after: Cursor): Write[] => [
  ctx.db
    .insert(cursors)
    .values({ ...after, version: before.version + 1 })
    .onConflictDoUpdate({
      target: cursors.name,
      set: { ...after, version: before.version + 1 },
      setWhere: eq(cursors.version, before.version),
    }),
  abortUnlessChanged(ctx),
];
