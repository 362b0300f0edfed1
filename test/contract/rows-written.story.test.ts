import type { KeyPairSigner } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import { FIRST_CHECK, letTimePass } from '../support/faults/finality.ts';
import { openShop, type Shop } from '../support/people/agent.ts';
import { consumer } from '../support/people/consumer.ts';
import { type Reading, withRowCount, writtenBy } from '../support/runner/rows-read.ts';
import { World } from '../support/world.ts';

/** Rows written by a sale, as the platform bills them: one per row and per index entry. Each limit is the count of today. */
describe('rows written', () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  let shop: Shop;
  let product: { slug: string };
  let buyer: KeyPairSigner;

  beforeAll(async () => {
    shop = await openShop(w);
    product = await w.product(shop.merchant, { access_period_days: 30 });
    buyer = await w.chain.wallet();
    await w.purchase(product, await w.chain.wallet());
    // The first sale of a product notes its name for the search.
    await shop.settle(await shop.agent.pay((await shop.consume({})).headers.get('PAYMENT-REQUIRED')!));
    await letTimePass(w, FIRST_CHECK);
    await w.sweepAll();
    await w.deliver();
  });

  const listed = (readings: Reading[]): string =>
    readings
      .filter(({ written }) => written > 0)
      .map(({ sql, written }) => `${written}: ${sql.replaceAll(/\s+/g, ' ').slice(0, 100)}`)
      .join('\n');

  async function writes<T>(rowsMax: number, run: (env: typeof w.env) => Promise<T>): Promise<T> {
    const { env, readings } = withRowCount(w.env);
    const answer = await run(env);
    expect(writtenBy(readings), listed(readings)).toBeLessThanOrEqual(rowsMax);
    return answer;
  }

  async function sell({ confirm, jobs, attempts }: { confirm: number; jobs: number; attempts: number }) {
    const connected = await writes(10, (env) => w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: {}, env }));
    const { payment_id: paymentId } = connected.body;
    await w.deliver();
    await w.attempt();
    const signature = await w.chain.pay(buyer, connected.body);
    const confirmed = await writes(confirm, (env) => w.confirm(paymentId, signature, { env }));
    expect(confirmed.body.payment.status).toBe('CONFIRMED');
    await writes(jobs, (env) => w.deliver(undefined, env));
    await writes(attempts, (env) => w.attempt(undefined, env));
    await letTimePass(w, FIRST_CHECK);
    // Two rows are the lease of the sweep.
    await writes(2 + 5, (env) => w.sweepAlone('finality', env));
    expect((await w.call('GET', `/v1/payments/${paymentId}`)).body.finalized_at).toBeTypeOf('string');
    await writes(0, (env) => w.deliver(undefined, env));
  }

  it('a checkout is bounded, for a new customer and for a known one', async () => {
    await sell({ confirm: 18, jobs: 1, attempts: 0 });
    await sell({ confirm: 16, jobs: 1, attempts: 0 });
  });

  it('a connect sends no message if no endpoint waits', async () => {
    w.queue.sent.length = 0;
    await w.connect(product);
    expect(w.queue.sent).toEqual([]);
  });

  it('an x402 payment is bounded', async () => {
    const denied = await writes(0, (env) => shop.consume({}, { env }));
    const payment = await shop.agent.pay(denied.headers.get('PAYMENT-REQUIRED')!);
    const settled = await writes(22, (env) => shop.settle(payment, {}, { env }));
    expect(settled.status).toBe(200);
    await writes(1, (env) => w.deliver(undefined, env));
  });

  it('an event that one endpoint receives is bounded', async () => {
    await consumer(w, shop.merchant, 'ok', { event_types: ['payment.created'] });
    await w.deliver();
    await w.connect(product);
    await writes(4, (env) => w.deliver(undefined, env));
    // The first notes the health of the endpoint, the next ones within a minute do not.
    await writes(4, (env) => w.attempt(undefined, env));
    await w.connect(product);
    await w.deliver();
    await writes(3, (env) => w.attempt(undefined, env));
  });
});
