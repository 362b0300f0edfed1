import { type SQL, sql } from 'drizzle-orm';
import type { Scope } from '#platform/context.ts';
import { boundId, setOf, textOfId } from '#platform/db/among.ts';
import { countedRows, type Listed, type PageRequest } from '#platform/db/page.ts';

export interface UsedWallet {
  wallet: string;
  /** Null in the sandbox, where each wallet is accepted at once. */
  knownSince: number | null;
  usedBy: WalletUser[];
}

export interface WalletUser {
  type: 'account' | 'rail' | 'product';
  id: string | null;
}

/** Maximum products listed for each wallet. The count of products has no limit on some plans. */
export const PRODUCTS_LISTED_MAX = 50;

/** SELECT of `wallet`, `type`, `id` and `made`: the settings of a merchant in one mode that name a payout wallet. */
const selectUses = ({ merchantId, livemode }: Scope): SQL => {
  const mine = sql`merchant_id = ${boundId(merchantId)} AND livemode = ${livemode ? 1 : 0} AND payout_wallet IS NOT NULL`;
  return sql`SELECT payout_wallet AS wallet, 'account' AS type, NULL AS id, 0 AS made FROM accounts
      WHERE id = ${boundId(merchantId)} AND payout_wallet IS NOT NULL
    UNION ALL SELECT payout_wallet, 'rail', rail_id, 0 FROM rail_settings WHERE ${mine}
    UNION ALL SELECT payout_wallet, 'product', ${textOfId(sql`products.id`)}, created_at FROM products
      WHERE ${mine} AND sandbox_session_id IS NULL`;
};

/** SELECT of the wallets: in live mode those that the account made known, in the sandbox those in use. */
const selectWallets = (scope: Scope): SQL =>
  scope.livemode
    ? sql`SELECT wallet, created_at AS known_since FROM payout_wallets
        WHERE merchant_id = ${boundId(scope.merchantId)} AND disowned_at IS NULL`
    : sql`SELECT DISTINCT wallet, NULL AS known_since FROM (${selectUses(scope)})`;

/** Lists payout wallets by address, which is the order of their index, each with what pays it. */
export async function listUsedWallets(scope: Scope, page: PageRequest): Promise<Listed<UsedWallet>> {
  const { db } = scope;
  const selected = selectWallets(scope);
  const [items, [count]] = await Promise.all([
    db.all<{ wallet: string; known_since: number | null }>(sql`${selected} ORDER BY wallet LIMIT ${page.perPage} OFFSET ${page.offset}`),
    db.all<{ total: number }>(sql`SELECT count(*) AS total FROM (${selected} LIMIT ${countedRows(page)})`),
  ]);
  const shown = setOf(items.map(({ wallet }) => wallet));
  const uses = await db.all<WalletUser & { wallet: string }>(sql`SELECT wallet, type, id FROM (
      SELECT *, row_number() OVER (PARTITION BY wallet, type ORDER BY made DESC) AS position
      FROM (${selectUses(scope)}) WHERE wallet IN ${shown})
    WHERE position <= ${PRODUCTS_LISTED_MAX} ORDER BY type = 'product', type, position`);
  const usesBy = Map.groupBy(uses, ({ wallet }) => wallet);
  return {
    items: items.map(({ wallet, known_since: knownSince }) => ({
      wallet,
      knownSince,
      usedBy: (usesBy.get(wallet) ?? []).map(({ type, id }) => ({ type, id })),
    })),
    total: count!.total,
  };
}
