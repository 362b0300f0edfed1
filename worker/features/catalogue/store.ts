import { and, eq, isNull, lte, sql } from 'drizzle-orm';
import type { ListingId, ProductId } from '#core/ids.ts';
import type { Db, Scope, Shard } from '#platform/context.ts';
import { amongIds, boundId, fieldOf, jsonRows, textOfId } from '#platform/db/among.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import type { PageRequest } from '#platform/db/page.ts';
import { countedRows, rowsOf } from '#platform/db/page.ts';
import { isAmongRows, listDueInTurns } from '#platform/db/sweeps.ts';
import { accounts } from '#platform/db/tables/accounts.ts';
import { decodeId } from '#platform/db/tables/columns.ts';
import { type ListingRow, listings, listingWords } from '#platform/db/tables/office/listings.ts';
import { switchedOff } from '#platform/db/tables/operations.ts';
import { type Product, products } from '#platform/db/tables/products.ts';
import { railSettings, type Setting } from '#platform/db/tables/rails.ts';
import { FACILITATED_MAX } from '#rules/catalogue/listing.ts';
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
    .leftJoin(switchedOff, sql`${switchedOff.subject} = 'product:' || ${textOfId(sql`${listings.productId}`)}`)
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
  const isUnchanged = and(eq(listings.id, id), sql`next_probe_at IS ${taken}`);
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
export async function scheduleProbes(ctx: Scope): Promise<number> {
  const { db, merchantId, wallNow } = ctx;
  const [scheduled] = await db.batch([
    db
      .update(listings)
      .set({ nextProbeAt: wallNow })
      .where(and(eq(listings.merchantId, merchantId), sql`call <> 'tool'`)),
    recordAction(ctx, ctx, { action: 'listing.refreshed', subject: { type: 'account', id: merchantId } }),
  ]);
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
  const count = sql`(SELECT count(*) FROM listings WHERE merchant_id = ${boundId(row.merchantId)} AND product_id IS NULL)`;
  const { meta } = await db
    .insert(listings)
    .select(
      sql`SELECT ${boundId(row.id)}, ${boundId(row.merchantId)}, NULL, ${row.call}, ${row.target}, ${JSON.stringify(row.request)}, NULL, NULL, NULL, NULL, NULL,
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
    WHERE p.merchant_id = ${boundId(merchantId)} AND p.livemode = ${livemode} AND p.sandbox_session_id IS NULL`;
  const others = sql`SELECT created_at, NULL, id FROM listings WHERE merchant_id = ${boundId(merchantId)} AND product_id IS NULL`;
  const rows =
    productId === undefined
      ? livemode
        ? sql`${ofProducts} UNION ALL ${others}`
        : ofProducts
      : sql`${ofProducts} AND p.id = ${boundId(productId)}`;
  const [found, [count]] = await Promise.all([
    db.all<{ product_id: ArrayLike<number> | null; listing_id: ArrayLike<number> | null }>(
      sql`${rows} ORDER BY 1 DESC, 2 DESC, 3 LIMIT ${page.perPage} OFFSET ${page.offset}`,
    ),
    db.all<{ total: number }>(sql`SELECT count(*) AS total FROM (${rows} LIMIT ${countedRows(page)})`),
  ]);
  const keys = found.map((key) => ({
    product_id: key.product_id && decodeId(key.product_id),
    listing_id: key.listing_id && decodeId(key.listing_id),
  }));
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

/** Loads what decides about products of a merchant: the account, the settings of its rails, and which subjects the operator switched off. */
export async function loadSeller(scope: Scope, productIds: readonly string[]) {
  const { db, merchantId } = scope;
  const [[merchant], settings, off] = await db.batch([
    db.select().from(accounts).where(eq(accounts.id, merchantId)),
    db.select().from(railSettings).where(rowsOf(railSettings, scope)),
    db
      .select({ subject: switchedOff.subject })
      .from(switchedOff)
      .where(
        sql`subject BETWEEN 'rail:' AND 'rail:~' OR ${amongIds(
          switchedOff.subject,
          productIds.map((id) => `product:${id}`),
        )}`,
      ),
  ]);
  return { merchant: merchant!, settings, switchedOff: off.map(({ subject }) => subject) };
}
