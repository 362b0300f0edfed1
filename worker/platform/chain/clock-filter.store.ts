import { type SQL, sql } from 'drizzle-orm';
import type { Shard, Tenant } from '#platform/context.ts';
import { boundId, idOfText } from '#platform/db/among.ts';
import { claimKeysOf } from '#platform/db/outcome.ts';
import { type MerchantTable, rowsOf } from '#platform/db/page.ts';

/** SQL text that must equal the condition of the partial indexes on live rows. */
const LIVE = 'livemode = 1';
const SANDBOX = 'livemode = 0';

const SESSION_ID_LENGTH = 36;

/** SQL condition for rows of either mode with a customer of no sandbox session, so that business time is real time. */
export const isOfNoSession = (customerRef = 'customer_ref'): SQL =>
  sql`NOT EXISTS (SELECT 1 FROM sandbox_sessions z WHERE z.id = ${idOfText(sql.raw(`substr(${customerRef}, 1, ${SESSION_ID_LENGTH})`))})`;

/**
 * SQL condition that limits a cross-merchant statement to one clock: all live rows, one sandbox session, or one merchant's sandbox without
 * sessions. No sweep of one clock may take rows of another. `customerRef`: SQL of the session reference. `table`: table alias if the
 * statement names several.
 */
export function clockFilter({ sandbox }: Pick<Shard, 'sandbox'>, customerRef = 'customer_ref', table = ''): SQL {
  const of = (text: string) => sql.raw(table === '' ? text : `${table}.${text}`);
  if (sandbox === null) return of(LIVE);
  const named = sql.raw(customerRef);
  const { sessionId } = sandbox;
  const isOfClock =
    sessionId === null
      ? isOfNoSession(customerRef)
      : // Range of the index over references with the prefix "id:".
        sql`${named} >= ${`${sessionId}:`} AND ${named} < ${`${sessionId};`}`;
  return sql`${of(SANDBOX)} AND ${of('merchant_id')} = ${boundId(sandbox.merchantId)} AND ${isOfClock}`;
}

/**
 * SQL condition for rows that a memo, signature or address on the chain may name. Anyone can repeat such a name on another chain, so live
 * rows match only the real chain and sandbox rows only their merchant's chain.
 */
export const rowsOnChain = ({ sandbox }: Pick<Shard, 'sandbox'>, table: MerchantTable): SQL =>
  sandbox === null ? liveRows(table) : rowsOf(table, { merchantId: sandbox.merchantId, livemode: false });

/** SQL condition for rows on the same chain as `row`: the real chain, shared by all merchants, or the merchant's sandbox. */
export const rowsOnChainOf = (row: Tenant, table: MerchantTable): SQL => (row.livemode ? liveRows(table) : rowsOf(table, row));

export const liveRows = (table: MerchantTable): SQL => sql`${table.livemode} = 1`;

/** Variant of `clockFilter` for rows that belong to the payment with the id in `column`. */
export function clockFilterForPayment(ctx: Pick<Shard, 'sandbox'>, column: string): SQL {
  if (ctx.sandbox === null) return sql.raw(LIVE);
  const theirs = sql`SELECT r.id FROM payments r WHERE ${clockFilter(ctx, 'r.customer_ref', 'r')}`;
  const named = sql.raw(column);
  const isTheirs = ctx.sandbox.sessionId === null ? sql`EXISTS (${theirs} AND r.id = ${named})` : sql`${named} IN (${theirs})`;
  return sql`${sql.raw(SANDBOX)} AND ${isTheirs}`;
}

/**
 * SQL condition for the claims of payments and of their refunds. `isTheirs`: condition on payments under the alias `r`. Materialized,
 * because the key is read for one SELECT only.
 */
export const isClaimOfPayments = (isTheirs: SQL): SQL => sql`tx_key IN (WITH paid(signature, id) AS MATERIALIZED (
  SELECT r.tx_signature, r.id FROM payments r WHERE ${isTheirs}
  UNION ALL SELECT o.tx_signature, r.id FROM payments r JOIN channel_payouts o ON o.payment_id = r.id WHERE ${isTheirs}
  UNION ALL SELECT f.tx_signature, f.id FROM payments r JOIN refunds f ON f.payment_id = r.id WHERE ${isTheirs}) ${claimKeysOf(sql`SELECT signature, id FROM paid`)})`;

export function clockFilterForClaims(ctx: Pick<Shard, 'sandbox'>): SQL {
  if (ctx.sandbox === null) return sql.raw(LIVE);
  const isTheirs = clockFilter(ctx, 'r.customer_ref', 'r');
  // A session has few rows, so the keys of its claims are listed. Otherwise the payment of each due row is read.
  if (ctx.sandbox.sessionId !== null) return sql`${sql.raw(SANDBOX)} AND ${isClaimOfPayments(isTheirs)}`;
  const ofPayment = sql`EXISTS (SELECT 1 FROM payments r WHERE r.id = subject_id AND ${isTheirs})`;
  const ofRefund = sql`EXISTS (SELECT 1 FROM payments r JOIN refunds f ON f.payment_id = r.id WHERE f.id = subject_id AND ${isTheirs})`;
  return sql`${sql.raw(SANDBOX)} AND (${ofPayment} OR ${ofRefund})`;
}

export const OF_NO_SESSION = "request_id NOT LIKE 'sandbox\\_%' ESCAPE '\\'";

/** Variant of `clockFilter` for events, which carry the session in `request_id`. */
export function clockFilterForEvents({ sandbox, cause }: Pick<Shard, 'sandbox' | 'cause'>): SQL {
  if (sandbox === null) return sql.raw(LIVE);
  const isOfClock = sandbox.sessionId === null ? sql.raw(OF_NO_SESSION) : sql`request_id = ${cause}`;
  return sql`${sql.raw(SANDBOX)} AND merchant_id = ${boundId(sandbox.merchantId)} AND ${isOfClock}`;
}
