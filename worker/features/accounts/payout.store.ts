import { desc, eq, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import { vetoIf, type Write } from '#platform/db/commit.ts';
import { accounts, payoutWallets } from '#platform/db/tables/accounts.ts';

/** Which wallets a merchant was ever set to be paid on in live mode: none, the one in question, or others alone. */
export type KnownWallets = 'none' | 'this_one' | 'others';

/** How a wallet stands among those the merchant was ever set to be paid on in live mode. Reads at most one row. */
export async function findKnownWallets(db: Db, merchantId: AccountId, wallet: string): Promise<KnownWallets> {
  const row = await db
    .select({ wallet: payoutWallets.wallet })
    .from(payoutWallets)
    .where(eq(payoutWallets.merchantId, merchantId))
    .orderBy(desc(sql`wallet = ${wallet}`))
    .limit(1)
    .get();
  return row ? (row.wallet === wallet ? 'this_one' : 'others') : 'none';
}

/** Account that a collection pays, and whether the wallet is one that it may be paid on in live mode. One read. */
export const findPayee = (db: Db, merchantId: AccountId, wallet: string) =>
  db
    .select({
      status: accounts.status,
      displayName: accounts.displayName,
      isKnown: sql<number>`EXISTS (SELECT 1 FROM payout_wallets WHERE merchant_id = ${merchantId} AND wallet = ${wallet})`,
    })
    .from(accounts)
    .where(eq(accounts.id, merchantId))
    .get();

export const rememberWallet = (ctx: Shard, merchantId: AccountId, wallet: string): Write =>
  ctx.db.insert(payoutWallets).values({ merchantId, wallet, createdAt: ctx.now }).onConflictDoNothing();

/** Fails the batch where another wallet has become the merchant's first one meanwhile. */
export const vetoUnlessFirst = (ctx: Shard, merchantId: AccountId, wallet: string): Write =>
  vetoIf(ctx, sql`EXISTS (SELECT 1 FROM payout_wallets WHERE merchant_id = ${merchantId} AND wallet <> ${wallet})`);

export const forgetWallets = (db: Db, merchantId: AccountId): Write =>
  db.delete(payoutWallets).where(eq(payoutWallets.merchantId, merchantId));
