import { and, asc, eq, getTableColumns, isNotNull, type SQL, sql } from 'drizzle-orm';
import { type AccountId, NO_PARTITION, partitionOf } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import { actsOfPayments } from '#platform/db/acts/find.ts';
import { eventsOf } from '#platform/db/acts/read.ts';
import { amongIds, boundId, digitsField, digitsOf, idField, idOfText, jsonRows, setOfIds, textOfId } from '#platform/db/among.ts';
import { ARCHIVED_VERSION_MAX, type StoredPayment, type StoredReceipt } from '#platform/db/archive.ts';
import { abortIf, abortIfExists, abortUnlessChanged, type Write } from '#platform/db/commit.ts';
import { claimKeysOf, isClaimOf } from '#platform/db/outcome.ts';
import { nextNumber } from '#platform/db/partitions/numbers.ts';
import { accounts } from '#platform/db/tables/accounts.ts';
import {
  ANY_TYPE,
  archiveDrafts,
  archivedSales,
  archivedSubjects,
  archivedTypes,
  archiveOwners,
  archives,
  PAYMENT_FIELDS,
  RECEIPT_FIELDS,
} from '#platform/db/tables/archives.ts';
import { cursors } from '#platform/db/tables/candidates.ts';
import { decodeId, startOfAddress } from '#platform/db/tables/columns.ts';
import { ACT_EVENTS_MAX, acts, type StoredEvent } from '#platform/db/tables/events.ts';
import { type Payment, payments } from '#platform/db/tables/payments.ts';
import { receipts } from '#platform/db/tables/receipts.ts';
import { txClaims } from '#platform/db/tables/tx-claims.ts';

/** Acts that fill an object, about two events each. */
const FULL_ACTS = 100;

/** Owner of acts on a page of the walk. */
export interface PassedOwner extends Owner {
  /** Last act of the owner on the page. */
  lastSeq: number;
  /** An act that is not fanned out yet is pending work and is skipped. */
  hasFannedOut: 0 | 1;
  /** True if the account is deleted and its events may still contain personal names. */
  isErasing: 0 | 1;
  /** True if the acts up to the end of the page fill an object. */
  isFull: 0 | 1;
  /** Acts of the page, of all owners. */
  pageActs: number;
}

/** Lists the owners of the next `limit` acts after `after`, in storage order, up to the first one created at `before` or later. */
export const listPassedOwners = (
  db: Db,
  { after, before, limit }: { after: number; before: number; limit: number },
): Promise<PassedOwner[]> =>
  db.all(sql`SELECT * FROM (WITH page AS MATERIALIZED (SELECT seq, merchant_id, livemode, created_at, fanned_out_at FROM acts WHERE seq > ${after} ORDER BY seq
        LIMIT iif((SELECT created_at FROM acts WHERE seq > ${after} ORDER BY seq LIMIT 1) < ${before}, ${limit}, 0)),
      passed AS MATERIALIZED (SELECT * FROM page WHERE seq < coalesce((SELECT min(seq) FROM page WHERE created_at >= ${before}), ${Number.MAX_SAFE_INTEGER}))
    SELECT ${textOfId(sql`merchant_id`)} AS merchantId, livemode, max(seq) AS lastSeq, max(fanned_out_at IS NOT NULL) AS hasFannedOut,
      EXISTS (SELECT 1 FROM accounts WHERE id = merchant_id AND status = 'deleted' AND erased_at IS NULL) AS isErasing,
      (SELECT count(*) FROM (SELECT 1 FROM acts a WHERE a.merchant_id = passed.merchant_id AND a.livemode = passed.livemode
        AND a.seq <= (SELECT max(seq) FROM passed) LIMIT ${FULL_ACTS})) = ${FULL_ACTS} AS isFull,
      (SELECT count(*) FROM passed) AS pageActs
    FROM passed GROUP BY merchant_id, livemode ORDER BY min(seq))`);

const CURSOR = 'archive';

/** Last act that the walk has passed. Acts of owners with few of them stay behind it. */
export const PASSED_SEQ = `(SELECT coalesce(max(CAST(walk_before AS INTEGER)), 0) FROM cursors WHERE name = '${CURSOR}')`;

export const readPassedSeq = async (db: Db): Promise<number> => (await db.get<{ seq: number }>(sql.raw(`SELECT ${PASSED_SEQ} AS seq`))).seq;

export const savePassedSeq = ({ db, now }: Shard, seq: number) =>
  db
    .insert(cursors)
    .values({ name: CURSOR, walkBefore: String(seq), passedAt: now, version: 1 })
    .onConflictDoUpdate({ target: cursors.name, set: { walkBefore: String(seq), passedAt: now } });

export interface RunLimits {
  events: number;
  bytes: number;
}

/**
 * Lists a merchant's events in storage order, from the oldest up to the first one created at `before` or later, or until `limits` are met.
 * The oldest event is always included. Returns none if the oldest was created at `before` or later.
 */
export async function listRun(db: Db, { merchantId, livemode }: Owner, before: number, limits: RunLimits): Promise<StoredEvent[]> {
  const mine = and(eq(acts.merchantId, merchantId), eq(acts.livemode, livemode), isNotNull(acts.fannedOutAt));
  const first = db
    .select({
      seq: acts.seq,
      createdAt: acts.createdAt,
      bytes: sql`length(${acts.body})`.as('bytes'),
      events: sql`json_array_length('[' || ${acts.types} || ']')`.as('events'),
    })
    .from(acts)
    .where(mine)
    .orderBy(asc(acts.seq))
    .limit(limits.events + 1);
  const sums = sql`SELECT seq, created_at, sum(bytes) OVER (ORDER BY seq) - bytes AS preceding, sum(events) OVER (ORDER BY seq) AS through FROM (${first})`;
  const end = sql`(SELECT seq FROM (${sums}) WHERE created_at >= ${before} OR preceding >= ${limits.bytes} OR preceding > 0 AND through > ${limits.events} ORDER BY seq LIMIT 1)`;
  const run = await db
    .select()
    .from(acts)
    .where(and(mine, sql`${acts.seq} < coalesce(${end}, ${Number.MAX_SAFE_INTEGER})`))
    .orderBy(asc(acts.seq));
  return openUpTo(run, limits.bytes);
}

/** Opens acts until their events have so many bytes. The database knows the length of the squeezed bodies alone. */
function openUpTo(run: (typeof acts.$inferSelect)[], bytesMax: number): StoredEvent[] {
  const found: StoredEvent[] = [];
  let bytes = 0;
  for (const act of run) {
    if (bytes >= bytesMax) break;
    const opened = eventsOf(act);
    bytes += JSON.stringify(opened).length;
    found.push(...opened);
  }
  return found;
}

const isErasingSince = (at: number): SQL => sql`status = 'deleted' AND coalesce(erased_at >= ${at}, true)`;

export interface ArchivedRow<T> {
  row: T;
  lineAt: number;
  lineLength: number;
}

export interface Written extends Owner {
  key: string;
  readAt: number;
  events: StoredEvent[];
  payments: ArchivedRow<StoredPayment>[];
  receipts: ArchivedRow<StoredReceipt>[];
}

/**
 * Plans the move of an object's rows into the index. The batch aborts if an event is missing or the draft was given up.
 * A receipt moves only if the object holds it with the same hash and signature. A payment moves only at the archived version and if `IS_OVER` still
 * holds, so a concurrent write that read the row fails its version check.
 */
export function moveToArchive(ctx: Shard, written: Written): Write[] {
  const { db } = ctx;
  const { merchantId, livemode, key } = written;
  const ids = written.events.map(({ id }) => id).sort();
  const types = [...countTypes(written.events)].map(([type, count]) => ({ type, count }));
  const seqs = [...new Set(written.events.map(({ seq }) => Math.floor(seq / ACT_EVENTS_MAX)))];
  return [
    db
      .insert(archives)
      .values({ id: nextNumber(ctx, ARCHIVE_ID), merchantId, livemode, key, firstEventId: ids[0]!, lastEventId: ids.at(-1)! }),
    db
      .insert(archivedTypes)
      .select(
        sql`SELECT ${boundId(merchantId)}, ${livemode ? 1 : 0}, j.value ->> 'type', ${ARCHIVE_ID}, j.value ->> 'count' FROM ${jsonRows(types)}`,
      ),
    numberOwner(db, written),
    ...moveReceipts(db, written, written.receipts),
    ...movePayments(db, written, written.payments),
    noteSubjects(db, written),
    db.delete(acts).where(amongIds(acts.seq, seqs)),
    abortIf(ctx, sql`changes() <> ${seqs.length}`),
    abortIfExists(ctx, accounts, sql`id = ${boundId(merchantId)} AND ${isErasingSince(written.readAt)}`),
    db.delete(archiveDrafts).where(and(eq(archiveDrafts.key, key), eq(archiveDrafts.isGivenUp, false))),
    abortUnlessChanged(ctx),
  ];
}

/** Highest id is this batch's own: D1 runs a batch in isolation. */
const ARCHIVE_ID = sql`(SELECT max(id) FROM archives)`;
const LINE_POSITION = sql`${ARCHIVE_ID}, j.value ->> 'lineAt', j.value ->> 'lineLength'`;

const ownerNumber = ({ merchantId, livemode }: Owner): SQL =>
  sql`(SELECT id FROM archive_owners WHERE merchant_id = ${boundId(merchantId)} AND livemode = ${livemode ? 1 : 0})`;

/** Owners of a partition. All numbers have four bytes. */
const OWNERS_MAX = 65_536;

/** Gives the owner its number when its first object is archived. */
function numberOwner(db: Db, owner: Owner): Write {
  const first = (partitionOf(owner.merchantId) ?? NO_PARTITION) * OWNERS_MAX;
  return db.insert(archiveOwners).select(
    sql`SELECT coalesce((SELECT max(id) + 1 FROM archive_owners WHERE id BETWEEN ${first} AND ${first + OWNERS_MAX - 1}), ${first}),
      ${boundId(owner.merchantId)}, ${owner.livemode ? 1 : 0} WHERE ${ownerNumber(owner)} IS NULL`,
  );
}

const nulls = (fields: readonly unknown[]): SQL => sql.raw(fields.map(() => 'NULL').join(', '));

function moveReceipts(db: Db, owner: Owner, moved: ArchivedRow<StoredReceipt>[]): Write[] {
  const rows = moved.map(({ row: { id, sha256, signature }, ...position }) => ({
    ...{ id, sha256: digitsOf(receipts.sha256, sha256), signature: digitsOf(receipts.signature, signature) },
    ...position,
  }));
  return [
    db.insert(archivedSales).select(
      sql`SELECT r.rowid, ${ownerNumber(owner)}, r.payment_id, r.product_id, ${startOfAddress(sql`r.payer`)},
          coalesce((SELECT p.created_at FROM payments p WHERE p.id = r.payment_id), r.created_at), ${nulls(PAYMENT_FIELDS)},
          r.id, r.is_paid_by_owner, r.seq, r.after_seq, r.product_name, ${LINE_POSITION}
        FROM ${jsonRows(rows)} JOIN receipts r ON r.id = ${idField('id')}
          AND r.sha256 = ${digitsField('sha256')} AND r.signature = ${digitsField('signature')}`,
    ),
    db
      .delete(receipts)
      .where(sql`id IN ${setOfIds(rows.map(({ id }) => id))} AND EXISTS (SELECT 1 FROM archived_sales a WHERE a.receipt_id = receipts.id)`),
  ];
}

/** Adds each payment to the row of its receipt, and leaves of its claim what refuses another. */
function movePayments(db: Db, owner: Owner, moved: ArchivedRow<StoredPayment>[]): Write[] {
  const rows = moved.map(({ row: { id, version, nonce }, ...position }) => ({
    ...{ id, version, nonce: digitsOf(archivedSales.nonce, nonce) },
    ...position,
  }));
  const ids = setOfIds(rows.map(({ id }) => id));
  const ofPayment = Object.fromEntries(PAYMENT_FIELDS.map((field) => [field, sql.raw(`excluded.${archivedSales[field].name}`)]));
  const isMoved = sql`id IN ${ids} AND EXISTS (SELECT 1 FROM archived_payments a WHERE a.id = payments.id)`;
  return [
    db
      .insert(archivedSales)
      .select(
        sql`SELECT (SELECT min(0, coalesce(min(row_number), 0)) FROM archived_sales) - 1 - j.key, ${ownerNumber(owner)}, p.id, p.product_id,
          ${startOfAddress(sql`p.payer_wallet`)}, p.created_at, p.membership_id, CASE WHEN p.reference <> '' THEN ${digitsField('nonce')} END, p.customer_ref,
          CASE WHEN p.customer_wallet <> p.payer_wallet THEN ${startOfAddress(sql`p.customer_wallet`)} END, p.overpaid_amount, p.fee_amount,
          p.terms ->> 'accessPeriodDays', p.terms ->> 'periodEndsAt', p.asset, p.price_amount, p.terms ->> 'isMetered' IS NOT NULL, p.confirmed_at,
          ${LINE_POSITION}, ${nulls(RECEIPT_FIELDS)}
        FROM ${jsonRows(rows)} JOIN payments p ON p.id = ${idField('id')} AND p.version = j.value ->> 'version'
        WHERE EXISTS (SELECT 1 FROM payments WHERE payments.id = p.id AND ${IS_OVER} AND NOT ${HAS_RECEIPT})`,
      )
      .onConflictDoUpdate({
        target: archivedSales.paymentId,
        set: { ...ofPayment, receiptArchiveId: sql`nullif(receipt_archive_id, excluded.archive_id)` },
      }),
    db
      .update(txClaims)
      .set({ txSignature: null, confirmedAt: null, slot: sql`nullif(slot, (SELECT p.slot FROM payments p WHERE p.id = subject_id))` })
      .where(
        sql`tx_key IN (${claimKeysOf(sql`SELECT tx_signature AS signature, id FROM ${payments} WHERE ${isMoved}`)}) AND +subject_id IN ${ids}`,
      ),
    db.delete(payments).where(isMoved),
  ];
}

/** Notes what the events are about, except payments that the object holds, and their memberships. */
function noteSubjects(db: Db, { events, payments: moved }: Written): Write {
  const subjects = [...new Set(events.flatMap(({ paymentId, membershipId }) => [paymentId, membershipId]))].filter((id) => id !== null);
  const ids = setOfIds(moved.map(({ row }) => row.id));
  return db.insert(archivedSubjects).select(
    sql`WITH held AS MATERIALIZED (SELECT payment_id, membership_id FROM archived_sales WHERE payment_id IN ${ids} AND archive_id = ${ARCHIVE_ID})
      SELECT id, ${ARCHIVE_ID} FROM (SELECT ${idOfText(sql`j.value`)} AS id FROM ${jsonRows(subjects)})
      WHERE id NOT IN (SELECT payment_id FROM held UNION ALL SELECT membership_id FROM held WHERE membership_id IS NOT NULL)`,
  );
}

function countTypes(happened: StoredEvent[]): Map<string, number> {
  const counts = new Map([[ANY_TYPE, happened.length]]);
  for (const { type } of happened) counts.set(type, (counts.get(type) ?? 0) + 1);
  return counts;
}

export interface Owner {
  merchantId: AccountId;
  livemode: boolean;
}

/**
 * Lists the receipts and payments that may move. Receipts: up to the anchor of the end of their chain (the next receipt needs the end's
 * number and hash), but not the newest receipt (its rowid must not be reused). Payments: `IS_OVER` holds and the receipt moves too, because
 * a receipt is found by its payment.
 */
export async function listMovable(db: Db, { merchantId, livemode }: Owner, { receiptIds, paymentIds }: Named) {
  const endAnchor = (isPaidByOwner: 0 | 1) => sql`(SELECT r.anchor_seq FROM receipts r WHERE r.merchant_id = ${boundId(merchantId)}
    AND r.livemode = ${livemode ? 1 : 0} AND r.is_paid_by_owner = ${isPaidByOwner} ORDER BY r.seq DESC LIMIT 1)`;
  const [issued, paid] = await db.batch([
    db
      .select()
      .from(receipts)
      .where(
        sql`id IN ${setOfIds(receiptIds)} AND seq <= CASE is_paid_by_owner WHEN 1 THEN ${endAnchor(1)} ELSE ${endAnchor(0)} END
          AND rowid < (SELECT max(rowid) FROM receipts)`,
      ),
    db
      .select({ payment: payments, hasReceipt: sql<number>`${HAS_RECEIPT}` })
      .from(payments)
      .where(sql`id IN ${setOfIds(paymentIds)} AND ${IS_OVER}`),
  ]);
  const moved = new Set<string | null>(issued.map(({ id }) => id));
  const movable = paid.filter(({ payment, hasReceipt }) => !hasReceipt || moved.has(payment.receiptId));
  return {
    issued,
    paid: await withoutWaitingActs(
      db,
      movable.map(({ payment }) => payment),
    ),
  };
}

/** Leaves out payments with acts that are not fanned out yet. At this version of a payment no further act becomes so. */
async function withoutWaitingActs(db: Db, paid: Payment[]): Promise<Payment[]> {
  if (paid.length === 0) return [];
  const waiting = await db.all<{ about: ArrayLike<number> }>(
    sql`SELECT about FROM (${actsOfPayments(paid)}) t JOIN acts a ON a.seq = t.seq WHERE a.fanned_out_at IS NULL`,
  );
  const held = new Set<string>(waiting.map(({ about }) => decodeId(about)));
  return paid.filter(({ id }) => !held.has(id));
}

interface Named {
  receiptIds: string[];
  paymentIds: string[];
}

const HAS_RECEIPT = sql`EXISTS (SELECT 1 FROM receipts r WHERE r.id = payments.receipt_id)`;

/** SQL condition on `payments`: final, paid, and nothing left to read from the chain. */
const IS_OVER = sql`status = 'CONFIRMED' AND version <= ${sql.raw(String(ARCHIVED_VERSION_MAX))} AND finalized_at IS NOT NULL AND orphaned_at IS NULL AND recovers_payment_id IS NULL
  AND access_revoked_at IS NULL AND NOT EXISTS (SELECT 1 FROM refunds f WHERE f.payment_id = payments.id AND f.seen_at IS NULL)
  AND EXISTS (SELECT 1 FROM tx_claims WHERE ${isClaimOf(getTableColumns(payments))} AND final_at IS NOT NULL AND dropped_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM payment_candidates c WHERE c.payment_id = payments.id)`;
