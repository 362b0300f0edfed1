// @module-tag quick
import { beforeAll, describe, expect, it } from 'vitest';
import { testEnv } from '../../support/runner/env.ts';
import { WEBHOOK_SWEEPS } from '../../support/runner/sweeps.ts';
import type { Received } from '../../support/servers/receiver.ts';
import { type Merchant, World } from '../../support/world.ts';

const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
const RECEIVER = testEnv.TEST_RECEIVER_URL;
const HOOK = 'https://hooks.example.com/abc';

const newBox = () => `hooks-${crypto.randomUUID()}`;
const get = (m: Merchant, path: string, key = m.key) => w.call('GET', `/v1/integrations/${path}`, { key });
const subscribe = (m: Merchant, body: unknown) => w.call('POST', '/v1/integrations/automation/hooks', { key: m.key, body });
const unsubscribe = (m: Merchant, id: string) => w.call('DELETE', `/v1/integrations/automation/hooks/${id}`, { key: m.key });
const send = async () => {
  await w.deliver();
  await w.attempt();
};

describe('GET /v1/integrations/health', () => {
  it('an account without endpoints is ok with zero counts', async () => {
    expect((await get(await w.merchant(), 'health')).body).toEqual({
      status: 'ok',
      endpoints: { enabled: 0, disabled: 0, failing: 0 },
      hooks: 0,
    });
  });

  it('health counts endpoints, hooks, successes and waiting deliveries of its own mode', async () => {
    const m = await w.merchant();
    const product = await w.product(m);
    const make = (url: string) => w.call('POST', '/v1/webhooks/endpoints', { key: m.key, body: { url, event_types: ['payment.*'] } });
    await make(`${RECEIVER}/ok/${newBox()}`);
    await subscribe(m, { target_url: `${RECEIVER}/fail/${newBox()}`, event_type: 'payment.*' });
    const off = await make(HOOK);
    await w.call('DELETE', `/v1/webhooks/endpoints/${off.body.endpoint_id}`, { key: m.key });
    const before = Date.now();
    await w.connect(product);
    await send();
    const { body } = await get(m, 'health');
    expect(body).toMatchObject({ status: 'degraded', endpoints: { enabled: 2, disabled: 1, failing: 1 }, success_rate_24h: 1, hooks: 1 });
    expect(Date.parse(body.last_delivery_at)).toBeGreaterThanOrEqual(before);
    await testEnv.DB.prepare('UPDATE webhook_deliveries SET created_at = created_at - 90500 WHERE merchant_id = ?').bind(m.userId).run();
    const waited = (await get(m, 'health')).body.oldest_pending_seconds;
    expect([waited >= 90, waited < 150]).toEqual([true, true]);
    // Makes the next attempt the last: created three days ago, it fails permanently.
    const last = 'UPDATE webhook_deliveries SET max_attempts = attempt + 1, next_attempt_at = 0, created_at = created_at - 3 * 86400000';
    await testEnv.DB.prepare(`${last} WHERE merchant_id = ? AND status = 'retrying'`).bind(m.userId).run();
    await w.sweepEach(WEBHOOK_SWEEPS);
    await send();
    const settled = (await get(m, 'health')).body;
    expect([settled.success_rate_24h, 'oldest_pending_seconds' in settled]).toEqual([0.5, false]);
    await testEnv.DB.prepare('UPDATE ended_deliveries SET quarter = quarter - 90000000 WHERE merchant_id = ?').bind(m.userId).run();
    const later = (await get(m, 'health')).body;
    expect(['success_rate_24h' in later, later.last_delivery_at]).toEqual([false, body.last_delivery_at]);
    expect((await get(m, 'health', m.sandboxKey)).body).toEqual({
      status: 'ok',
      endpoints: { enabled: 0, disabled: 0, failing: 0 },
      hooks: 0,
    });
  });
});

describe('GET /v1/integrations/events', () => {
  it('events equal those of the webhooks, paged by limit or per_page, and both together get 422', async () => {
    const m = await w.merchant();
    const product = await w.product(m);
    for (let i = 0; i < 2; i++) await w.connect(product);
    const [all, limited, paged, second] = await Promise.all(
      ['', '?limit=2', '?per_page=2', '?limit=2&page=2'].map((query) => get(m, `events${query}`)),
    );
    expect(all!.body).toEqual((await w.call('GET', '/v1/webhooks/events', { key: m.key })).body);
    expect(limited!.body).toEqual(paged!.body);
    expect(limited!.body).toMatchObject({ per_page: 2, total: 3, total_pages: 2, has_more: true });
    expect([...limited!.body.items, ...second!.body.items]).toEqual(all!.body.items);
    expect((await get(m, 'events?event_type=payment.failed')).body.total).toBe(0);
    for (const bad of ['limit=2&per_page=2', 'limit=2&per_page=3', 'limit=0', 'limit=101', 'per_page=101', 'event_type=x']) {
      const { status, body } = await get(m, `events?${bad}`);
      expect([bad, status, body.code]).toEqual([bad, 422, 'validation_error']);
    }
  });
});

describe('automation hooks', () => {
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });

  it.each([
    ['target_url and event_type', { target_url: HOOK, event_type: 'payment.confirmed' }],
    ['hookUrl and event', { hookUrl: HOOK, event: 'payment.confirmed' }],
    ['one of each', { target_url: HOOK, event: 'payment.confirmed' }],
    ['both, agreeing', { target_url: HOOK, hookUrl: HOOK, event_type: 'payment.confirmed', event: 'payment.confirmed' }],
  ])('a hook is subscribed with %s', async (_what, input) => {
    const { status, body } = await subscribe(ada, input);
    expect([status, body.id]).toEqual([201, body.endpoint_id]);
    expect(body).toMatchObject({ kind: 'automation', url: HOOK, event_types: ['payment.confirmed'], status: 'enabled' });
    expect(body.secret).toMatch(/^whsec_/);
  });

  it.each([
    ['two URLs that differ', { target_url: HOOK, hookUrl: `${HOOK}d`, event: '*' }],
    ['two types that differ', { target_url: HOOK, event_type: 'payment.failed', event: 'payment.confirmed' }],
    ['no URL', { event: 'payment.confirmed' }],
    ['no type', { target_url: HOOK }],
    ['an unknown type', { target_url: HOOK, event: 'payment.exploded' }],
    ['a private URL', { hookUrl: 'https://10.0.0.1/', event: '*' }],
    ['a product id that is none', { hookUrl: HOOK, event: '*', product_ids: ['x'] }],
  ])('a hook with %s is refused with 422', async (_what, input) => {
    const { status, body } = await subscribe(ada, input);
    expect([status, body.code]).toEqual([422, 'validation_error']);
  });

  it('a hook counts against the plan like any endpoint', async () => {
    const free = await w.merchant('free');
    const answers = await Promise.all(Array.from({ length: 5 }, () => subscribe(free, { hookUrl: HOOK, event: '*' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 429, 429, 429]);
  });

  it('unsubscribing twice gives the same answer, and nothing more is sent', async () => {
    const box = newBox();
    const { body } = await subscribe(ada, { hookUrl: `${RECEIVER}/ok/${box}`, event: 'payment.*' });
    const first = await unsubscribe(ada, body.id);
    expect([first.status, first.body.id, first.body.status, first.body.secret]).toEqual([200, body.id, 'disabled', undefined]);
    expect((await unsubscribe(ada, body.id)).body).toEqual(first.body);
    await w.connect(await w.product(ada));
    await send();
    expect(await (await fetch(`${RECEIVER}/_box/${box}`)).json()).toEqual([]);
  });

  it('unsubscribing an endpoint of another kind, tenant or mode gets 404', async () => {
    const eve = await w.merchant();
    const { body: webhook } = await w.call('POST', '/v1/webhooks/endpoints', { key: ada.key, body: { url: HOOK } });
    const { body: hook } = await subscribe(ada, { hookUrl: HOOK, event: '*' });
    const answers = [await unsubscribe(ada, webhook.endpoint_id), await unsubscribe(eve, hook.id)];
    answers.push(await w.call('DELETE', `/v1/integrations/automation/hooks/${hook.id}`, { key: ada.sandboxKey }));
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual(Array(3).fill([404, 'not_found']));
  });

  it('a hook receives exactly the body shown in the list of events', async () => {
    const m = await w.merchant();
    const box = newBox();
    await subscribe(m, { hookUrl: `${RECEIVER}/ok/${box}`, event: 'payment.created' });
    await w.connect(await w.product(m));
    await send();
    const [got] = (await (await fetch(`${RECEIVER}/_box/${box}`)).json()) as Received[];
    expect(JSON.parse(got!.body)).toEqual((await get(m, 'events?event_type=payment.created')).body.items[0]);
  });

  it('a target that answers 410 ends the hook, and an event notifies the account', async () => {
    const m = await w.merchant();
    const { body: hook } = await subscribe(m, { hookUrl: `${RECEIVER}/gone/${newBox()}`, event: 'payment.*' });
    await w.connect(await w.product(m));
    await send();
    const { items } = (await w.call('GET', '/v1/webhooks/endpoints', { key: m.key })).body;
    expect(items[0]).toMatchObject({ endpoint_id: hook.id, status: 'disabled', disabled_reason: 'gone' });
    const notices = (await get(m, 'events?event_type=webhook.endpoint_disabled')).body.items;
    expect(notices.map((event: { data: { object: object } }) => event.data.object)).toEqual([items[0]]);
    const { body } = await w.call('GET', `/v1/webhooks/deliveries?endpoint_id=${hook.id}`, { key: m.key });
    expect(body.items).toMatchObject([{ status: 'failed', attempt: 1, response_status: 410 }]);
  });
});
