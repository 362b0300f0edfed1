import { and, asc, eq, inArray, isNotNull, isNull, ne, or, type SQL, sql } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { AccountId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import { eraseActs } from '#platform/db/acts/acts.ts';
import type { Write } from '#platform/db/commit.ts';
import { accounts } from '#platform/db/tables/accounts.ts';
import { handoffs } from '#platform/db/tables/checkout.ts';
import { customers } from '#platform/db/tables/entitlements.ts';
import { acts } from '#platform/db/tables/events.ts';
import { idempotencyRecords } from '#platform/db/tables/idempotency.ts';
import { apiKeys } from '#platform/db/tables/keys.ts';
import { memberships } from '#platform/db/tables/memberships.ts';
import { billingCustomers } from '#platform/db/tables/office/billing.ts';
import { sellerDomains } from '#platform/db/tables/office/domains.ts';
import { listings } from '#platform/db/tables/office/listings.ts';
import { placements } from '#platform/db/tables/office/placements.ts';
import { supportMessages, supportTickets } from '#platform/db/tables/office/support.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { accessApps, products } from '#platform/db/tables/products.ts';
import { railSettings } from '#platform/db/tables/rails.ts';
import { brandLogos, buyerDetails, receiptMetadata } from '#platform/db/tables/receipts.ts';
import { webhookDeliveries, webhookEndpoints } from '#platform/db/tables/webhooks.ts';
import { stepRows, updateUnversioned } from '#platform/db/versioned.ts';

const upTo = (db: Db, table: SQLiteTable, isLeft: SQL | undefined, max: number, key = sql`rowid`) =>
  sql`${key} IN ${db.select({ key }).from(table).where(isLeft).limit(max)}`;

/**
 * Disables all endpoints, cancels their pending deliveries and erases personal data, at most `max` rows of each kind. All enabled endpoints
 * are disabled at once, because a plan bounds their number.
 */
export function eraseWhatNames(ctx: Shard, accountId: AccountId, max: number): Write[] {
  const { db, now, wallNow } = ctx;
  const both = [true, false];
  const nameless = { url: '', description: null, status: 'disabled', disabledReason: 'account_deleted', updatedAt: now } as const;
  const ofEndpoints = and(eq(webhookEndpoints.merchantId, accountId), inArray(webhookEndpoints.livemode, both));
  const ofDeliveries = and(eq(webhookDeliveries.merchantId, accountId), inArray(webhookDeliveries.livemode, both));
  const ofKeys = and(eq(apiKeys.merchantId, accountId), inArray(apiKeys.livemode, both), ne(apiKeys.name, ''));
  const ofApps = and(eq(accessApps.merchantId, accountId), inArray(accessApps.livemode, both), ne(accessApps.name, ''));
  const ofMetadata = and(eq(receiptMetadata.merchantId, accountId), inArray(receiptMetadata.livemode, both));
  const ofDetails = and(eq(buyerDetails.merchantId, accountId), inArray(buyerDetails.livemode, both));
  const ofCustomers = and(eq(customers.merchantId, accountId), inArray(customers.livemode, both));
  const ofHandoffs = and(eq(handoffs.merchantId, accountId), inArray(handoffs.livemode, both), isNull(handoffs.paymentId));
  const ofProducts = and(eq(products.merchantId, accountId), inArray(products.livemode, both), isNotNull(products.payoutWallet));
  return [
    stepRows(db, webhookEndpoints, nameless, and(ofEndpoints, eq(webhookEndpoints.status, 'enabled'))),
    stepRows(db, webhookEndpoints, nameless, upTo(db, webhookEndpoints, and(ofEndpoints, ne(webhookEndpoints.url, '')), max)),
    db
      .update(webhookDeliveries)
      .set({ status: 'cancelled', nextAttemptAt: null, completedAt: wallNow })
      .where(
        sql`(event_id, endpoint_id, copy) IN (SELECT event_id, endpoint_id, copy FROM webhook_deliveries
          WHERE ${ofDeliveries} AND status IN ('pending', 'retrying') LIMIT ${max})`,
      ),
    stepRows(db, apiKeys, { name: '', allowedIps: null }, upTo(db, apiKeys, ofKeys, max)),
    db
      .update(accessApps)
      .set({ name: '', homepageUrl: null })
      .where(upTo(db, accessApps, ofApps, max)),
    stepRows(db, products, { payoutWallet: null, updatedAt: now }, upTo(db, products, ofProducts, max)),
    stepRows(
      db,
      railSettings,
      { payoutWallet: null, origins: [], updatedAt: now },
      and(
        eq(railSettings.merchantId, accountId),
        inArray(railSettings.livemode, both),
        or(isNotNull(railSettings.payoutWallet), sql`origins <> '[]'`),
      ),
    ),
    db.delete(listings).where(upTo(db, listings, eq(listings.merchantId, accountId), max)),
    db.delete(brandLogos).where(eq(brandLogos.merchantId, accountId)),
    db.delete(sellerDomains).where(eq(sellerDomains.merchantId, accountId)),
    db.delete(receiptMetadata).where(upTo(db, receiptMetadata, ofMetadata, max)),
    db.delete(buyerDetails).where(and(ofDetails, upTo(db, buyerDetails, ofDetails, max, sql`buyer_key`))),
    ...eraseOffice(ctx, accountId, max),
    eraseAnswers(ctx, accountId, max),
    db.delete(handoffs).where(upTo(db, handoffs, ofHandoffs, max)),
    db.delete(customers).where(upTo(db, customers, ofCustomers, max, sql`id`)),
  ];
}

function eraseOffice(ctx: Shard, accountId: AccountId, max: number): Write[] {
  const { db, now } = ctx;
  const ofTickets = and(eq(supportTickets.merchantId, accountId), inArray(supportTickets.livemode, [true, false]));
  return [
    stepRows(db, supportTickets, { subject: '' }, upTo(db, supportTickets, and(ofTickets, ne(supportTickets.subject, '')), max)),
    db
      .update(supportMessages)
      .set({ body: '' })
      .where(
        upTo(
          db,
          supportMessages,
          and(ne(supportMessages.body, ''), sql`ticket_id IN (SELECT id FROM support_tickets WHERE ${ofTickets})`),
          max,
        ),
      ),
    updateUnversioned(
      db,
      billingCustomers,
      { erasingSince: now },
      and(eq(billingCustomers.accountId, accountId), isNull(billingCustomers.erasingSince)),
    ),
    ...eraseMembers(ctx, accountId, max),
  ];
}

/**
 * Erases buyers' identities on messaging platforms and pending membership deliveries. An open invitation remains as a row without a name
 * until the platform has revoked it, because the chat may belong to another merchant later.
 */
function eraseMembers({ db, wallNow }: Shard, accountId: AccountId, max: number): Write[] {
  const of = (table: typeof placements | typeof memberships | typeof payments) =>
    and(eq(table.merchantId, accountId), inArray(table.livemode, [true, false]));
  const isOpen = sql`livemode = 1 AND invite_url IS NOT NULL AND "grant" IS NOT NULL`;
  const nameless = {
    grant: sql`json_object('target', json_extract("grant", '$.target'), 'providerUserId', '', 'isGivenBack', json('true'))`,
    provider: sql`"grant" ->> '$.target.provider'`,
    ...{ grantKey: null, customerRef: null, lastError: null, deliveredAt: null },
    ...{ work: 'take' as const, attempts: 0, nextAttemptAt: wallNow, leaseUntil: 0 },
  };
  return [
    db.delete(placements).where(upTo(db, placements, and(of(placements), sql`NOT (${isOpen})`), max)),
    stepRows(db, placements, nameless, upTo(db, placements, and(of(placements), isOpen, sql`"grant" ->> '$.providerUserId' <> ''`), max)),
    stepRows(
      db,
      memberships,
      { deliverTo: null, delivery: null },
      upTo(db, memberships, and(of(memberships), isNotNull(memberships.deliverTo)), max, sql`id`),
    ),
    // An open session retains the platform of the buyer's identity, so that its payment is judged the same.
    stepRows(
      db,
      payments,
      { terms: sql`json_set(terms, '$.identity.providerUserId', '', '$.identity.username', NULL)` },
      upTo(db, payments, and(of(payments), sql`terms ->> '$.identity.providerUserId' <> ''`), max),
    ),
  ];
}

/** Erases copies of the same texts in stored answers for Idempotency-Keys. A lease belongs to the running request. */
function eraseAnswers({ db }: Shard, accountId: AccountId, max: number): Write {
  const ofAnswers = sql`scope >= ${`${accountId}:`} AND scope < ${`${accountId};`} AND status IS NOT NULL`;
  return db.delete(idempotencyRecords).where(sql`(scope, key) IN (SELECT scope, key FROM claims WHERE ${ofAnswers} LIMIT ${max})`);
}

/** Reads up to `max` acts that contain personal data, and plans their erasure. */
export async function planErasedActs({ db }: Shard, accountId: AccountId, max: number): Promise<Write[]> {
  const named = await db
    .select()
    .from(acts)
    .where(and(eq(acts.merchantId, accountId), inArray(acts.livemode, [true, false]), eq(acts.isPersonal, true)))
    .limit(max);
  return named.length === 0 ? [] : [eraseActs(db, named)];
}

export const listUnerased = (db: Db, max: number) =>
  db
    .select({ id: accounts.id })
    .from(accounts)
    .where(sql`status = 'deleted' AND erased_at IS NULL`)
    .orderBy(asc(accounts.deletedAt))
    .limit(max);

export const markErased = ({ db, now }: Shard, accountId: AccountId): Write =>
  stepRows(db, accounts, { erasedAt: now }, and(eq(accounts.id, accountId), eq(accounts.status, 'deleted')));
