import { type SQL, sql } from 'drizzle-orm';
import type { ListingId, ProductId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import { amongIds, jsonRows, setOfIds } from '#platform/db/among.ts';
import { decodeId } from '#platform/db/tables/columns.ts';
import type { ListingRow } from '#platform/db/tables/office/listings.ts';
import { products } from '#platform/db/tables/products.ts';
import { LISTED_MS } from '#rules/catalogue/listing.ts';
import { X402_RAIL } from '#rules/rails.ts';

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
const PAYS_TO = sql`coalesce(p.payout_wallet, s.payout_wallet, a.payout_wallet)`;
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

const toPositions = (rows: { id: ArrayLike<number>; resource: string; updated_at: number; found: number; score: number }[]): Position[] =>
  rows.map(({ id, updated_at: updatedAt, ...row }) => ({ ...row, id: decodeId(id) as ListingId, updatedAt }));

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
    id: ArrayLike<number>;
    merchant_id: ArrayLike<number>;
    call: string;
    target: string;
    shown: string;
    product_id: ArrayLike<number> | null;
    price_amount: string;
    usage_units: number | null;
    access_period_days: number | null;
    pay_to: string;
  }>(sql`SELECT l.id, l.merchant_id, l.call, l.target, l.shown, l.product_id, p.price_amount, p.usage_units, p.access_period_days,
    ${PAYS_TO} AS pay_to FROM listings l ${TO_SELLERS}
    WHERE l.id IN ${setOfIds(ids)} AND (l.product_id IS NULL OR ${PAYS_TO} IS NOT NULL)`);
  const byId = new Map(rows.map((row) => [decodeId(row.id), row]));
  return positions.flatMap((position) => {
    const row = byId.get(position.id);
    if (!row) return [];
    const { product_id: productId, price_amount: priceAmount, usage_units: usageUnits, access_period_days: accessPeriodDays } = row;
    return {
      ...position,
      merchantId: decodeId(row.merchant_id),
      call: row.call,
      target: row.target,
      shown: JSON.parse(row.shown),
      sold: productId === null ? null : { productId: decodeId(productId), priceAmount, usageUnits, accessPeriodDays, payTo: row.pay_to },
    };
  });
}

/** Lists how products are described, for a document of many routes. */
export const listDescribed = (db: Db, ids: readonly ProductId[]) =>
  db
    .select({ id: products.id, name: products.name, discovery: products.discovery, priceAmount: products.priceAmount })
    .from(products)
    .where(amongIds(products.id, ids));
