import { and, count, eq, inArray, isNull } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { payoutWallets } from '#platform/db/tables/accounts.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { products } from '#platform/db/tables/products.ts';
import { railSettings } from '#platform/db/tables/rails.ts';
import { meteredSessions } from '#platform/db/tables/settlements.ts';
import { subscriptionAuthorizations } from '#platform/db/tables/subscriptions/authorizations.ts';
import { stepRows } from '#platform/db/versioned.ts';
import { endSalesTo, isCollectedFor, openSalesOf, stopAuthorizations } from './open-sales.store.ts';

const isAmong = (id: AccountId, wallets: string[]) => and(eq(payoutWallets.merchantId, id), inArray(payoutWallets.wallet, wallets));

const isPaidTo = (table: typeof products | typeof railSettings, id: AccountId, wallets: string[]) =>
  and(eq(table.merchantId, id), eq(table.livemode, true), inArray(table.payoutWallet, wallets));

export interface WalletUse {
  /** Null: the account never named the wallet. */
  wallet: { disownedAt: number | null } | null;
  products: number;
  rails: number;
  authorizations: number;
  sessions: number;
}

export async function findWalletUse(ctx: Shard, id: AccountId, wallet: string): Promise<WalletUse> {
  const { db } = ctx;
  const open = openSalesOf(ctx, id, [wallet]);
  const counted = { n: count() };
  const [[known], [ofProducts], [ofRails], [collected], [paid], [metered]] = await db.batch([
    db
      .select({ disownedAt: payoutWallets.disownedAt })
      .from(payoutWallets)
      .where(isAmong(id, [wallet])),
    db
      .select(counted)
      .from(products)
      .where(isPaidTo(products, id, [wallet])),
    db
      .select(counted)
      .from(railSettings)
      .where(isPaidTo(railSettings, id, [wallet])),
    db
      .select(counted)
      .from(subscriptionAuthorizations)
      .where(isCollectedFor(id, [wallet])),
    db.select(counted).from(payments).where(open.payments),
    db.select(counted).from(meteredSessions).where(open.sessions),
  ]);
  return {
    wallet: known ?? null,
    products: ofProducts!.n,
    rails: ofRails!.n,
    authorizations: collected!.n,
    sessions: paid!.n + metered!.n,
  };
}

/**
 * Makes wallets of an account unknown. They are removed from products and rails, open sales to them end, and authorizations that pay them
 * are not collected any more.
 */
export function disownWallets(ctx: Shard, id: AccountId, wallets: string[]): Write[] {
  const { db, now } = ctx;
  const cleared = { payoutWallet: null, updatedAt: now };
  return [
    stepRows(db, products, cleared, isPaidTo(products, id, wallets)),
    stepRows(db, railSettings, cleared, isPaidTo(railSettings, id, wallets)),
    ...endSalesTo(ctx, id, wallets),
    stopAuthorizations(ctx, id, wallets),
    db
      .update(payoutWallets)
      .set({ disownedAt: now })
      .where(and(isAmong(id, wallets), isNull(payoutWallets.disownedAt))),
  ];
}
