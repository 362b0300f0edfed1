import { type ServerType, serve } from '@hono/node-server';
import type { KeyPairSigner } from '@solana/kit';
import { HTTPFacilitatorClient, x402ResourceServer } from '@x402/core/server';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { paymentMiddleware } from '@x402/hono';
import { ExactSvmScheme } from '@x402/svm';
import { ExactSvmScheme as ExactSvmServerScheme } from '@x402/svm/exact/server';
import { Hono } from 'hono';
import type { Teardown } from '../cli/teardown.ts';
import { check } from './narrator.ts';
import { inUsdc } from './purchase.ts';
import type { DemoContext, Money } from './shop.ts';

export const DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';

export interface Seller {
  key: string;
  wallet: KeyPairSigner;
  product: { product_id: string; price: Money };
}

/** Makes the same sale twice: by a server with only a facilitator URL and key, and by two API calls. */
export async function sellToAgent(demo: DemoContext, seller: Seller, teardown: Teardown): Promise<void> {
  const { api, chain, narrator } = demo;
  narrator.step('Another agent buys two tide tables from it');
  const { product, wallet } = seller;
  const buyer = await chain.newBuyer(1_000_000n);
  const client = new x402Client().register(DEVNET, new ExactSvmScheme(buyer, { rpcUrl: chain.url }));
  const before = await chain.balanceOf(wallet.address, USDC);
  const url = await listen(tideShop(api.baseUrl, seller), teardown);
  const buy = async (path: string, how: string): Promise<void> => {
    const response = await wrapFetchWithPayment(fetch, client)(`${url}${path}`);
    const { high_water } = (await response.json().catch(() => ({}))) as { high_water?: string };
    check(
      response.status === 200 && high_water !== undefined,
      `The buyer was answered ${response.status} (${refusalOf(response)}) at ${path}`,
    );
    narrator.proven(`${how}: 402, paid, served. High water at ${high_water}.`);
  };
  await buy('/plain', 'Through an unmodified @x402/hono, with the service as facilitator');
  await buy('/counted', 'Through consume and settle, with units and a receipt');
  const earned = (await chain.balanceOf(wallet.address, USDC)) - before;
  check(earned === 2n * BigInt(product.price.base_units), `The seller earned ${inUsdc(earned)}`);
  narrator.proven(`${inUsdc(earned)} are in the seller's own wallet. From the first call to the last, agents only.`);
}

/** Returns the x402 reason of a refusal, from the challenge or the settlement answer. */
function refusalOf({ headers }: Response): string {
  const carried = headers.get('PAYMENT-RESPONSE') ?? headers.get('PAYMENT-REQUIRED');
  if (carried === null) return 'without a reason';
  const { errorReason, error } = JSON.parse(Buffer.from(carried, 'base64').toString()) as { errorReason?: string; error?: string };
  return errorReason ?? error ?? 'without a reason';
}

/** Seller's code: one route with the public middleware, one with consume and settle. */
function tideShop(baseUrl: string, { key, wallet, product }: Seller): Hono {
  const shop = new Hono();
  const headers = { 'X-Svc-Key': key };
  const facilitator = new HTTPFacilitatorClient({
    url: `${baseUrl}/v1/access/x402/facilitator`,
    createAuthHeaders: async () => ({ verify: headers, settle: headers, supported: {} }),
  });
  const server = new x402ResourceServer(facilitator).register(DEVNET, new ExactSvmServerScheme());
  const accepts = { scheme: 'exact', network: DEVNET, price: `$${product.price.amount}`, payTo: wallet.address } as const;
  shop.use('/plain', paymentMiddleware({ 'GET /plain': { accepts, description: 'Tide table' } }, server));
  shop.get('/plain', (c) => c.json({ high_water: '06:12' }));
  shop.get('/counted', async (c) => {
    // A buyer is identified by the payment, so the first request names no customer.
    const signature = c.req.header('PAYMENT-SIGNATURE');
    const call = signature ? 'x402/settle' : 'entitlements/consume';
    const how = signature ? { payment_signature: signature, consume_units: 1 } : { customer: { customer_ref: 'walk-in' } };
    const answer = await fetch(`${baseUrl}/v1/access/${call}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'Idempotency-Key': crypto.randomUUID() },
      body: JSON.stringify({ product_id: product.product_id, ...how }),
    });
    const isPaid = answer.status === 200 && answer.headers.get('X-Svc-Duplicate-Settlement') === null;
    if (isPaid) return c.json({ high_water: '06:12' });
    const challenge = answer.headers.get('PAYMENT-REQUIRED');
    return challenge ? c.body(null, 402, { 'PAYMENT-REQUIRED': challenge }) : c.body(null, 503);
  });
  return shop;
}

export async function listen(shop: Hono, teardown: Teardown): Promise<string> {
  const server = await new Promise<ServerType>((resolve) => {
    const started = serve({ fetch: shop.fetch, port: 0, hostname: '127.0.0.1' }, () => resolve(started));
  });
  teardown.defer(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The shop has no port');
  return `http://127.0.0.1:${address.port}`;
}
