import { runDurableObjectAlarm } from 'cloudflare:test';
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { base58 } from '#core/encoding.ts';
import { entitlementIdOf } from '#core/ids.ts';
import { isSampled } from '#platform/log.ts';
import { interceptJobs } from '../../support/clients/entitlement.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

interface Line {
  request_id: string;
  cause?: string;
  causes?: string[];
  job?: string;
  object?: string;
  endpoint?: string;
  dead_letter?: unknown;
}

describe('request id', () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  let log: MockInstance<typeof console.log>;
  let ada: Merchant;
  let product: { product_id: string; slug: string };

  const loggedSources = (id: string): string[] =>
    log.mock.calls
      .map(([line]) => JSON.parse(String(line)) as Line)
      .filter(({ request_id, cause, causes = [] }) => [request_id, cause, ...causes].includes(id))
      .map(({ endpoint, job, object, dead_letter }) => endpoint ?? object ?? job ?? (dead_letter ? 'dead letter' : '?'));
  const headers = (id: string, key = 'request-ids-1') => ({ 'X-Svc-Request-Id': id, 'Idempotency-Key': key });
  const objectOf = (customerRef: string) => {
    const entitlementId = entitlementIdOf(ada.userId, true, product.product_id, { customerRef });
    return testEnv.ENTITLEMENT.getByName(`${ada.userId}:live:${entitlementId}`);
  };

  beforeEach(async () => {
    ada = await w.merchant();
    product = await w.product(ada);
    const url = `${testEnv.TEST_RECEIVER_URL}/ok/ids-${crypto.randomUUID()}`;
    await w.call('POST', '/v1/webhooks/endpoints', { key: ada.key, body: { url } });
    await w.deliver();
    await w.attempt();
    log = vi.spyOn(console, 'log').mockImplementation(() => {});
  });
  afterEach(() => log.mockRestore());

  it('the id of a confirm is logged by its job, its object and each delivery', async () => {
    const payment = await w.connect(product, { customer_ref: 'ida' });
    const signature = await w.chain.pay(await w.chain.wallet(), payment);
    await w.deliver();
    await w.attempt();
    expect((await w.confirm(payment.payment_id, signature, { headers: headers('req-of-ida') })).status).toBe(200);
    await w.deliver();
    await w.attempt();
    const lines = loggedSources('req-of-ida');
    expect(new Set(lines)).toEqual(new Set(['/v1/pay/confirm', 'fanOut', 'entitlement', 'attempt']));
    expect(lines.filter((line) => line === 'attempt').length).toBeGreaterThan(1);
  });

  it('the id of a grant is logged by the object, its projection and its webhook attempts', async () => {
    const jobs = await interceptJobs(objectOf('otto'));
    const body = { product_id: product.product_id, customer: { customer_ref: 'otto' }, units: 3, reason: 'a gift' };
    const answer = await w.call('POST', '/v1/access/entitlements/grant', { key: ada.key, body, headers: headers('req-of-otto') });
    expect(answer.status).toBe(200);
    await runDurableObjectAlarm(objectOf('otto'));
    await w.deliver(jobs.messages.splice(0));
    await w.deliver();
    await w.attempt();
    const lines = loggedSources('req-of-otto');
    expect(new Set(lines)).toEqual(
      new Set(['/v1/access/entitlements/grant', 'entitlement', 'projectEntitlement', 'chainEntries', 'fanOut', 'attempt']),
    );
    // The grant, the alarm that projected it, and its acknowledgement.
    expect(lines.filter((line) => line === 'entitlement')).toHaveLength(3);
  });

  describe('consume', () => {
    const idWhere = (sampled: boolean, name: string): string =>
      Array.from({ length: 5000 }, (_, i) => `req-${name}-${i}`).find((id) => isSampled(id) === sampled)!;
    const grant = async (customerRef: string) => {
      const body = { product_id: product.product_id, customer: { customer_ref: customerRef }, units: 3, reason: 'a gift' };
      await w.call('POST', '/v1/access/entitlements/grant', { key: ada.key, body, headers: headers(`grant-${customerRef}`) });
    };
    const consume = (id: string, customerRef: string, query = '') => {
      const body = { product_id: product.product_id, customer: { customer_ref: customerRef } };
      return w.call('POST', `/v1/access/entitlements/consume${query}`, { key: ada.key, body, headers: headers(id, `key-of-${id}`) });
    };

    it('one in a hundred request ids is sampled', () => {
      const ids = Array.from({ length: 20_000 }, () => crypto.randomUUID());
      const sampled = ids.filter(isSampled).length;
      expect(sampled).toBeGreaterThan(120);
      expect(sampled).toBeLessThan(300);
    });

    it.each(['', '?mode=live'])(
      'a success is logged by worker, object and projection if its id is sampled, and by none otherwise (%s)',
      async (query) => {
        for (const sampled of [true, false]) {
          const name = `rita-${sampled}${query.length}`;
          const id = idWhere(sampled, name);
          const jobs = await interceptJobs(objectOf(name), w.env);
          jobs.uses = 'stored';
          await grant(name);
          await runDurableObjectAlarm(objectOf(name));
          await jobs.acknowledge();
          jobs.messages.splice(0);
          expect((await consume(id, name, query)).status).toBe(200);
          await runDurableObjectAlarm(objectOf(name));
          expect(jobs.messages).toEqual([]);
          const sources = ['/v1/access/entitlements/consume', 'entitlement', 'storeUses'];
          expect(new Set(loggedSources(id)), id).toEqual(new Set(sampled ? sources : []));
        }
      },
    );

    it('every failure is logged', async () => {
      for (const query of ['', '?mode=live']) {
        const id = idWhere(false, `rolf${query.length}`);
        expect((await consume(id, 'rolf', query)).status).toBe(403);
        expect(loggedSources(id)).toContain('/v1/access/entitlements/consume');
      }
    });
  });

  it('concurrent grants in one commit have their own ids in log and events', async () => {
    const jobs = await interceptJobs(objectOf('pair'));
    const grant = (id: string) => {
      const body = { product_id: product.product_id, customer: { customer_ref: 'pair' }, units: 1, reason: id };
      return w.call('POST', '/v1/access/entitlements/grant', { key: ada.key, body, headers: headers(id, `key-of-${id}`) });
    };
    await Promise.all(['req-first', 'req-second', 'req-third'].map(grant));
    await runDurableObjectAlarm(objectOf('pair'));
    await w.deliver(jobs.messages.splice(0));
    const { results } = await prepareOnEvents(
      w.env.DB,
      "SELECT request_id FROM events WHERE type = 'entitlement.granted' AND merchant_id = ?",
    )
      .bind(ada.userId)
      .all<{ request_id: string }>();
    expect(results.map(({ request_id }) => request_id).sort()).toEqual(['req-first', 'req-second', 'req-third']);
    for (const id of ['req-first', 'req-second', 'req-third']) expect(loggedSources(id), id).toContain('entitlement');
  });

  it('the id is logged by every recheck of a transaction and by its dead letter', async () => {
    const payment = await w.connect(product);
    await w.deliver();
    const unknown = base58.encode(crypto.getRandomValues(new Uint8Array(64)));
    const answer = await w.confirm(payment.payment_id, unknown, { headers: headers('req-of-uma', 'key-of-uma') });
    expect([answer.status, answer.body.code]).toEqual([200, undefined]);
    for (let round = 0; round < 3; round++) await w.deliver();
    expect(loggedSources('req-of-uma').filter((line) => line === 'recheckCandidate')).toHaveLength(3);
    const { job } = w.queue.sent.splice(0)[0]!;
    const messages = [{ id: 'dead-1', timestamp: new Date(), attempts: 9, body: job, ack: () => {}, retry: () => {} }];
    const { default: worker } = await import('../../../worker/index.ts');
    await worker.queue({ queue: 'svc-jobs-dead', messages } as unknown as MessageBatch, w.env, {} as ExecutionContext);
    expect(loggedSources('req-of-uma')).toContain('dead letter');
  });

  it('a replay logs its own id and that of the original event', async () => {
    const payment = await w.connect(product);
    await w.deliver();
    await w.attempt();
    const { body } = await w.call('GET', '/v1/webhooks/deliveries?per_page=1', { key: ada.key });
    const first = body.items[0];
    const replay = await w.call('POST', `/v1/webhooks/deliveries/${first.delivery_id}/replay`, {
      key: ada.key,
      headers: headers('req-again'),
    });
    expect([replay.status, payment.status]).toEqual([200, 'PENDING_SIGNATURE']);
    await w.attempt();
    expect(loggedSources('req-again')).toEqual([expect.stringContaining('replay'), 'attempt']);
    const { request_id } = (await prepareOnEvents(w.env.DB, 'SELECT request_id FROM events WHERE id = ?')
      .bind(first.event_id)
      .first<{ request_id: string }>())!;
    expect(loggedSources(request_id).filter((line) => line === 'attempt')).toHaveLength(2);
  });
});
