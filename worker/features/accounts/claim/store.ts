import { and, eq, gt, inArray, isNotNull, isNull, or, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import { boundId } from '#platform/db/among.ts';
import { lastEntryAt } from '#platform/db/audit/recorded.ts';
import { abortIf, type Write } from '#platform/db/commit.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { archivedPayments } from '#platform/db/tables/archives.ts';
import { handoffs, paymentSessions } from '#platform/db/tables/checkout.ts';
import { sellerDomains } from '#platform/db/tables/office/domains.ts';
import { signInIdentities } from '#platform/db/tables/office/sign-in.ts';
import { products } from '#platform/db/tables/products.ts';
import { railSettings } from '#platform/db/tables/rails.ts';
import { brandLogos } from '#platform/db/tables/receipts.ts';
import { webhookDeliveries, webhookEndpoints } from '#platform/db/tables/webhooks.ts';
import { stepRows } from '#platform/db/versioned.ts';
import { isHandedOver } from '#rules/access/roles.ts';
import { endSalesTo, stopAuthorizations } from '../payouts/open-sales.store.ts';

const HAS_SOLD = (
  accountId: AccountId,
) => sql`EXISTS (SELECT 1 FROM payments WHERE merchant_id = ${boundId(accountId)} AND livemode = 1 AND status = 'CONFIRMED')
  OR EXISTS (SELECT 1 FROM archived_payments WHERE ${and(eq(archivedPayments.merchantId, accountId), eq(archivedPayments.livemode, true))})`;

/** True if buyers have paid the account of this id, also after it was handed over. */
export async function hasSold(db: Db, accountId: AccountId): Promise<boolean> {
  const [row] = await db.all<{ sold: number }>(sql`SELECT (${HAS_SOLD(accountId)}) AS sold`);
  return row?.sold === 1;
}

/** Time at which the person last proved an address by an emailed link. Null: never, or the log of that time is archived. */
export async function findProvenAt(db: Db, personId: AccountId): Promise<number | null> {
  const last = lastEntryAt({ merchantId: personId, action: 'person.email_verified' }, personId);
  const [row] = await db.all<{ at: number | null }>(sql`SELECT ${last} AS at`);
  return row?.at ?? null;
}

export const abortIfSold = (ctx: Shard, accountId: AccountId): Write => abortIf(ctx, HAS_SOLD(accountId));

export interface AccountAccess {
  keys: number;
  endpoints: number;
  providers: number;
  wallets: number;
}

/** Counts what a claim ends: for a person who handed the account over, ways to sign in alone. */
export async function findAccountAccess({ db, now }: Shard, { id, ownerId }: Pick<Account, 'id' | 'ownerId'>): Promise<AccountAccess> {
  const [row] = await db.all<AccountAccess>(sql`SELECT
    (SELECT count(*) FROM api_keys WHERE merchant_id = ${boundId(id)} AND livemode IN (0, 1)
      AND (revoked_at IS NULL OR revoked_at > ${now}) AND (expires_at IS NULL OR expires_at > ${now})) AS keys,
    (SELECT count(*) FROM webhook_endpoints WHERE merchant_id = ${boundId(id)} AND livemode IN (0, 1) AND status = 'enabled') AS endpoints,
    (SELECT count(*) FROM sign_in_identities WHERE account_id = ${boundId(id)}) AS providers,
    (SELECT count(*) FROM payout_wallets WHERE merchant_id = ${boundId(id)} AND disowned_at IS NULL) AS wallets`);
  return isHandedOver({ id, ownerId }) ? { ...row!, keys: 0, endpoints: 0, wallets: 0 } : row!;
}

export const deleteIdentities = (db: Db, personId: AccountId): Write =>
  db.delete(signInIdentities).where(eq(signInIdentities.accountId, personId));

/**
 * Revokes all access of the previous holder, in the batch that gives the account to the reader of the address: enabled
 * endpoints and their pending deliveries, payout wallets and links, the domain, the PDF logo and open sales.
 */
export function revokeAccess(ctx: Shard, accountId: AccountId): Write[] {
  const { db, now, wallNow } = ctx;
  const both = [true, false];
  const ofEndpoints = and(
    eq(webhookEndpoints.merchantId, accountId),
    inArray(webhookEndpoints.livemode, both),
    eq(webhookEndpoints.status, 'enabled'),
  );
  const ofDeliveries = and(eq(webhookDeliveries.merchantId, accountId), inArray(webhookDeliveries.livemode, both));
  const ofProducts = and(eq(products.merchantId, accountId), inArray(products.livemode, both));
  return [
    stepRows(db, webhookEndpoints, { status: 'disabled', disabledReason: 'account_claimed', updatedAt: now }, ofEndpoints),
    db
      .update(webhookDeliveries)
      .set({ status: 'cancelled', nextAttemptAt: null, completedAt: wallNow })
      .where(and(ofDeliveries, sql`status IN ('pending', 'retrying')`)),
    stepRows(db, products, { payoutWallet: null, successUrl: null, cancelUrl: null, updatedAt: now }, ofProducts),
    db.delete(brandLogos).where(eq(brandLogos.merchantId, accountId)),
    db.delete(sellerDomains).where(eq(sellerDomains.merchantId, accountId)),
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
    ...endOpenSales(ctx, accountId),
    stopAuthorizations(ctx, accountId),
  ];
}

/**
 * Expires open payment links and sessions, which would still pay the previous wallet. A transaction already signed by a buyer still
 * confirms, and the sweep expires the rest.
 */
function endOpenSales(ctx: Shard, accountId: AccountId): Write[] {
  const { db, now } = ctx;
  const over = { expiresAt: now };
  const ofHandoffs = and(eq(handoffs.merchantId, accountId), inArray(handoffs.livemode, [true, false]), isNull(handoffs.paymentId));
  return [
    db
      .update(handoffs)
      .set(over)
      .where(and(ofHandoffs, gt(handoffs.expiresAt, now))),
    stepRows(
      db,
      paymentSessions,
      over,
      and(gt(paymentSessions.expiresAt, now), eq(paymentSessions.merchantId, accountId), eq(paymentSessions.livemode, true)),
    ),
    ...endSalesTo(ctx, accountId),
  ];
}
