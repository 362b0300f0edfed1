import { sha256Hex } from '#core/crypto.ts';
import { base64url, utf8 } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import { iso } from '#core/time.ts';
import { listRailsOff } from '#features/rails/store.ts';
import { feePayersOf } from '#platform/chain/fee-payer.ts';
import { type Ctx, hasX402 } from '#platform/context.ts';
import { forReading, globalOf, groupByHome } from '#platform/db/directory.ts';
import { readEach } from '#platform/db/each-database.ts';
import { BAZAAR } from '#protocols/x402/bazaar.ts';
import { requirementsFor } from '#protocols/x402/challenge.ts';
import { X402_VERSION } from '#protocols/x402/wire.ts';
import type { SeenRequirements } from '#rules/catalogue/listing.ts';
import { wordsOf } from '#rules/catalogue/words.ts';
import { X402_RAIL } from '#rules/rails.ts';
import { countPublic, listPositions, loadPublic, MATCHES_MAX, type Position, type PublicListing, searchPositions } from './public.store.ts';

export interface Filters {
  type?: string | undefined;
  payTo?: string | undefined;
  scheme?: string | undefined;
  network?: string | undefined;
  extensions?: string | undefined;
}

/** Resource in the form of the reference's catalogues. (specs/extensions/bazaar.md, "Discovery API") */
export interface Resource {
  resource: string;
  type: 'http';
  x402Version: typeof X402_VERSION;
  accepts: SeenRequirements[];
  lastUpdated: string;
  description?: string;
  mimeType?: string;
  serviceName?: string;
  tags?: string[];
  iconUrl?: string;
  extensions: Record<string, unknown>;
}

/** True if these filters match nothing that the service lists, or the service does not sell by x402 now. */
const matchNothing = async (ctx: Ctx, { type, scheme, network, extensions }: Filters): Promise<boolean> =>
  (type !== undefined && type !== 'http') ||
  (scheme !== undefined && scheme !== 'exact') ||
  (network !== undefined && network !== ctx.config.network.caip2) ||
  (extensions !== undefined && extensions !== BAZAAR) ||
  !(await isServed(ctx));

/** True if the service sells by x402, and the operator has not switched that off. */
export const isServed = async (ctx: Ctx): Promise<boolean> =>
  hasX402(ctx.config) && !(await listRailsOff(globalOf(ctx).openReader())).includes(X402_RAIL);

/** Lists public resources, newest first. */
export async function listResources(ctx: Ctx, { limit, offset, ...filters }: Filters & { limit: number; offset: number }) {
  if (await matchNothing(ctx, filters)) return { items: [], total: 0 };
  const { payTo } = filters;
  // A single database applies the offset itself.
  const isAlone = ctx.databases.length === 1;
  const page = isAlone ? { limit, offset } : { limit: limit + offset, offset: 0 };
  const [listed, counted] = await Promise.all([
    readEach(ctx, (shard) => listPositions(forReading(shard), payTo, page)),
    readEach(ctx, (shard) => countPublic(forReading(shard), payTo)),
  ]);
  const merged = listed.found.flat().sort((a, b) => b.updatedAt - a.updatedAt || compare(a.resource, b.resource));
  return {
    items: await loadResources(ctx, isAlone ? merged : merged.slice(offset, offset + limit)),
    total: counted.found.reduce((sum, count) => sum + count, 0),
  };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const WORDS_MAX = 8;

/**
 * Finds public resources by words. `isPartial`: not everything was searched, because the query has too many words, matches too much, or a
 * database does not answer. Throws 422 for a cursor of another query.
 */
export async function searchResources(
  ctx: Ctx,
  { query, limit, cursor, ...filters }: Filters & { query: string; limit: number; cursor?: string | undefined },
) {
  const asked = JSON.stringify([query, filters]);
  const offset = cursor === undefined ? 0 : offsetOf(cursor, asked);
  const words = [...new Set(wordsOf(query))];
  if (words.length === 0 || (await matchNothing(ctx, filters))) return { resources: [], isPartial: false, cursor: null };
  const end = offset + limit;
  const { found, away } = await readEach(ctx, (shard) =>
    searchPositions(forReading(shard), words.slice(0, WORDS_MAX), filters.payTo, end + 1),
  );
  const merged = found
    .flatMap((one) => one.found)
    .sort((a, b) => b.found - a.found || b.score - a.score || compare(a.resource, b.resource));
  return {
    resources: await loadResources(ctx, merged.slice(offset, end)),
    isPartial: words.length > WORDS_MAX || away.length > 0 || found.some(({ isCut }) => isCut),
    cursor: merged.length > end && end < MATCHES_MAX ? cursorAt(end, asked) : null,
  };
}

/** Position after a page, with a digest of its query. */
const cursorAt = (offset: number, asked: string): string => base64url.encode(utf8(`${offset}.${digestOf(asked)}`));
const digestOf = (asked: string): string => sha256Hex(utf8(asked)).slice(0, 16);

function offsetOf(cursor: string, asked: string): number {
  try {
    const [offset = '', digest] = new TextDecoder().decode(base64url.decode(cursor)).split('.');
    if (/^[1-9][0-9]{0,4}$/.test(offset) && Number(offset) < MATCHES_MAX && digest === digestOf(asked)) return Number(offset);
  } catch {
    // Falls through: not a cursor.
  }
  const problem = { loc: ['query', 'cursor'], msg: 'Expected a cursor of an answer to the same query', type: 'unknown_cursor' };
  throw new ApiError('validation_error', { problems: [problem] });
}

/** Loads listings from their databases, in this order. */
export async function loadListings(ctx: Ctx, positions: readonly Position[]): Promise<PublicListing[]> {
  const groups = groupByHome(ctx, positions, ({ id }) => id);
  // A database that went away in between hides its own listings alone.
  const loaded = await Promise.allSettled(groups.map(({ home, items }) => loadPublic(forReading(home), items)));
  const found = loaded.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const byId = new Map(found.map((one) => [one.id, one]));
  // While a partition moves, two databases may list one.
  return [...new Set(positions.map(({ id }) => id))].flatMap((id) => byId.get(id) ?? []);
}

const loadResources = async (ctx: Ctx, positions: readonly Position[]): Promise<Resource[]> =>
  (await loadListings(ctx, positions)).map((one) => toResource(ctx, one));

function toResource(ctx: Ctx, listing: PublicListing): Resource {
  const { resource, shown, updatedAt } = listing;
  const { bazaar, accepts, ...described } = shown;
  return {
    resource,
    type: 'http',
    x402Version: X402_VERSION,
    accepts: accepts ?? acceptsOf(ctx, listing),
    lastUpdated: iso(updatedAt),
    ...described,
    extensions: { [BAZAAR]: bazaar },
  };
}

/** Requirements of a product at the price and payee of now, without the memo that only a challenge has. */
function acceptsOf({ config }: Ctx, { merchantId, sold }: PublicListing): SeenRequirements[] {
  if (!sold) return [];
  const facts = {
    livemode: true,
    merchantId,
    productId: sold.productId,
    network: config.network.caip2,
    asset: config.network.usdcMint,
    amount: sold.priceAmount,
    payTo: sold.payTo,
    feePayer: feePayersOf(config).current,
    quantity: 1,
    units: sold.usageUnits,
    days: sold.accessPeriodDays,
  };
  const { extra, ...requirements } = requirementsFor(facts, '');
  const { memo: _, ...shown } = extra ?? {};
  return [{ ...requirements, extra: shown } as SeenRequirements];
}
