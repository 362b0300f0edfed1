import { describe, it } from 'vitest';
import { firstRun, World } from '../support/world.ts';
import { openShop } from '../support/people/agent.ts';
import { letTimePass, FIRST_CHECK } from '../support/faults/finality.ts';
import { withRowCount, writtenBy, type Reading } from '../support/runner/rows-read.ts';

const out: unknown[] = [];
describe('rows', () => {
  const w = new World();
  const show = (name: string, r: Reading[]) => {
    out.push(`## ${name} ${writtenBy(r)}`);
    for (const { sql, written } of r) if (written) out.push(`${written} ${sql.replaceAll(/\s+/g, ' ').replaceAll('"','').slice(0, 110)}`);
  };
  async function m<T>(name: string, run: (env: typeof w.env) => Promise<T>): Promise<T> {
    const { env, readings } = withRowCount(w.env);
    const answer = await run(env);
    show(name, readings);
    return answer;
  }
  it('checkout', async () => {
    const shop = await openShop(w);
    const product = await w.product(shop.merchant, { access_period_days: 30 });
    const { product_id } = (await w.call('GET', `/v1/products/${product.product_id}`, { key: shop.merchant.key })).body;
    const buyer = await w.chain.wallet();
    await w.sweepAll(); await w.deliver(); await w.sweepAll();
    for (const n of [1, 2]) {
      out.push('ROUND', n, product_id);
      const payment = await m('connect', (env) => w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: {}, env }));
      await m('connect jobs', (env) => w.deliver(undefined, env));
      const signature = await w.chain.pay(buyer, payment.body);
      await m('confirm', (env) => w.confirm(payment.body.payment_id, signature, { env }));
      out.push(JSON.stringify(w.queue.sent));
      await m('confirm jobs', (env) => w.deliver(undefined, env));
      await new Promise((r) => setTimeout(r, 1500));
      out.push(JSON.stringify(w.queue.sent));
      await m('more jobs', (env) => w.deliver(undefined, env));
      await letTimePass(w, FIRST_CHECK);
      await m('finality', (env) => w.runSweep(firstRun('finality'), env));
      await m('finality jobs', (env) => w.deliver(undefined, env));
      await m('chain', (env) => w.runSweep(firstRun('receiptChain'), env).catch((e) => out.push(String(e))));
    }
    const denied = await m('consume', (env) => shop.consume({}, { env }));
    const payment = await shop.agent.pay(denied.headers.get('PAYMENT-REQUIRED')!);
    await m('settle', (env) => shop.settle(payment, {}, { env }));
    await m('settle jobs', (env) => w.deliver(undefined, env));
    throw new Error(out.map((x) => JSON.stringify(x)).join('\n'));
  });
});
