import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { ProductId } from '#core/ids.ts';
import type { Scope, Shard, Tenant } from '#platform/context.ts';
import { vetoIf, type Write } from '#platform/db/commit.ts';
import { rowsOf } from '#platform/db/page.ts';
import { products } from '#platform/db/tables/products.ts';
import { type RailSetting, renewsOver, servedRails } from '#rules/product-rails.ts';
import { RAILS, type RailId } from '#rules/rails.ts';

/** Rails that this service sells over, with what decides over which products: the same rule as `suits`, for a statement. */
function railRows(config: Shard['config']): SQL {
  const rowOf = (railId: RailId): string => {
    const { asset, pricing, showsIdentity } = RAILS[railId];
    const renewal = renewsOver({ renewalMode: 'AUTOMATIC' }, railId) ? 'AUTOMATIC' : 'ONE_OFF';
    return `SELECT '${railId}' AS rail_id, '${asset}' AS asset, ${Number(pricing === 'quoted')} AS is_quoted, ${Number(showsIdentity)} AS shows_identity, '${renewal}' AS renewal`;
  };
  return sql.raw(servedRails(config).map(rowOf).join(' UNION ALL '));
}

const SETTINGS = sql`rail_settings`;

/** An active product that a buyer can pay over one rail at least: enabled, and with a wallet. Any other is a draft, which no plan counts. */
const payable = (config: Shard['config'], settings = SETTINGS): SQL => sql`(status = 'active' AND sandbox_session_id IS NULL
  AND (renewal_mode <> 'AUTOMATIC' OR EXISTS (SELECT 1 FROM subscription_plans p WHERE p.product_id = products.id))
  AND EXISTS (SELECT 1 FROM (${railRows(config)}) r LEFT JOIN ${settings} s
    ON s.merchant_id = products.merchant_id AND s.livemode = products.livemode AND s.rail_id = r.rail_id
    WHERE coalesce(s.enabled, 1) = 1
      AND (products.allowed_rails IS NULL OR instr(products.allowed_rails, '"' || r.rail_id || '"') > 0)
      AND (products.asset = r.asset OR (r.is_quoted AND instr(products.accepted_assets, '"' || r.asset || '"') > 0))
      AND (r.shows_identity OR products.requires_identity IS NULL) AND products.renewal_mode = r.renewal
      AND (products.livemode = 0 OR products.payout_wallet IS NOT NULL OR s.payout_wallet IS NOT NULL
        OR EXISTS (SELECT 1 FROM accounts a WHERE a.id = products.merchant_id AND a.wallet_address IS NOT NULL))))`;

/** The settings of one merchant in one mode after a change of one of them. */
const settingsAfter = ({ merchantId, livemode }: Tenant, { railId, enabled, payoutWallet }: RailSetting): SQL => {
  const mine = sql`${merchantId} AS merchant_id, ${livemode ? 1 : 0} AS livemode`;
  return sql`(SELECT merchant_id, livemode, rail_id, enabled, payout_wallet FROM rail_settings
      WHERE merchant_id = ${merchantId} AND livemode = ${livemode ? 1 : 0} AND rail_id <> ${railId}
    UNION ALL SELECT ${mine}, ${railId} AS rail_id, ${enabled ? 1 : 0} AS enabled, ${payoutWallet} AS payout_wallet)`;
};

/** Products that count in the plan: as they are, or as they would be after a rail is set so. */
export const getActiveProductCount = (scope: Scope, after?: RailSetting): Promise<number> =>
  scope.db.$count(products, and(rowsOf(products, scope), payable(scope.config, after && settingsAfter(scope, after))));

export const isPayable = async (scope: Scope, productId: ProductId): Promise<boolean> =>
  (await scope.db.$count(products, and(rowsOf(products, scope), eq(products.id, productId), payable(scope.config)))) > 0;

/** Refuses the batch that left more payable products than `max`: all that it made so, or this one. */
export function vetoOverProductQuota(ctx: Shard, { merchantId, livemode }: Tenant, max: number, productId: ProductId | null): Write[] {
  if (!Number.isFinite(max)) return [];
  const counted = payable(ctx.config);
  const used = sql`(SELECT count(*) FROM products WHERE merchant_id = ${merchantId} AND livemode = ${livemode ? 1 : 0} AND ${counted})`;
  const counts = productId === null ? sql`1` : sql`EXISTS (SELECT 1 FROM products WHERE id = ${productId} AND ${counted})`;
  return [vetoIf(ctx, sql`${used} > ${max} AND ${counts}`)];
}
