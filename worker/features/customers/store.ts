import { and, desc, eq, gte, isNotNull, isNull, lt, type SQL, sql } from 'drizzle-orm';
import type { CustomerId, ProductId } from '#core/ids.ts';
import type { Scope, Shard } from '#platform/context.ts';
import { amongIds, boundId, setOfIds } from '#platform/db/among.ts';
import type { Write } from '#platform/db/commit.ts';
import { type Listed, listPage, type PageRequest, rowsOf } from '#platform/db/page.ts';
import { customerKeyOf, keyTextOf, paidFor } from '#platform/db/search/customer.ts';
import { loadCustomerIds } from '#platform/db/search/customer-ids.ts';
import { SEARCHED_MAX } from '#platform/db/search/named.ts';
import { type CustomerRow, customers, entitlements } from '#platform/db/tables/entitlements.ts';
import { memberships } from '#platform/db/tables/memberships.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { casUpdate } from '#platform/db/versioned.ts';
import type { Customer } from '#rules/balance.ts';

/** Numbers of products with access, and of those without any more. */
export interface Access {
  active: number;
  lapsed: number;
}

export interface CustomerFilter {
  customerRef?: string | undefined;
  walletAddress?: string | undefined;
  email?: string | undefined;
  productId?: ProductId | undefined;
  access?: 'active' | 'lapsed' | 'none' | undefined;
  /** Epoch ms, half-open. */
  createdFrom?: number | undefined;
  createdTo?: number | undefined;
  /** Beginning of a reference, wallet, email address or name. */
  q?: string | undefined;
}

const ORDERS = { last_seen_at: customers.lastSeenAt, created_at: customers.createdAt };
export type CustomerOrder = keyof typeof ORDERS;

const isMine = (scope: Scope): SQL => sql`+${eq(customers.merchantId, scope.merchantId)} AND +${eq(customers.livemode, scope.livemode)}`;

/** Finds the row of an id itself, also of a customer that was merged away. */
export const findOwnRow = async (scope: Scope, id: CustomerId): Promise<CustomerRow | null> =>
  (await scope.db
    .select()
    .from(customers)
    .where(and(eq(customers.id, id), isMine(scope)))
    .get()) ?? null;

/** Finds the customer of an id. The id of one that was merged away finds the survivor. */
export async function findCustomerRow(scope: Scope, id: CustomerId): Promise<CustomerRow | null> {
  const row = await findOwnRow(scope, id);
  return row?.mergedInto ? findOwnRow(scope, row.mergedInto) : row;
}

/** Lists the customers that were merged into these, by survivor. */
export async function listMerged(scope: Scope, ids: readonly CustomerId[]): Promise<Map<CustomerId, CustomerRow[]>> {
  const rows = await scope.db
    .select()
    .from(customers)
    .where(and(amongIds(customers.mergedInto, ids), isMine(scope)))
    .orderBy(customers.createdAt, customers.id);
  return Map.groupBy(rows, ({ mergedInto }) => mergedInto!);
}

/** Customers of one wallet or email address are few: more are not read. */
const KEYS_MAX = 100;

/** Lists the customers that pay by this wallet: itself, and the references that memberships have for it. */
async function listIdsOfWallet(scope: Scope, wallet: string): Promise<CustomerId[]> {
  const { db } = scope;
  const named = await db
    .select({ ref: memberships.customerRef })
    .from(memberships)
    .where(and(rowsOf(memberships, scope, [[memberships.walletAddress, wallet]]), sql`customer_ref IS NOT NULL`))
    .limit(KEYS_MAX);
  const keys: Customer[] = [{ walletAddress: wallet }, ...named.map(({ ref }) => ({ customerRef: ref! }))];
  return loadCustomerIds(db, scope, keys);
}

/** Lists the keys of the customers that a membership or the merchant's own note gives this email address. */
export async function listKeysOfEmail(scope: Scope, email: string): Promise<Map<CustomerId, Customer>> {
  const { db } = scope;
  const [members, noted] = await db.batch([
    db
      .select({ ref: memberships.customerRef, wallet: memberships.walletAddress })
      .from(memberships)
      .where(and(rowsOf(memberships, scope, [[memberships.email, email]]), sql`email IS NOT NULL`))
      .limit(KEYS_MAX),
    db
      .select({ ref: customers.customerRef, wallet: customers.walletAddress })
      .from(customers)
      .where(and(rowsOf(customers, scope, [[customers.email, email]]), sql`email IS NOT NULL`))
      .limit(KEYS_MAX),
  ]);
  const keys = [...members, ...noted].map(
    ({ ref, wallet }): Customer => (ref === null ? { walletAddress: wallet! } : { customerRef: ref }),
  );
  const ids = await loadCustomerIds(db, scope, keys);
  return new Map(keys.map((key, i) => [ids[i]!, key]));
}

/** Replaces customers that were merged away by those that survived. */
export async function loadSurvivors(scope: Scope, found: ReadonlyMap<CustomerId, Customer>): Promise<Map<CustomerId, Customer>> {
  const gone = await scope.db
    .select({ id: customers.id, into: customers.mergedInto })
    .from(customers)
    .where(and(amongIds(customers.id, [...found.keys()]), isMine(scope), isNotNull(customers.mergedInto)));
  if (gone.length === 0) return new Map(found);
  const ids = new Set(gone.map(({ id }) => id));
  const survivors = await scope.db
    .select()
    .from(customers)
    .where(and(amongIds(customers.id, [...new Set(gone.map(({ into }) => into!))]), isMine(scope)));
  const left = [...found].filter(([id]) => !ids.has(id));
  return new Map([...left, ...survivors.map((row) => [row.id, customerKeyOf(row)] as const)]);
}

/** Each condition fixes the rows by id. Null: no filter names a customer. */
async function listNamedIds(scope: Scope, { customerRef, walletAddress, email }: CustomerFilter): Promise<CustomerId[] | null> {
  const sets = [
    ...(customerRef === undefined ? [] : [await loadCustomerIds(scope.db, scope, [{ customerRef }])]),
    ...(walletAddress === undefined ? [] : [await listIdsOfWallet(scope, walletAddress)]),
    ...(email === undefined ? [] : [[...(await listKeysOfEmail(scope, email)).keys()]]),
  ];
  return sets.length === 0 ? null : sets.reduce((one, other) => one.filter((id) => other.includes(id)));
}

/** SQL conditions of a customer's entitlements, each with an index: those of a reference, and those of a wallet. */
const entitledBranches = ({ merchantId, livemode }: Scope, isIt: SQL): SQL[] =>
  ['customer_ref', 'wallet_address'].map((column) => {
    const [theirs, own] = [sql.raw(`e.${column}`), sql.raw(`customers.${column}`)];
    return sql`SELECT 1 FROM entitlements e WHERE e.merchant_id = ${boundId(merchantId)} AND e.livemode = ${livemode ? 1 : 0}
      AND ${theirs} = ${own} AND ${theirs} IS NOT NULL AND ${isIt}`;
  });

const isEntitled = (scope: Scope, isIt: SQL): SQL =>
  sql`(${sql.join(
    entitledBranches(scope, isIt).map((branch) => sql`EXISTS (${branch})`),
    sql` OR `,
  )})`;

const isActive = ({ now }: Scope): SQL => sql`e.status = 'active' AND (e.paid_through IS NULL OR e.paid_through > ${now})`;
const ANY = sql`1`;

function accessCondition(scope: Scope, access: CustomerFilter['access']): SQL | undefined {
  if (access === undefined) return undefined;
  if (access === 'active') return isEntitled(scope, isActive(scope));
  if (access === 'none') return sql`NOT ${isEntitled(scope, ANY)}`;
  return sql`(${isEntitled(scope, ANY)} AND NOT ${isEntitled(scope, isActive(scope))})`;
}

const BREAK = sql.raw('char(10)');
const TEXTS = sql`(${BREAK} || lower(coalesce(customer_ref, '') || ${BREAK} || coalesce(name, '') || ${BREAK} || coalesce(email, '')))`;

/** SQL condition: a reference, name, address or wallet begins with `q`. The lists are JSON, where each text follows a quotation mark. */
const begins = (q: string): SQL => {
  const quoted = JSON.stringify(q).slice(0, -1);
  return sql`(instr(${TEXTS}, ${BREAK} || lower(${q})) > 0 OR instr(lower(wallets || emails), lower(${quoted})) > 0)`;
};

/** Lists customers, newest first. Filters other than a reference, wallet or address select from the newest `SEARCHED_MAX`. */
export async function listCustomers(
  scope: Scope,
  filter: CustomerFilter,
  order: CustomerOrder,
  page: PageRequest,
): Promise<Listed<CustomerRow>> {
  const { productId, access, createdFrom, createdTo, q } = filter;
  const newest = [desc(ORDERS[order]), desc(customers.id)];
  const ids = await listNamedIds(scope, filter);
  const mine = and(rowsOf(customers, scope), isNull(customers.mergedInto))!;
  const searched = and(
    productId && isEntitled(scope, sql`e.product_id = ${boundId(productId)}`),
    accessCondition(scope, access),
    createdFrom === undefined ? undefined : gte(customers.createdAt, createdFrom),
    createdTo === undefined ? undefined : lt(customers.createdAt, createdTo),
  );
  const top = scope.db
    .select({ id: customers.id })
    .from(customers)
    .where(rowsOf(customers, scope))
    .orderBy(...newest)
    .limit(page.searchedMax ?? SEARCHED_MAX);
  const isSaid = q === undefined ? undefined : begins(q);
  const survivors = (found: SQL): SQL =>
    sql`${customers.id} IN (SELECT coalesce(merged_into, id) FROM customers WHERE ${and(found, isSaid)})`;
  const where = ids
    ? and(survivors(sql`id IN ${setOfIds(ids)}`), isMine(scope), searched)
    : searched || isSaid
      ? and(survivors(sql`id IN ${top}`), isNull(customers.mergedInto), searched)
      : mine;
  return listPage(scope.db, customers, where!, newest, page);
}

/** Reads what these customers have access to, from the copies of their entitlements. */
export async function listAccess(scope: Scope, rows: readonly Pick<CustomerRow, 'id'>[]): Promise<Map<string, Access>> {
  if (rows.length === 0) return new Map();
  const count = (isIt: SQL): SQL<number> =>
    sql.join(
      entitledBranches(scope, isIt).map((branch) => sql`(SELECT count(*) FROM (${branch}))`),
      sql` + `,
    ) as SQL<number>;
  const found = await scope.db
    .select({ id: customers.id, active: count(isActive(scope)), all: count(ANY) })
    .from(customers)
    .where(
      amongIds(
        customers.id,
        rows.map(({ id }) => id),
      ),
    );
  return new Map(found.map(({ id, active, all }) => [id, { active, lapsed: all - active }]));
}

const ofKey = (key: Customer, columns: { ref: string; wallet: string }): SQL =>
  'customerRef' in key
    ? sql`${sql.raw(columns.ref)} = ${key.customerRef}`
    : sql`${sql.raw(columns.wallet)} = ${sql.param(key.walletAddress, payments.payerWallet)} AND ${sql.raw(columns.ref)} IS NULL`;

/** Conditions of a customer's payments, each with an index. */
export const paymentsFor = (key: Customer): SQL[] =>
  'customerRef' in key ? [eq(payments.customerRef, key.customerRef)] : paidFor(payments, [key.walletAddress]);

/** True if the merchant has something of this customer: a row, an entitlement, a membership or a payment. */
export async function isKnownCustomer(scope: Scope, key: Customer): Promise<boolean> {
  const { db } = scope;
  const [id] = await loadCustomerIds(db, scope, [key]);
  const named = { ref: 'customer_ref', wallet: 'wallet_address' };
  const one = { one: sql<number>`1` };
  const found = await db.batch([
    db.select(one).from(customers).where(eq(customers.id, id!)).limit(1),
    db
      .select(one)
      .from(entitlements)
      .where(and(rowsOf(entitlements, scope), ofKey(key, named)))
      .limit(1),
    db
      .select(one)
      .from(memberships)
      .where(rowsOf(memberships, scope, [[memberships.customerKey, keyTextOf(key)]]))
      .limit(1),
    ...paymentsFor(key).map((isTheirs) =>
      db
        .select(one)
        .from(payments)
        .where(and(rowsOf(payments, scope), isTheirs, sql`+status = 'CONFIRMED'`))
        .limit(1),
    ),
  ]);
  return found.some((rows) => rows.length > 0);
}

export const updateCustomerRow = (ctx: Shard, before: CustomerRow, after: Partial<CustomerRow>): Write[] =>
  casUpdate(ctx, customers, before, after);
