/**
 * A club that is paid by the period: the whole of a merchant's integration, in which nothing knows the mode of its client.
 * @module
 */

import { Webhook } from 'standardwebhooks';

// biome-ignore lint/suspicious/noExplicitAny: an integration reads what it needs of each answer.
type Body = any;

/** The service as the club calls it, with its key. */
export type Api = (method: 'GET' | 'POST', path: string, body?: object) => Promise<Body>;

export interface Club {
  /** Where members subscribe. */
  productId: string;
  slug: string;
  /** The club's webhook receiver: any number of times, in any order. Answers what it heard of for the first time. */
  hear(request: Request): Promise<string[]>;
  /** The club's door. */
  isMember(customerRef: string): Promise<boolean>;
  /** Each subscription as the club last heard of it: the version that was told counts, not the order. */
  readonly books: ReadonlyMap<string, string>;
}

/** `signAsOwner`: the wallet that is paid signs and sends what publishes the plan. */
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
