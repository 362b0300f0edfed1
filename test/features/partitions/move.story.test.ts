import { beforeAll, describe, expect, it } from 'vitest';
import { bindDatabases, openOnly } from '../../support/fixtures/databases.ts';
import { move, partitionHex, rowsOfPartition } from '../../support/fixtures/partitions.ts';
import { newAgent, type Shop, sellToAgents, stall } from '../../support/people/agent.ts';
import { consumer, received } from '../../support/people/consumer.ts';
import { testEnv } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

describe('move of a partition', () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true', MOVES: 'on' });
  w.env.LOCAL_CLOCK_URL = w.chain.url;
  let shop: Shop;
  beforeAll(async () => {
    await bindDatabases(w, 'DB_2');
    openOnly(w, 'DB');
    const merchant = await w.merchant();
    shop = stall(w, merchant, await sellToAgents(w, merchant, { access_period_days: 30, usage_units: 10 }), await newAgent(w));
  });

  it('the target has exactly the rows of the source, the source none, and sales go on', async () => {
    const mine = await consumer(w, shop.merchant, 'ok');
    const { confirmed } = await w.purchase(shop.product, shop.agent.wallet, { email: 'buyer@example.com' });
    const customer = { customer_ref: 'agent' };
    expect((await shop.settle(await shop.pay({ customer }), { customer })).status).toBe(200);
    await w.deliver();
    await w.attempt();
    await w.sweepAll();
    const partition = partitionHex(shop.merchant.userId);
    const before = await rowsOfPartition(testEnv.DB, partition);
    const states: string[] = [];
    const report = await move(w, { partition, to: 'DB_2' }, async ({ state }) => states.push(state));
    expect(report).toMatchObject({ partition, from: 'DB', to: 'DB_2', state: 'done' });
    const after = await rowsOfPartition(testEnv.TEST_DB_2, partition);
    expect(after).toEqual(before);
    const { claims: _, ...left } = await rowsOfPartition(testEnv.DB, partition);
    expect(left).toEqual({});
    expect((await w.call('GET', `/v1/receipt/${confirmed.receipt_id}/verify`)).body.valid).toBe(true);
    const again = await w.purchase(shop.product, (await newAgent(w)).wallet);
    expect(again.confirmed.payment.status).toBe('CONFIRMED');
    await w.deliver();
    await w.attempt();
    expect((await received(mine)).length).toBeGreaterThan(0);
  });
});
