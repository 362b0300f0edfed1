import { and, asc, eq, gt, inArray, lte, or, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { AuthorizationId, MailId, MeteredSessionId, PaymentId, ReceiptId } from '#core/ids.ts';
import { amongIds, setOf } from '#platform/db/among.ts';
import { abortIfExists, type Write } from '#platform/db/commit.ts';
import { rowsOf } from '#platform/db/page.ts';
import { paidFor } from '#platform/db/search/customer.ts';
import type { Erasing } from '#platform/db/search/erasing.ts';
import { archivedPayments } from '#platform/db/tables/archives.ts';
import { endedSessions, handoffs, identitySessions, paymentSessions } from '#platform/db/tables/checkout.ts';
import type { ErasedKey } from '#platform/db/tables/entitlements.ts';
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

const isPaidBy = (table: typeof payments | typeof archivedPayments, key: Customer): SQL =>
  'customerRef' in key ? eq(table.customerRef, key.customerRef) : or(...paidFor(table, [key.walletAddress]))!;

/** SQL condition: a payment of before. One that a wallet made later is the next customer's. */
const isOfBefore = (table: typeof payments | typeof archivedPayments, key: Customer, until: number): SQL =>
  'customerRef' in key ? sql`+${lte(table.createdAt, until)}` : sql`coalesce(${table.confirmedAt}, ${table.createdAt}) <= ${until}`;

/** SQL conditions of a customer's rows that are not erased yet, each with an index. */
function unerased({ ctx, until }: Erasing, { key }: ErasedKey): SQL[] {
  const isTheirs = 'customerRef' in key ? [eq(payments.customerRef, key.customerRef)] : paidFor(payments, [key.walletAddress]);
  const isNamed = 'customerRef' in key ? sql`true` : HAS_NAMES;
  return isTheirs.map((isIt) => sql`${rowsOf(payments, ctx)} AND ${isIt} AND ${isNamed} AND ${isOfBefore(payments, key, until)}`);
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
const receiptIds = ({ ctx, until }: Erasing, { erased }: ErasedKey): SQL => {
  const of = (table: typeof payments | typeof archivedPayments): SQL =>
    sql`${rowsOf(table, ctx)} AND (${isPaidBy(table, erased)}) AND ${isOfBefore(table, erased, until)}`;
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

/** Emails that go to the buyer of a receipt or subscription. */
const TO_BUYERS = [
  'buyer_receipt',
  'receipt_proof',
  'subscription_renews',
  'subscription_past_due',
  'subscription_reapprove',
  'subscription_cancelled',
  'subscription_stopped',
] as const;

/** Lists emails to a buyer's addresses. */
const listBuyersMails = ({ ctx, progress }: Erasing, addressKeys: readonly string[]) =>
  ctx.db
    .select({ id: mails.id, facts: mails.facts })
    .from(mails)
    .where(
      and(
        eq(mails.accountId, ctx.merchantId),
        sql`address_key IS NOT NULL AND ${amongIds(mails.addressKey, addressKeys)}`,
        inArray(mails.template, [...TO_BUYERS]),
        lte(mails.createdAt, progress.requestedAt),
        sql`facts <> '{}'`,
      ),
    )
    .limit(ROWS_MAX);

/** Lists those of these emails that are about a payment or subscription of the customer. */
async function listOwnMails(erasing: Erasing, addressKeys: readonly string[]): Promise<MailId[]> {
  const found = await listBuyersMails(erasing, addressKeys);
  if (found.length === 0) return [];
  const named = found.map(({ id, facts }) => ({ id, ...(facts as { receipt_id?: ReceiptId; authorization_id?: AuthorizationId }) }));
  const { ctx, keys, until } = erasing;
  const isTheirs = (table: typeof subscriptionAuthorizations): SQL[] =>
    keys.map(({ erased }) =>
      'customerRef' in erased
        ? eq(table.customerRef, erased.customerRef)
        : sql`${eq(table.subscriberWallet, erased.walletAddress)} AND customer_ref IS NULL`,
    );
  const [receipts, subscriptions] = await ctx.db.batch([
    ctx.db
      .select({ id: payments.receiptId })
      .from(payments)
      .where(
        and(
          rowsOf(payments, ctx),
          amongIds(
            payments.receiptId,
            named.flatMap(({ receipt_id }) => receipt_id ?? []),
          ),
          or(...keys.map(({ erased }) => and(isPaidBy(payments, erased), isOfBefore(payments, erased, until)))),
        ),
      ),
    ctx.db
      .select({ id: subscriptionAuthorizations.id })
      .from(subscriptionAuthorizations)
      .where(
        and(
          rowsOf(subscriptionAuthorizations, ctx),
          inArray(
            subscriptionAuthorizations.id,
            named.flatMap(({ authorization_id }) => authorization_id ?? []),
          ),
          or(...isTheirs(subscriptionAuthorizations)),
        ),
      ),
  ]);
  const own = new Set<string | null>([...receipts, ...subscriptions].map(({ id }) => id));
  return named.flatMap(({ id, receipt_id, authorization_id }) =>
    own.has(receipt_id ?? null) || own.has(authorization_id ?? null) ? [id] : [],
  );
}

/** Plans the erasure of the customer's details for invoices, and of emails: those to the buyer are not sent, and none names the buyer. */
export async function planEmails(erasing: Erasing, buyerKeys: readonly Uint8Array[], addressKeys: readonly string[]): Promise<Write[]> {
  const { ctx, customer, until } = erasing;
  const { db, wallNow } = ctx;
  const own = await listOwnMails(erasing, addressKeys);
  return [
    db
      .delete(buyerDetails)
      .where(and(rowsOf(buyerDetails, ctx), inArray(buyerDetails.buyerKey, [...buyerKeys]), lte(buyerDetails.updatedAt, until))),
    db
      .update(mails)
      .set({
        ...{ status: sql`iif(status = 'waiting', 'dropped', status)`, endedAt: sql`coalesce(ended_at, ${wallNow})` },
        ...{ nextAttemptAt: null, address: null, facts: {} },
      })
      .where(amongIds(mails.id, own)),
    db
      .update(mails)
      .set({ facts: sql`json_set(facts, '$.buyer', '')` })
      .where(
        and(
          eq(mails.accountId, ctx.merchantId),
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
export async function listOwnPayments({ ctx, keys, until }: Erasing, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const find = (table: typeof payments | typeof archivedPayments) =>
    ctx.db
      .select({ id: table.id })
      .from(table)
      .where(
        and(
          amongIds(table.id, ids),
          or(...keys.flatMap(({ key, erased }) => [key, erased].map((one) => and(isPaidBy(table, one), isOfBefore(table, one, until))))),
        ),
      );
  const found = await ctx.db.batch([find(payments), find(archivedPayments)]);
  return new Set(found.flat().map(({ id }) => id));
}
