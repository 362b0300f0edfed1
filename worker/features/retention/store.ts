import { and, asc, eq, inArray, lt, lte, type SQL, sql } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { AccountId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import { amongIds, setOf } from '#platform/db/among.ts';
import { abortIfExists, abortUnlessChanged, type Write } from '#platform/db/commit.ts';
import { accounts, loginNonces, payoutWallets } from '#platform/db/tables/accounts.ts';
import { archiveDrafts, archives } from '#platform/db/tables/archives.ts';
import { paymentCandidates } from '#platform/db/tables/candidates.ts';
import { handoffs, identitySessions, paymentSessions } from '#platform/db/tables/checkout.ts';
import { entitlements } from '#platform/db/tables/entitlements.ts';
import { events } from '#platform/db/tables/events.ts';
import { apiKeys } from '#platform/db/tables/keys.ts';
import { mails } from '#platform/db/tables/mail.ts';
import { memberships } from '#platform/db/tables/memberships.ts';
import { analyticsDays, analyticsQuarters, analyticsTotals, endedDeliveries } from '#platform/db/tables/office/analytics.ts';
import { processorEvents } from '#platform/db/tables/office/billing.ts';
import { communities, placements } from '#platform/db/tables/office/placements.ts';
import { usedSignInStates } from '#platform/db/tables/office/sign-in.ts';
import { supportMessages, supportTickets } from '#platform/db/tables/office/support.ts';
import { payments, refunds, unmatchedPayments } from '#platform/db/tables/payments.ts';
import { accessApps, products } from '#platform/db/tables/products.ts';
import { railSettings } from '#platform/db/tables/rails.ts';
import { receiptMetadata, receipts } from '#platform/db/tables/receipts.ts';
import { sandboxTransactions } from '#platform/db/tables/sandbox.ts';
import { settlements } from '#platform/db/tables/settlements.ts';
import { setupIntents } from '#platform/db/tables/setups.ts';
import { subscriptionAuthorizations, subscriptionCollections } from '#platform/db/tables/subscriptions/authorizations.ts';
import { subscriptionPlans } from '#platform/db/tables/subscriptions/plans.ts';
import { txClaims } from '#platform/db/tables/tx-claims.ts';
import { endpointHours, webhookDeliveries, webhookEndpoints } from '#platform/db/tables/webhooks.ts';
import { updateUnversioned } from '#platform/db/versioned.ts';

/** What was bought with test money, and what was given for it. No subscription is without a plan, which goes last. */
const TEST_TABLES = ['payments', 'receipts', 'entitlements', 'memberships', 'subscription_plans'] as const;

/** `accountIds`: a list of ids as SQL. */
const ofTests = (accountIds: SQL): SQL => sql`merchant_id IN ${accountIds} AND livemode = 0`;

export const listTestEntitlements = (db: Db, accountIds: SQL, limit: number): Promise<{ id: string; merchantId: AccountId }[]> =>
  db.select({ id: entitlements.id, merchantId: entitlements.merchantId }).from(entitlements).where(ofTests(accountIds)).limit(limit);

/** The rows of entitlements whose objects have forgotten them. */
export const deleteTestEntitlements = (db: Db, ids: string[]) =>
  db.delete(entitlements).where(sql`livemode = 0 AND ${amongIds('id', ids)}`);

/**
 * Deletes up to so many test payments of these accounts with all that hangs on them, and as many memberships and subscriptions; after the
 * last of them their plans. True once none is left. What stands on their simulated chains ends by itself.
 */
export async function deleteTestSales(db: Db, accountIds: SQL, limit: number): Promise<boolean> {
  const [paid, held, subscribed] = await db.batch([
    db.select({ id: payments.id }).from(payments).where(ofTests(accountIds)).limit(limit),
    db.select({ id: memberships.id }).from(memberships).where(ofTests(accountIds)).limit(limit),
    db.select({ id: subscriptionAuthorizations.id }).from(subscriptionAuthorizations).where(ofTests(accountIds)).limit(limit),
  ]);
  const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id);
  const ids = setOf(idsOf(paid));
  await db.batch([
    db.delete(receiptMetadata).where(sql`receipt_id IN (SELECT id FROM receipts WHERE payment_id IN ${ids})`),
    db.delete(receipts).where(sql`payment_id IN ${ids}`),
    db.delete(unmatchedPayments).where(sql`payment_id IN ${ids}`),
    db.delete(paymentCandidates).where(sql`payment_id IN ${ids}`),
    db.delete(txClaims).where(sql`subject_id IN (SELECT id FROM refunds WHERE payment_id IN ${ids})`),
    db.delete(txClaims).where(sql`subject_id IN ${ids}`),
    db.delete(refunds).where(sql`payment_id IN ${ids}`),
    db.delete(settlements).where(sql`payment_id IN ${ids}`),
    db.delete(payments).where(sql`id IN ${ids}`),
    db.delete(placements).where(amongIds('membership_id', idsOf(held))),
    db.delete(memberships).where(amongIds('id', idsOf(held))),
    db.delete(subscriptionCollections).where(amongIds('authorization_id', idsOf(subscribed))),
    db.delete(subscriptionAuthorizations).where(amongIds('id', idsOf(subscribed))),
  ]);
  const isLast = [paid, held, subscribed].every((rows) => rows.length < limit);
  if (isLast) await db.delete(subscriptionPlans).where(ofTests(accountIds));
  return isLast;
}

/** Deletes up to so many rows of which `isOver` holds: it must be what an index of the table begins with. Answers how many. */
export type Forget = (db: Db, before: number, limit: number) => Promise<number>;

async function deleteOver(db: Db, table: SQLiteTable, isOver: SQL | undefined, limit: number): Promise<number> {
  const over = db.select({ rowid: sql`rowid` }).from(table).where(isOver).limit(limit);
  return (await db.delete(table).where(sql`rowid IN ${over}`)).meta.changes;
}

export const forgetNonces: Forget = (db, before, limit) => deleteOver(db, loginNonces, lte(loginNonces.expiresAt, before), limit);

export const forgetUsedStates: Forget = (db, before, limit) =>
  deleteOver(db, usedSignInStates, lte(usedSignInStates.expiresAt, before), limit);

/** Codes that no administrator posted. As the index has it, word for word. */
export const forgetCodes: Forget = (db, before, limit) =>
  deleteOver(db, communities, sql`expires_at IS NOT NULL AND ${lte(communities.expiresAt, before)}`, limit);

export const forgetHandoffs: Forget = (db, before, limit) => deleteOver(db, handoffs, lte(handoffs.expiresAt, before), limit);

export const forgetIdentities: Forget = (db, before, limit) =>
  deleteOver(db, identitySessions, lte(identitySessions.expiresAt, before), limit);

export const forgetDeliveries: Forget = (db, before, limit) =>
  deleteOver(db, webhookDeliveries, lte(webhookDeliveries.completedAt, before), limit);

export const forgetHours: Forget = (db, before, limit) => deleteOver(db, endpointHours, lte(endpointHours.hour, before), limit);

export const forgetMails: Forget = (db, before, limit) => deleteOver(db, mails, lte(mails.endedAt, before), limit);

export const forgetPaymentSessions: Forget = (db, before, limit) =>
  deleteOver(db, paymentSessions, lte(paymentSessions.expiresAt, before), limit);

/** With the periods they were collected for. */
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

/** Of no session: those of a session end with it. As the index has it. */
export const forgetSandboxTransactions: Forget = (db, before, limit) =>
  deleteOver(db, sandboxTransactions, sql`session_id = '' AND ${lte(sandboxTransactions.createdAt, before)}`, limit);

export const forgetFailedSettlements: Forget = (db, before, limit) =>
  // As the index has it, word for word, or it is not used.
  deleteOver(db, settlements, sql`status = 'failed' AND next_check_at IS NULL AND ${lte(settlements.createdAt, before)}`, limit);

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
];
/** Whatever tells of live money, or of what was given for it, keeps its account; and so do objects of the archive, of either mode. */
const HOLDS_MONEY = sql`${holdsAny(LIVE_MONEY, ' AND livemode = 1')} OR ${holdsAny(['archives'], ' AND livemode IN (0, 1)')}`;
const HOLDS_TESTS = holdsAny(TEST_TABLES, ' AND livemode = 0');

/** Setups that ended by then, longest ended first, and whether their accounts hold anything of money, or of tests. */
export const listEndedSetups = (db: Db, before: number, limit: number) =>
  db
    .select({
      id: setupIntents.id,
      accountId: setupIntents.accountId,
      holdsMoney: sql<0 | 1>`${HOLDS_MONEY}`,
      holdsTests: sql<0 | 1>`${HOLDS_TESTS}`,
    })
    .from(setupIntents)
    .where(sql`status = 'expired' AND is_kept = 0 AND ${lte(setupIntents.expiresAt, before)}`)
    .orderBy(setupIntents.expiresAt)
    .limit(limit);
export type EndedSetup = Awaited<ReturnType<typeof listEndedSetups>>[number];

/** These are kept for good, and not looked at again. */
export const keepSetups = (db: Db, setups: EndedSetup[]) =>
  updateUnversioned(
    db,
    setupIntents,
    { isKept: true },
    amongIds(
      'id',
      setups.map(({ id }) => id),
    ),
  );

/** Deletes up to so many deliveries of these accounts, then as many events. True once none is left. */
export async function forgetStories(db: Db, setups: EndedSetup[], limit: number): Promise<boolean> {
  const accountIds = setOf(setups.map(({ accountId }) => accountId));
  for (const table of [webhookDeliveries, events]) {
    // Both modes are named, because the indexes begin with account and mode.
    const isOf = sql`merchant_id IN ${accountIds} AND livemode IN (0, 1)`;
    if ((await deleteOver(db, table, isOf, limit)) === limit) return false;
  }
  return true;
}

/** Tables of both modes in which a setup's account has rows. */
const OF_SETUPS = [
  ...[apiKeys, webhookEndpoints, products, accessApps, railSettings],
  ...[supportTickets, analyticsDays, analyticsQuarters, analyticsTotals, endedDeliveries],
];

/**
 * Accounts that no person can sign in to, with all they set up, in one batch. Aborted, with nothing deleted, where money, of a test
 * too, has reached one of them since the list was read.
 */
export async function forgetAccounts(ctx: Shard, setups: EndedSetup[]): Promise<void> {
  const { db } = ctx;
  const accountIds = setOf(setups.map(({ accountId }) => accountId));
  const ids = setOf(setups.map(({ id }) => id));
  const ofThem = sql`merchant_id IN ${accountIds}`;
  const ofBoth = sql`${ofThem} AND livemode IN (0, 1)`;
  await db.batch([
    abortIfExists(ctx, setupIntents, sql`id IN ${ids} AND (${HOLDS_MONEY} OR ${HOLDS_TESTS})`),
    db.delete(payoutWallets).where(ofThem),
    db.delete(supportMessages).where(sql`ticket_id IN (SELECT id FROM support_tickets WHERE ${ofBoth})`),
    ...OF_SETUPS.map((table) => db.delete(table).where(ofBoth)),
    db.delete(accounts).where(sql`id IN ${accountIds}`),
    db.delete(setupIntents).where(sql`id IN ${ids}`),
  ]);
}

/** How the name of an object ends that holds no names of people. */
export const NAMELESS = '.nameless.jsonl';

interface StoredObject {
  id: number;
  key: string;
}

/** Objects of an account that may hold names of people, oldest first. */
export const listNamed = (db: Db, accountId: AccountId, limit: number): Promise<StoredObject[]> =>
  db
    .select({ id: archives.id, key: archives.key })
    .from(archives)
    .where(and(eq(archives.merchantId, accountId), inArray(archives.livemode, [true, false]), sql`key NOT LIKE ${`%${NAMELESS}`}`))
    .orderBy(asc(archives.id))
    .limit(limit);

/** The object under another name takes the place of the first, which is given up: a sweep deletes it. Fails the batch where a rival was faster. */
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

/** Before an object is written: whatever becomes of it, the row tells of it until it is in the index or deleted. */
export const beginDraft = (db: Db, key: string, begunAt: number) => db.insert(archiveDrafts).values({ key, begunAt });

/** Gives up drafts that were begun before then, up to so many, so that no batch can put them into the index any more. Answers all that are given up. */
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
