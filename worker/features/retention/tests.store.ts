import { type SQL, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Db } from '#platform/context.ts';
import { paymentCandidates } from '#platform/db/tables/candidates.ts';
import { entitlements } from '#platform/db/tables/entitlements.ts';
import { memberships } from '#platform/db/tables/memberships.ts';
import { placements } from '#platform/db/tables/office/placements.ts';
import { payments, refunds, unmatchedPayments } from '#platform/db/tables/payments.ts';
import { receiptMetadata, receipts } from '#platform/db/tables/receipts.ts';
import { settlements } from '#platform/db/tables/settlements.ts';
import { subscriptionAuthorizations, subscriptionCollections } from '#platform/db/tables/subscriptions/authorizations.ts';
import { subscriptionPlans } from '#platform/db/tables/subscriptions/plans.ts';
import { txClaims } from '#platform/db/tables/tx-claims.ts';

/** What was bought with test money, and what was given for it. No subscription is without a plan, which goes last. */
export const TEST_TABLES = ['payments', 'receipts', 'entitlements', 'memberships', 'subscription_plans'] as const;

/** `accountIds`: a list of ids as SQL. */
const ofTests = (accountIds: SQL): SQL => sql`merchant_id IN ${accountIds} AND livemode = 0`;

export const listTestEntitlements = (db: Db, accountIds: SQL, limit: number): Promise<{ id: string; merchantId: AccountId }[]> =>
  db.select({ id: entitlements.id, merchantId: entitlements.merchantId }).from(entitlements).where(ofTests(accountIds)).limit(limit);

/** The rows of entitlements whose objects have forgotten them. */
export const deleteTestEntitlements = (db: Db, ids: string[]) =>
  db.delete(entitlements).where(sql`livemode = 0 AND id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`);

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
  const among = (rows: { id: string }[]) => sql`(SELECT value FROM json_each(${JSON.stringify(rows.map(({ id }) => id))}))`;
  const ids = among(paid);
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
    db.delete(placements).where(sql`membership_id IN ${among(held)}`),
    db.delete(memberships).where(sql`id IN ${among(held)}`),
    db.delete(subscriptionCollections).where(sql`authorization_id IN ${among(subscribed)}`),
    db.delete(subscriptionAuthorizations).where(sql`id IN ${among(subscribed)}`),
  ]);
  const isLast = [paid, held, subscribed].every((rows) => rows.length < limit);
  if (isLast) await db.delete(subscriptionPlans).where(ofTests(accountIds));
  return isLast;
}
