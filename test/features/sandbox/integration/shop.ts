/**
 * Complete merchant integration with an API client and a webhook secret. Nothing in it depends on their mode.
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
  productId: string;
  slug: string;
  /** Webhook receiver, safe for repeats in any order. */
  receive(request: Request): Promise<Response>;
  hasAccess(customerRef: string): Promise<boolean>;
  serve(request: Request): Promise<Response>;
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

  /** A confirmed order stays confirmed after later events of its payment. */
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
