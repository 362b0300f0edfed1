import { and, asc, eq, gt, inArray, lte, or, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { MeteredSessionId, PaymentId } from '#core/ids.ts';
import { amongIds, digitsOf, setOf } from '#platform/db/among.ts';
import { abortIfExists, type Write } from '#platform/db/commit.ts';
import { rowsOf } from '#platform/db/page.ts';
import { paidFor } from '#platform/db/search/customer.ts';
import type { Erasing } from '#platform/db/search/erasing.ts';
import { archivedPayments, archivedSales } from '#platform/db/tables/archives.ts';
import { endedSessions, handoffs, identitySessions } from '#platform/db/tables/checkout.ts';
import type { ErasedKey } from '#platform/db/tables/entitlements.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { receiptMetadata } from '#platform/db/tables/receipts.ts';
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
/** Marks what was paid before, so that it gives no access again. Late money for a failed checkout buys as ever. */
const MARKED = sql`iif(status = 'CONFIRMED', json_set(${NAMELESS_TERMS}, '$.isErased', json('true')), ${NAMELESS_TERMS})`;
const HAS_NAMES = sql`(email IS NOT NULL OR terms -> '$.metadata' IS NOT NULL OR terms ->> '$.identity.providerUserId' <> '')`;

const IS_UNMARKED = sql`(status = 'CONFIRMED' AND terms ->> '$.isErased' IS NULL)`;

const isPaidBy = (table: typeof payments | typeof archivedPayments, key: Customer): SQL =>
  'customerRef' in key ? eq(table.customerRef, key.customerRef) : or(...paidFor(table, [key.walletAddress]))!;

const IS_OPEN = sql`+${inArray(payments.status, ['PENDING_SIGNATURE', 'PENDING_CONFIRMATION'])}`;

/** SQL condition: a payment of before. One of which the confirmation was stored later is the next customer's, and an open one is not decided. */
export const isOfBefore = (
  { until, progress: { decided, decidedSince } }: Erasing,
  table: typeof payments | typeof archivedPayments,
): SQL =>
  table === payments
    ? sql`CASE status WHEN 'FAILED' THEN ${payments.createdAt} <= ${until}
        WHEN 'CONFIRMED' THEN coalesce(${payments.confirmedAt}, ${payments.createdAt}) <= ${decidedSince} OR ${amongIds(payments.id, decided)}
        ELSE livemode = 0 AND ${payments.createdAt} <= ${until} END`
    : sql`${lte(table.confirmedAt, until)}`;

/** SQL condition: the payment of a row is none of the next customer's. */
export const isPaidBefore = (erasing: Erasing, paymentId: SQLiteColumn): SQL =>
  sql`NOT EXISTS (SELECT 1 FROM ${payments} WHERE ${payments.id} = ${paymentId} AND NOT (${isOfBefore(erasing, payments)}))`;

/** SQL conditions of a customer's rows that are not erased yet, each with an index. */
function unerased(erasing: Erasing, { key }: ErasedKey): SQL[] {
  const { ctx } = erasing;
  const isTheirs = 'customerRef' in key ? [eq(payments.customerRef, key.customerRef)] : paidFor(payments, [key.walletAddress]);
  const isNamed = 'customerRef' in key ? sql`true` : sql`(${HAS_NAMES} OR ${IS_UNMARKED})`;
  return isTheirs.map((isIt) => sql`${rowsOf(payments, ctx)} AND ${isIt} AND ${isNamed} AND ${isOfBefore(erasing, payments)}`);
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
        stepRows(db, payments, { email: null, terms: MARKED, ...(customerRef && { customerRef }) }, amongIds(payments.id, ids)),
      );
    }
  return writes;
}

/** SQL of the receipts of a customer with rows that are erased already. */
const receiptIds = (erasing: Erasing, { erased }: ErasedKey): SQL => {
  const { ctx } = erasing;
  const of = (table: typeof payments | typeof archivedPayments): SQL =>
    sql`${rowsOf(table, ctx)} AND (${isPaidBy(table, erased)}) AND ${isOfBefore(erasing, table)}`;
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

/** Lists metered sessions with a reference of before. */
export const listNamedSessions = ({ ctx, until }: Erasing, customerRef: string, max: number) =>
  ctx.db
    .select({ id: meteredSessions.id })
    .from(meteredSessions)
    .where(and(rowsOf(meteredSessions, ctx, [[meteredSessions.customerRef, customerRef]]), lte(meteredSessions.createdAt, until)))
    .limit(max);

export const renameSession = ({ ctx }: Erasing, id: MeteredSessionId, customerRef: string): Write =>
  ctx.db.update(meteredSessions).set({ customerRef }).where(eq(meteredSessions.id, id));

/** SQL condition: a subscription of before, as its first payment is. An open checkout is not decided. */
const isSubscribedBefore = (erasing: Erasing): SQL =>
  sql`${subscriptionAuthorizations.status} <> 'pending' AND ${isPaidBefore(erasing, subscriptionAuthorizations.paymentId)}`;

/** Plans the erasure of a reference where rows have no other personal data, or are deleted. */
function planReferences(erasing: Erasing, from: string, customerRef: string): Write[] {
  const { ctx, until } = erasing;
  const { db } = ctx;
  const of = (table: { merchantId: SQLiteColumn; livemode: SQLiteColumn; customerRef: SQLiteColumn; createdAt: SQLiteColumn }): SQL =>
    sql`${eq(table.merchantId, ctx.merchantId)} AND ${eq(table.livemode, ctx.livemode)} AND ${eq(table.customerRef, from)}
      AND +${lte(table.createdAt, until)}`;
  const upTo = (table: Parameters<typeof of>[0], key: SQLiteColumn, is = sql`true`): SQL =>
    sql`${key} IN (SELECT ${key} FROM ${key.table} WHERE ${of(table)} AND ${is} LIMIT ${ROWS_MAX})`;
  return [
    db
      .update(archivedSales)
      .set({ customerRef })
      .where(sql`payment_id IN (SELECT id FROM ${archivedPayments} WHERE ${of(archivedPayments)} LIMIT ${ROWS_MAX})`),
    // Failed ones of some days: each of the two conditions has an index.
    ...[sql`next_check_at IS NULL`, sql`status <> 'settled' AND next_check_at IS NOT NULL`].map((is) =>
      db
        .update(settlements)
        .set({ customerRef })
        .where(sql`status = 'failed' AND ${is} AND ${of(settlements)}`),
    ),
    stepRows(
      db,
      subscriptionAuthorizations,
      { customerRef, email: null, terms: NAMELESS_TERMS },
      upTo(subscriptionAuthorizations, subscriptionAuthorizations.id, isSubscribedBefore(erasing)),
    ),
  ];
}

/** Plans the same for a wallet, which stays: addresses and identities alone are erased. */
const planWallet = (erasing: Erasing, wallet: string): Write[] => [
  stepRows(
    erasing.ctx.db,
    subscriptionAuthorizations,
    { email: null, terms: NAMELESS_TERMS },
    and(
      rowsOf(subscriptionAuthorizations, erasing.ctx, [[subscriptionAuthorizations.subscriberWallet, wallet]]),
      sql`customer_ref IS NULL AND ${HAS_NAMES} AND ${isSubscribedBefore(erasing)}`,
      lte(subscriptionAuthorizations.createdAt, erasing.until),
    ),
  ),
  erasing.ctx.db
    .delete(handoffs)
    .where(
      and(
        rowsOf(handoffs, erasing.ctx, [[handoffs.walletAddress, wallet]]),
        sql`payment_id IS NULL AND customer_ref IS NULL`,
        lte(handoffs.createdAt, erasing.until),
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

/** SQL condition: a payment of the customer, before or after the erasure of its row. Takes few parameters, whatever the number of keys. */
export function isOwnPayment(erasing: Erasing, table: typeof payments | typeof archivedPayments): SQL {
  const { refs, wallets } = erasing.customer;
  const isNamed = sql`${table.customerRef} IN ${setOf([...refs.keys(), ...refs.values()])}`;
  const digits = JSON.stringify([...wallets].map((wallet) => digitsOf(table.payerWallet, wallet)));
  const isPayer = sql`customer_ref IS NULL AND coalesce(customer_wallet, payer_wallet) IN (SELECT unhex(value) FROM json_each(${digits}))`;
  return sql`(${isNamed} OR ${isPayer}) AND ${isOfBefore(erasing, table)}`;
}

/** Conditions of checkouts and payments of before that still have the reference. `isOpen`: the chain has not decided them. */
const named = (erasing: Erasing, customerRef: string, isOpen: boolean) => [
  {
    table: payments,
    where: sql`${rowsOf(payments, erasing.ctx, [[payments.customerRef, customerRef]])} AND +${lte(payments.createdAt, erasing.until)}
      AND ${isOpen ? IS_OPEN : isOfBefore(erasing, payments)}`,
  },
  {
    table: subscriptionAuthorizations,
    where: sql`${rowsOf(subscriptionAuthorizations, erasing.ctx, [[subscriptionAuthorizations.customerRef, customerRef]])}
      AND +${lte(subscriptionAuthorizations.createdAt, erasing.until)} AND ${isOpen ? sql`+status = 'pending'` : isSubscribedBefore(erasing)}`,
  },
];

const refsOf = ({ keys }: Erasing): string[] => keys.flatMap(({ key }) => refIn(key) ?? []);

/** The clock of a sandbox session may not advance, so an open checkout of a sandbox ends with the erasure. */
const openOf = (erasing: Erasing) => (erasing.ctx.livemode ? refsOf(erasing).flatMap((ref) => named(erasing, ref, true)) : []);

/** Finds out whether a checkout of before is open. Its end is certain a minute after the request, if a node answers. */
export async function hasOpenCheckout(erasing: Erasing): Promise<boolean> {
  const { db } = erasing.ctx;
  for (const { table, where } of openOf(erasing))
    if ((await db.select({ one: sql`1` }).from(table).where(where).limit(1)).length > 0) return true;
  return false;
}

/** Plans that a batch aborts while a payment or subscription of before has a reference of before. */
export const abortIfPaid = (erasing: Erasing): Write[] =>
  [...openOf(erasing), ...refsOf(erasing).flatMap((ref) => named(erasing, ref, false))].map(({ table, where }) =>
    abortIfExists(erasing.ctx, table, where),
  );

/** Lists which of these payments the customer made, by the rows before or after their erasure. */
export async function listOwnPayments(erasing: Erasing, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const find = (table: typeof payments | typeof archivedPayments) =>
    erasing.ctx.db
      .select({ id: table.id })
      .from(table)
      .where(and(rowsOf(table, erasing.ctx), amongIds(table.id, ids), isOwnPayment(erasing, table)));
  const found = await erasing.ctx.db.batch([find(payments), find(archivedPayments)]);
  return new Set(found.flat().map(({ id }) => id));
}
