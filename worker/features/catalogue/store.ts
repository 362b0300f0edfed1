import { and, eq, inArray, isNull, lte, type SQL, sql } from 'drizzle-orm';
import type { ListingId, ProductId } from '#core/ids.ts';
import type { Db, Scope, Shard } from '#platform/context.ts';
import { amongIds } from '#platform/db/among.ts';
import type { PageRequest } from '#platform/db/page.ts';
import { countedRows, rowsOf } from '#platform/db/page.ts';
import { accounts } from '#platform/db/tables/accounts.ts';
import { type Listed, listings } from '#platform/db/tables/listings.ts';
import { switchedOff } from '#platform/db/tables/operations.ts';
import { type Product, products } from '#platform/db/tables/products.ts';
import { railSettings, type Setting } from '#platform/db/tables/rails.ts';
import { FACILITATED_MAX, LISTED_MS } from '#rules/catalogue/listing.ts';
import { X402_RAIL } from '#rules/rails.ts';

/** Listing with what decides about it. */
export interface Looked {
  listing: Listed;
  /** null: of the facilitator. */
  product: Product | null;
  setting: Setting | null;
}

const settingOfListing = and(
  eq(railSettings.merchantId, listings.merchantId),
  eq(railSettings.livemode, true),
  eq(railSettings.railId, X402_RAIL),
);

/** Takes listings that are due for a look. A look that never ends is due again after `holdMs`. */
export async function takeDueLooks({ db, wallNow }: Shard, holdMs: number, limit: number): Promise<Looked[]> {
  const due = db
    .select({ id: listings.id })
    .from(listings)
    .where(lte(listings.nextLookAt, wallNow))
    .orderBy(listings.nextLookAt)
    .limit(limit);
  const taken = await db
    .update(listings)
    .set({ nextLookAt: wallNow + holdMs })
    .where(inArray(listings.id, due))
    .returning({ id: listings.id });
  if (taken.length === 0) return [];
  return db
    .select({ listing: listings, product: products, setting: railSettings })
    .from(listings)
    .innerJoin(accounts, and(eq(accounts.id, listings.merchantId), eq(accounts.status, 'active')))
    .leftJoin(products, eq(products.id, listings.productId))
    .leftJoin(railSettings, settingOfListing)
    .where(
      amongIds(
        listings.id,
        taken.map(({ id }) => id),
      ),
    );
}

type LookResult = Pick<Listed, 'reason' | 'reasonDetail' | 'lookedAt' | 'goodAt' | 'nextLookAt'> &
  Partial<Pick<Listed, 'resource' | 'origin' | 'shown' | 'words' | 'updatedAt'>>;

/** Stores a look. A change of the row since then keeps its due time. */
export const saveLook = (db: Db, { id, nextLookAt: taken }: Listed, { nextLookAt, ...seen }: LookResult) =>
  db
    .update(listings)
    .set({ ...seen, nextLookAt: sql`CASE WHEN next_look_at = ${taken} THEN ${nextLookAt} ELSE next_look_at END` })
    .where(eq(listings.id, id));

export const endListing = (db: Db, id: ListingId) => db.delete(listings).where(eq(listings.id, id));

export const findListed = (scope: Scope, id: ListingId) =>
  scope.db
    .select()
    .from(listings)
    .where(and(eq(listings.merchantId, scope.merchantId), eq(listings.id, id)))
    .get();

/** Makes a look at all resources of a merchant due. Returns how many. */
export async function scheduleLooks({ db, merchantId, wallNow }: Scope): Promise<number> {
  const scheduled = await db
    .update(listings)
    .set({ nextLookAt: wallNow })
    .where(and(eq(listings.merchantId, merchantId), sql`call <> 'tool'`));
  return scheduled.meta.changes;
}

const ofFacilitator = ({ merchantId }: Pick<Scope, 'merchantId'>) => and(eq(listings.merchantId, merchantId), isNull(listings.productId));

export const findFacilitated = (scope: Scope, { call, target }: Pick<Listed, 'call' | 'target'>) =>
  scope.db
    .select()
    .from(listings)
    .where(and(ofFacilitator(scope), eq(listings.call, call), eq(listings.target, target)))
    .get();

export const countFacilitated = (scope: Scope): Promise<number> => scope.db.$count(listings, ofFacilitator(scope));

/** Inserts a resource of the facilitator, unless the merchant has as many as allowed. Returns whether it exists then. */
export async function insertFacilitated({ db }: Scope, row: Listed): Promise<boolean> {
  const count = sql`(SELECT count(*) FROM listings WHERE merchant_id = ${row.merchantId} AND product_id IS NULL)`;
  const { meta } = await db
    .insert(listings)
    .select(
      sql`SELECT ${row.id}, ${row.merchantId}, NULL, ${row.call}, ${row.target}, ${JSON.stringify(row.request)}, NULL, NULL, NULL, NULL, NULL,
      NULL, NULL, NULL, ${row.nextLookAt}, ${row.lastPaymentAt}, ${row.createdAt}, ${row.updatedAt} WHERE ${count} < ${FACILITATED_MAX}`,
    )
    .onConflictDoNothing();
  return meta.changes > 0;
}

export const notePaid = (db: Db, id: ListingId, lastPaymentAt: number) =>
  db.update(listings).set({ lastPaymentAt }).where(eq(listings.id, id));

export const listOfProduct = (db: Db, productId: ProductId): Promise<Listed[]> =>
  db.select().from(listings).where(eq(listings.productId, productId)).orderBy(listings.id);

/** Entry of a merchant's list: a product with one of its listings or none, or a listing of the facilitator. */
export interface Entry {
  product: Product | null;
  listing: Listed | null;
}

export async function listEntries(
  scope: Scope,
  productId: ProductId | undefined,
  page: PageRequest,
): Promise<{ items: Entry[]; total: number }> {
  const { db, merchantId, livemode } = scope;
  const ofProducts = sql`SELECT p.created_at AS at, p.id AS product_id, l.id AS listing_id FROM products p LEFT JOIN listings l ON l.product_id = p.id
    WHERE p.merchant_id = ${merchantId} AND p.livemode = ${livemode} AND p.sandbox_session_id IS NULL`;
  const others = sql`SELECT created_at, NULL, id FROM listings WHERE merchant_id = ${merchantId} AND product_id IS NULL`;
  const rows =
    productId === undefined ? (livemode ? sql`${ofProducts} UNION ALL ${others}` : ofProducts) : sql`${ofProducts} AND p.id = ${productId}`;
  const [keys, [count]] = await Promise.all([
    db.all<{ product_id: ProductId | null; listing_id: ListingId | null }>(
      sql`${rows} ORDER BY 1 DESC, 2 DESC, 3 LIMIT ${page.perPage} OFFSET ${page.offset}`,
    ),
    db.all<{ total: number }>(sql`SELECT count(*) AS total FROM (${rows} LIMIT ${countedRows(page)})`),
  ]);
  const [ofKeys, listed] = await Promise.all([
    db
      .select()
      .from(products)
      .where(
        and(
          rowsOf(products, scope),
          amongIds(
            products.id,
            keys.flatMap(({ product_id: id }) => id ?? []),
          ),
        ),
      ),
    db
      .select()
      .from(listings)
      .where(
        amongIds(
          listings.id,
          keys.flatMap(({ listing_id: id }) => id ?? []),
        ),
      ),
  ]);
  const byId = <T extends { id: string }>(items: T[]) => new Map<string | null, T>(items.map((item) => [item.id, item]));
  const [productOf, listingOf] = [byId(ofKeys), byId(listed)];
  return {
    items: keys.map((key) => ({ product: productOf.get(key.product_id) ?? null, listing: listingOf.get(key.listing_id) ?? null })),
    total: count?.total ?? 0,
  };
}

/** Public listing with the price and payee of now. */
export interface PublicListing {
  id: ListingId;
  merchantId: string;
  resource: string;
  call: string;
  target: string;
  shown: NonNullable<Listed['shown']>;
  updatedAt: number;
  /** null: of the facilitator. */
  sold: { productId: string; priceAmount: string; usageUnits: number | null; accessPeriodDays: number | null; payTo: string } | null;
  /** Rank of a search. */
  found: number;
  score: number;
}

interface PublicRow {
  id: ListingId;
  merchant_id: string;
  resource: string;
  call: string;
  target: string;
  shown: string;
  updated_at: number;
  product_id: string | null;
  price_amount: string;
  usage_units: number | null;
  access_period_days: number | null;
  pay_to: string;
  found: number;
  score: number;
}

const PAYS_TO = sql`coalesce(p.payout_wallet, s.payout_wallet, a.wallet_address)`;

/** Everything that ends a listing at once is part of this condition. */
const listed = ({ wallNow }: Shard, from: SQL, payTo: string | undefined): SQL => sql`FROM ${from}
  JOIN accounts a ON a.id = l.merchant_id AND a.status = 'active'
  JOIN rail_settings s ON s.merchant_id = l.merchant_id AND s.livemode = 1 AND s.rail_id = ${X402_RAIL} AND s.enabled = 1
  LEFT JOIN products p ON p.id = l.product_id
  WHERE l.good_at > ${wallNow - LISTED_MS} AND EXISTS (SELECT 1 FROM json_each(s.origins) WHERE value = l.origin)
    AND (l.product_id IS NULL OR (p.status = 'active' AND p.asset = 'USDC' AND ${PAYS_TO} IS NOT NULL))
    AND NOT EXISTS (SELECT 1 FROM switched_off WHERE subject IN ('product:' || l.product_id, ${`rail:${X402_RAIL}`}))
    ${
      payTo === undefined
        ? sql``
        : sql`AND CASE WHEN l.product_id IS NULL
            THEN EXISTS (SELECT 1 FROM json_each(l.shown, '$.accepts') WHERE value ->> 'payTo' = ${payTo}) ELSE ${PAYS_TO} = ${payTo} END`
    }`;

async function readPublic({ db }: Shard, query: SQL, rank: SQL): Promise<PublicListing[]> {
  const rows = await db.all<PublicRow>(sql`SELECT l.id, l.merchant_id, l.resource, l.call, l.target, l.shown, l.updated_at, l.product_id,
    p.price_amount, p.usage_units, p.access_period_days, ${PAYS_TO} AS pay_to, ${rank} ${query}`);
  return rows.map((row) => ({
    id: row.id,
    merchantId: row.merchant_id,
    resource: row.resource,
    call: row.call,
    target: row.target,
    shown: JSON.parse(row.shown),
    updatedAt: row.updated_at,
    sold:
      row.product_id === null
        ? null
        : {
            productId: row.product_id,
            priceAmount: row.price_amount,
            usageUnits: row.usage_units,
            accessPeriodDays: row.access_period_days,
            payTo: row.pay_to,
          },
    found: row.found,
    score: row.score,
  }));
}

const UNRANKED = sql`0 AS found, 0 AS score`;

/** Lists public resources, newest first, then by URL. */
export const listPublic = (ctx: Shard, payTo: string | undefined, limit: number): Promise<PublicListing[]> =>
  readPublic(ctx, sql`${listed(ctx, sql`listings l`, payTo)} ORDER BY l.updated_at DESC, l.resource, l.id LIMIT ${limit}`, UNRANKED);

export async function countPublic(ctx: Shard, payTo: string | undefined): Promise<number> {
  const [row] = await ctx.db.all<{ total: number }>(sql`SELECT count(*) AS total ${listed(ctx, sql`listings l`, payTo)}`);
  return row?.total ?? 0;
}

export const listOfOrigin = (ctx: Shard, origin: string, limit: number): Promise<PublicListing[]> =>
  readPublic(
    ctx,
    sql`${listed(ctx, sql`listings l`, undefined)} AND l.origin = ${origin} ORDER BY l.resource, l.call LIMIT ${limit}`,
    UNRANKED,
  );

/** Searched matches of one query, the best ones. */
export const MATCHES_MAX = 2_000;

/** Finds public resources with words that begin with these. More words come first, then words in better fields. */
export function searchPublic(ctx: Shard, words: readonly string[], payTo: string | undefined, limit: number): Promise<PublicListing[]> {
  const hits = words.map(
    (word) => sql`SELECT listing_id, max(weight) AS weight FROM listing_words
      WHERE word >= ${word} AND word < ${`${word}\u{10FFFF}`} GROUP BY listing_id`,
  );
  const matches = sql`(SELECT listing_id, count(*) AS found, sum(weight) AS score FROM (${sql.join(hits, sql` UNION ALL `)})
    GROUP BY listing_id ORDER BY found DESC, score DESC, listing_id LIMIT ${MATCHES_MAX})`;
  return readPublic(
    ctx,
    sql`${listed(ctx, sql`${matches} m JOIN listings l ON l.id = m.listing_id`, payTo)}
      ORDER BY m.found DESC, m.score DESC, l.resource, l.id LIMIT ${limit}`,
    sql`m.found, m.score`,
  );
}

/** Loads what all products of a merchant share: the account, the settings of its rails, and what the operator switched off. */
export async function loadSeller(scope: Scope) {
  const { db, merchantId } = scope;
  const [[merchant], settings, off] = await db.batch([
    db.select().from(accounts).where(eq(accounts.id, merchantId)),
    db.select().from(railSettings).where(rowsOf(railSettings, scope)),
    db.select({ subject: switchedOff.subject }).from(switchedOff).where(sql`subject BETWEEN 'rail:' AND 'rail:~'`),
  ]);
  return { merchant: merchant!, settings, switchedOff: off.map(({ subject }) => subject.slice('rail:'.length)) };
}
