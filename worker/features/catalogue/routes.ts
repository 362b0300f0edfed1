import { z } from '@hono/zod-openapi';
import { raise } from '#core/errors.ts';
import { NetworkId, ok, Timestamp } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { parseOrigin } from '#protocols/x402/origins.ts';
import { X402_VERSION } from '#protocols/x402/wire.ts';
import { listResources, searchResources } from './catalogue.ts';
import { readShopDocument } from './shop.ts';

const bag = z.record(z.string(), z.unknown());

/** Number in a query. Anything else is refused, so that no client reads a page that it did not ask for. */
const numberIn = (min: number, max: number, usual: number) =>
  z
    .string()
    .regex(/^[0-9]{1,6}$/, 'Expected a whole number')
    .transform(Number)
    .pipe(z.number().min(min).max(max))
    .default(usual)
    .openapi({ type: 'integer', minimum: min, maximum: max, default: usual });

const ResourceBody = z
  .object({
    resource: z.string().describe('URL of the resource. Parameters of its path are written `:name`.'),
    type: z.literal('http'),
    x402Version: z.literal(X402_VERSION),
    accepts: z
      .array(
        z.object({
          scheme: z.string().describe('x402 scheme: `exact`.'),
          network: NetworkId,
          asset: z.string().describe('Mint address of the token.'),
          amount: z.string().describe('Amount in base units, as text.'),
          payTo: z.string(),
          maxTimeoutSeconds: z.number().describe('Seconds in which a challenge must be paid.'),
          extra: bag.optional().describe('Further data of the scheme.'),
        }),
      )
      .describe('Accepted payments, without the memo: call the resource for a challenge that can be paid.'),
    lastUpdated: Timestamp,
    description: z.string().optional(),
    mimeType: z.string().optional(),
    serviceName: z.string().optional(),
    tags: z.array(z.string()).optional(),
    iconUrl: z.string().optional(),
    extensions: bag.describe('Extension `bazaar`: how the resource is called, with an example and schemas.'),
  })
  .openapi('SoldResource');

const filters = {
  type: z.string().max(64).optional().describe('Return only resources of this protocol: `http`.'),
  payTo: z.string().max(64).optional().describe('Return only resources that pay this wallet.'),
  scheme: z.string().max(64).optional().describe('Return only resources with this x402 scheme.'),
  network: z.string().max(64).optional().describe('Return only resources on this network, in CAIP-2.'),
  extensions: z.string().max(64).optional().describe('Return only resources with this extension: `bazaar`.'),
};

const PUBLIC_CACHE = 'public, max-age=60';

export const catalogueRoutes = routes('x402')
  .public({
    path: 'GET /access/x402/facilitator/discovery/resources',
    id: 'listCatalogueResources',
    sdk: 'catalogue.list',
    summary: 'List resources for sale',
    description:
      'Lists resources of all merchants that agents can buy, newest first: those that answered with a challenge within the last 72 hours. In the form of the x402 reference.',
    bucket: 'payload',
    query: {
      ...filters,
      limit: numberIn(1, 100, 20).describe('Maximum number of resources.'),
      offset: numberIn(0, 10_000, 0).describe('Number of resources to pass.'),
    },
    returns: ok(
      z
        .object({
          x402Version: z.literal(X402_VERSION),
          items: z.array(ResourceBody),
          pagination: z.object({
            limit: z.int(),
            offset: z.int(),
            total: z.int().describe('Number of resources on all pages.'),
          }),
        })
        .openapi('CatalogueResourcePage'),
      'Resources',
    ),
    answer: async ({ c, ctx, query: { limit, offset, ...asked } }) => {
      c.header('Cache-Control', PUBLIC_CACHE);
      const { items, total } = await listResources(ctx, { ...asked, limit, offset });
      return { x402Version: X402_VERSION, items, pagination: { limit, offset, total } };
    },
  })
  .public({
    path: 'GET /access/x402/facilitator/discovery/search',
    id: 'searchCatalogueResources',
    sdk: 'catalogue.search',
    summary: 'Search resources for sale',
    description:
      'Finds resources by the beginnings of words in service name, tags, summary, path and tool. Resources with more of the words come first.',
    bucket: 'payload',
    query: {
      query: z.string().min(1).max(200).describe('Words to search for.'),
      ...filters,
      limit: numberIn(1, 50, 20).describe('Maximum number of resources.'),
      cursor: z.string().max(200).optional().describe('Value of `pagination.cursor` from the previous page.'),
    },
    returns: ok(
      z
        .object({
          x402Version: z.literal(X402_VERSION),
          resources: z.array(ResourceBody).describe('Resources of this page, the best first.'),
          partialResults: z.boolean().describe('True if not all resources were searched. Narrow the query.'),
          pagination: z.object({
            limit: z.int(),
            cursor: z.string().nullable().describe('Position of the next page; null on the last one.'),
          }),
        })
        .openapi('CatalogueSearchPage'),
      'Resources',
    ),
    answer: async ({ c, ctx, query }) => {
      c.header('Cache-Control', PUBLIC_CACHE);
      const { resources, isPartial, cursor } = await searchResources(ctx, query);
      return { x402Version: X402_VERSION, resources, partialResults: isPartial, pagination: { limit: query.limit, cursor } };
    },
  })
  .public({
    path: 'GET /access/x402/openapi',
    id: 'getShopDocument',
    sdk: 'catalogue.getShopDocument',
    summary: 'Get the document of a shop',
    description:
      'Returns an OpenAPI 3.1 document of the listed routes of an origin, with their prices. Answer `GET /openapi.json` of your shop with it.',
    bucket: 'payload',
    query: { origin: z.string().max(300).describe('Origin of the shop, such as `https://api.shop.com`.') },
    returns: ok(bag.openapi('ShopDocument'), 'OpenAPI document'),
    codes: ['not_found'],
    answer: async ({ c, ctx, query }) => {
      const origin = parseOrigin(query.origin, { allowsLocal: ctx.config.NETWORK !== 'mainnet' });
      const document = origin.ok ? await readShopDocument(ctx, origin.value) : null;
      c.header('Cache-Control', PUBLIC_CACHE);
      return { ...(document ?? raise('not_found')) };
    },
  });
