import { and, eq, gte, lt, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { Asset } from '#core/money.ts';
import type { Scope } from '#platform/context.ts';
import { boundId, idOfText, jsonRows } from '#platform/db/among.ts';
import { subjectsOfTransaction } from '#platform/db/outcome.ts';
import { listWithArchive, type PageRequest, type RowQuery, rowNumberOf, rowsOf } from '#platform/db/page.ts';
import { boughtBy, paidFor, rowsOfCustomer } from '#platform/db/search/customer.ts';
import { listNamedPayments, productsNamed, SEARCHED_MAX } from '#platform/db/search/named.ts';
import { archivedPayments, PAYMENT_LINE } from '#platform/db/tables/archives.ts';
import { payments } from '#platform/db/tables/payments.ts';
import type { Customer } from '#rules/balance.ts';
import type { RailOrigin } from '#rules/product-rails.ts';
import type { PaymentStatus } from '#rules/states.ts';
import { loadArchivedBodies } from '../store.ts';

interface IndexedFilter {
  status?: PaymentStatus | undefined;
  productId?: string | undefined;
  customerRef?: string | undefined;
  wallet?: string | undefined;
  /** Wallet that is the customer of payments without a reference. */
  customerWallet?: string | undefined;
  /** Wallet that made the payments, or is their customer. */
  buyer?: string | undefined;
  /** Email address that the buyer gave. The archive has none. */
  email?: string | undefined;
  /** Several customers, of which one survived. */
  customers?: readonly Customer[] | undefined;
  paymentId?: string | undefined;
  txSignature?: string | undefined;
  /** Epoch ms, half-open. */
  createdFrom?: number | undefined;
  createdTo?: number | undefined;
}

interface SearchedFilter {
  asset?: Asset | undefined;
  origin?: RailOrigin | undefined;
  /** Price bound in billionths of the asset's unit: as many decimals as any asset has. */
  leastAmount?: bigint | undefined;
  mostAmount?: bigint | undefined;
  /** Part of a customer's reference or product name, or a complete memo. */
  text?: string | undefined;
}

export interface PaymentFilter extends IndexedFilter, Omit<SearchedFilter, 'text'> {
  /** Prefix of an id or reference of a payment. Without a match, a search text. */
  q?: string | undefined;
}

type Table = typeof payments | typeof archivedPayments;

const ofTransaction = (table: Table, txSignature: string, scope: Scope): SQL => {
  const claimed = sql`SELECT subject_id FROM (${subjectsOfTransaction(txSignature, [scope.livemode])})`;
  if (table === archivedPayments) return sql`${table.id} IN (${claimed})`;
  const unconfirmed = sql`SELECT id FROM payments WHERE livemode = ${scope.livemode ? 1 : 0} AND +merchant_id = ${boundId(scope.merchantId)} AND tx_signature = ${txSignature} AND status <> 'CONFIRMED' AND tx_signature IS NOT NULL`;
  return sql`${table.id} IN (${claimed} UNION ALL ${unconfirmed})`;
};

/** Conditions of the indexes by merchant. Their text must be that of the indexes. */
const CONFIRMED = sql.raw("status = 'CONFIRMED'");
const FAILED = sql.raw("status = 'FAILED'");
const PENDING = sql.raw("status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION')");

/** Parts of the table to read, each by its own index. No index has all payments of a merchant. */
function partsOf({ status, paymentId, txSignature, ...named }: IndexedFilter, isNamed: boolean): (SQL | undefined)[] {
  if (status === 'CONFIRMED') return [CONFIRMED];
  if (status === 'FAILED') return [FAILED];
  if (status !== undefined) return [sql`${PENDING} AND +status = ${status}`];
  const isNarrowed =
    isNamed ||
    [
      named.customers,
      named.productId,
      named.customerRef,
      named.wallet,
      named.customerWallet,
      named.buyer,
      named.email,
      paymentId,
      txSignature,
    ].some((value) => value !== undefined);
  return isNarrowed ? [undefined] : [CONFIRMED, FAILED, PENDING];
}

function indexedBy(table: Table, scope: Scope, filter: IndexedFilter, part: SQL | undefined): SQL {
  const { productId, customerRef, wallet, customers, email, paymentId, txSignature, createdFrom, createdTo } = filter;
  const narrowed: [SQLiteColumn, unknown][] = [
    [table.productId, productId],
    [table.customerRef, customerRef],
    [table.payerWallet, wallet],
    [table.id, paymentId],
  ];
  return and(
    rowsOf(table, scope, narrowed),
    customers && sql`${rowNumberOf(table)} IN (${rowsOfCustomer(table, scope, customers)})`,
    part,
    email === undefined ? undefined : sql`email = ${email} AND email IS NOT NULL`,
    txSignature === undefined ? undefined : ofTransaction(table, txSignature, scope),
    createdFrom === undefined ? undefined : gte(table.createdAt, createdFrom),
    createdTo === undefined ? undefined : lt(table.createdAt, createdTo),
  )!;
}

/** Amounts are integers without leading zeros, so the longer is the larger. */
const billionths = sql`CASE asset WHEN 'USDC' THEN price_amount || '000' ELSE price_amount END`;
const compared = (amount: bigint): SQL => sql`(${amount.toString().length}, ${amount.toString()})`;
const price = sql`(length(${billionths}), ${billionths})`;

/** Follows the order of `railOfPayment`: automatic renewal, then a reference key, then vouchers. */
function cameFrom(table: Table, { isAutomatic, isCheckout, isMetered }: RailOrigin): SQL {
  const [automatic, checkout, metered] =
    table === payments
      ? [sql`terms ->> 'authorizationId' IS NOT NULL`, sql`reference <> ''`, sql`terms ->> 'isMetered' IS NOT NULL`]
      : [sql`period_ends_at IS NOT NULL`, sql`nonce IS NOT NULL`, sql`is_metered = 1`];
  if (isAutomatic) return automatic;
  if (isCheckout) return sql`(NOT (${automatic}) AND ${checkout})`;
  return sql`(NOT (${automatic}) AND NOT (${checkout}) AND (${metered}) = ${isMetered ? 1 : 0})`;
}

function searchedBy(table: Table, scope: Scope, filter: SearchedFilter): SQL | undefined {
  const { asset, origin, leastAmount, mostAmount, text } = filter;
  const named = productsNamed(scope, text ?? '');
  return and(
    asset === undefined ? undefined : eq(sql`asset`, asset),
    origin && cameFrom(table, origin),
    leastAmount === undefined ? undefined : sql`${price} >= ${compared(leastAmount)}`,
    mostAmount === undefined ? undefined : sql`${price} <= ${compared(mostAmount)}`,
    text === undefined
      ? undefined
      : sql`(instr(lower(coalesce(customer_ref, '')), lower(${text})) > 0
          OR ${eq(table.nonce, text.replace(/^svc:/, ''))} OR product_id IN (${named}))`,
  );
}

function rowsIn(
  table: Table,
  ctx: Scope,
  filter: IndexedFilter & SearchedFilter,
  named: string[] | null,
  part: SQL | undefined,
  searchedMax = SEARCHED_MAX,
): SQL {
  const isArchived = table === archivedPayments ? 1 : 0;
  const searched = searchedBy(table, ctx, filter);
  const indexed = indexedBy(table, ctx, filter, part);
  const rowNumber = rowNumberOf(table);
  const selection = sql`SELECT ${isArchived} AS is_archived, ${rowNumber} AS rowNumber, ${table.createdAt}`;
  if (named) {
    return sql`${selection} FROM ${jsonRows(named)} CROSS JOIN ${table} ON ${table.id} = ${idOfText(sql`j.value`)} WHERE ${and(indexed, searched)}`;
  }
  if (!searched) return sql`${selection} FROM ${table} WHERE ${indexed}`;
  const newest = sql`SELECT ${rowNumber} FROM ${table} WHERE ${indexed} ORDER BY created_at DESC, ${rowNumber} DESC LIMIT ${searchedMax}`;
  return sql`${selection} FROM ${table} WHERE ${rowNumber} IN (${newest}) AND ${searched}`;
}

export async function listPayments(ctx: Scope, { q, ...filter }: PaymentFilter, page: PageRequest) {
  const isPaid = filter.status === undefined || filter.status === 'CONFIRMED';
  const { customerWallet, buyer, email } = filter;
  const read = (searched: SearchedFilter, named: string[] | null) => {
    const selected = { ...filter, ...searched };
    const rowsOfCustomer = (table: Table, part?: SQL): SQL[] => {
      const theirs = customerWallet === undefined ? buyer && boughtBy(table, buyer) : paidFor(table, [customerWallet]);
      const parts = theirs ? theirs.map((isTheirs) => and(isTheirs, part)) : [part];
      return parts.map((one) => rowsIn(table, ctx, selected, named, one, page.searchedMax));
    };
    const branches = [
      ...partsOf(filter, named !== null).flatMap((part) => rowsOfCustomer(payments, part)),
      ...(isPaid && email === undefined ? rowsOfCustomer(archivedPayments) : []),
    ];
    const selection: RowQuery = { rows: sql.join(branches, sql` UNION ALL `), order: ['created_at', 'rowNumber'] };
    return listWithArchive(ctx.db, payments, PAYMENT_LINE, selection, page);
  };
  const named = q === undefined ? [] : await listNamedPayments(ctx, q);
  const byName = named.length > 0 ? await read({}, named) : null;
  const { items, total } = byName && byName.total > 0 ? byName : await read({ text: q }, null);
  return { items: await loadArchivedBodies(ctx, items), total };
}
