/**
 * Complete merchant integration for subscriptions. Nothing in it depends on the mode of its client.
 * @module
 */

import { Webhook } from 'standardwebhooks';

// biome-ignore lint/suspicious/noExplicitAny: an integration reads what it needs of each answer.
type Body = any;

export type Api = (method: 'GET' | 'POST', path: string, body?: object) => Promise<Body>;

export interface Club {
  productId: string;
  slug: string;
  /** Webhook receiver, safe for repeats in any order. Returns the events that are new. */
  hear(request: Request): Promise<string[]>;
  isMember(customerRef: string): Promise<boolean>;
  /** Latest state of each subscription. The event version decides, not the order of arrival. */
  readonly books: ReadonlyMap<string, string>;
}

/** `signAsOwner` signs and sends the publishing of the plan as the paid wallet. */
export async function openClub(
  api: Api,
  { hookUrl, payoutWallet, signAsOwner }: { hookUrl: string; payoutWallet: string; signAsOwner(transaction: string): Promise<string> },
): Promise<Club> {
  const { secret } = await api('POST', '/v1/webhooks/endpoints', { url: hookUrl });
  const product = await api('POST', '/v1/products', {
    name: 'Club',
    price: { asset: 'USDC', amount: '5' },
    renewal_mode: 'AUTOMATIC',
    access_period_days: 30,
    usage_units: null,
    payout_wallet: payoutWallet,
    live_mode_confirmed: true,
  });
  const plan = `/v1/access/products/${product.product_id}/subscription-plan`;
  const { transaction } = await api('POST', plan, {});
  await api('POST', `${plan}/confirm`, { tx_signature: await signAsOwner(transaction) });
  const webhook = new Webhook(secret);
  const seen = new Set<string>();
  const books = new Map<string, string>();
  const versions = new Map<string, number>();

  function book({ authorization_id: id, status, version }: Body): void {
    if (version <= (versions.get(id) ?? 0)) return;
    versions.set(id, version);
    books.set(id, status);
  }

  return {
    productId: product.product_id,
    slug: product.slug,
    books,
    async hear(request) {
      const event = webhook.verify(await request.text(), Object.fromEntries(request.headers)) as { id: string; type: string; data: Body };
      if (seen.has(event.id)) return [];
      seen.add(event.id);
      if (event.type.startsWith('subscription.')) book(event.data.object);
      return [event.type];
    },
    async isMember(customerRef) {
      const { items } = await api('GET', '/v1/memberships');
      return items.some((one: Body) => one.customer.customer_ref === customerRef && ['active', 'grace'].includes(one.status));
    },
  };
}
