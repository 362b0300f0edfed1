import { vi } from 'vitest';
import type { Merchant, World } from '../world.ts';
import { newAgent, newKey, type Shop, sellToAgents, stall } from './agent.ts';

export const ORIGIN = 'https://api.shop.com';

export const FORECAST = {
  method: 'GET',
  path: '/forecast/:city',
  summary: 'Weather of the next days',
  path_params: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  query: { type: 'object', properties: { days: { type: 'integer' } } },
  example: { path_params: { city: 'Bern' }, query: { days: 3 } },
  output_example: { degrees: 7 },
};
export const DISCOVERY = { listed: true, service_name: 'Weather Desk', tags: ['forecast', 'alps'], routes: [FORECAST] };

type Answer = (request: Request) => Response | Promise<Response>;

/** Servers at https hosts of a test, by origin. All other calls use the network. Returns the requests that they received. */
export function openServers(servers: Record<string, Answer>): Request[] {
  const received: Request[] = [];
  const network = globalThis.fetch;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input as RequestInfo, init);
    const answer = servers[new URL(request.url).origin];
    if (!answer) return network(input, init);
    received.push(request);
    return answer(request);
  });
  return received;
}

export const setOrigins = (w: World, { key }: Merchant, origins: string[]) =>
  w.call('PUT', '/v1/access/rail-settings/x402_solana_usdc', { key, body: { origins }, headers: { 'Idempotency-Key': newKey() } });

export const describeProduct = (w: World, { merchant, product }: Shop, discovery: object | null) =>
  w.call('PATCH', `/v1/products/${product.product_id}`, { key: merchant.key, body: { discovery } });

/** Server of a shop that refuses strangers as `protect` does. */
export const protectedBy =
  (shop: Shop): Answer =>
  async ({ url, method }) => {
    const { origin, pathname } = new URL(url);
    const challenge = await shop.challenge({
      customer: { customer_ref: crypto.randomUUID() },
      resource: { url: origin + pathname, method },
    });
    return new Response(null, { status: 402, headers: { 'PAYMENT-REQUIRED': challenge } });
  };

/** Shop with an origin and a described product, which is not probed at yet. */
export async function openListedShop(w: World, terms: Record<string, unknown> = {}, origins = [ORIGIN]): Promise<Shop> {
  const merchant = await w.merchant();
  const shop = stall(w, merchant, await sellToAgents(w, merchant, { discovery: DISCOVERY, ...terms }), await newAgent(w));
  await setOrigins(w, merchant, origins);
  return shop;
}

/** Public catalogue, as the facilitator's clients read it. */
export const catalogueOf = (w: World) => ({
  list: async (query = '') => (await w.call('GET', `/v1/access/x402/facilitator/discovery/resources${query}`)).body,
  search: async (query: string, rest = '') =>
    (await w.call('GET', `/v1/access/x402/facilitator/discovery/search?query=${encodeURIComponent(query)}${rest}`)).body,
});
