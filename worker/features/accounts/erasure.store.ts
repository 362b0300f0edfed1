import { and, asc, eq, inArray, isNotNull, isNull, ne, type SQL, sql } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { AccountId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { accounts } from '#platform/db/tables/accounts.ts';
import { handoffs } from '#platform/db/tables/checkout.ts';
import { apiKeys } from '#platform/db/tables/keys.ts';
import { accessApps, products } from '#platform/db/tables/products.ts';
import { railSettings } from '#platform/db/tables/rails.ts';
import { webhookDeliveries, webhookEndpoints } from '#platform/db/tables/webhooks.ts';

/** Up to `max` rows for which `isLeft` holds. */
const upTo = (db: Db, table: SQLiteTable, isLeft: SQL | undefined, max: number) =>
  sql`rowid IN ${db.select({ rowid: sql`rowid` }).from(table).where(isLeft).limit(max)}`;

/**
 * Disable every endpoint of an account, cancel what waited for them, and erase what names a person, at most
 * `max` rows of each kind. The endpoints that are enabled are all disabled at once: a plan bounds them.
 */
export function eraseWhatNames({ db, now, wallNow }: Shard, accountId: AccountId, max: number): Write[] {
  const both = [true, false];
  const bumped = { updatedAt: now, version: sql`version + 1` };
  const nameless = { url: '', description: null, status: 'disabled', disabledReason: 'account_deleted', ...bumped } as const;
  const ofEndpoints = and(eq(webhookEndpoints.merchantId, accountId), inArray(webhookEndpoints.livemode, both));
  const ofDeliveries = and(eq(webhookDeliveries.merchantId, accountId), inArray(webhookDeliveries.livemode, both));
  const ofKeys = and(eq(apiKeys.merchantId, accountId), inArray(apiKeys.livemode, both), ne(apiKeys.name, ''));
  const ofApps = and(eq(accessApps.merchantId, accountId), inArray(accessApps.livemode, both), ne(accessApps.name, ''));
  const ofProducts = and(eq(products.merchantId, accountId), inArray(products.livemode, both), isNotNull(products.payoutWallet));
  return [
    db
      .update(webhookEndpoints)
      .set(nameless)
      .where(and(ofEndpoints, eq(webhookEndpoints.status, 'enabled'))),
    db
      .update(webhookEndpoints)
      .set(nameless)
      .where(upTo(db, webhookEndpoints, and(ofEndpoints, ne(webhookEndpoints.url, '')), max)),
    db
      .update(webhookDeliveries)
      .set({ status: 'cancelled', nextAttemptAt: null, completedAt: wallNow })
      .where(upTo(db, webhookDeliveries, and(ofDeliveries, sql`status IN ('pending', 'retrying')`), max)),
    db
      .update(apiKeys)
      .set({ name: '' })
      .where(upTo(db, apiKeys, ofKeys, max)),
    db
      .update(accessApps)
      .set({ name: '', homepageUrl: null })
      .where(upTo(db, accessApps, ofApps, max)),
    db
      .update(products)
      .set({ payoutWallet: null, ...bumped })
      .where(upTo(db, products, ofProducts, max)),
    db
      .update(railSettings)
      .set({ payoutWallet: null, ...bumped })
      .where(and(eq(railSettings.merchantId, accountId), isNotNull(railSettings.payoutWallet))),
    db.delete(handoffs).where(upTo(db, handoffs, and(eq(handoffs.merchantId, accountId), isNull(handoffs.paymentId)), max)),
  ];
}

/** Deleted accounts of which something may be left, longest deleted first. */
export const listUnerased = (db: Db, max: number) =>
  db
    .select({ id: accounts.id })
    .from(accounts)
    .where(sql`status = 'deleted' AND erased_at IS NULL`)
    .orderBy(asc(accounts.deletedAt))
    .limit(max);

export const markErased = ({ db, now }: Shard, accountId: AccountId): Write =>
  db
    .update(accounts)
    .set({ erasedAt: now })
    .where(and(eq(accounts.id, accountId), eq(accounts.status, 'deleted')));
