// @module-tag quick
import { beforeAll, describe, expect, it } from 'vitest';
import { testEnv } from '../../support/runner/env.ts';
import { WEBHOOK_SWEEPS } from '../../support/runner/sweeps.ts';
import type { Received } from '../../support/servers/receiver.ts';
import { type Merchant, World } from '../../support/world.ts';

const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
const RECEIVER = testEnv.TEST_RECEIVER_URL;

const newBox = () => `events-${crypto.randomUUID()}`;
const received = async (box: string): Promise<Received[]> => (await fetch(`${RECEIVER}/_box/${box}`)).json();
const get = (m: Merchant, path: string, key = m.key) => w.call('GET', `/v1/webhooks/${path}`, { key });
const create = async (m: Merchant, url: string) => (await w.call('POST', '/v1/webhooks/endpoints', { key: m.key, body: { url } })).body;
const test = (m: Merchant, endpointId: string, body: unknown = {}) =>
  w.call('POST', `/v1/webhooks/endpoints/${endpointId}/test`, { key: m.key, body });
const readEndpoint = async (m: Merchant, id: string) =>
  (await get(m, 'endpoints?per_page=100')).body.items.find((one: { endpoint_id: string }) => one.endpoint_id === id);

describe('webhook timeline', () => {
  let ada: Merchant;
  let paid: { payment_id: string; membership_id: string };
  beforeAll(async () => {
    ada = await w.merchant();
    await create(ada, `${RECEIVER}/ok/${newBox()}`);
    const { payment, confirmed } = await w.purchase(await w.product(ada), await w.chain.wallet());
    paid = { payment_id: payment.payment_id, membership_id: confirmed.membership_id };
    await w.deliver();
    await w.attempt();
  });
  interface Item {
    at: string;
    kind: string;
    type: string;
    event_id: string;
    delivery_id?: number;
    status?: string;
  }
  const readItems = async (query: string, key = ada.key): Promise<Item[]> => (await get(ada, `timeline?${query}`, key)).body.items;

  it('the timeline of a payment lists all its events in order, each before its delivery', async () => {
    const items = await readItems(`payment_id=${paid.payment_id}`);
    const events = items.filter(({ kind }) => kind === 'event');
    expect(events.map(({ type }) => type)).toEqual(await w.eventTypes(paid.payment_id));
    expect(events.map(({ type }) => type)).toContain('payment.confirmed');
    expect(items.map(({ at }) => at)).toEqual(items.map(({ at }) => at).sort());
    for (const event of events) {
      const delivery = items.findIndex(({ kind, event_id }) => kind === 'delivery' && event_id === event.event_id);
      expect(delivery).toBeGreaterThan(items.indexOf(event));
      expect(items[delivery]).toMatchObject({ type: event.type, status: 'succeeded', delivery_id: expect.any(Number) });
    }
    expect(items).toHaveLength(2 * events.length);
  });

  it('the timeline of a membership lists its events, and its first ones up to a limit', async () => {
    const items = await readItems(`membership_id=${paid.membership_id}`);
    expect(items.map(({ type }) => type)).toContain('membership.activated');
    expect(await readItems(`membership_id=${paid.membership_id}&limit=1`)).toEqual(items.slice(0, 1));
    const all = await readItems(`payment_id=${paid.payment_id}&limit=120`);
    expect(await readItems(`payment_id=${paid.payment_id}&limit=3`)).toEqual(all.slice(0, 3));
  });

  it('a limit applies in display order, however late a first delivery ends', async () => {
    const m = await w.merchant();
    const endpoint = await create(m, `${RECEIVER}/ok/${newBox()}`);
    const { payment } = await w.purchase(await w.product(m), await w.chain.wallet());
    await w.deliver();
    await w.attempt();
    // Deliveries end in reverse order of creation, a second apart.
    await testEnv.DB.prepare(`UPDATE webhook_deliveries AS d SET completed_at = created_at + 60000 - 1000 *
        (SELECT count(*) FROM webhook_deliveries o WHERE o.endpoint_id = d.endpoint_id AND o.id < d.id) WHERE endpoint_id = ?`)
      .bind(endpoint.endpoint_id)
      .run();
    const readTimeline = async (limit: number): Promise<Item[]> =>
      (await get(m, `timeline?payment_id=${payment.payment_id}&limit=${limit}`)).body.items;
    const all = await readTimeline(120);
    expect(all.map(({ at }) => at)).toEqual(all.map(({ at }) => at).sort());
    const ids = all.flatMap((item) => item.delivery_id ?? []);
    expect([ids.length > 3, ids]).toEqual([true, [...ids].sort((a, b) => b - a)]);
    for (let limit = 1; limit <= all.length; limit++) expect(await readTimeline(limit)).toEqual(all.slice(0, limit));
  });

  it('exactly one of the two ids and a limit from 1 to 120 are required', async () => {
    const one = `payment_id=${paid.payment_id}`;
    for (const query of ['', `${one}&membership_id=${paid.membership_id}`, 'payment_id=1', `${one}&limit=0`, `${one}&limit=121`]) {
      const { status, body } = await get(ada, `timeline?${query}`);
      expect([query, status, body.code]).toEqual([query, 422, 'validation_error']);
    }
  });

  it('another merchant, the other mode and an unknown id get 404', async () => {
    const eve = await w.merchant();
    for (const key of [eve.key, ada.sandboxKey]) expect((await get(ada, `timeline?payment_id=${paid.payment_id}`, key)).status).toBe(404);
    expect((await get(ada, `timeline?payment_id=${crypto.randomUUID()}`)).status).toBe(404);
    expect((await get(ada, `timeline?membership_id=${crypto.randomUUID()}`)).status).toBe(404);
  });

  it('paging by next returns all items in either order, and a forged cursor is refused', async () => {
    const one = `payment_id=${paid.payment_id}`;
    const all = await readItems(`${one}&limit=120`);
    for (const order of ['asc', 'desc']) {
      const seen: Item[] = [];
      for (let after: string | null = ''; after !== null; ) {
        const { body } = await get(ada, `timeline?${one}&order=${order}&limit=3${after && `&after=${after}`}`);
        expect(body.items.length).toBeGreaterThan(0);
        seen.push(...body.items);
        after = body.next;
      }
      expect(seen).toEqual(order === 'asc' ? all : all.toReversed());
    }
    for (const after of ['made-up', '999999999', all[0]!.event_id.slice(0, -1)]) {
      const { status, body } = await get(ada, `timeline?${one}&after=${after}`);
      expect([status, body.code, body.detail[0].loc]).toEqual([422, 'validation_error', ['query', 'after']]);
    }
  });
});

describe('list of events', () => {
  it('pages stay stable while new events arrive, in order of occurrence', async () => {
    const m = await w.merchant();
    const product = await w.product(m);
    const readIds = async (query: string): Promise<string[]> =>
      (await get(m, `events?${query}`)).body.items.map(({ id }: { id: string }) => id);
    for (let i = 0; i < 5; i++) await w.connect(product);
    const before = await readIds('per_page=100');
    const pages = [await readIds('per_page=2&page=1')];
    await w.connect(product);
    pages.push(await readIds('per_page=2&page=2'));
    await Promise.all([w.connect(product), w.connect(product)]);
    for (const page of [3, 4, 5]) pages.push(await readIds(`per_page=2&page=${page}`));
    const after = await readIds('per_page=100');
    expect(after.slice(0, before.length)).toEqual(before);
    expect(pages.flat()).toEqual(after);
    expect(new Set(after).size).toBe(before.length + 3);
  });

  it('events have the documented envelope, a type filter, and the tenant and mode of the caller', async () => {
    const [m, stranger] = await Promise.all([w.merchant(), w.merchant()]);
    const product = await w.product(m);
    const { payment } = await w.purchase(product, await w.chain.wallet());
    const { body } = await get(m, 'events?event_type=payment.confirmed');
    expect([body.total, Object.keys(body.items[0])]).toEqual([
      1,
      ['id', 'type', 'created_at', 'livemode', 'api_version', 'account_id', 'subject', 'data'],
    ]);
    expect(body.items[0]).toMatchObject({
      id: expect.stringMatching(/^evt_/),
      type: 'payment.confirmed',
      livemode: true,
      api_version: '1.0.0',
      account_id: m.userId,
      subject: { type: 'payment', id: payment.payment_id, version: expect.any(Number) },
      data: { object: { payment_id: payment.payment_id, status: 'CONFIRMED' } },
    });
    expect((await get(stranger, 'events')).body.total).toBe(0);
    expect((await get(m, 'events', m.sandboxKey)).body.total).toBe(0);
    for (const bad of ['event_type=payment.*', 'event_type=x', 'per_page=101', 'page=0'])
      expect((await get(m, `events?${bad}`)).status).toBe(422);
  });
});

describe('test event', () => {
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });

  it('a test event is a real signed event to one endpoint, and its answer is returned', async () => {
    const box = newBox();
    const bystander = newBox();
    const [endpoint] = await Promise.all([create(ada, `${RECEIVER}/ok/${box}`), create(ada, `${RECEIVER}/ok/${bystander}`)]);
    const { status, body } = await test(ada, endpoint.endpoint_id);
    expect([status, body.succeeded, body.response_status, body.error]).toEqual([200, true, 200, undefined]);
    const [got] = await received(box);
    expect(got!.headers).toMatchObject({ 'x-svc-event-id': body.event_id, 'x-svc-event-type': 'webhook.test', 'x-svc-attempt': '1' });
    expect(got!.headers['x-svc-delivery-id']).toBe(String(body.delivery_id));
    expect(JSON.parse(got!.body)).toMatchObject({
      type: 'webhook.test',
      test: true,
      data: { object: { endpoint_id: endpoint.endpoint_id } },
    });
    const { items } = (await get(ada, 'events?per_page=100')).body;
    expect(items.filter(({ type }: { type: string }) => type !== 'webhook.endpoint_created')).toEqual([]);
    expect((await get(ada, 'events?event_type=webhook.test')).body.items).toEqual([]);
    await w.sweepEach(WEBHOOK_SWEEPS);
    await w.attempt();
    expect([(await received(box)).length, await received(bystander)]).toEqual([1, []]);
  });

  it.each([
    ['fail', 500, undefined],
    ['later', 503, undefined],
    ['redirect', 302, 'redirects are not followed'],
    ['gone', 410, undefined],
    ['reset', undefined, 'connection failed'],
  ])('a test answered with `%s` did not succeed and is not retried', async (habit, status, error) => {
    const endpoint = await create(ada, `${RECEIVER}/${habit}/${newBox()}`);
    const { body } = await test(ada, endpoint.endpoint_id);
    expect([body.succeeded, body.response_status, body.error]).toEqual([false, status, error]);
    const { items } = (await get(ada, `deliveries?endpoint_id=${endpoint.endpoint_id}`)).body;
    expect(items.map((one: { status: string; attempt: number }) => [one.status, one.attempt])).toEqual([['failed', 1]]);
    const { secret: _, ...before } = endpoint;
    expect(await readEndpoint(ada, endpoint.endpoint_id)).toEqual(before);
  });

  it('a test to a target that has become forbidden is not sent', async () => {
    const endpoint = await create(ada, `${RECEIVER}/ok/${newBox()}`);
    for (const [url, reason] of [
      ['https://10.0.0.1/', 'ip_address'],
      ['http://localhost/', 'https_required'],
      ['https://api.svc.test/', 'private_name'],
    ]) {
      await testEnv.DB.prepare('UPDATE webhook_endpoints SET url = ? WHERE id = ?').bind(url, endpoint.endpoint_id).run();
      const { status, body } = await test(ada, endpoint.endpoint_id);
      expect([status, body.succeeded, body.response_status, body.error]).toEqual([200, false, undefined, `refused: ${reason}`]);
    }
  });

  it('a test is delivered to a disabled endpoint, so that it can be tried before enabling', async () => {
    const box = newBox();
    const endpoint = await create(ada, `${RECEIVER}/ok/${box}`);
    await w.call('DELETE', `/v1/webhooks/endpoints/${endpoint.endpoint_id}`, { key: ada.key });
    expect((await test(ada, endpoint.endpoint_id, { event_type: 'webhook.test' })).body.succeeded).toBe(true);
    expect((await readEndpoint(ada, endpoint.endpoint_id)).status).toBe('disabled');
    expect(await received(box)).toHaveLength(1);
  });

  it('a test sends the catalog example of any type, marked as a test, in the mode of the endpoint', async () => {
    const catalog: { type: string; example: { data: { object: object } } }[] = (await get(ada, 'event-types')).body;
    const [live, sandbox] = [newBox(), newBox()];
    const endpoint = await create(ada, `${RECEIVER}/ok/${live}`);
    const { total } = (await get(ada, 'events')).body;
    for (const { type } of catalog)
      expect([type, (await test(ada, endpoint.endpoint_id, { event_type: type })).body.succeeded]).toEqual([type, true]);
    const sent = (await received(live)).map(({ body }) => JSON.parse(body));
    expect(sent.map(({ type, test: isTest }) => [type, isTest])).toEqual(catalog.map(({ type }) => [type, true]));
    const refunded = sent.find(({ type }) => type === 'payment.refunded');
    expect(refunded.data).toEqual(catalog.find(({ type }) => type === 'payment.refunded')!.example.data);
    expect((await get(ada, 'events')).body.total).toBe(total);
    const inSandbox = await w.call('POST', '/v1/webhooks/endpoints', { key: ada.sandboxKey, body: { url: `${RECEIVER}/ok/${sandbox}` } });
    const path = `/v1/webhooks/endpoints/${inSandbox.body.endpoint_id}/test`;
    await w.call('POST', path, { key: ada.sandboxKey, body: { event_type: 'payment.confirmed' } });
    const [got] = (await received(sandbox)).map(({ body }) => JSON.parse(body));
    expect([got.livemode, got.data.object.livemode, got.account_id]).toEqual([false, false, ada.userId]);
    expect((await test(ada, endpoint.endpoint_id, { event_type: 'payment.*' })).status).toBe(422);
  });

  it('a test and its replay send the same event and do not change the endpoint’s health', async () => {
    const endpoint = await create(ada, `${RECEIVER}/ok/${newBox()}`);
    await testEnv.DB.prepare('UPDATE webhook_endpoints SET failure_streak = 20, last_failure_at = ? WHERE id = ?')
      .bind(Date.now(), endpoint.endpoint_id)
      .run();
    const before = await readEndpoint(ada, endpoint.endpoint_id);
    const { body } = await test(ada, endpoint.endpoint_id, { event_type: 'payment.confirmed' });
    expect(body.succeeded).toBe(true);
    expect(await readEndpoint(ada, endpoint.endpoint_id)).toEqual(before);
    const { items } = (await get(ada, `deliveries?endpoint_id=${endpoint.endpoint_id}`)).body;
    expect(items.map((one: { delivery_id: number; test: true }) => [one.delivery_id, one.test])).toEqual([[body.delivery_id, true]]);
    const replay = await w.call('POST', `/v1/webhooks/deliveries/${body.delivery_id}/replay`, { key: ada.key });
    expect(replay.body).toMatchObject({ event_id: body.event_id, replay_of: body.delivery_id, test: true });
    await w.attempt();
    const { items: sent } = (await get(ada, `deliveries?endpoint_id=${endpoint.endpoint_id}`)).body;
    expect(sent.map(({ status }: { status: string }) => status)).toEqual(['succeeded', 'succeeded']);
    expect(await readEndpoint(ada, endpoint.endpoint_id)).toEqual(before);
  });

  it('a test answered with 410 leaves the endpoint enabled', async () => {
    const endpoint = await create(ada, `${RECEIVER}/gone/${newBox()}`);
    expect((await test(ada, endpoint.endpoint_id, {})).body.succeeded).toBe(false);
    expect((await readEndpoint(ada, endpoint.endpoint_id)).status).toBe('enabled');
  });
});
