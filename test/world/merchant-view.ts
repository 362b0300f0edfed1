import type { World } from './world.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers whose shape call() has already checked against the document.
type Body = any;

/** What a merchant can list, and what is not stored as it is shown: receipts and events are bytes. */
const LISTS = {
  payments: '/v1/payments',
  memberships: '/v1/memberships',
  products: '/v1/products',
  endpoints: '/v1/webhooks/endpoints',
  entitlements: '/v1/access/entitlements',
} as const;

export type MerchantView = Record<keyof typeof LISTS, Body[]> & { account: Body; keys: Body[]; railSettings: Body[] };

/** The whole of a merchant in one mode, as the merchant itself reads it. */
export async function viewMerchant(w: World, key: string): Promise<MerchantView> {
  const read = async (path: string): Promise<Body> => {
    const { status, body } = await w.call('GET', path, { key });
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const all = async (path: string): Promise<Body[]> => {
    const items: Body[] = [];
    for (let page = 1; ; page++) {
      const { items: more, has_more } = await read(`${path}?per_page=100&page=${page}`);
      items.push(...more);
      if (!has_more) return items;
    }
  };
  const lists = await Promise.all(Object.entries(LISTS).map(async ([name, path]) => [name, await all(path)] as const));
  const [account, keys, { items: railSettings }] = await Promise.all([
    read('/v1/account/me'),
    read('/v1/keys'),
    read('/v1/access/rail-settings'),
  ]);
  const view = Object.fromEntries(lists) as Record<keyof typeof LISTS, Body[]>;
  // Releases list them in different orders.
  view.entitlements.sort((a, b) => (a.entitlement_id < b.entitlement_id ? -1 : 1));
  return { ...view, account, keys, railSettings };
}
