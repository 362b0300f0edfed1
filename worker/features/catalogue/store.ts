import { and, eq, isNull, lte, type SQL, sql } from 'drizzle-orm';
import type { ListingId, ProductId } from '#core/ids.ts';
import type { Db, Scope, Shard } from '#platform/context.ts';
import { amongIds, fieldOf, jsonRows } from '#platform/db/among.ts';
import type { PageRequest } from '#platform/db/page.ts';
import { countedRows, rowsOf } from '#platform/db/page.ts';
import { isAmongRows, listDueInTurns } from '#platform/db/sweeps.ts';
import { accounts } from '#platform/db/tables/accounts.ts';
import { type ListingRow, listings, listingWords } from '#platform/db/tables/office/listings.ts';
import { switchedOff } from '#platform/db/tables/operations.ts';
import { type Product, products } from '#platform/db/tables/products.ts';
import { railSettings, type Setting } from '#platform/db/tables/rails.ts';
import { FACILITATED_MAX, LISTED_MS } from '#rules/catalogue/listing.ts';
import { X402_RAIL } from '#rules/rails.ts';

/** Listing with what decides about it. */
export interface Probed {
  listing: ListingRow;
  /** null: of the facilitator. */
  product: Product | null;
  setting: Setting | null;
  /** Not null if the operator switched the product off. */
  switchedOff: string | null;
}

const settingOfListing = and(
  eq(railSettings.merchantId, listings.merchantId),
  eq(railSettings.livemode, true),
  eq(railSettings.railId, X402_RAIL),
);

const WAITING = {
  table: listings,
  at: listings.nextProbeAt,
  isLive: sql`next_probe_at IS NOT NULL`,
  byMerchant: 'listings_due_by_merchant',
};

/**
 * Takes listings that are due for a probe, by turns of their merchants, and returns those of active accounts. A probe that never ends is due
 * again after `holdMs`.
 */
export async function takeDueProbes(ctx: Shard, holdMs: number, limit: number): Promise<{ taken: number; due: Probed[] }> {
  const { db, wallNow } = ctx;
  const rowids = await listDueInTurns(ctx, WAITING, { matchesClock: WAITING.isLive, dueBefore: wallNow, limit });
  if (rowids.length === 0) return { taken: 0, due: [] };
  const taken = await db
    .update(listings)
    .set({ nextProbeAt: wallNow + holdMs })
    .where(and(isAmongRows(rowids), lte(listings.nextProbeAt, wallNow)))
    .returning({ id: listings.id });
  const due = await db
    .select({ listing: listings, product: products, setting: railSettings, switchedOff: switchedOff.subject })
    .from(listings)
    .innerJoin(accounts, and(eq(accounts.id, listings.merchantId), eq(accounts.status, 'active')))
    .leftJoin(products, eq(products.id, listings.productId))
    .leftJoin(railSettings, settingOfListing)
    .leftJoin(switchedOff, sql`${switchedOff.subject} = 'product:' || ${listings.productId}`)
    .where(
      amongIds(
        listings.id,
        taken.map(({ id }) => id),
      ),
    );
  return { taken: taken.length, due };
}

type ProbeResult = Pick<ListingRow, 'reason' | 'reasonDetail' | 'probedAt' | 'goodAt' | 'nextProbeAt'>;
type Found = Pick<ListingRow, 'resource' | 'origin' | 'shown' | 'updatedAt'> & { words: Record<string, number> };

/** Stores a probe, unless the row changed since it was taken. `found`: what is shown from now on, if that changed. */
export async function saveProbe(
  { db }: Shard,
  { id, nextProbeAt: taken }: ListingRow,
  result: ProbeResult,
  found: Found | null,
): Promise<void> {
  const { words = {}, ...shown } = found ?? {};
  const isUnchanged = and(eq(listings.id, id), taken === null ? undefined : eq(listings.nextProbeAt, taken));
  const ofWords = jsonRows(Object.entries(words).map(([word, weight]) => ({ word, weight })));
  // Before the row, because the condition is the time that the row is about to lose.
  const replaced = found
    ? [
        db.delete(listingWords).where(sql`listing_id IN (SELECT id FROM listings WHERE ${isUnchanged})`),
        db
          .insert(listingWords)
          .select(
            sql`SELECT listings.id, ${fieldOf('word')}, ${fieldOf('weight')} FROM ${ofWords} JOIN listings ON ${isUnchanged} WHERE true`,
          ),
      ]
    : [];
  const [first, ...rest] = [
    ...replaced,
    db
      .update(listings)
      .set({ ...result, ...shown })
      .where(isUnchanged),
  ];
  await db.batch([first!, ...rest]);
}

export const endListing = (db: Db, id: ListingId) => db.delete(listings).where(eq(listings.id, id));

export const findListed = (scope: Scope, id: ListingId) =>
  scope.db
    .select()
    .from(listings)
    .where(and(eq(listings.merchantId, scope.merchantId), eq(listings.id, id)))
    .get();

/** Makes a probe of all resources of a merchant due. Returns how many. */
export async function scheduleProbes({ db, merchantId, wallNow }: Scope): Promise<number> {
  const scheduled = await db
    .update(listings)
    .set({ nextProbeAt: wallNow })
    .where(and(eq(listings.merchantId, merchantId), sql`call <> 'tool'`));
  return scheduled.meta.changes;
}

const ofFacilitator = ({ merchantId }: Pick<Scope, 'merchantId'>) => and(eq(listings.merchantId, merchantId), isNull(listings.productId));

export const findFacilitated = (scope: Scope, { call, target }: Pick<ListingRow, 'call' | 'target'>) =>
  scope.db
    .select()
    .from(listings)
    .where(and(ofFacilitator(scope), eq(listings.call, call), eq(listings.target, target)))
    .get();

export const countFacilitated = (scope: Scope): Promise<number> => scope.db.$count(listings, ofFacilitator(scope));

/** Inserts a resource of the facilitator, unless the merchant has as many as allowed. Returns whether it exists then. */
export async function insertFacilitated({ db }: Scope, row: ListingRow): Promise<boolean> {
  const count = sql`(SELECT count(*) FROM listings WHERE merchant_id = ${row.merchantId} AND product_id IS NULL)`;
  const { meta } = await db
    .insert(listings)
    .select(
      sql`SELECT ${row.id}, ${row.merchantId}, NULL, ${row.call}, ${row.target}, ${JSON.stringify(row.request)}, NULL, NULL, NULL, NULL, NULL,
      NULL, NULL, ${row.nextProbeAt}, ${row.lastPaymentAt}, ${row.createdAt}, ${row.updatedAt} WHERE ${count} < ${FACILITATED_MAX}`,
    )
    .onConflictDoNothing();
  return meta.changes > 0;
}

export const notePaid = (db: Db, id: ListingId, lastPaymentAt: number) =>
  db.update(listings).set({ lastPaymentAt }).where(eq(listings.id, id));

export const listOfProduct = (db: Db, productId: ProductId): Promise<ListingRow[]> =>
  db.select().from(listings).where(eq(listings.productId, productId)).orderBy(listings.id);

/** Entry of a merchant's list: a product with one of its listings or none, or a listing of the facilitator. */
export interface Entry {
  product: Product | null;
  listing: ListingRow | null;
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

/** Position of a public listing among all. */
export interface Position {
  id: ListingId;
  resource: string;
  updatedAt: number;
  /** Words of a search that were found, and the sum of their weights. */
  found: number;
  score: number;
}

const isListed = ({ wallNow }: Shard): SQL => sql`l.good_at > ${wallNow - LISTED_MS}`;
const PAYS_TO = sql`coalesce(p.payout_wallet, s.payout_wallet, a.wallet_address)`;
const TO_SELLERS = sql`JOIN accounts a ON a.id = l.merchant_id
  LEFT JOIN rail_settings s ON s.merchant_id = l.merchant_id AND s.livemode = 1 AND s.rail_id = ${X402_RAIL}
  LEFT JOIN products p ON p.id = l.product_id`;

/** Condition for listings that pay a wallet. */
const paying = (wallet: string | undefined): SQL =>
  wallet === undefined
    ? sql``
    : sql`AND (SELECT CASE WHEN l.product_id IS NOT NULL THEN ${PAYS_TO} = ${wallet}
        ELSE EXISTS (SELECT 1 FROM json_each(l.shown, '$.accepts') WHERE value ->> 'payTo' = ${wallet}) END
        FROM (SELECT 1) ${TO_SELLERS})`;

const toPositions = (rows: { id: ListingId; resource: string; updated_at: number; found: number; score: number }[]): Position[] =>
  rows.map(({ updated_at: updatedAt, ...row }) => ({ ...row, updatedAt }));

/** Lists public resources, newest first, then by URL. Reads the index alone, unless it filters by a wallet. */
export const listPositions = async (
  ctx: Shard,
  payTo: string | undefined,
  { limit, offset }: { limit: number; offset: number },
): Promise<Position[]> =>
  toPositions(
    await ctx.db.all(sql`SELECT l.id, l.resource, l.updated_at, 0 AS found, 0 AS score FROM listings l
      WHERE ${isListed(ctx)} ${paying(payTo)} ORDER BY l.updated_at DESC, l.resource, l.id LIMIT ${limit} OFFSET ${offset}`),
  );

export async function countPublic(ctx: Shard, payTo: string | undefined): Promise<number> {
  const [row] = await ctx.db.all<{ total: number }>(sql`SELECT count(*) AS total FROM listings l WHERE ${isListed(ctx)} ${paying(payTo)}`);
  return row?.total ?? 0;
}

export const listOfOrigin = async (ctx: Shard, origin: string, limit: number): Promise<Position[]> =>
  toPositions(
    await ctx.db.all(sql`SELECT l.id, l.resource, l.updated_at, 0 AS found, 0 AS score FROM listings l
      WHERE l.origin = ${origin} AND ${isListed(ctx)} ORDER BY l.resource, l.call LIMIT ${limit}`),
  );

/** Listings of one query that are ranked. */
export const MATCHES_MAX = 1_000;
/** Listings that are read for all words of a query. */
const HITS_MAX = 6_000;

/**
 * Finds public resources with words that begin with these. More words come first, then words in better fields. Reads the listings of each
 * word, and ranks the best of them, rare words first. `isCut`: not all listings of a word were read, or not all were ranked.
 */
export async function searchPositions(
  ctx: Shard,
  words: readonly string[],
  payTo: string | undefined,
  limit: number,
): Promise<{ found: Position[]; isCut: boolean }> {
  const ofWordMax = Math.floor(HITS_MAX / words.length);
  const isIn = (prefix: SQL) => sql`word >= ${prefix} AND word < ${prefix} || ${'\u{10FFFF}'}`;
  const hits = words.map(
    (word, number) => sql`SELECT ${number} AS number, listing_id, max(weight) AS weight FROM (SELECT listing_id, weight FROM listing_words
      INDEXED BY listing_words_by_word WHERE ${isIn(sql`${word}`)} LIMIT ${ofWordMax}) GROUP BY listing_id`,
  );
  const rows = await ctx.db.all<Parameters<typeof toPositions>[0][number] & { is_cut: number }>(
    sql`WITH hits AS MATERIALIZED (${sql.join(hits, sql` UNION ALL `)}),
      rarity AS MATERIALIZED (SELECT number, count(*) AS hits FROM hits GROUP BY number),
      best AS (SELECT l.id AS listing_id FROM hits JOIN rarity USING (number) JOIN listings l ON l.id = hits.listing_id
        WHERE ${isListed(ctx)} ${paying(payTo)}
        GROUP BY l.id ORDER BY sum(hits.weight * 1.0 / rarity.hits) DESC, l.id LIMIT ${MATCHES_MAX}),
      ranked AS (SELECT listing_id, count(weight) AS found, sum(weight) AS score FROM (SELECT b.listing_id, (SELECT max(weight)
        FROM listing_words w WHERE w.listing_id = b.listing_id AND ${isIn(sql.raw('j.value'))}) AS weight
        FROM best b, ${jsonRows(words)}) GROUP BY listing_id)
      SELECT l.id, l.resource, l.updated_at, r.found, r.score, cut.is_cut
      FROM (SELECT max(hits) >= ${ofWordMax} OR sum(hits) > ${MATCHES_MAX} AS is_cut FROM rarity) cut
        LEFT JOIN ranked r ON true LEFT JOIN listings l ON l.id = r.listing_id
      ORDER BY r.found DESC, r.score DESC, l.resource, l.id LIMIT ${limit}`,
  );
  const found = toPositions(rows.filter(({ id }) => id !== null).map(({ is_cut: _, ...row }) => row));
  return { found, isCut: rows[0]?.is_cut === 1 };
}

/** Public listing with the price and payee of now. */
export interface PublicListing extends Position {
  merchantId: string;
  call: string;
  target: string;
  shown: NonNullable<ListingRow['shown']>;
  /** null: of the facilitator. */
  sold: { productId: string; priceAmount: string; usageUnits: number | null; accessPeriodDays: number | null; payTo: string } | null;
}

/** Loads listings, in the order of their positions. A product without a payee is left out. */
export async function loadPublic({ db }: Shard, positions: readonly Position[]): Promise<PublicListing[]> {
  if (positions.length === 0) return [];
  const ids = positions.map(({ id }) => id);
  const rows = await db.all<{
    id: ListingId;
    merchant_id: string;
    call: string;
    target: string;
    shown: string;
    product_id: string | null;
    price_amount: string;
    usage_units: number | null;
    access_period_days: number | null;
    pay_to: string;
  }>(sql`SELECT l.id, l.merchant_id, l.call, l.target, l.shown, l.product_id, p.price_amount, p.usage_units, p.access_period_days,
    ${PAYS_TO} AS pay_to FROM listings l ${TO_SELLERS}
    WHERE ${amongIds('l.id', ids)} AND (l.product_id IS NULL OR ${PAYS_TO} IS NOT NULL)`);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return positions.flatMap((position) => {
    const row = byId.get(position.id);
    if (!row) return [];
    const { product_id: productId, price_amount: priceAmount, usage_units: usageUnits, access_period_days: accessPeriodDays } = row;
    return {
      ...position,
      merchantId: row.merchant_id,
      call: row.call,
      target: row.target,
      shown: JSON.parse(row.shown),
      sold: productId === null ? null : { productId, priceAmount, usageUnits, accessPeriodDays, payTo: row.pay_to },
    };
  });
}

/** Loads what all products of a merchant share: the account, the settings of its rails, and the subjects that the operator switched off. */
export async function loadSeller(scope: Scope) {
  const { db, merchantId } = scope;
  const [[merchant], settings, off] = await db.batch([
    db.select().from(accounts).where(eq(accounts.id, merchantId)),
    db.select().from(railSettings).where(rowsOf(railSettings, scope)),
    db.select({ subject: switchedOff.subject }).from(switchedOff),
  ]);
  return { merchant: merchant!, settings, switchedOff: off.map(({ subject }) => subject) };
}

/** Lists how products are described, for a document of many routes. */
export const listDescribed = (db: Db, ids: readonly ProductId[]) =>
  db
    .select({ id: products.id, name: products.name, discovery: products.discovery, priceAmount: products.priceAmount })
    .from(products)
    .where(amongIds(products.id, ids));
