import { type SQL, sql } from 'drizzle-orm';
import type { Shard, Tenant } from '#platform/context.ts';
import { type MerchantTable, rowsOf } from '#platform/db/page.ts';

/** Text of an SQL condition that the partial indexes of live rows have word for word. */
const LIVE = 'livemode = 1';
const SANDBOX = 'livemode = 0';

/** A session's id as a customer's reference begins with it. */
const SESSION_ID_LENGTH = 36;

/** SQL condition on a row of either mode: its customer belongs to no sandbox session, so ordinary business time is its time. */
export const isOfNoSession = (customerRef = 'customer_ref'): SQL =>
  sql`NOT EXISTS (SELECT 1 FROM sandbox_sessions z WHERE z.id = substr(${sql.raw(customerRef)}, 1, ${SESSION_ID_LENGTH}))`;

/**
 * Whose rows a statement may take that names no merchant of its own: all live ones; or one merchant's of the sandbox, those of one
 * session, or those of none. So no sweep of one clock ever meets a row of another. `customerRef`: SQL of the reference by which rows of
 * this table belong to a session; `table`: its alias, where the statement names several.
 */
export function inReach({ sandbox }: Pick<Shard, 'sandbox'>, customerRef = 'customer_ref', table = ''): SQL {
  const of = (text: string) => sql.raw(table === '' ? text : `${table}.${text}`);
  if (sandbox === null) return of(LIVE);
  const named = sql.raw(customerRef);
  const { sessionId } = sandbox;
  const isOfClock =
    sessionId === null
      ? isOfNoSession(customerRef)
      : // What begins with the id and a colon, as a range of the index.
        sql`${named} >= ${`${sessionId}:`} AND ${named} < ${`${sessionId};`}`;
  return sql`${of(SANDBOX)} AND ${of('merchant_id')} = ${sandbox.merchantId} AND ${isOfClock}`;
}

/**
 * Rows that a name seen on the chain can mean: a memo, a signature or an address. A stranger can repeat such a name on another chain, so
 * a live row is found from the real chain alone, and a sandbox row from its merchant's own.
 */
export const rowsOnChain = ({ sandbox }: Pick<Shard, 'sandbox'>, table: MerchantTable): SQL =>
  sandbox === null ? liveRows(table) : rowsOf(table, { merchantId: sandbox.merchantId, livemode: false });

/** Rows on the chain of a row: the real chain, which all merchants share, or the sandbox of its merchant. */
export const rowsOnChainOf = (row: Tenant, table: MerchantTable): SQL => (row.livemode ? liveRows(table) : rowsOf(table, row));

/** Live rows of all merchants: those that the real chain names. */
export const liveRows = (table: MerchantTable): SQL => sql`${table.livemode} = 1`;

/** The same for rows that belong to a payment, whose id is in `column`. */
export function isOfPaymentInReach(ctx: Pick<Shard, 'sandbox'>, column: string): SQL {
  if (ctx.sandbox === null) return sql.raw(LIVE);
  return sql`${sql.raw(SANDBOX)} AND ${isAmongTheirs(ctx, column, sql`SELECT r.id FROM payments r WHERE`, sql`r.id`)}`;
}

/** The same for claims, which belong to a payment or to a refund of one. */
export function claimsInReach(ctx: Pick<Shard, 'sandbox'>): SQL {
  if (ctx.sandbox === null) return sql.raw(LIVE);
  const ofPayment = isAmongTheirs(ctx, 'subject_id', sql`SELECT r.id FROM payments r WHERE`, sql`r.id`);
  const refunds = sql`SELECT f.id FROM payments r JOIN refunds f ON f.payment_id = r.id WHERE`;
  return sql`${sql.raw(SANDBOX)} AND (${ofPayment} OR ${isAmongTheirs(ctx, 'subject_id', refunds, sql`f.id`)})`;
}

/** The few of a session are listed; of the others only those that are due are looked at. `theirs`: ids up to a condition on `r`. */
function isAmongTheirs(ctx: Pick<Shard, 'sandbox'>, column: string, theirs: SQL, id: SQL): SQL {
  const isTheirs = inReach(ctx, 'r.customer_ref', 'r');
  const named = sql.raw(column);
  return ctx.sandbox?.sessionId === null
    ? sql`EXISTS (${theirs} ${id} = ${named} AND ${isTheirs})`
    : sql`${named} IN (${theirs} ${isTheirs})`;
}

/** Text of an SQL condition on an event: no session of the sandbox made it. */
export const OF_NO_SESSION = "request_id NOT LIKE 'sandbox\\_%' ESCAPE '\\'";

/** The same for events, which go back to the session that made them. */
export function eventsInReach({ sandbox, cause }: Pick<Shard, 'sandbox' | 'cause'>): SQL {
  if (sandbox === null) return sql.raw(LIVE);
  const isOfClock = sandbox.sessionId === null ? sql.raw(OF_NO_SESSION) : sql`request_id = ${cause}`;
  return sql`${sql.raw(SANDBOX)} AND merchant_id = ${sandbox.merchantId} AND ${isOfClock}`;
}
