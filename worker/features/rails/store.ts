import { and, eq } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Db, Scope, Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { rowsOf } from '#platform/db/page.ts';
import { accounts } from '#platform/db/tables/accounts.ts';
import { products } from '#platform/db/tables/products.ts';
import type { Setting } from '#platform/db/tables/rails.ts';
import { railSettings } from '#platform/db/tables/rails.ts';
import { casUpdate } from '#platform/db/versioned.ts';
import { X402_RAIL } from '#rules/rails.ts';

export const listSettings = async (scope: Scope): Promise<Setting[]> =>
  scope.db.select().from(railSettings).where(rowsOf(railSettings, scope));

export const findAccountWallet = async (db: Db, merchantId: AccountId): Promise<string | null> =>
  (await db.select({ wallet: accounts.walletAddress }).from(accounts).where(eq(accounts.id, merchantId)).get())?.wallet ?? null;

/** True where this merchant is paid to this wallet: by the x402 rail, by the account, or by a product on sale. */
export async function isPayoutWallet(db: Db, merchantId: AccountId, wallet: string): Promise<boolean> {
  const [account, setting, product] = await db.batch([
    db
      .select({ id: accounts.id })
      .from(accounts)
      .where(and(eq(accounts.id, merchantId), eq(accounts.walletAddress, wallet))),
    db
      .select({ railId: railSettings.railId })
      .from(railSettings)
      .where(
        and(
          eq(railSettings.merchantId, merchantId),
          eq(railSettings.livemode, true),
          eq(railSettings.railId, X402_RAIL),
          eq(railSettings.payoutWallet, wallet),
        ),
      ),
    db
      .select({ id: products.id })
      .from(products)
      .where(
        and(
          eq(products.merchantId, merchantId),
          eq(products.livemode, true),
          eq(products.status, 'active'),
          eq(products.payoutWallet, wallet),
        ),
      )
      .limit(1),
  ]);
  return account.length + setting.length + product.length > 0;
}

export const insertSetting = (db: Db, setting: Setting): Write => db.insert(railSettings).values(setting);

export const updateSetting = (ctx: Shard, before: Setting, after: Setting): Write[] => casUpdate(ctx, railSettings, before, after);
