import type { ProductId } from '#core/ids.ts';
import { formatAmount } from '#core/money.ts';
import type { Ctx } from '#platform/context.ts';
import { forReading, groupByHome } from '#platform/db/directory.ts';
import { readEach } from '#platform/db/each-database.ts';
import { type HttpRoute, isToolRoute } from '#protocols/x402/discovery.ts';
import { type ShopDocument, type ShopRoute, shopDocument } from '#protocols/x402/shop-document.ts';
import { isServed, loadListings } from './catalogue.ts';
import { listDescribed, listOfOrigin, type PublicListing } from './public.store.ts';

const ROUTES_MAX = 400;

/** Reads the document of the listed routes of an origin, in their order. Null if it has none. */
export async function readShopDocument(ctx: Ctx, origin: string): Promise<ShopDocument | null> {
  if (!(await isServed(ctx))) return null;
  const { found } = await readEach(ctx, (shard) => listOfOrigin(forReading(shard), origin, ROUTES_MAX));
  const listings = await loadListings(ctx, found.flat());
  const ids = [...new Set(listings.flatMap(({ sold }) => sold?.productId ?? []))] as ProductId[];
  const groups = groupByHome(ctx, ids, (id) => id);
  const described = (await Promise.all(groups.map(({ home, items }) => listDescribed(home.openReader(), items)))).flat();
  const routes = listings.flatMap((listing) => {
    const product = described.find(({ id }) => id === listing.sold?.productId);
    return product ? soldRoute(listing, product) : facilitatedRoute(ctx, origin, listing);
  });
  return routes.length === 0 ? null : shopDocument(origin, routes);
}

type Described = Awaited<ReturnType<typeof listDescribed>>[number];

function soldRoute({ call, target }: PublicListing, { name, discovery, priceAmount }: Described): ShopRoute[] {
  const route = discovery?.routes.find((one): one is HttpRoute => !isToolRoute(one) && one.method === call && one.path === target);
  if (!discovery || !route) return [];
  return [{ route, service: discovery, productName: name, price: formatAmount({ asset: 'USDC', units: priceAmount }) }];
}

/** Route of a server that uses the facilitator, without schemas, because those are foreign. */
function facilitatedRoute({ config }: Ctx, origin: string, { call, target, shown }: PublicListing): ShopRoute[] {
  const accepted = shown.accepts?.find(({ asset, amount }) => asset === config.network.usdcMint && /^[0-9]{1,20}$/.test(amount));
  if (!accepted) return [];
  const { description = target, mimeType = 'application/json', serviceName, tags } = shown;
  const route = { method: call as HttpRoute['method'], path: target.slice(origin.length), summary: description, mime_type: mimeType };
  const service = { ...(serviceName ? { service_name: serviceName } : {}), ...(tags ? { tags } : {}) };
  return [{ route, service, productName: description, price: formatAmount({ asset: 'USDC', units: BigInt(accepted.amount) }) }];
}
