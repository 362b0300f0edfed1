import { createExecutionContext, runDurableObjectAlarm, waitOnExecutionContext } from 'cloudflare:test';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { entitlementIdOf } from '#core/ids.ts';
import { MINUTE, SECOND } from '#core/time.ts';
import type { Job } from '#platform/context.ts';
import worker from '../../../worker/index.ts';
import { interceptJobs, readAlarm, type SentJobs } from '../../support/clients/entitlement.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { openShop, type Shop, sellToAgents, stall, withObjectFaults } from '../../support/people/agent.ts';
import { type Consumer, consumer, deliveries } from '../../support/people/consumer.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { REPEATED, testEnv } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

afterEach(letTimeRun);
/** Returns a time in the future, so that no alarm fires by itself during a test. */
const ahead = () => Date.now() + 60 * MINUTE;

describe('entitlement projection after losses', REPEATED, () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  let shop: Shop;
  let mine: Consumer;
  beforeAll(async () => {
    shop = await openShop(w);
    mine = await consumer(w, shop.merchant, 'ok');
  });

  const CUSTOMERS = ['one', 'two', 'three'];
  const newStall = async () => stall(w, shop.merchant, await sellToAgents(w, shop.merchant), shop.agent);
  const stubOf = (own: Shop, customerRef: string) => {
    const id = entitlementIdOf(own.merchant.userId, true, own.product.product_id, { customerRef });
    return testEnv.ENTITLEMENT.getByName(`${own.merchant.userId}:live:${id}`);
  };
  async function trade(own: Shop) {
    const watched: SentJobs[] = [];
    for (const customer_ref of CUSTOMERS) {
      watched.push(await interceptJobs(stubOf(own, customer_ref)));
      await own.grant({ customer: { customer_ref }, units: 2 });
      await own.consume({ customer: { customer_ref }, units: 2 });
    }
    const ring = async (): Promise<Job[]> => {
      for (const ref of CUSTOMERS) {
        const at = await readAlarm(stubOf(own, ref));
        if (at !== null && at <= Date.now()) await runDurableObjectAlarm(stubOf(own, ref));
      }
      return watched.flatMap(({ sent }) => sent.splice(0)).map((projection) => ({ kind: 'projectEntitlement', projection }));
    };
    return ring;
  }
  const nextAlarm = async (own: Shop) => Math.min(...(await Promise.all(CUSTOMERS.map((ref) => readAlarm(stubOf(own, ref))))).map(Number));
  async function expectComplete(own: Shop) {
    await w.deliver();
    const { body } = await w.call('GET', `/v1/access/entitlements?product_id=${own.product.product_id}`, { key: own.merchant.key });
    expect(body.total).toBe(CUSTOMERS.length);
    for (const customer_ref of CUSTOMERS) {
      const exact = await own.entitlement({ customer_ref });
      expect(body.items.find((item: { entitlement_id: string }) => item.entitlement_id === exact.entitlement_id)).toEqual(exact);
      expect(exact.status).toBe('exhausted');
    }
    const { results } = await prepareOnEvents(w.env.DB, 'SELECT id, type FROM events WHERE product_id = ? ORDER BY type')
      .bind(own.product.product_id)
      .all<{ id: string; type: string }>();
    const types = results.map(({ type }) => type).filter((type) => type.startsWith('entitlement.'));
    expect(types).toEqual([...CUSTOMERS.map(() => 'entitlement.exhausted'), ...CUSTOMERS.map(() => 'entitlement.granted')]);
    const deliveredIds = (await deliveries(mine)).map(({ event_id }) => event_id);
    for (const { id, type } of results)
      if (type.startsWith('entitlement.')) expect(deliveredIds.filter((event) => event === id)).toHaveLength(1);
  }

  it('the projection is complete after the queue dropped every message for ten minutes, without a sweep', async () => {
    const own = await newStall();
    const start = ahead();
    setTime(start);
    const ring = await trade(own);
    let dropped = 0;
    for (let at = start; at < start + 10 * MINUTE; at = await nextAlarm(own)) {
      setTime(at);
      dropped += (await ring()).length;
    }
    // The alarm publishes after 2 s, then retries after 5 s, 60 s and ten minutes.
    expect(dropped).toBe(3 * CUSTOMERS.length);
    setTime(start + 12 * MINUTE);
    await w.deliver(await ring());
    await expectComplete(own);
    setTime(start + 60 * MINUTE);
    expect(await ring()).toEqual([]);
  });

  it('the projection is complete after messages went to the dead-letter queue', async () => {
    const own = await newStall();
    const start = ahead();
    setTime(start);
    const ring = await trade(own);
    setTime(start + 2 * SECOND);
    const jobs = await ring();
    const { env } = withFaults(w.env, { before: () => true });
    for (let attempt = 0; attempt <= 10; attempt++) expect(await w.deliver(jobs, env)).toEqual({ retried: jobs.length });
    const execution = createExecutionContext();
    const messages = jobs.map((body, i) => ({ id: `d${i}`, timestamp: new Date(), attempts: 11, body, ack: () => {}, retry: () => {} }));
    await worker.queue({ queue: 'svc-jobs-dead', messages } as unknown as MessageBatch<Job>, w.env, execution);
    await waitOnExecutionContext(execution);
    setTime(start + 2 * MINUTE);
    await w.deliver(await ring());
    await expectComplete(own);
  });

  it.each(['before', 'after'] as const)(
    'an event is published once though its acknowledgement is cut %s the object receives it',
    async (when) => {
      const own = await newStall();
      setTime(ahead());
      const ring = await trade(own);
      setTime(Date.now() + 2 * SECOND);
      const jobs = await ring();
      const { env, calls } = withObjectFaults(w.env, { [when]: ({ verb }: { verb: string }) => verb === 'published' });
      expect(await w.deliver(jobs, env)).toEqual({ retried: jobs.length });
      expect(calls).toHaveLength(jobs.length);
      setTime(Date.now() + 5 * SECOND);
      const again = await ring();
      expect(again).toHaveLength(when === 'before' ? jobs.length : 0);
      await w.deliver([...jobs, ...again]);
      await expectComplete(own);
      setTime(Date.now() + 60 * MINUTE);
      expect(await ring()).toEqual([]);
    },
  );
});
