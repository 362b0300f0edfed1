import { and, asc, eq, gt, inArray, lte, or, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { PaymentId } from '#core/ids.ts';
import { amongIds, setOf } from '#platform/db/among.ts';
import { abortIfExists, type Write } from '#platform/db/commit.ts';
import { rowsOf } from '#platform/db/page.ts';
import { paidFor } from '#platform/db/search/customer.ts';
import type { ErasedKey, Erasing } from '#platform/db/search/erasing.ts';
import { archivedPayments } from '#platform/db/tables/archives.ts';
import { endedSessions, handoffs, identitySessions, paymentSessions } from '#platform/db/tables/checkout.ts';
import { mails } from '#platform/db/tables/mail.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { buyerDetails, receiptMetadata } from '#platform/db/tables/receipts.ts';
import { meteredSessions, settlements } from '#platform/db/tables/settlements.ts';
import { subscriptionAuthorizations } from '#platform/db/tables/subscriptions/authorizations.ts';
import { stepRows } from '#platform/db/versioned.ts';
import type { Customer } from '#rules/balance.ts';

/** Rows of one kind that a step changes. */
export const ROWS_MAX = 100;

const refIn = (key: Customer): string | null => ('customerRef' in key ? key.customerRef : null);

/** SQL of terms without metadata, and without the proven identity. An open session retains the platform, so that its payment is judged the same. */
const NAMELESS_TERMS = sql`json_remove(iif(terms -> '$.identity' IS NULL, terms,
  json_set(terms, '$.identity.providerUserId', '', '$.identity.username', NULL)), '$.metadata')`;
const HAS_NAMES = sql`(email IS NOT NULL OR terms -> '$.metadata' IS NOT NULL OR terms ->> '$.identity.providerUserId' <> '')`;

/** SQL conditions of a customer's rows that are not erased yet, each with an index. */
function unerased({ ctx, until }: Erasing, { key }: ErasedKey): SQL[] {
  const isTheirs = 'customerRef' in key ? [eq(payments.customerRef, key.customerRef)] : paidFor(payments, [key.walletAddress]);
  const isNamed = 'customerRef' in key ? sql`true` : HAS_NAMES;
  return isTheirs.map((isIt) => sql`${rowsOf(payments, ctx)} AND ${isIt} AND ${isNamed} AND +${lte(payments.createdAt, until)}`);
}

/** Plans the erasure of payments, and of the sessions by which their buyers proved an identity or were handed off. */
export async function planPayments(erasing: Erasing): Promise<Write[]> {
  const { db } = erasing.ctx;
  const writes: Write[] = [];
  for (const one of erasing.keys)
    for (const condition of unerased(erasing, one)) {
      const rows = await db.select({ id: payments.id, terms: payments.terms }).from(payments).where(condition).limit(ROWS_MAX);
      if (rows.length === 0) continue;
      const ids = rows.map(({ id }) => id);
      const customerRef = refIn(one.erased);
      const named = (name: 'identitySessionId' | 'handoffId') => rows.flatMap(({ terms }) => terms[name] ?? []);
      writes.push(
        db.delete(identitySessions).where(amongIds(identitySessions.id, named('identitySessionId'))),
        db.delete(handoffs).where(amongIds(handoffs.id, named('handoffId'))),
        stepRows(db, payments, { email: null, terms: NAMELESS_TERMS, ...(customerRef && { customerRef }) }, amongIds(payments.id, ids)),
      );
    }
  return writes;
}

/** SQL of the receipts of a customer with rows that are erased already. */
const receiptIds = ({ ctx }: Erasing, { erased }: ErasedKey): SQL => {
  const of = (table: typeof payments | typeof archivedPayments): SQL =>
    'customerRef' in erased
      ? sql`${rowsOf(table, ctx)} AND ${eq(table.customerRef, erased.customerRef)}`
      : sql`${rowsOf(table, ctx)} AND (${or(...paidFor(table, [erased.walletAddress]))})`;
  return sql`SELECT ${payments.receiptId} FROM ${payments} WHERE ${of(payments)}
    UNION ALL SELECT r.id FROM ${archivedPayments} JOIN archived_receipts r ON r.payment_id = ${archivedPayments.id} WHERE ${of(archivedPayments)}`;
};

const planInvoices = (erasing: Erasing, one: ErasedKey): Write =>
  stepRows(
    erasing.ctx.db,
    receiptMetadata,
    { metadata: sql`json_remove(metadata, '$.bill_to')`, billedBy: null },
    sql`receipt_id IN (SELECT m.receipt_id FROM receipt_metadata m WHERE m.receipt_id IN (${receiptIds(erasing, one)})
      AND m.metadata -> '$.bill_to' IS NOT NULL AND m.updated_at <= ${erasing.until} LIMIT ${ROWS_MAX})`,
  );

/** Plans the erasure of a reference where rows have no other personal data, or are deleted. */
function planReferences({ ctx, until }: Erasing, from: string, customerRef: string): Write[] {
  const { db, now } = ctx;
  const of = (table: { merchantId: SQLiteColumn; livemode: SQLiteColumn; customerRef: SQLiteColumn; createdAt: SQLiteColumn }): SQL =>
    sql`${eq(table.merchantId, ctx.merchantId)} AND ${eq(table.livemode, ctx.livemode)} AND ${eq(table.customerRef, from)}
      AND +${lte(table.createdAt, until)}`;
  const upTo = (table: Parameters<typeof of>[0], key: SQLiteColumn): SQL =>
    sql`${key} IN (SELECT ${key} FROM ${key.table} WHERE ${of(table)} LIMIT ${ROWS_MAX})`;
  // Under way, or failed some days ago. Each of the two conditions has an index.
  const unsettled = (is: SQL): SQL => and(is, of(settlements))!;
  return [
    db.update(archivedPayments).set({ customerRef }).where(upTo(archivedPayments, archivedPayments.id)),
    db.update(settlements).set({ customerRef }).where(unsettled(sql`status <> 'settled' AND next_check_at IS NOT NULL`)),
    db.update(settlements).set({ customerRef }).where(unsettled(sql`status = 'failed' AND next_check_at IS NULL`)),
    stepRows(
      db,
      subscriptionAuthorizations,
      { customerRef, email: null, terms: NAMELESS_TERMS },
      upTo(subscriptionAuthorizations, subscriptionAuthorizations.id),
    ),
    db.update(meteredSessions).set({ customerRef }).where(upTo(meteredSessions, meteredSessions.id)),
    stepRows(
      db,
      paymentSessions,
      { customerRef, metadata: {}, expiresAt: sql`min(expires_at, ${now})` },
      upTo(paymentSessions, paymentSessions.id),
    ),
    db.delete(handoffs).where(and(of(handoffs), sql`payment_id IS NULL`)),
  ];
}

/** Plans the same for a wallet, which stays: addresses and identities alone are erased. */
const planWallet = ({ ctx, until }: Erasing, wallet: string): Write[] => [
  stepRows(
    ctx.db,
    subscriptionAuthorizations,
    { email: null, terms: NAMELESS_TERMS },
    and(
      rowsOf(subscriptionAuthorizations, ctx, [[subscriptionAuthorizations.subscriberWallet, wallet]]),
      sql`customer_ref IS NULL AND ${HAS_NAMES}`,
      lte(subscriptionAuthorizations.createdAt, until),
    ),
  ),
  ctx.db
    .delete(handoffs)
    .where(
      and(
        rowsOf(handoffs, ctx, [[handoffs.walletAddress, wallet]]),
        sql`payment_id IS NULL AND customer_ref IS NULL`,
        lte(handoffs.createdAt, until),
      ),
    ),
];

/** Rows that a step reads of a table without an index of customers. */
const WALKED_MAX = 2_000;

/**
 * Plans the erasure of unpaid checkouts after the row `after`. They are replaced instead of updated, so that a move of the partition needs no
 * trigger for it. `end`: last row of the page. null: the walk is over.
 */
export async function planEnded({ ctx, customer, until }: Erasing, after: string): Promise<{ writes: Write[]; end: string | null }> {
  const { db } = ctx;
  const isAhead = gt(endedSessions.id, after as PaymentId);
  const [last] = await db
    .select({ id: endedSessions.id })
    .from(endedSessions)
    .where(isAhead)
    .orderBy(asc(endedSessions.id))
    .limit(1)
    .offset(WALKED_MAX - 1);
  const isOfPage = last ? and(isAhead, lte(endedSessions.id, last.id)) : isAhead;
  const isTheirs = and(rowsOf(endedSessions, ctx), inArray(endedSessions.customerRef, [...customer.refs.keys()]));
  const rows = await db
    .select()
    .from(endedSessions)
    .where(and(isOfPage, isTheirs, lte(endedSessions.createdAt, until)));
  const writes = rows.flatMap((row) => [
    db.delete(endedSessions).where(eq(endedSessions.id, row.id)),
    db.insert(endedSessions).values({ ...row, customerRef: customer.refs.get(row.customerRef!)! }),
  ]);
  return { writes, end: last?.id ?? null };
}

export const planRows = (erasing: Erasing): Write[] =>
  erasing.keys.flatMap((one) => {
    const { key, erased } = one;
    const others = 'customerRef' in key ? planReferences(erasing, key.customerRef, refIn(erased)!) : planWallet(erasing, key.walletAddress);
    return [...others, planInvoices(erasing, one)];
  });

/** Plans the erasure of details for invoices, and of emails: those to the buyer are not sent, and none names the buyer. */
export function planEmails({ ctx, customer }: Erasing, buyerKeys: readonly Uint8Array[], addressKeys: readonly string[]): Write[] {
  const { db, wallNow } = ctx;
  const isOurs = eq(mails.accountId, ctx.merchantId);
  return [
    db.delete(buyerDetails).where(and(rowsOf(buyerDetails, ctx), inArray(buyerDetails.buyerKey, [...buyerKeys]))),
    db
      .update(mails)
      .set({
        ...{ status: sql`iif(status = 'waiting', 'dropped', status)`, endedAt: sql`coalesce(ended_at, ${wallNow})` },
        ...{ nextAttemptAt: null, address: null, facts: {} },
      })
      .where(
        and(isOurs, sql`address_key IS NOT NULL AND ${amongIds(mails.addressKey, addressKeys)} AND (status = 'waiting' OR facts <> '{}')`),
      ),
    db
      .update(mails)
      .set({ facts: sql`json_set(facts, '$.buyer', '')` })
      .where(
        and(
          isOurs,
          eq(mails.template, 'buyer_erasure'),
          sql`facts ->> '$.customer_id' IN ${setOf([...customer.ids])} AND facts ->> '$.buyer' <> ''`,
        ),
      ),
  ];
}

/** Plans that a batch aborts while a payment is under a reference of before. */
export const abortIfPaid = ({ ctx, keys, until }: Erasing): Write[] =>
  keys.flatMap(({ key }) => {
    const ref = refIn(key);
    return ref === null
      ? []
      : [abortIfExists(ctx, payments, and(rowsOf(payments, ctx, [[payments.customerRef, ref]]), lte(payments.createdAt, until)))];
  });

/** Lists which of these payments the customer made, by the rows before or after their erasure. */
export async function listOwnPayments({ ctx, keys, customer }: Erasing, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const refs = [...customer.refs.keys(), ...customer.refs.values()];
  const wallets = keys.flatMap(({ key }) => ('walletAddress' in key ? [key.walletAddress] : []));
  const find = (table: typeof payments | typeof archivedPayments) =>
    ctx.db
      .select({ id: table.id })
      .from(table)
      .where(and(amongIds(table.id, ids), or(inArray(table.customerRef, refs), ...paidFor(table, wallets))));
  const found = await ctx.db.batch([find(payments), find(archivedPayments)]);
  return new Set(found.flat().map(({ id }) => id));
}
