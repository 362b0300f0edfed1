import { and, eq, gte, lt, ne, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { DAY } from '#core/time.ts';
import type { Scope, Tenant } from '#platform/context.ts';
import { storyIdOf, uuidOf } from '#platform/db/archive.ts';
import { type MerchantTable, rowsOf } from '#platform/db/page.ts';
import { archivedPayments, archivedReceipts } from '#platform/db/tables/archives.ts';
import { memberships } from '#platform/db/tables/memberships.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { products } from '#platform/db/tables/products.ts';
import { receipts } from '#platform/db/tables/receipts.ts';
import { channelPayouts } from '#platform/db/tables/settlements.ts';
import { txClaims } from '#platform/db/tables/tx-claims.ts';
import { amongIds, jsonRows } from '../among.ts';

type Owner = Pick<Scope, 'db' | 'merchantId' | 'livemode'>;
type Named = MerchantTable & { id: SQLiteColumn; createdAt: SQLiteColumn };

/** Rows that words are looked for in, the newest that the other filters leave. */
export const SEARCHED_MAX = 20_000;
/** A shorter text is searched for as words alone. */
const PREFIX_MIN = 4;
/** Rows that one index gives for a prefix, the newest first where it is ordered by time. A longer prefix finds the others. */
const NAMED_MAX = 2_000;

const BASE58 = /^[1-9A-HJ-NP-Za-km-z]+$/;
const NO_ID = '00000000-0000-0000-0000-000000000000';
const IS_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Characters of an id that say its millisecond. */
const TIME_LENGTH = 13;

/** The lowest and the highest id that begin with this; null if none can. */
function idsFrom(start: string): [string, string] | null {
  const [lowest, highest] = ['0', 'f'].map((digit) => start + NO_ID.slice(start.length).replaceAll('0', digit)) as [string, string];
  return IS_ID.test(lowest) ? [lowest, highest] : null;
}

const timeOf = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

/** The merchant and mode, checked on rows that another index finds. */
const checked = (table: MerchantTable, { merchantId, livemode }: Tenant): SQL =>
  sql`+${table.merchantId} = ${sql.param(merchantId, table.merchantId)} AND +${table.livemode} = ${sql.param(livemode, table.livemode)}`;

/** An id that says its millisecond is read by itself. A shorter one is a span of the merchant's time: a row is stored within a day of its id. */
function withId(table: Named, tenant: Tenant, q: string): SQL | null {
  const span = idsFrom(q.toLowerCase());
  if (!span) return null;
  const [lowest, highest] = span.map((id) => sql.param(id, table.id));
  if (q.length >= TIME_LENGTH) return sql`${table.id} BETWEEN ${lowest} AND ${highest} AND ${checked(table, tenant)}`;
  const [from, to] = [timeOf(span[0]) - DAY, timeOf(span[1]) + DAY];
  return sql`${rowsOf(table, tenant)} AND ${table.createdAt} BETWEEN ${from} AND ${to} AND +${table.id} BETWEEN ${lowest} AND ${highest}
    ORDER BY ${table.createdAt} DESC`;
}

const begins = (column: SQLiteColumn, start: string): SQL => and(gte(column, start), lt(column, `${start}\uffff`))!;

/** An id to read of the rows that an index finds. */
type Lookup = [id: SQL, from: Named | typeof txClaims | typeof channelPayouts, where: SQL];

async function readIds(db: Owner['db'], lookups: Lookup[]): Promise<string[]> {
  const [first, ...others] = lookups.map(([id, from, where]) =>
    db
      .select({ named: sql<string | null>`${id}` })
      .from(from as SQLiteTable)
      .where(where)
      .limit(NAMED_MAX),
  );
  if (!first) return [];
  const found = await db.batch([first, ...others]);
  return [...new Set(found.flat().flatMap(({ named }) => named ?? []))];
}

/** Lookups by whatever `q` can be the beginning of: an id of the row, a wallet, an e-mail address. */
function lookupsOf(owner: Owner, q: string, id: SQL, from: Named, by: { wallet: SQLiteColumn; email?: SQLiteColumn }): Lookup[] {
  const withOwnId = withId(from, owner, q);
  const begun = (column: SQLiteColumn): Lookup => [
    id,
    from,
    and(rowsOf(from, owner), begins(column, column === by.email ? q.toLowerCase() : q))!,
  ];
  return [
    ...(withOwnId ? [[id, from, withOwnId] as Lookup] : []),
    ...(BASE58.test(q) ? [begun(by.wallet)] : []),
    ...(by.email && !/\s/.test(q) ? [begun(by.email)] : []),
  ];
}

/** Lookups by a transaction: claims have those of confirmed payments. */
function lookupsByTransaction(owner: Owner, q: string): Lookup[] {
  if (!BASE58.test(q)) return [];
  const unconfirmed = and(ne(payments.status, 'CONFIRMED'), begins(payments.txSignature, q), checked(payments, owner))!;
  return [
    [sql`${txClaims.subjectId}`, txClaims, and(eq(txClaims.livemode, owner.livemode), begins(txClaims.txSignature, q))!],
    [
      sql`${channelPayouts.paymentId}`,
      channelPayouts,
      and(eq(channelPayouts.livemode, owner.livemode), begins(channelPayouts.txSignature, q))!,
    ],
    [sql`${payments.id}`, payments, unconfirmed],
  ];
}

/** The archive has no e-mail address of a payment. Its membership has one. */
function archivedByEmail(owner: Owner, q: string): Lookup[] {
  if (/\s/.test(q)) return [];
  const members = and(rowsOf(memberships, owner), begins(memberships.email, q.toLowerCase()))!;
  const ids = sql`SELECT ${storyIdOf(sql`id`)} FROM (SELECT ${memberships.id} FROM ${memberships} WHERE ${members} LIMIT ${NAMED_MAX})`;
  return [
    [
      uuidOf(sql`${archivedPayments.id}`),
      archivedPayments,
      sql`${archivedPayments.membershipId} IN (${ids}) AND ${checked(archivedPayments, owner)}`,
    ],
  ];
}

/**
 * Returns the payments that begin with `q` by an id, a transaction, a wallet or an e-mail address. Returns none if `q` is too short.
 * A claim names no merchant, so the list that loads these payments checks it.
 */
export async function listNamedPayments(owner: Owner, q: string): Promise<string[]> {
  if (q.length < PREFIX_MIN) return [];
  return readIds(owner.db, [
    ...lookupsOf(owner, q, sql`${payments.id}`, payments, { wallet: payments.payerWallet, email: payments.email }),
    ...lookupsOf(owner, q, uuidOf(sql`${archivedPayments.id}`), archivedPayments, { wallet: archivedPayments.payerWallet }),
    ...lookupsOf(owner, q, sql`${receipts.paymentId}`, receipts, { wallet: receipts.payer }),
    ...lookupsOf(owner, q, uuidOf(sql`${archivedReceipts.paymentId}`), archivedReceipts, { wallet: archivedReceipts.payer }),
    ...lookupsByTransaction(owner, q),
    ...archivedByEmail(owner, q),
  ]);
}

/** Returns the memberships that the same names, those of the payments among them. */
export async function listNamedMemberships(owner: Owner, q: string): Promise<string[]> {
  if (q.length < PREFIX_MIN) return [];
  const own = lookupsOf(owner, q, sql`${memberships.id}`, memberships, { wallet: memberships.walletAddress, email: memberships.email });
  const paid = await listNamedPayments(owner, q);
  return readIds(owner.db, [
    ...own,
    [sql`${payments.membershipId}`, payments, sql`${amongIds(payments.id, paid)} AND ${checked(payments, owner)}`],
    [
      uuidOf(sql`${archivedPayments.membershipId}`),
      archivedPayments,
      sql`${archivedPayments.id} IN (SELECT ${storyIdOf(sql`j.value`)} FROM ${jsonRows(paid)}) AND ${checked(archivedPayments, owner)}`,
    ],
  ]);
}

/** The merchant's products whose name has this text in it. */
export const productsNamed = (tenant: Tenant, text: string): SQL =>
  sql`SELECT ${products.id} FROM ${products} WHERE ${rowsOf(products, tenant)} AND instr(lower(${products.name}), lower(${text})) > 0`;
