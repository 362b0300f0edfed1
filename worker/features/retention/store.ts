import { and, asc, eq, gt, inArray, lt, lte, type SQL, sql } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { type AccountId, newEventId } from '#core/ids.ts';
import { isClaimOfPayments } from '#platform/chain/clock-filter.store.ts';
import type { Db, Shard, Tenant } from '#platform/context.ts';
import { amongIds, setOfIds } from '#platform/db/among.ts';
import { abortIfExists, abortUnlessChanged, type Write } from '#platform/db/commit.ts';
import { accounts, loginNonces, payoutWallets } from '#platform/db/tables/accounts.ts';
import { archiveDrafts, archives } from '#platform/db/tables/archives.ts';
import { paymentCandidates } from '#platform/db/tables/candidates.ts';
import { handoffs, identitySessions, paymentSessions } from '#platform/db/tables/checkout.ts';
import { customers, entitlements } from '#platform/db/tables/entitlements.ts';
import { acts } from '#platform/db/tables/events.ts';
import { apiKeys } from '#platform/db/tables/keys.ts';
import { mails } from '#platform/db/tables/mail.ts';
import { memberships } from '#platform/db/tables/memberships.ts';
import { analyticsDays, analyticsQuarters, analyticsTotals, endedDeliveries } from '#platform/db/tables/office/analytics.ts';
import { processorEvents } from '#platform/db/tables/office/billing.ts';
import { totpSecrets } from '#platform/db/tables/office/factors.ts';
import { persons } from '#platform/db/tables/office/people.ts';
import { communities, placements } from '#platform/db/tables/office/placements.ts';
import { usedSignInStates } from '#platform/db/tables/office/sign-in.ts';
import { supportMessages, supportTickets } from '#platform/db/tables/office/support.ts';
import { payments, refunds, unmatchedPayments } from '#platform/db/tables/payments.ts';
import { accessApps, products } from '#platform/db/tables/products.ts';
import { railSettings } from '#platform/db/tables/rails.ts';
import { receiptMetadata, receiptNames, receipts } from '#platform/db/tables/receipts.ts';
import { sandboxTransactions } from '#platform/db/tables/sandbox.ts';
import { settlements } from '#platform/db/tables/settlements.ts';
import { setupIntents } from '#platform/db/tables/setups.ts';
import { subscriptionAuthorizations, subscriptionCollections } from '#platform/db/tables/subscriptions/authorizations.ts';
import { subscriptionPlans } from '#platform/db/tables/subscriptions/plans.ts';
import { txClaims } from '#platform/db/tables/tx-claims.ts';
import { endpointHours, webhookDeliveries, webhookEndpoints } from '#platform/db/tables/webhooks.ts';
import { updateUnversioned } from '#platform/db/versioned.ts';

/** Tables of test sales. Subscriptions need no entry: each belongs to a plan, and plans are deleted last. */
const TEST_TABLES = ['payments', 'receipts', 'entitlements', 'memberships', 'subscription_plans'] as const;

const ofTests = (accountIds: SQL): SQL => sql`merchant_id IN ${accountIds} AND livemode = 0`;

export const listTestEntitlements = (db: Db, accountIds: SQL, limit: number): Promise<{ id: string; merchantId: AccountId }[]> =>
  db.select({ id: entitlements.id, merchantId: entitlements.merchantId }).from(entitlements).where(ofTests(accountIds)).limit(limit);

export const deleteTestEntitlements = (db: Db, ids: string[]) =>
  db.delete(entitlements).where(sql`livemode = 0 AND ${amongIds(entitlements.id, ids)}`);

/**
 * Deletes up to `limit` test payments with their dependent rows, and as many memberships and subscriptions, then the plans. Returns true
 * once none is left. Rows of the simulated chain have retention rules of their own.
 */
export async function deleteTestSales(db: Db, accountIds: SQL, limit: number): Promise<boolean> {
  const [paid, held, subscribed] = await db.batch([
    db.select({ id: payments.id }).from(payments).where(ofTests(accountIds)).limit(limit),
    db.select({ id: memberships.id }).from(memberships).where(ofTests(accountIds)).limit(limit),
    db.select({ id: subscriptionAuthorizations.id }).from(subscriptionAuthorizations).where(ofTests(accountIds)).limit(limit),
  ]);
  const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id);
  const ids = setOfIds(idsOf(paid));
  const receiptIds = sql`(SELECT receipt_id FROM payments WHERE id IN ${ids})`;
  await db.batch([
    db.delete(receiptMetadata).where(sql`receipt_id IN ${receiptIds}`),
    db.delete(receipts).where(sql`id IN ${receiptIds}`),
    db.delete(unmatchedPayments).where(sql`payment_id IN ${ids}`),
    db.delete(paymentCandidates).where(sql`payment_id IN ${ids}`),
    db.delete(txClaims).where(sql`livemode = 0 AND ${isClaimOfPayments(sql`r.id IN ${ids}`)}`),
    db.delete(refunds).where(sql`payment_id IN ${ids}`),
    db.delete(settlements).where(sql`payment_id IN ${ids}`),
    db.delete(payments).where(sql`id IN ${ids}`),
    db.delete(placements).where(amongIds(placements.membershipId, idsOf(held))),
    db.delete(memberships).where(amongIds(memberships.id, idsOf(held))),
    db.delete(subscriptionCollections).where(amongIds(subscriptionCollections.authorizationId, idsOf(subscribed))),
    db.delete(subscriptionAuthorizations).where(amongIds(subscriptionAuthorizations.id, idsOf(subscribed))),
  ]);
  const isLast = [paid, held, subscribed].every((rows) => rows.length < limit);
  if (isLast) await db.batch([db.delete(subscriptionPlans).where(ofTests(accountIds)), db.delete(receiptNames).where(ofTests(accountIds))]);
  return isLast;
}

/** Deletes up to `limit` rows that ended before `before`. The condition must start with the columns of an index. Returns how many. */
export type Forget = (db: Db, before: number, limit: number) => Promise<number>;

async function deleteOver(db: Db, table: SQLiteTable, isOver: SQL | undefined, limit: number, key = 'rowid'): Promise<number> {
  const over = db
    .select({ key: sql.raw(key) })
    .from(table)
    .where(isOver)
    .limit(limit);
  return (await db.delete(table).where(sql`(${sql.raw(key)}) IN ${over}`)).meta.changes;
}

export const forgetNonces: Forget = (db, before, limit) => deleteOver(db, loginNonces, lte(loginNonces.expiresAt, before), limit);

/** Deletes secrets that no code confirmed in time. The condition repeats the partial index's expression literally. */
export const forgetPendingTotp: Forget = (db, before, limit) =>
  deleteOver(db, totpSecrets, sql`expires_at IS NOT NULL AND ${lte(totpSecrets.expiresAt, before)}`, limit);

export const forgetUsedStates: Forget = (db, before, limit) =>
  deleteOver(db, usedSignInStates, lte(usedSignInStates.expiresAt, before), limit);

/** Deletes expired chat codes that no administrator posted. The condition repeats the partial index's expression literally. */
export const forgetCodes: Forget = (db, before, limit) =>
  deleteOver(db, communities, sql`expires_at IS NOT NULL AND ${lte(communities.expiresAt, before)}`, limit);

export const forgetHandoffs: Forget = (db, before, limit) => deleteOver(db, handoffs, lte(handoffs.expiresAt, before), limit);

export const forgetIdentities: Forget = (db, before, limit) =>
  deleteOver(db, identitySessions, lte(identitySessions.expiresAt, before), limit);

const DELIVERY_KEY = 'event_id, endpoint_id, copy';

/** Deletes from the oldest event on. A delivery ends after its event, so the others need not be read. */
export const forgetDeliveries: Forget = (db, before, limit) =>
  deleteOver(
    db,
    webhookDeliveries,
    sql`${lte(webhookDeliveries.eventId, newEventId(before, null))} AND ${lte(webhookDeliveries.completedAt, before)}`,
    limit,
    DELIVERY_KEY,
  );

export const forgetHours: Forget = (db, before, limit) =>
  deleteOver(db, endpointHours, lte(endpointHours.hour, before), limit, 'merchant_id, livemode, hour, endpoint_id');

export const forgetMails: Forget = (db, before, limit) => deleteOver(db, mails, lte(mails.endedAt, before), limit);

export const forgetPaymentSessions: Forget = (db, before, limit) =>
  deleteOver(db, paymentSessions, lte(paymentSessions.expiresAt, before), limit);

export const forgetAuthorizations: Forget = async (db, before, limit) => {
  const over = db
    .select({ id: subscriptionAuthorizations.id })
    .from(subscriptionAuthorizations)
    .where(sql`ended_at IS NOT NULL AND ${lte(subscriptionAuthorizations.endedAt, before)}`)
    .limit(limit);
  const [, ended] = await db.batch([
    db.delete(subscriptionCollections).where(sql`authorization_id IN ${over}`),
    db.delete(subscriptionAuthorizations).where(sql`id IN ${over}`),
  ]);
  return ended.meta.changes;
};

export const forgetProcessorEvents: Forget = (db, before, limit) =>
  deleteOver(db, processorEvents, lte(processorEvents.receivedAt, before), limit);

/** Deletes old transactions outside of sandbox sessions. The condition repeats the partial index's expression literally. */
export const forgetSandboxTransactions: Forget = (db, before, limit) =>
  deleteOver(db, sandboxTransactions, sql`session_id = '' AND ${lte(sandboxTransactions.createdAt, before)}`, limit);

export const forgetFailedSettlements: Forget = (db, before, limit) =>
  // Repeats the partial index's expression literally, otherwise SQLite does not use the index.
  deleteOver(
    db,
    settlements,
    sql`status = 'failed' AND next_check_at IS NULL AND ${lte(settlements.createdAt, before)}`,
    limit,
    'payment_id',
  );

const holdsAny = (tables: readonly string[], condition: string): SQL =>
  sql.join(
    tables.map((table) => sql.raw(`EXISTS (SELECT 1 FROM ${table} WHERE merchant_id = setup_intents.account_id${condition})`)),
    sql` OR `,
  );
const LIVE_MONEY = [
  'payments',
  'receipts',
  'settlements',
  'metered_sessions',
  'subscription_authorizations',
  'entitlements',
  'memberships',
  'archives',
];
/** SQL condition on `setup_intents`: the account has live sales, grants or archived objects of either mode, and must be retained. */
const HOLDS_MONEY = sql`${holdsAny(LIVE_MONEY, ' AND livemode = 1')} OR ${holdsAny(['archives'], ' AND livemode = 0')}`;
const HOLDS_TESTS = holdsAny(TEST_TABLES, ' AND livemode = 0');

export const listEndedSetups = (db: Db, before: number, limit: number) =>
  db
    .select({
      id: setupIntents.id,
      accountId: setupIntents.accountId,
      holdsMoney: sql<0 | 1>`${HOLDS_MONEY}`,
      holdsTests: sql<0 | 1>`${HOLDS_TESTS}`,
    })
    .from(setupIntents)
    .where(sql`status = 'expired' AND is_retained = 0 AND ${lte(setupIntents.expiresAt, before)}`)
    .orderBy(setupIntents.expiresAt)
    .limit(limit);
export type EndedSetup = Awaited<ReturnType<typeof listEndedSetups>>[number];

/** Marks setups as permanently retained, so that the sweep skips them. */
export const retainSetups = (db: Db, setups: EndedSetup[]) =>
  updateUnversioned(
    db,
    setupIntents,
    { isRetained: true },
    amongIds(
      setupIntents.id,
      setups.map(({ id }) => id),
    ),
  );

export async function deleteSubjects(db: Db, setups: EndedSetup[], limit: number): Promise<boolean> {
  const accountIds = setOfIds(setups.map(({ accountId }) => accountId));
  // Both modes are listed because the indexes begin with account and mode.
  const isOf = sql`merchant_id IN ${accountIds} AND livemode IN (0, 1)`;
  if ((await deleteOver(db, webhookDeliveries, isOf, limit, DELIVERY_KEY)) === limit) return false;
  if ((await deleteOver(db, acts, isOf, limit)) === limit) return false;
  return true;
}

const OF_SETUPS = [
  ...[apiKeys, webhookEndpoints, products, accessApps, railSettings],
  ...[supportTickets, analyticsDays, analyticsQuarters, analyticsTotals, endedDeliveries],
  customers,
];

/**
 * Deletes accounts that no person can sign in to, with their configuration, in one batch. Aborts with nothing deleted if one of them
 * received money, test money included, since the list was read.
 */
export async function forgetAccounts(ctx: Shard, setups: EndedSetup[]): Promise<void> {
  const { db } = ctx;
  const accountIds = setOfIds(setups.map(({ accountId }) => accountId));
  const ids = setOfIds(setups.map(({ id }) => id));
  const ofThem = sql`merchant_id IN ${accountIds}`;
  const ofBoth = sql`${ofThem} AND livemode IN (0, 1)`;
  await db.batch([
    abortIfExists(ctx, setupIntents, sql`id IN ${ids} AND (${HOLDS_MONEY} OR ${HOLDS_TESTS})`),
    db.delete(payoutWallets).where(ofThem),
    db.delete(supportMessages).where(sql`ticket_id IN (SELECT id FROM support_tickets WHERE ${ofBoth})`),
    ...OF_SETUPS.map((table) => db.delete(table).where(ofBoth)),
    db.delete(persons).where(sql`id IN ${accountIds}`),
    db.delete(accounts).where(sql`id IN ${accountIds}`),
    db.delete(setupIntents).where(sql`id IN ${ids}`),
  ]);
}

export const NAMELESS = '.nameless.jsonl';

interface StoredObject {
  id: number;
  key: string;
}

export const listNamed = (db: Db, accountId: AccountId, limit: number): Promise<StoredObject[]> =>
  db
    .select({ id: archives.id, key: archives.key })
    .from(archives)
    .where(and(eq(archives.merchantId, accountId), inArray(archives.livemode, [true, false]), sql`key NOT LIKE ${`%${NAMELESS}`}`))
    .orderBy(asc(archives.id))
    .limit(limit);

/** Finds the next object of a merchant in a mode. */
export const findNextObject = (db: Db, { merchantId, livemode }: Tenant, after: number): Promise<StoredObject | undefined> =>
  db
    .select({ id: archives.id, key: archives.key })
    .from(archives)
    .where(and(eq(archives.merchantId, merchantId), eq(archives.livemode, livemode), gt(archives.id, after)))
    .orderBy(asc(archives.id))
    .limit(1)
    .get();

/** Swaps the object's key and gives up the original, which a sweep deletes. Aborts if a concurrent run was faster. */
export const replaceObject = (ctx: Shard, { id, key }: StoredObject, nameless: string): Write[] => [
  ctx.db
    .update(archives)
    .set({ key: nameless })
    .where(and(eq(archives.id, id), eq(archives.key, key))),
  abortUnlessChanged(ctx),
  ctx.db.delete(archiveDrafts).where(and(eq(archiveDrafts.key, nameless), eq(archiveDrafts.isGivenUp, false))),
  abortUnlessChanged(ctx),
  ctx.db.insert(archiveDrafts).values({ key, begunAt: ctx.now, isGivenUp: true }),
];

/** Records a draft before its object is written, so that an orphaned object can be found and deleted. */
export const beginDraft = (db: Db, key: string, begunAt: number) => db.insert(archiveDrafts).values({ key, begunAt });

/** Gives up to `limit` drafts begun before `before`, so that no batch can index them. Returns their keys. */
export const giveUpDrafts = (db: Db, before: number, limit: number): Promise<{ key: string }[]> => {
  const old = db
    .select({ key: archiveDrafts.key })
    .from(archiveDrafts)
    .where(lt(archiveDrafts.begunAt, before))
    .orderBy(asc(archiveDrafts.begunAt))
    .limit(limit);
  return db.update(archiveDrafts).set({ isGivenUp: true }).where(inArray(archiveDrafts.key, old)).returning({ key: archiveDrafts.key });
};

export const forgetDrafts = (db: Db, keys: string[]) => db.delete(archiveDrafts).where(inArray(archiveDrafts.key, keys));
