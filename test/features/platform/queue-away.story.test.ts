import { runDurableObjectAlarm } from 'cloudflare:test';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { entitlementIdOf } from '#core/ids.ts';
import { MINUTE, SECOND } from '#core/time.ts';
import type { Job } from '#platform/context.ts';
import { interceptJobs, readAlarm, type SentJobs } from '../../support/clients/entitlement.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { newAgent, openShop, type Shop, stall } from '../../support/people/agent.ts';
import { type Consumer, consumer, deliveries, received } from '../../support/people/consumer.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { testEnv } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

afterEach(letTimeRun);

describe('a queue that drops every message for ten minutes', () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  let shop: Shop;
  let sold: Body;
  let receiver: Consumer;
  beforeAll(async () => {
    shop = await openShop(w);
    sold = await w.product(shop.merchant, { usage_units: 3, access_period_days: 30 });
    receiver = await consumer(w, shop.merchant, 'ok');
  });

  /** Entitlement objects of every customer from before the first call. The test runs their alarms. */
  const objects = new Map<string, { stub: ReturnType<typeof testEnv.ENTITLEMENT.getByName>; jobs: SentJobs }>();
  async function watch(productId: string, customer: { customerRef: string } | { walletAddress: string }): Promise<void> {
    const id = entitlementIdOf(shop.merchant.userId, true, productId, customer);
    const stub = testEnv.ENTITLEMENT.getByName(`${shop.merchant.userId}:live:${id}`);
    objects.set(id, { stub, jobs: await interceptJobs(stub) });
  }
  /** Advances the service's clock and the chain's, runs due alarms, and returns the messages that the objects sent. */
  async function pass(ms: number): Promise<Job[]> {
    setTime(Date.now() + ms);
    await w.chain.call('local_warp', ms / SECOND);
    for (const { stub } of objects.values()) {
      const at = await readAlarm(stub);
      if (at !== null && at <= Date.now()) await runDurableObjectAlarm(stub);
    }
    return [...objects.values()]
      .flatMap(({ jobs }) => jobs.sent.splice(0))
      .map((projection) => ({ kind: 'projectEntitlement', projection }));
  }

  async function trade(round: number): Promise<void> {
    const [buyer, silent] = [await w.chain.wallet(), await w.chain.wallet()];
    for (const { address: walletAddress } of [buyer, silent]) await watch(sold.product_id, { walletAddress });
    const { confirmed } = await w.purchase(sold, buyer);
    expect(confirmed.payment.status).toBe('CONFIRMED');
    await w.chain.pay(silent, await w.connect(sold));

    const own = stall(w, shop.merchant, shop.product, await newAgent(w));
    await watch(own.product.product_id, { walletAddress: own.agent.wallet.address });
    expect((await own.settle(await own.pay())).status).toBe(200);

    const customer = { customer_ref: `customer-${round}` };
    await watch(own.product.product_id, { customerRef: customer.customer_ref });
    expect((await own.grant({ customer, units: 2 })).status).toBe(200);
    expect((await own.consume({ customer, units: 2 })).status).toBe(200);
  }

  const list = async (path: string): Promise<Body[]> => {
    const { body } = await w.call('GET', `${path}${path.includes('?') ? '&' : '?'}per_page=100`, { key: shop.merchant.key });
    return body.items;
  };

  it('two sweeps after the outage complete every list and send every webhook once', async () => {
    const ROUNDS = 3;
    // The endpoint receives only events created after it.
    const began = Date.now();
    await pass(60 * MINUTE);
    let dropped = 0;
    const drop = (more: Job[]) => {
      dropped += more.length + w.queue.sent.splice(0).length + w.attempts.splice(0).length;
    };
    for (let minute = 0; minute < 10; minute++) {
      if (minute % 3 === 0 && minute / 3 < ROUNDS) await trade(minute / 3);
      drop(await pass(5 * SECOND));
      drop(await pass(55 * SECOND));
      await w.sweep();
      drop([]);
    }
    expect(dropped).toBeGreaterThan(objects.size * 3);
    expect(await received(receiver)).toEqual([]);

    for (let sweeps = 0; sweeps < 2; sweeps++) {
      // An object repeats a dropped projection after ten minutes at the latest.
      const projections = await pass(sweeps === 0 ? MINUTE : 11 * MINUTE);
      await w.deliver(projections);
      await w.sweep();
      while (w.queue.sent.length > 0) await w.deliver();
      await w.attempt();
    }
    for (const _ of [1, 2]) {
      await w.deliver(await pass(5 * SECOND));
      while (w.queue.sent.length > 0) await w.deliver();
      await w.attempt();
    }

    const count = ROUNDS * 4;
    const payments = await list('/v1/payments');
    expect(payments.map(({ status }) => status)).toEqual(payments.map(() => 'CONFIRMED'));
    expect([payments.length, (await list('/v1/memberships')).length]).toEqual([ROUNDS * 3, ROUNDS * 2]);
    expect(await list('/v1/receipts')).toHaveLength(ROUNDS * 3);
    const listed = await list('/v1/access/entitlements');
    expect(listed).toHaveLength(count);
    expect(listed.map(({ entitlement_id }) => entitlement_id).sort()).toEqual([...objects.keys()].sort());
    for (const entitlement of listed) {
      const { body } = await w.call('GET', `/v1/access/entitlements/${entitlement.entitlement_id}`, { key: shop.merchant.key });
      expect(entitlement).toEqual(body);
    }

    const { results: events } = await prepareOnEvents(
      w.env.DB,
      'SELECT id, type FROM events WHERE merchant_id = ? AND created_at > ? ORDER BY id',
    )
      .bind(shop.merchant.userId, began)
      .all<{ id: string; type: string }>();
    const times = (type: string) => events.filter((event) => event.type === type).length;
    expect(['payment.confirmed', 'entitlement.granted', 'entitlement.exhausted'].map(times)).toEqual([ROUNDS * 3, count, ROUNDS]);
    const inBox = (await received(receiver)).map(({ body }) => JSON.parse(body).id).sort();
    expect(inBox).toEqual(events.map(({ id }) => id));
    expect(new Set((await deliveries(receiver)).map(({ status }) => status))).toEqual(new Set(['succeeded']));
  });
});
