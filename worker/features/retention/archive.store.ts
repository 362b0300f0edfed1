import { and, asc, eq, isNotNull, type SQL, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import { amongIds, jsonRows, setOf } from '#platform/db/among.ts';
import { type StoredPayment, type StoredReceipt, storyIdOf } from '#platform/db/archive.ts';
import { abortIf, abortIfExists, abortUnlessChanged, type Write } from '#platform/db/commit.ts';
import { accounts } from '#platform/db/tables/accounts.ts';
import {
  ANY_TYPE,
  archiveDrafts,
  archivedPayments,
  archivedReceipts,
  archivedStories,
  archivedTypes,
  archives,
} from '#platform/db/tables/archives.ts';
import { events } from '#platform/db/tables/events.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { receipts } from '#platform/db/tables/receipts.ts';
import { settlements } from '#platform/db/tables/settlements.ts';

export type ArchivableEvent = typeof events.$inferSelect;

/** Events that one search passes over, of owners whose archive fails: it reads no more of them than this. */
const PASSED_MAX = 100_000;

/**
 * The event stored first of all that the database holds, but for those of some owners; one that is not fanned out is work, and stays.
 * `isErasing`: its account is deleted, and what is left of it may name people.
 */
export function findOldest(db: Db, but: Owner[] = []) {
  const first = db
    .select({ seq: events.seq, merchantId: events.merchantId, livemode: events.livemode, createdAt: events.createdAt })
    .from(events)
    .where(isNotNull(events.fannedOutAt))
    .orderBy(asc(events.seq))
    .limit(but.length === 0 ? 1 : PASSED_MAX)
    .as('first');
  const names = but.map(({ merchantId, livemode }) => `${merchantId}:${livemode ? 1 : 0}`);
  return db
    .select({
      merchantId: first.merchantId,
      livemode: first.livemode,
      createdAt: first.createdAt,
      isErasing: sql<number>`EXISTS (SELECT 1 FROM accounts WHERE id = ${first.merchantId} AND status = 'deleted' AND erased_at IS NULL)`,
    })
    .from(first)
    .where(sql`${first.merchantId} || ':' || ${first.livemode} NOT IN ${setOf(names)}`)
    .orderBy(asc(first.seq))
    .limit(1)
    .get();
}

/** Of an object: how many events, and how many bytes of what they tell. It is read as a whole, in memory that is small. */
export interface RunLimits {
  events: number;
  bytes: number;
}

/**
 * A merchant's events in the order in which they were stored, from the first one on up to one that happened at `before` or later, or to
 * one behind as many or as much as `limits` says. The first one is always among them.
 */
export async function listRun(db: Db, { merchantId, livemode }: Owner, before: number, limits: RunLimits): Promise<ArchivableEvent[]> {
  const mine = and(eq(events.merchantId, merchantId), eq(events.livemode, livemode), isNotNull(events.fannedOutAt));
  const first = db
    .select({ seq: events.seq, createdAt: events.createdAt, bytes: sql`length(${events.data})`.as('bytes') })
    .from(events)
    .where(mine)
    .orderBy(asc(events.seq))
    .limit(limits.events);
  const sums = sql`SELECT seq, created_at, sum(bytes) OVER (ORDER BY seq) - bytes AS preceding FROM (${first})`;
  const end = sql`(SELECT seq FROM (${sums}) WHERE created_at >= ${before} OR preceding >= ${limits.bytes} ORDER BY seq LIMIT 1)`;
  return db
    .select()
    .from(events)
    .where(and(mine, sql`${events.seq} < coalesce(${end}, ${Number.MAX_SAFE_INTEGER})`))
    .orderBy(asc(events.seq))
    .limit(limits.events);
}

/** Names were still being erased in the rows of its account then, or are. */
const isErasingSince = (at: number): SQL => sql`status = 'deleted' AND coalesce(erased_at >= ${at}, true)`;

/** A row that was written to the archive, and where its line is. */
export interface Placed<T> {
  row: T;
  lineAt: number;
  lineLength: number;
}

/** An object as it was written: what it holds, and where in it each payment and receipt is. */
export interface Written extends Owner {
  key: string;
  /** When its rows were read. */
  readAt: number;
  events: ArchivableEvent[];
  payments: Placed<StoredPayment>[];
  receipts: Placed<StoredReceipt>[];
}

/**
 * The object's place in the index, and the end of what it holds here; all of it or, where an event has gone
 * meanwhile or the object was given up as a draft, nothing. A receipt leaves only if the object holds the very document, a payment only as
 * the version that it holds, and if it is still over. The move takes that version: a verb that has read the row misses it.
 */
export function moveToArchive(ctx: Shard, written: Written): Write[] {
  const { db } = ctx;
  const { merchantId, livemode, key } = written;
  const ids = written.events.map(({ id }) => id).sort();
  const types = [...countTypes(written.events)].map(([type, count]) => ({ type, count }));
  const stories = [...new Set(written.events.flatMap(({ paymentId, membershipId }) => [paymentId, membershipId]))].filter(
    (id) => id !== null,
  );
  const seqs = written.events.map(({ seq }) => seq);
  return [
    db.insert(archives).values({ merchantId, livemode, key, firstEventId: ids[0]!, lastEventId: ids.at(-1)! }),
    db
      .insert(archivedTypes)
      .select(
        sql`SELECT ${merchantId}, ${livemode ? 1 : 0}, j.value ->> 'type', ${ARCHIVE_ID}, j.value ->> 'count' FROM ${jsonRows(types)}`,
      ),
    db.insert(archivedStories).select(sql`SELECT ${storyIdOf(sql`j.value`)}, ${ARCHIVE_ID} FROM ${jsonRows(stories)}`),
    ...moveReceipts(db, written.receipts),
    ...movePayments(db, written.payments),
    db.delete(events).where(amongIds(events.seq, seqs)),
    abortIf(ctx, sql`changes() <> ${seqs.length}`),
    abortIfExists(ctx, accounts, sql`id = ${merchantId} AND ${isErasingSince(written.readAt)}`),
    db.delete(archiveDrafts).where(and(eq(archiveDrafts.key, key), eq(archiveDrafts.isGivenUp, false))),
    abortUnlessChanged(ctx),
  ];
}

/** The batch runs alone, so the highest number is the one it has just given. */
const ARCHIVE_ID = sql`(SELECT max(id) FROM archives)`;
const PLACE = sql`${ARCHIVE_ID}, j.value ->> 'lineAt', j.value ->> 'lineLength'`;

function moveReceipts(db: Db, moved: Placed<StoredReceipt>[]): Write[] {
  const rows = moved.map(({ row: { id, document, sha256, signature }, ...place }) => ({ id, document, sha256, signature, ...place }));
  return [
    db.insert(archivedReceipts).select(
      sql`SELECT r.rowid, ${bytesOf('r.id')}, ${bytesOf('r.merchant_id')}, r.livemode, ${bytesOf('r.product_id')},
          ${bytesOf('r.payment_id')}, r.payer, coalesce(r.document ->> 'product_name', ''), r.created_at, ${PLACE}
        FROM ${jsonRows(rows)} JOIN receipts r ON r.id = j.value ->> 'id' AND r.document = j.value ->> 'document'
          AND r.sha256 = j.value ->> 'sha256' AND r.signature = j.value ->> 'signature'`,
    ),
    db
      .delete(receipts)
      .where(sql`id IN ${setOf(rows.map(({ id }) => id))} AND EXISTS (SELECT 1 FROM archived_receipts a WHERE a.rowid = receipts.rowid)`),
  ];
}

function movePayments(db: Db, moved: Placed<StoredPayment>[]): Write[] {
  const rows = moved.map(({ row: { id, version }, ...place }) => ({ id, version, ...place }));
  const ids = setOf(rows.map(({ id }) => id));
  const isMoved = (column: string) => sql`EXISTS (SELECT 1 FROM archived_payments a WHERE a.id = ${bytesOf(column)})`;
  return [
    db.insert(archivedPayments).select(
      sql`SELECT ${bytesOf('p.id')}, ${bytesOf('p.merchant_id')}, p.livemode, ${bytesOf('p.product_id')}, ${bytesOf('p.membership_id')},
          CASE WHEN p.reference <> '' THEN p.nonce END, p.customer_ref, p.payer_wallet, p.asset, p.price_amount, p.overpaid_amount,
          p.fee_amount, p.terms ->> 'accessPeriodDays', p.terms ->> 'periodEndsAt', p.terms ->> 'isMetered' IS NOT NULL,
          p.confirmed_at, p.created_at, ${PLACE}
        FROM ${jsonRows(rows)} JOIN payments p ON p.id = j.value ->> 'id' AND p.version = j.value ->> 'version'
        WHERE EXISTS (SELECT 1 FROM payments WHERE payments.id = p.id AND ${IS_OVER})`,
    ),
    db.delete(settlements).where(sql`payment_id IN ${ids} AND ${isMoved('settlements.payment_id')}`),
    db.delete(payments).where(sql`id IN ${ids} AND ${isMoved('payments.id')}`),
  ];
}

const bytesOf = (column: string): SQL => storyIdOf(sql.raw(column));

function countTypes(happened: ArchivableEvent[]): Map<string, number> {
  const counts = new Map([[ANY_TYPE, happened.length]]);
  for (const { type } of happened) counts.set(type, (counts.get(type) ?? 0) + 1);
  return counts;
}

/** Whose events: of a merchant, in one mode. */
export interface Owner {
  merchantId: AccountId;
  livemode: boolean;
}

/**
 * Of these receipts and payments of a merchant, those that can go. Receipts: in a chain, and not its end, whose hash the next link is
 * made of; that one stays for good, which is one receipt for each time that its chain got none for as long as receipts are kept.
 * The one stored last of all stays too, so that its number is not given again. Payments: final, the way they were paid, with nothing
 * still to look at or to tell.
 */
export async function listMovable(db: Db, { merchantId, livemode }: Owner, { receiptIds, paymentIds }: Named) {
  const chainEnd = (isPaidByOwner: 0 | 1) => sql`(SELECT max(r.link_seq) FROM receipts r WHERE r.merchant_id = ${merchantId}
    AND r.livemode = ${livemode ? 1 : 0} AND r.is_paid_by_owner = ${isPaidByOwner})`;
  const [issued, paid, brought] = await db.batch([
    db
      .select()
      .from(receipts)
      .where(
        sql`id IN ${setOf(receiptIds)} AND link_seq < CASE is_paid_by_owner WHEN 1 THEN ${chainEnd(1)} ELSE ${chainEnd(0)} END
          AND rowid < (SELECT max(rowid) FROM receipts)`,
      ),
    db
      .select()
      .from(payments)
      .where(sql`id IN ${setOf(paymentIds)} AND ${IS_OVER}`),
    db.select().from(settlements).where(amongIds('payment_id', paymentIds)),
  ]);
  const settlementOf = new Map(brought.map((settlement) => [settlement.paymentId, settlement]));
  return {
    issued,
    paid: paid.map((payment) => ({ ...payment, settlement: settlementOf.get(payment.id) })),
  };
}

interface Named {
  receiptIds: string[];
  paymentIds: string[];
}

/** SQL of the row `payments`: final, paid, and with nothing left to read or to send. */
const IS_OVER = sql`status = 'CONFIRMED' AND finalized_at IS NOT NULL AND orphaned_at IS NULL AND recovers_payment_id IS NULL
  AND access_revoked_at IS NULL AND NOT EXISTS (SELECT 1 FROM refunds f WHERE f.payment_id = payments.id AND f.seen_at IS NULL)
  AND EXISTS (SELECT 1 FROM tx_claims c WHERE c.subject_id = payments.id AND c.final_at IS NOT NULL AND c.dropped_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM settlements s WHERE s.payment_id = payments.id AND s.status <> 'settled')
  AND NOT EXISTS (SELECT 1 FROM payment_candidates c WHERE c.payment_id = payments.id)
  AND NOT EXISTS (SELECT 1 FROM events e WHERE e.payment_id = payments.id AND e.fanned_out_at IS NULL)`;
