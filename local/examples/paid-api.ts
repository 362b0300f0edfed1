import { type ServerType, serve } from '@hono/node-server';
import { Hono } from 'hono';
import { protect } from '../../sdk/src/hono.ts';
import { createClient } from '../../sdk/src/index.ts';
import { createProduct, type ExampleMerchant, type Stage } from './stage.ts';

/** Serves an API that charges `prices` in USDC by path. Returns its URL. */
export async function openPaidApi(stage: Stage, merchant: ExampleMerchant, prices: Record<string, string>): Promise<string> {
  const app = new Hono();
  const client = createClient({ baseUrl: stage.api.baseUrl, key: merchant.key });
  for (const [path, amount] of Object.entries(prices)) {
    const terms = { name: `${path}, one call`, price: { asset: 'USDC', amount }, live_mode_confirmed: true };
    const { product_id: product } = await createProduct(stage, merchant, terms);
    app.get(path, protect({ client, product }), (c) => c.json({ path, sky: 'clear' }));
  }
  const started = Promise.withResolvers<number>();
  const server: ServerType = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => started.resolve(port));
  stage.teardown.defer(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return `http://127.0.0.1:${await started.promise}`;
}
