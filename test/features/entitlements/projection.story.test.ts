import { runDurableObjectAlarm } from 'cloudflare:test';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { entitlementIdOf } from '#core/ids.ts';
import { SECOND } from '#core/time.ts';
import type { Job } from '#platform/context.ts';
import type { EntitlementProjection } from '#rules/entitlement-rpc.ts';
import { interceptJobs } from '../../support/clients/entitlement.ts';
import { seededRandom, shuffled, withFaults } from '../../support/faults/faults.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { openShop, type Shop, sellToAgents, stall } from '../../support/people/agent.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { REPEATED, SEED, testEnv } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

afterEach(letTimeRun);

describe(`entitlement list and events (seed ${SEED})`, REPEATED, () => {
  const w = new World();
  const random = seededRandom(SEED);
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop(w);
  });

  const newStall = async (terms: Record<string, unknown> = {}) =>
    stall(w, shop.merchant, await sellToAgents(w, shop.merchant, terms), shop.agent);
  const idOf = (own: Shop, customerRef: string) => entitlementIdOf(own.merchant.userId, true, own.product.product_id, { customerRef });
  const stubOf = (own: Shop, customerRef: string) => testEnv.ENTITLEMENT.getByName(`${own.merchant.userId}:live:${idOf(own, customerRef)}`);
  const listed = async (query: string) => (await w.call('GET', `/v1/access/entitlements?${query}`, { key: shop.merchant.key })).body;
  const events = async (own: Shop, customerRef: string): Promise<string[]> => {
    const { results } = await prepareOnEvents(w.env.DB, 'SELECT type FROM events WHERE subject_id = ? ORDER BY subject_version')
      .bind(idOf(own, customerRef))
      .all<{ type: string }>();
    return results.map(({ type }) => type);
  };
  const jobsOf = (sent: EntitlementProjection[]): Job[] => sent.map((projection) => ({ kind: 'projectEntitlement', projection }));
  const watch = async (own: Shop, customerRef: string) => {
    const jobs = await interceptJobs(stubOf(own, customerRef), w.env);
    jobs.uses = 'stored';
    return { jobs, flush: () => runDurableObjectAlarm(stubOf(own, customerRef)) };
  };

  it('the list equals the objects once alarms and queue are idle, in any order of messages', async () => {
    const externalId = `projected-${crypto.randomUUID()}`;
    const own = await newStall({ external_product_id: externalId });
    const customers = Array.from({ length: 6 }, (_, i) => `drift-${i}`);
    const jobs: Job[] = [];
    for (const [index, customer_ref] of customers.entries()) {
      const { jobs: sent, flush } = await watch(own, customer_ref);
      const customer = { customer_ref };
      await own.grant({ customer, units: 4 });
      await flush();
      for (let i = 0; i < index; i++) await own.consume({ customer });
      await flush();
      if (index % 2 === 0) await own.grant({ customer, units: 1 });
      await flush();
      jobs.push(...jobsOf(sent.sent));
    }
    expect(jobs).toHaveLength(11);
    await w.deliver(shuffled([...jobs, ...jobs], random));
    const page = await listed(`product_id=${own.product.product_id}&per_page=100`);
    expect(page.total).toBe(customers.length);
    for (const customer_ref of customers) {
      const exact = await own.entitlement({ customer_ref });
      expect(page.items.find((item: { entitlement_id: string }) => item.entitlement_id === exact.entitlement_id)).toEqual(exact);
    }
    expect((await listed(`external_product_id=${externalId}`)).total).toBe(6);
    expect((await listed(`product_id=${own.product.product_id}&status=exhausted`)).items.map(refOf)).toEqual(['drift-5']);
    expect((await listed(`product_id=${own.product.product_id}&customer_ref=drift-2`)).items.map(refOf)).toEqual(['drift-2']);
    expect((await listed('wallet_address=nobody')).total).toBe(0);
    const foreign = await w.merchant();
    expect((await w.call('GET', '/v1/access/entitlements', { key: foreign.key })).body.total).toBe(0);
    expect((await w.call('GET', '/v1/access/entitlements', { key: shop.merchant.sandboxKey })).body.total).toBe(0);
  });

  it('each event is published once, although its message came three times', async () => {
    const own = await newStall();
    const customer = { customer_ref: 'told-once' };
    const { jobs, flush } = await watch(own, 'told-once');
    await own.grant({ customer, units: 2 });
    await own.consume({ customer, units: 2 });
    await own.grant({ customer, units: 1 });
    await flush();
    expect(jobs.sent).toHaveLength(1);
    await Promise.all([w.deliver(jobsOf(jobs.sent)), w.deliver(jobsOf(jobs.sent))]);
    await w.deliver(jobsOf(jobs.sent));
    expect(await events(own, 'told-once')).toEqual(['entitlement.granted', 'entitlement.exhausted', 'entitlement.granted']);
    const { body } = await w.call('GET', '/v1/webhooks/events?per_page=100', { key: shop.merchant.key });
    const mine = body.items.filter(
      (item: { data: { object: { entitlement_id?: string } } }) => item.data?.object?.entitlement_id === idOf(own, 'told-once'),
    );
    expect(mine.map(({ type }: { type: string }) => type).sort()).toEqual([
      'entitlement.exhausted',
      'entitlement.granted',
      'entitlement.granted',
    ]);
    // Each event has the state at its own time.
    const exhausted = mine.find(({ type }: { type: string }) => type === 'entitlement.exhausted');
    expect(exhausted.data.object).toMatchObject({ status: 'exhausted', granted_units: 2, used_units: 2, remaining: 0 });
  });

  it('events of a failed queue send are published later', async () => {
    const own = await newStall();
    const customer = { customer_ref: 'queue-down' };
    const { jobs, flush } = await watch(own, 'queue-down');
    jobs.isFailing = true;
    await own.grant({ customer, units: 1 });
    await flush().catch(() => undefined);
    await own.consume({ customer });
    expect(jobs.sent).toHaveLength(0);
    jobs.isFailing = false;
    setTime(Date.now() + 5 * SECOND);
    await flush();
    await w.deliver(jobsOf(jobs.sent));
    expect(await events(own, 'queue-down')).toEqual(['entitlement.granted', 'entitlement.exhausted']);
    expect((await listed(`product_id=${own.product.product_id}&customer_ref=queue-down`)).items[0]).toEqual(
      await own.entitlement(customer),
    );
  });

  it('a late copy never overwrites a newer one', async () => {
    const own = await newStall();
    const customer = { customer_ref: 'late-copy' };
    const { jobs, flush } = await watch(own, 'late-copy');
    await own.grant({ customer, units: 3 });
    await flush();
    await own.consume({ customer });
    await flush();
    expect(jobs.sent).toMatchObject([{ snapshot: { usedUnits: 0 } }]);
    await w.deliver(jobsOf(jobs.sent));
    expect((await listed(`product_id=${own.product.product_id}&customer_ref=late-copy`)).items[0]).toMatchObject({
      used_units: 1,
      remaining: 2,
    });
    expect(await events(own, 'late-copy')).toEqual(['entitlement.granted']);
  });

  it('uses that the database refuses arrive by a message', async () => {
    const own = await newStall();
    const customer = { customer_ref: 'refused-uses' };
    const { jobs, flush } = await watch(own, 'refused-uses');
    await own.grant({ customer, units: 3 });
    await flush();
    await w.deliver(jobsOf(jobs.sent.splice(0)));
    await own.consume({ customer });
    const refused = await interceptJobs(stubOf(own, 'refused-uses'), withFaults(w.env, { before: () => true }).env);
    refused.uses = 'stored';
    setTime(Date.now() + 2 * SECOND);
    await flush();
    const shown = async () => (await listed(`product_id=${own.product.product_id}&customer_ref=refused-uses`)).items[0].used_units;
    expect([await shown(), refused.sent.length]).toEqual([0, 1]);
    await w.deliver(jobsOf(refused.sent));
    expect(await shown()).toBe(1);
  });

  it('a settled payment is published as granted once and listed as exhausted', async () => {
    const own = await newStall();
    const customer = { customer_ref: 'paid-once' };
    const { jobs, flush } = await watch(own, 'paid-once');
    const payment = await own.pay({ customer });
    await Promise.all([own.settle(payment, { customer }), own.settle(payment, { customer })]);
    await own.settle(payment, { customer });
    await w.deliver();
    await flush();
    await w.deliver(jobsOf(jobs.sent));
    const [shown] = (await listed(`product_id=${own.product.product_id}&customer_ref=paid-once`)).items;
    expect(shown).toEqual(await own.entitlement(customer));
    expect([shown.status, shown.used_units]).toEqual(['exhausted', 1]);
    expect((await events(own, 'paid-once')).filter((type) => type === 'entitlement.granted')).toHaveLength(1);
  });

  it('the list has a stable order across pages', async () => {
    const own = await newStall();
    for (let i = 0; i < 5; i++) {
      const { jobs, flush } = await watch(own, `page-${i}`);
      await own.grant({ customer: { customer_ref: `page-${i}` }, units: 2 });
      await flush();
      await w.deliver(jobsOf(jobs.sent));
    }
    const query = `product_id=${own.product.product_id}`;
    const allRefs = (await listed(query)).items.map(refOf);
    const pages = [
      await listed(`${query}&per_page=2`),
      await listed(`${query}&per_page=2&page=2`),
      await listed(`${query}&per_page=2&page=3`),
    ];
    expect(pages.flatMap(({ items }) => items.map(refOf))).toEqual(allRefs);
    expect(pages.map(({ has_more }) => has_more)).toEqual([true, true, false]);
    expect(new Set(allRefs).size).toBe(5);
  });
});

const refOf = (item: { customer: { customer_ref: string } }): string => item.customer.customer_ref;
