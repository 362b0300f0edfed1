/**
 * The whole of a merchant's integration: it is given a client and the secret of its webhooks, and nothing in it knows the mode of either.
 * @module
 */

import { Webhook } from 'standardwebhooks';
import { protect } from '../../../../sdk/src/fetch.ts';
import type { Client } from '../../../../sdk/src/index.ts';

interface ShopEvent {
  id: string;
  type: string;
  data: { object: Record<string, unknown> };
}

export interface Shop {
  /** What buyers pay for. */
  productId: string;
  slug: string;
  /** The shop's webhook receiver: any number of times, in any order. */
  receive(request: Request): Promise<Response>;
  /** The shop's access check. */
  hasAccess(customerRef: string): Promise<boolean>;
  /** The shop's paid resource. */
  serve(request: Request): Promise<Response>;
  /** The shop's own books, by payment. */
  readonly orders: ReadonlyMap<string, string>;
  readonly refused: number;
}

const CUSTOMER = 'X-Customer';

export async function openShop(client: Client, { hookUrl, payoutWallet }: { hookUrl: string; payoutWallet: string }): Promise<Shop> {
  const product = await client.products.create({
    name: 'Forecasts',
    price: { asset: 'USDC', amount: '0.25' },
    payout_wallet: payoutWallet,
    usage_units: 2,
    live_mode_confirmed: true,
  });
  const { secret } = await client.webhookEndpoints.create({ url: hookUrl });
  const webhook = new Webhook(secret);
  const seen = new Set<string>();
  const orders = new Map<string, string>();
  let refused = 0;

  /** Confirmed is confirmed, whatever is heard of the payment afterwards. */
  function book({ type, data }: ShopEvent): void {
    const { payment_id: paymentId } = data.object as { payment_id?: string };
    if (paymentId === undefined || !type.startsWith('payment.')) return;
    if (orders.get(paymentId) !== 'paid') orders.set(paymentId, type === 'payment.confirmed' ? 'paid' : 'open');
  }

  return {
    productId: product.product_id,
    slug: product.slug,
    orders,
    get refused() {
      return refused;
    },
    async receive(request) {
      const body = await request.text();
      try {
        const event = webhook.verify(body, Object.fromEntries(request.headers)) as ShopEvent;
        if (!seen.has(event.id)) book(event);
        seen.add(event.id);
        return new Response(null, { status: 204 });
      } catch {
        refused++;
        return new Response('bad signature', { status: 401 });
      }
    },
    async hasAccess(customerRef) {
      const { items } = await client.entitlements.list({ product_id: product.product_id, customer_ref: customerRef });
      return items.some(({ status, remaining }) => status === 'active' && (remaining === null || remaining > 0));
    },
    serve: protect(
      {
        client,
        product: product.product_id,
        customer: (request) => ({ customer_ref: request.headers.get(CUSTOMER)! }),
      },
      (_request, access) => Response.json({ weather: 'sunny', paid: access.payment !== null }),
    ),
  };
}
