import { and, eq, inArray, lte, type SQL, sql } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { Db } from '../context.ts';
import type { AccountId } from '../core/ids.ts';
import { accessApps, paymentSessions, railSettings, settlements, setupIntents } from '../db/access.ts';
import { products } from '../db/commerce.ts';
import { handoffs, identitySessions } from '../db/handoff.ts';
import { accounts, apiKeys, loginNonces } from '../db/identity.ts';
import { endpointHours, events, webhookDeliveries, webhookEndpoints } from '../db/messaging.ts';

/** Deletes up to so many rows of which `isOver` holds: it must be what an index of the table begins with. Answers how many. */
export type Forget = (db: Db, before: number, limit: number) => Promise<number>;

async function deleteOver(db: Db, table: SQLiteTable, isOver: SQL | undefined, limit: number): Promise<number> {
  const over = db.select({ rowid: sql`rowid` }).from(table).where(isOver).limit(limit);
  return (await db.delete(table).where(sql`rowid IN ${over}`)).meta.changes;
}

export const forgetNonces: Forget = (db, before, limit) => deleteOver(db, loginNonces, lte(loginNonces.expiresAt, before), limit);

export const forgetHandoffs: Forget = (db, before, limit) => deleteOver(db, handoffs, lte(handoffs.expiresAt, before), limit);

export const forgetIdentities: Forget = (db, before, limit) =>
  deleteOver(db, identitySessions, lte(identitySessions.expiresAt, before), limit);

export const forgetDeliveries: Forget = (db, before, limit) =>
  deleteOver(db, webhookDeliveries, lte(webhookDeliveries.completedAt, before), limit);

export const forgetHours: Forget = (db, before, limit) => deleteOver(db, endpointHours, lte(endpointHours.hour, before), limit);

export const forgetPaymentSessions: Forget = (db, before, limit) =>
  deleteOver(db, paymentSessions, lte(paymentSessions.expiresAt, before), limit);

export const forgetFailedSettlements: Forget = (db, before, limit) =>
  // As the index has it, word for word, or it is not used.
  deleteOver(db, settlements, sql`status = 'failed' AND next_check_at IS NULL AND ${lte(settlements.createdAt, before)}`, limit);

/** Whatever tells of money, or of what was given for it, keeps its account. */
const HOLDS_MONEY = sql.join(
  ['payments', 'receipts', 'settlements', 'entitlements', 'memberships'].map((table) =>
    sql.raw(`EXISTS (SELECT 1 FROM ${table} WHERE merchant_id = setup_intents.account_id)`),
  ),
  sql` OR `,
);

/** Setups that ended by then, with nothing of money in their accounts, longest ended first. */
export const listForgettableSetups = (db: Db, before: number, limit: number) =>
  db
    .select({ id: setupIntents.id, accountId: setupIntents.accountId })
    .from(setupIntents)
    .where(sql`status = 'expired' AND is_kept = 0 AND ${lte(setupIntents.expiresAt, before)} AND NOT (${HOLDS_MONEY})`)
    .orderBy(setupIntents.expiresAt)
    .limit(limit);

/** What holds money is kept for good, and is not looked at again. */
export const keepSetupsWithMoney = (db: Db, before: number, limit: number) =>
  db
    .update(setupIntents)
    .set({ isKept: true })
    .where(
      sql`rowid IN (SELECT rowid FROM setup_intents WHERE status = 'expired' AND is_kept = 0 AND expires_at <= ${before}
        AND (${HOLDS_MONEY}) ORDER BY expires_at LIMIT ${limit})`,
    );

/** Deletes up to so many deliveries of an account, then as many events. True once none is left. */
export async function forgetStoryOf(db: Db, accountId: string, limit: number): Promise<boolean> {
  for (const table of [webhookDeliveries, events]) {
    const isOf = and(eq(table.merchantId, accountId as AccountId), inArray(table.livemode, [true, false]));
    if ((await deleteOver(db, table, isOf, limit)) === limit) return false;
  }
  return true;
}

/** An account nobody can sign in to, with all it set up, in one batch. */
export async function forgetAccount(db: Db, { id, accountId }: Awaited<ReturnType<typeof listForgettableSetups>>[number]): Promise<void> {
  await db.batch([
    db.delete(apiKeys).where(eq(apiKeys.merchantId, accountId)),
    db.delete(webhookEndpoints).where(eq(webhookEndpoints.merchantId, accountId)),
    db.delete(products).where(eq(products.merchantId, accountId)),
    db.delete(accessApps).where(eq(accessApps.merchantId, accountId)),
    db.delete(railSettings).where(eq(railSettings.merchantId, accountId)),
    db.delete(accounts).where(eq(accounts.id, accountId)),
    db.delete(setupIntents).where(eq(setupIntents.id, id)),
  ]);
}
