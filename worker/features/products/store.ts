import { and, eq, isNull, or, type SQL, sql } from 'drizzle-orm';
import { raise } from '#core/errors.ts';
import type { AccountId, AppId, ProductId } from '#core/ids.ts';
import type { Db, Scope, Shard, Tenant } from '#platform/context.ts';
import { amongIds, boundId, textOfId } from '#platform/db/among.ts';
import { abortIf, type Write } from '#platform/db/commit.ts';
import { listPage, newestFirst, type PageRequest, rowsOf } from '#platform/db/page.ts';
import { accounts } from '#platform/db/tables/accounts.ts';
import { type AccessApp, accessApps, type Product, products } from '#platform/db/tables/products.ts';
import { railSettings } from '#platform/db/tables/rails.ts';
import { casUpdate } from '#platform/db/versioned.ts';
import { type RailSetting, renewsOver, servedRails, settingOf } from '#rules/product-rails.ts';
import { RAILS, type RailId } from '#rules/rails.ts';
import type { ProductStatus } from '#rules/states.ts';

const findWhere = (scope: Scope, isIt: SQL) =>
  scope.db
    .select()
    .from(products)
    .where(and(rowsOf(products, scope), isIt))
    .get();

export const findProduct = (scope: Scope, productId: ProductId) => findWhere(scope, eq(products.id, productId));

export async function getProduct(...args: Parameters<typeof findProduct>): Promise<Product> {
  return (await findProduct(...args)) ?? raise('not_found');
}

export const findByExternalId = (scope: Scope, externalProductId: string) =>
  findWhere(scope, eq(products.externalProductId, externalProductId));

/** Merchant and mode of a product of any merchant. */
export const findProductOwner = (db: Db, productId: string): Promise<Tenant | undefined> =>
  db
    .select({ merchantId: products.merchantId, livemode: products.livemode })
    .from(products)
    .where(eq(products.id, productId as ProductId))
    .get();

export const listOwnIds = async (scope: Scope, productIds: ProductId[]): Promise<ProductId[]> => {
  if (productIds.length === 0) return [];
  const rows = await scope.db
    .select({ id: products.id })
    .from(products)
    .where(and(rowsOf(products, scope), amongIds(products.id, productIds)));
  return rows.map(({ id }) => id);
};

export const findApp = (scope: Scope, appId: AppId) =>
  scope.db
    .select()
    .from(accessApps)
    .where(and(rowsOf(accessApps, scope), eq(accessApps.id, appId)))
    .get();

export const hasSlug = async (db: Db, slug: string, merchantId: AccountId): Promise<boolean> =>
  (await db.$count(products, and(eq(products.slug, slug), eq(products.merchantId, merchantId)))) > 0;

export async function isTaken(db: Db, product: Product): Promise<boolean> {
  const { slug, externalProductId } = product;
  const sameName = externalProductId && and(rowsOf(products, product), eq(products.externalProductId, externalProductId));
  const other = await db
    .select({ id: products.id })
    .from(products)
    .where(or(eq(products.slug, slug), sameName || undefined))
    .get();
  return other !== undefined;
}

export const listProducts = (scope: Scope, status: ProductStatus | undefined, page: PageRequest) =>
  listPage(
    scope.db,
    products,
    and(rowsOf(products, scope, [[products.status, status]]), isNull(products.sandboxSessionId))!,
    newestFirst(products.createdAt),
    page,
  );

/** Lists products with this text in their name, of the newest `searchedMax`, newest first. */
export const listProductsNamed = (scope: Scope, text: string, searchedMax: number, limit: number): Promise<Product[]> => {
  const mine = and(rowsOf(products, scope), isNull(products.sandboxSessionId));
  const newest = sql`SELECT id FROM ${products} WHERE ${mine} ORDER BY created_at DESC LIMIT ${searchedMax}`;
  return scope.db
    .select()
    .from(products)
    .where(and(mine, sql`${products.id} IN (${newest})`, sql`instr(lower(${products.name}), lower(${text})) > 0`))
    .orderBy(...newestFirst(products.createdAt))
    .limit(limit);
};

/** Product with its seller and the seller's rail settings. A missing setting means the rail's defaults. */
export interface Listing {
  product: Product;
  merchant: typeof accounts.$inferSelect;
  settings: RailSetting[];
  /** Subjects that the operator switched off: `product`, and rails by id. */
  switchedOff: string[];
}

export interface Sale extends Omit<Listing, 'settings' | 'switchedOff'> {
  setting: RailSetting | null;
  switchedOff: 'product' | 'rail' | null;
}

export const saleOn = ({ product, merchant, settings, switchedOff }: Listing, railId: RailId): Sale => ({
  product,
  merchant,
  switchedOff: switchedOff.includes('product') ? 'product' : switchedOff.includes(railId) ? 'rail' : null,
  setting: settingOf(settings, railId),
});

/** Read with every sale, so that a switch takes effect at once and everywhere. */
const OFF = sql<string>`(SELECT json_group_array(subject) FROM switched_off
  WHERE subject = 'product:' || ${textOfId(sql`products.id`)} OR subject BETWEEN 'rail:' AND 'rail:~')`;

async function readListing(db: Db, which: SQL | undefined): Promise<Listing | null> {
  const rows = await db
    .select({ product: products, merchant: accounts, setting: railSettings, switchedOff: OFF })
    .from(products)
    .innerJoin(accounts, eq(accounts.id, products.merchantId))
    .leftJoin(railSettings, and(eq(railSettings.merchantId, products.merchantId), eq(railSettings.livemode, products.livemode)))
    .where(which);
  const [first] = rows;
  if (!first) return null;
  const { product, merchant } = first;
  const switchedOff = (JSON.parse(first.switchedOff) as string[]).map((subject) => subject.replace(/^rail:|:.*$/g, ''));
  return { product, merchant, settings: rows.flatMap(({ setting }) => setting ?? []), switchedOff };
}

export const getListing = async (db: Db, slug: string): Promise<Listing> =>
  (await readListing(db, and(eq(products.slug, slug), eq(accounts.status, 'active')))) ?? raise('not_found');

export async function findActiveListing(db: Db, slug: string): Promise<Listing | null> {
  const listing = await readListing(db, and(eq(products.slug, slug), eq(accounts.status, 'active')));
  return listing?.product.status === 'active' && !listing.switchedOff.includes('product') ? listing : null;
}

export const getActiveListing = async (db: Db, slug: string): Promise<Listing> => (await findActiveListing(db, slug)) ?? raise('not_found');

export const findOrphan = (db: Db, slug: string) =>
  db
    .select({ id: products.id })
    .from(products)
    .innerJoin(accounts, eq(accounts.id, products.merchantId))
    .where(and(eq(products.slug, slug), eq(accounts.status, 'deleted')))
    .get();

export const findListing = (scope: Scope, named: { productId: ProductId } | { externalProductId: string }): Promise<Listing | null> =>
  readListing(
    scope.db,
    and(
      rowsOf(products, scope),
      'productId' in named ? eq(products.id, named.productId) : eq(products.externalProductId, named.externalProductId),
    ),
  );

/** Loads a merchant's own product over one rail. Throws 404. */
export const getSale = async (scope: Scope, productId: ProductId, railId: RailId): Promise<Sale> =>
  saleOn((await findListing(scope, { productId })) ?? raise('not_found'), railId);

export async function getRailDefaults({
  db,
  merchantId,
  livemode,
}: Scope): Promise<{ settings: RailSetting[]; accountWallet: string | null }> {
  const rows = await db
    .select({ accountWallet: accounts.payoutWallet, setting: railSettings })
    .from(accounts)
    .leftJoin(railSettings, and(eq(railSettings.merchantId, accounts.id), eq(railSettings.livemode, livemode)))
    .where(eq(accounts.id, merchantId));
  return { settings: rows.flatMap(({ setting }) => setting ?? []), accountWallet: rows[0]?.accountWallet ?? null };
}

export async function listProductNames(scope: Scope, productIds: ProductId[]): Promise<Map<string, string>> {
  const rows = await scope.db
    .select({ id: products.id, name: products.name })
    .from(products)
    .where(and(rowsOf(products, scope), amongIds(products.id, productIds)));
  return new Map(rows.map(({ id, name }) => [id, name]));
}

export const updateProduct = (ctx: Shard, before: Product, after: Product): Write[] => casUpdate(ctx, products, before, after);

/** Updates a product that may become payable, within the plan's quota. */
export const openProduct = (ctx: Shard, before: Product, after: Product, activeMax: number): Write[] => [
  ...updateProduct(ctx, before, after),
  ...abortIfOverProductQuota(ctx, before, activeMax, before.id),
];

export const insertProduct = (ctx: Shard, product: Product, activeMax: number): Write[] => [
  ctx.db.insert(products).values(product),
  ...abortIfOverProductQuota(ctx, product, activeMax, product.id),
];

export const insertApp = (db: Db, app: AccessApp): Write => db.insert(accessApps).values(app);

/** Rails that this service sells over, with the conditions on their products: the SQL form of `suits`. */
function railRows(config: Shard['config']): SQL {
  const rowOf = (railId: RailId): string => {
    const { asset, pricing, showsIdentity } = RAILS[railId];
    const renewal = renewsOver({ renewalMode: 'AUTOMATIC' }, railId) ? 'AUTOMATIC' : 'ONE_OFF';
    return `SELECT '${railId}' AS rail_id, '${asset}' AS asset, ${Number(pricing === 'quoted')} AS is_quoted, ${Number(showsIdentity)} AS shows_identity, '${renewal}' AS renewal`;
  };
  return sql.raw(servedRails(config).map(rowOf).join(' UNION ALL '));
}

const SETTINGS = sql`rail_settings`;

/**
 * Matches active products that a buyer can pay over at least one rail: enabled, and with a wallet. Any other is a draft, which does not
 * count in the plan.
 */
const payable = (config: Shard['config'], settings = SETTINGS): SQL => sql`(status = 'active' AND sandbox_session_id IS NULL
  AND (renewal_mode <> 'AUTOMATIC' OR EXISTS (SELECT 1 FROM subscription_plans p WHERE p.product_id = products.id))
  AND EXISTS (SELECT 1 FROM (${railRows(config)}) r LEFT JOIN ${settings} s
    ON s.merchant_id = products.merchant_id AND s.livemode = products.livemode AND s.rail_id = r.rail_id
    WHERE coalesce(s.enabled, 1) = 1
      AND (products.allowed_rails IS NULL OR instr(products.allowed_rails, '"' || r.rail_id || '"') > 0)
      AND (products.asset = r.asset OR (r.is_quoted AND instr(products.accepted_assets, '"' || r.asset || '"') > 0))
      AND (r.shows_identity OR products.requires_identity IS NULL) AND products.renewal_mode = r.renewal
      AND (products.livemode = 0 OR products.payout_wallet IS NOT NULL OR s.payout_wallet IS NOT NULL
        OR EXISTS (SELECT 1 FROM accounts a WHERE a.id = products.merchant_id AND a.payout_wallet IS NOT NULL))))`;

const settingsAfter = ({ merchantId, livemode }: Tenant, { railId, enabled, payoutWallet }: RailSetting): SQL => {
  const mine = sql`${boundId(merchantId)} AS merchant_id, ${livemode ? 1 : 0} AS livemode`;
  return sql`(SELECT merchant_id, livemode, rail_id, enabled, payout_wallet FROM rail_settings
      WHERE merchant_id = ${boundId(merchantId)} AND livemode = ${livemode ? 1 : 0} AND rail_id <> ${railId}
    UNION ALL SELECT ${mine}, ${railId} AS rail_id, ${enabled ? 1 : 0} AS enabled, ${payoutWallet} AS payout_wallet)`;
};

export const getActiveProductCount = (scope: Scope, after?: RailSetting): Promise<number> =>
  scope.db.$count(products, and(rowsOf(products, scope), payable(scope.config, after && settingsAfter(scope, after))));

export const isPayable = async (scope: Scope, productId: ProductId): Promise<boolean> =>
  (await scope.db.$count(products, and(rowsOf(products, scope), eq(products.id, productId), payable(scope.config)))) > 0;

/** Aborts the batch if it would leave more than `max` payable products, counting all that it made payable, or this one. */
export function abortIfOverProductQuota(ctx: Shard, { merchantId, livemode }: Tenant, max: number, productId: ProductId | null): Write[] {
  if (!Number.isFinite(max)) return [];
  const counted = payable(ctx.config);
  const used = sql`(SELECT count(*) FROM products WHERE merchant_id = ${boundId(merchantId)} AND livemode = ${livemode ? 1 : 0} AND ${counted})`;
  const counts = productId === null ? sql`1` : sql`EXISTS (SELECT 1 FROM products WHERE id = ${boundId(productId)} AND ${counted})`;
  return [abortIf(ctx, sql`${used} > ${max} AND ${counts}`)];
}
