import { and, eq, gte, inArray, isNotNull, isNull, lt, ne, or, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { DAY } from '#core/time.ts';
import type { Scope, Tenant } from '#platform/context.ts';

import { claimKeyOf, identifierPrefix, KEY_START_LENGTH } from '#platform/db/outcome.ts';
import { type MerchantTable, rowsOf } from '#platform/db/page.ts';
import { archivedPayments, archivedReceipts } from '#platform/db/tables/archives.ts';
import { memberships } from '#platform/db/tables/memberships.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { products } from '#platform/db/tables/products.ts';
import { receipts } from '#platform/db/tables/receipts.ts';
import { channelPayouts } from '#platform/db/tables/settlements.ts';
import { txClaims } from '#platform/db/tables/tx-claims.ts';
import { MEMBERSHIP } from '#rules/states.ts';
import { isSignature } from '#solana/assets.ts';
import { amongIds } from '../among.ts';
import { addressesFrom } from './address-range.ts';

type Owner = Pick<Scope, 'db' | 'merchantId' | 'livemode'>;
type Named = MerchantTable & { id: SQLiteColumn; createdAt: SQLiteColumn };

export const SEARCHED_MAX = 20_000;
const PREFIX_MIN = 4;
const NAMED_MAX = 2_000;

const BASE58 = /^[1-9A-HJ-NP-Za-km-z]+$/;
const NO_ID = '00000000-0000-0000-0000-000000000000';
const IS_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TIME_LENGTH = 13;

function idsFrom(start: string): [string, string] | null {
  const [lowest, highest] = ['0', 'f'].map((digit) => start + NO_ID.slice(start.length).replaceAll('0', digit)) as [string, string];
  return IS_ID.test(lowest) ? [lowest, highest] : null;
}

const timeOf = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

const checked = (table: MerchantTable, { merchantId, livemode }: Tenant): SQL =>
  sql`+${table.merchantId} = ${sql.param(merchantId, table.merchantId)} AND +${table.livemode} = ${sql.param(livemode, table.livemode)}`;

/** Receipts have no index by time: received ones are found by their payments, paid ones are few. */
const receiptsWithId = (tenant: Tenant, { from, to }: { from: number; to: number }, isIt: SQL): SQL => sql`receipts.rowid IN (
  SELECT rowid FROM ${receipts} WHERE ${receipts.id} IN (SELECT ${payments.receiptId} FROM ${payments} WHERE ${rowsOf(payments, tenant)}
    AND ${payments.createdAt} BETWEEN ${from} AND ${to} AND +${payments.receiptId} ${isIt} ORDER BY ${payments.createdAt} DESC LIMIT ${NAMED_MAX})
  UNION ALL SELECT rowid FROM ${receipts} WHERE ${rowsOf(receipts, tenant, [[receipts.isPaidByOwner, true]])} AND +${receipts.id} ${isIt})
  ORDER BY receipts.created_at DESC`;

/**
 * A prefix with the full millisecond is read by id. A shorter prefix is a time range of the merchant, because a row is stored within a day
 * of its id.
 */
function withId(table: Named, tenant: Tenant, q: string): SQL | null {
  const span = idsFrom(q.toLowerCase());
  if (!span) return null;
  const [lowest, highest] = span.map((id) => sql.param(id, table.id));
  if (q.length >= TIME_LENGTH) return sql`${table.id} BETWEEN ${lowest} AND ${highest} AND ${checked(table, tenant)}`;
  const [from, to] = [timeOf(span[0]) - DAY, timeOf(span[1]) + DAY];
  if (table === receipts) return receiptsWithId(tenant, { from, to }, sql`BETWEEN ${lowest} AND ${highest}`);
  const isWithin = sql`${rowsOf(table, tenant)} AND ${table.createdAt} BETWEEN ${from} AND ${to} AND +${table.id} BETWEEN ${lowest} AND ${highest}`;
  // Memberships have no index of the time alone.
  if (table === memberships) return and(isWithin, inArray(memberships.status, MEMBERSHIP.states))!;
  return sql`${isWithin} ORDER BY ${table.createdAt} DESC`;
}

const begins = (column: SQLiteColumn, start: string): SQL => and(gte(column, start), lt(column, `${start}\uffff`))!;

/** Conditions for the addresses with a prefix, one for each length of their text. A column of bytes has the order of their numbers. */
const beginsAddress = (column: SQLiteColumn, start: string): SQL[] =>
  addressesFrom(start).map((ends) => {
    const [lowest, highest] = ends.map((address) => sql.param(address, column));
    return sql`${column} BETWEEN ${lowest} AND ${highest}`;
  });

type Lookup = [id: SQL, from: Named | typeof txClaims | typeof channelPayouts, where: SQL];

async function readIds(db: Owner['db'], lookups: Lookup[]): Promise<string[]> {
  const [first, ...others] = lookups.map(([id, from, where]) =>
    db
      .select({ named: sql<string | null>`${id}`.mapWith(payments.id) })
      .from(from as SQLiteTable)
      .where(where)
      .limit(NAMED_MAX),
  );
  if (!first) return [];
  const found = await db.batch([first, ...others]);
  return [...new Set(found.flat().flatMap(({ named }) => named ?? []))];
}

function lookupsOf(owner: Owner, q: string, id: SQL, from: Named, by: { wallet?: SQLiteColumn; email?: SQLiteColumn }): Lookup[] {
  const withOwnId = withId(from, owner, q);
  const among = (isIt: SQL): Lookup => [id, from, and(rowsOf(from, owner), isIt)!];
  return [
    ...(withOwnId ? [[id, from, withOwnId] as Lookup] : []),
    ...(by.wallet ? beginsAddress(by.wallet, q).map(among) : []),
    ...(by.email && !/\s/.test(q) ? [among(begins(by.email, q.toLowerCase()))] : []),
  ];
}

/** SQL condition: the transaction begins with `q`. A claim of an archived payment has the ends of its signature alone. */
function isClaimNamed(q: string): SQL {
  const isComplete: boolean = isSignature(q);
  return isComplete
    ? eq(txClaims.txKey, claimKeyOf(q))
    : and(begins(txClaims.txKey, q.slice(0, KEY_START_LENGTH)), or(isNull(txClaims.txSignature), begins(txClaims.txSignature, q)))!;
}

function lookupsByTransaction(owner: Owner, q: string): Lookup[] {
  if (!BASE58.test(q)) return [];
  const unconfirmed = and(ne(payments.status, 'CONFIRMED'), begins(payments.txSignature, q), checked(payments, owner))!;
  return [
    [sql`${txClaims.subjectId}`, txClaims, and(eq(txClaims.livemode, owner.livemode), isClaimNamed(q))!],
    [
      sql`${channelPayouts.paymentId}`,
      channelPayouts,
      and(eq(channelPayouts.livemode, owner.livemode), begins(channelPayouts.txSignature, q))!,
    ],
    [sql`${payments.id}`, payments, unconfirmed],
  ];
}

/** Finds a payment by the complete name that its client gave it. */
const lookupByIdentifier = ({ merchantId, livemode }: Owner, q: string): Lookup => {
  const prefix = identifierPrefix(merchantId, q);
  const isIt = and(gte(txClaims.identifier, prefix), lt(txClaims.identifier, `${prefix}\uffff`), sql`identifier IS NOT NULL`);
  return [sql`${txClaims.subjectId}`, txClaims, and(isIt, eq(txClaims.livemode, livemode))!];
};

/** Received receipts have the wallet of their payment. Paid ones are few. */
const paidByWallet = (owner: Owner, q: string): Lookup[] =>
  beginsAddress(receipts.payer, q).map((isIt) => [
    sql`${receipts.paymentId}`,
    receipts,
    and(rowsOf(receipts, owner, [[receipts.isPaidByOwner, true]]), isIt)!,
  ]);

/** Archived payments have no email address, so their membership's address is searched. */
function archivedByEmail(owner: Owner, q: string): Lookup[] {
  if (/\s/.test(q)) return [];
  const members = and(rowsOf(memberships, owner), begins(memberships.email, q.toLowerCase()))!;
  const ids = sql`SELECT ${memberships.id} FROM ${memberships} WHERE ${members} LIMIT ${NAMED_MAX}`;
  return [
    [
      sql`${archivedPayments.id}`,
      archivedPayments,
      sql`${archivedPayments.membershipId} IN (${ids}) AND ${checked(archivedPayments, owner)}`,
    ],
  ];
}

/**
 * Returns payments with an id, transaction, wallet or email address that begins with `q`, or with the identifier `q`. Returns none if `q`
 * is too short. A claim names no merchant, so the list that loads these payments must check the merchant.
 */
export async function listNamedPayments(owner: Owner, q: string): Promise<string[]> {
  if (q.length < PREFIX_MIN) return [];
  return readIds(owner.db, [
    ...lookupsOf(owner, q, sql`${payments.id}`, payments, { wallet: payments.payerWallet, email: payments.email }),
    ...lookupsOf(owner, q, sql`${archivedPayments.id}`, archivedPayments, { wallet: archivedPayments.payerWallet }),
    ...lookupsOf(owner, q, sql`${receipts.paymentId}`, receipts, {}),
    ...paidByWallet(owner, q),
    ...lookupsOf(owner, q, sql`${archivedReceipts.paymentId}`, archivedReceipts, { wallet: archivedReceipts.payer }),
    ...lookupsByTransaction(owner, q),
    lookupByIdentifier(owner, q),
    ...archivedByEmail(owner, q),
  ]);
}

export async function listNamedMemberships(owner: Owner, q: string): Promise<string[]> {
  if (q.length < PREFIX_MIN) return [];
  const id = sql`${memberships.id}`;
  const own = lookupsOf(owner, q, id, memberships, { email: memberships.email });
  const having = (...conditions: SQL[]): Lookup => [id, memberships, and(rowsOf(memberships, owner), ...conditions)!];
  const ofWallet = [
    having(begins(memberships.customerKey, `wallet:${q}`)),
    having(begins(memberships.walletAddress, q), isNotNull(memberships.customerRef)),
  ];
  const paid = await listNamedPayments(owner, q);
  return readIds(owner.db, [
    ...own,
    ...(BASE58.test(q) ? ofWallet : []),
    [sql`${payments.membershipId}`, payments, sql`${amongIds(payments.id, paid)} AND ${checked(payments, owner)}`],
    [
      sql`${archivedPayments.membershipId}`,
      archivedPayments,
      sql`${amongIds(archivedPayments.id, paid)} AND ${checked(archivedPayments, owner)}`,
    ],
  ]);
}

export const productsNamed = (tenant: Tenant, text: string): SQL =>
  sql`SELECT ${products.id} FROM ${products} WHERE ${rowsOf(products, tenant)} AND instr(lower(${products.name}), lower(${text})) > 0`;
