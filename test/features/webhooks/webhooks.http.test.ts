// @module-tag quick
import { Stripe } from 'stripe';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { withFaults } from '../../support/faults/faults.ts';
import { dumpTable } from '../../support/fixtures/database-dump.ts';
import { testEnv } from '../../support/runner/env.ts';
import type { Received } from '../../support/servers/receiver.ts';
import { type Merchant, World } from '../../support/world.ts';

const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
const RECEIVER = testEnv.TEST_RECEIVER_URL;
const URL_OK = 'https://shop.example.com/hooks';
const { webhooks } = new Stripe('sk_test_x');

let boxes = 0;
const newBox = () => `http-${++boxes}-${crypto.randomUUID().slice(0, 8)}`;
const received = async (box: string): Promise<Received[]> => (await fetch(`${RECEIVER}/_box/${box}`)).json();
const create = (m: Merchant, body: Record<string, unknown> = { url: URL_OK }, key = m.key) =>
  w.call('POST', '/v1/webhooks/endpoints', { key, body });
const on = (m: Merchant, method: string, endpointId: string, body?: unknown, action = '') =>
  w.call(method, `/v1/webhooks/endpoints/${endpointId}${action}`, { key: m.key, body });
const get = (m: Merchant, path: string, key = m.key) => w.call('GET', `/v1/webhooks/${path}`, { key });
const send = async () => {
  await w.deliver();
  await w.attempt();
};
const set = (endpointId: string, assignment: string) =>
  testEnv.DB.prepare(`UPDATE webhook_endpoints SET ${assignment} WHERE id = ?`).bind(endpointId).run();
async function wired(habit = 'ok', terms: Record<string, unknown> = {}) {
  const m = await w.merchant();
  const box = newBox();
  // The product comes first, because a wallet that becomes payable is an event too.
  const product = await w.product(m);
  const endpoint = (await create(m, { url: `${RECEIVER}/${habit}/${box}`, ...terms })).body;
  const payment = await w.connect(product);
  await send();
  const delivery = (await get(m, 'deliveries')).body.items[0];
  return { m, box, endpoint, product, payment, delivery };
}
const verified = (got: Received, secret: string): Promise<boolean> =>
  webhooks
    .constructEventAsync(got.body, got.headers['x-svc-signature']!, secret, 300, Stripe.createSubtleCryptoProvider())
    .then(() => true)
    .catch(() => false);

describe('webhook endpoints', () => {
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });

  it('a new endpoint is enabled, gets every type by default, and shows its secret once', async () => {
    const { status, body } = await create(ada);
    const { secret, ...shown } = body;
    expect(status).toBe(201);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(shown).toMatchObject({
      kind: 'webhook',
      url: URL_OK,
      event_types: ['*'],
      product_ids: [],
      status: 'enabled',
      failure_streak: 0,
    });
    expect(shown).toMatchObject({ signed_payload: 'timestamp.body', secret_hint: `whsec_…${secret.slice(-4)}`, livemode: true });
    expect((await get(ada, 'endpoints')).body.items[0]).toEqual(shown);
    expect((await on(ada, 'PATCH', body.endpoint_id, { description: 'x' })).body.secret).toBeUndefined();
  });

  it('endpoints are listed newest first, in pages', async () => {
    const eve = await w.merchant();
    const made: string[] = [];
    for (let i = 0; i < 3; i++) made.unshift((await create(eve, { url: URL_OK, description: `n${i}` })).body.endpoint_id);
    const pages = await Promise.all([1, 2, 3].map((page) => get(eve, `endpoints?per_page=2&page=${page}`)));
    expect(pages.map(({ body }) => body.items.map((one: { endpoint_id: string }) => one.endpoint_id))).toEqual([
      made.slice(0, 2),
      made.slice(2),
      [],
    ]);
    expect(pages[0]!.body).toMatchObject({ total: 3, total_pages: 2, has_more: true });
  });

  it('an update changes only the given fields', async () => {
    const { body } = await create(ada, { url: URL_OK, event_types: ['payment.*'], description: 'first' });
    const { secret: _, ...before } = body;
    const { product_id: productId } = await w.product(ada);
    const patch = { url: 'https://other.example.com/', event_types: ['receipt.created'], product_ids: [productId], signed_payload: 'body' };
    const changed = await on(ada, 'PATCH', before.endpoint_id, patch);
    expect(changed.body).toEqual({ ...before, ...patch, changed_by: before.created_by, updated_at: changed.body.updated_at });
    expect((await on(ada, 'PATCH', before.endpoint_id, {})).body).toEqual(changed.body);
  });

  it('a deleted endpoint is disabled, idempotently, and enabling it resets its failures', async () => {
    const { body } = await create(ada);
    await set(body.endpoint_id, 'failure_streak = 30, failing_since = 1');
    const first = await on(ada, 'DELETE', body.endpoint_id);
    expect([first.status, first.body.status, first.body.disabled_reason]).toEqual([200, 'disabled', 'by_merchant']);
    expect((await on(ada, 'DELETE', body.endpoint_id)).body).toEqual(first.body);
    expect((await on(ada, 'PATCH', body.endpoint_id, { url: URL_OK })).body.status).toBe('disabled');
    const revived = await on(ada, 'PATCH', body.endpoint_id, { status: 'enabled' });
    expect([revived.status, revived.body.status, revived.body.failure_streak]).toEqual([200, 'enabled', 0]);
    expect(revived.body.disabled_reason).toBeUndefined();
  });

  it.each([
    ['an address', { url: 'https://10.0.0.1/' }, ['body', 'url']],
    ['our own host', { url: 'https://svc.test/v1/health' }, ['body', 'url']],
    ['no URL', { url: 'shop' }, ['body', 'url']],
    ['an unknown type', { url: URL_OK, event_types: ['payment.exploded'] }, ['body', 'event_types', 0]],
    ['no type at all', { url: URL_OK, event_types: [] }, ['body', 'event_types']],
    ['a product id that is none', { url: URL_OK, product_ids: ['p1'] }, ['body', 'product_ids', 0]],
    ['an unknown way to sign', { url: URL_OK, signed_payload: 'none' }, ['body', 'signed_payload']],
  ])('an invalid field (%s) is refused on creation and on change', async (_what, input, loc) => {
    const { body: made } = await create(ada);
    for (const { status, body } of [await create(ada, input), await on(ada, 'PATCH', made.endpoint_id, input)])
      expect([status, body.code, body.detail[0].loc]).toEqual([422, 'validation_error', loc]);
    await on(ada, 'DELETE', made.endpoint_id);
  });

  it('the plan limits the number of endpoints in each mode, also concurrently', async () => {
    const free = await w.merchant('free');
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(free)));
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(2);
    for (const { status, body } of answers.filter((answer) => !made.includes(answer)))
      expect([status, body.code, body.meta]).toEqual([429, 'plan_limit_reached', { limit: 2, used: 2, plan: 'free' }]);
    expect((await create(free, { url: URL_OK }, free.sandboxKey)).status).toBe(201);

    for (const { body } of made) await on(free, 'DELETE', body.endpoint_id);
    expect((await create(free)).status).toBe(201);
    const revive = await Promise.all(made.map(({ body }) => on(free, 'PATCH', body.endpoint_id, { status: 'enabled' })));
    expect(revive.map(({ status }) => status).sort()).toEqual([200, 429]);
    expect(revive.find(({ status }) => status === 429)!.body.code).toBe('plan_limit_reached');
  });

  it('an endpoint belongs to one tenant and one mode', async () => {
    const [owner, stranger] = await Promise.all([w.merchant(), w.merchant()]);
    const { body } = await create(owner, { url: URL_OK }, owner.sandboxKey);
    expect([
      body.livemode,
      (await get(owner, 'endpoints')).body.total,
      (await get(owner, 'endpoints', owner.sandboxKey)).body.total,
    ]).toEqual([false, 0, 1]);
    expect((await get(owner, 'endpoints?mode=sandbox', owner.token)).body.total).toBe(1);
    for (const m of [owner, stranger]) expect((await on(m, 'DELETE', body.endpoint_id)).status).toBe(404);
  });

  it('both secrets sign during the overlap of a rotation, and only the new one without an overlap', async () => {
    const box = newBox();
    const { body: made } = await create(ada, { url: `${RECEIVER}/ok/${box}` });
    const rotate = async (body: unknown) => (await on(ada, 'POST', made.endpoint_id, body, '/rotate-secret')).body;
    const second = await rotate({});
    expect(second.secret).not.toBe(made.secret);
    expect(second.secret_hint).toBe(`whsec_…${second.secret.slice(-4)}`);
    await on(ada, 'POST', made.endpoint_id, {}, '/test');
    const third = await rotate({ overlap_hours: 0 });
    await on(ada, 'POST', made.endpoint_id, {}, '/test');
    const [during, after] = await received(box);
    const secrets = [made.secret, second.secret, third.secret];
    expect(await Promise.all(secrets.map((secret) => verified(during!, secret)))).toEqual([true, true, false]);
    expect(await Promise.all(secrets.map((secret) => verified(after!, secret)))).toEqual([false, false, true]);
    for (const overlap_hours of [-1, 169, 1.5, '24'])
      expect((await on(ada, 'POST', made.endpoint_id, { overlap_hours }, '/rotate-secret')).status).toBe(422);
  });

  it('the oldest secret signs until its own overlap ends, across further rotations', async () => {
    const box = newBox();
    const { body: made } = await create(ada, { url: `${RECEIVER}/ok/${box}` });
    const rotate = async () => (await on(ada, 'POST', made.endpoint_id, {}, '/rotate-secret')).body.secret;
    const secrets = [made.secret, await rotate(), await rotate()];
    await on(ada, 'POST', made.endpoint_id, {}, '/test');
    const [got] = await received(box);
    expect(await Promise.all(secrets.map((secret) => verified(got!, secret)))).toEqual([true, true, true]);
    // A lost seal key affects only values sealed with it.
    const row = await testEnv.DB.prepare('SELECT previous_sealed FROM webhook_endpoints WHERE id = ?')
      .bind(made.endpoint_id)
      .first<string>('previous_sealed');
    const spoilt = (JSON.parse(row!) as { sealed: string }[]).map((one, i) => (i === 0 ? { ...one, sealed: 'gone' } : one));
    await testEnv.DB.prepare('UPDATE webhook_endpoints SET previous_sealed = ? WHERE id = ?')
      .bind(JSON.stringify(spoilt), made.endpoint_id)
      .run();
    await on(ada, 'POST', made.endpoint_id, {}, '/test');
    const [, second] = await received(box);
    expect(await Promise.all(secrets.map((secret) => verified(second!, secret)))).toEqual([true, false, true]);
  });

  it('both secrets sign after a rotation with a lost database answer', async () => {
    const box = newBox();
    const { body: made } = await create(ada, { url: `${RECEIVER}/ok/${box}` });
    let batches = 0;
    const { env } = withFaults(w.env, { after: ({ kind }) => kind === 'batch' && batches++ === 0 });
    const path = `/v1/webhooks/endpoints/${made.endpoint_id}/rotate-secret`;
    const { status, body } = await w.call('POST', path, { key: ada.key, body: {}, env });
    await on(ada, 'POST', made.endpoint_id, {}, '/test');
    const [got] = await received(box);
    expect([status, await verified(got!, made.secret), await verified(got!, body.secret)]).toEqual([200, true, true]);
  });

  it('no list, row or log line contains a secret', async () => {
    const log = vi.spyOn(console, 'log');
    const { m, endpoint } = await wired();
    const { body: rotated } = await on(m, 'POST', endpoint.endpoint_id, {}, '/rotate-secret');
    await on(m, 'POST', endpoint.endpoint_id, {}, '/test');
    const lists = await Promise.all(['endpoints', 'deliveries', 'events'].map((path) => get(m, path)));
    const rows = await Promise.all(['webhook_endpoints', 'webhook_deliveries', 'acts'].map((table) => dumpTable(testEnv.DB, table)));
    const seen = JSON.stringify([lists.map(({ body }) => body), rows, log.mock.calls]);
    log.mockRestore();
    for (const { secret } of [endpoint, rotated]) for (const part of [secret, secret.slice(6, 30)]) expect(seen).not.toContain(part);
    const sealed = await testEnv.DB.prepare('SELECT secret_sealed, previous_sealed FROM webhook_endpoints').all();
    expect(JSON.stringify(sealed.results)).not.toContain('whsec_');
  });
});

describe('webhook deliveries', () => {
  it('deliveries go to the endpoints with matching type, product and mode only', async () => {
    const m = await w.merchant();
    const [product, other] = [await w.product(m), await w.product(m)];
    const wanting: [Record<string, unknown>, number, string?][] = [
      [{}, 1],
      [{ event_types: ['payment.*'] }, 1],
      [{ event_types: ['receipt.created', 'payment.created'], product_ids: [other.product_id, product.product_id] }, 1],
      [{ event_types: ['receipt.*', 'payment.confirmed'] }, 0],
      [{ product_ids: [other.product_id] }, 0],
      [{}, 0, m.sandboxKey],
    ];
    const made = await Promise.all(wanting.map(([terms, , key]) => create(m, { url: `${RECEIVER}/ok/${newBox()}`, ...terms }, key)));
    await w.connect(product);
    await send();
    const totals = made.map(({ body }, i) => get(m, `deliveries?endpoint_id=${body.endpoint_id}`, wanting[i]![2] ?? m.key));
    const isOfSale = ({ event_type }: { event_type: string }) => event_type !== 'webhook.endpoint_created';
    expect((await Promise.all(totals)).map(({ body }) => body.items.filter(isOfSale).length)).toEqual(wanting.map(([, count]) => count));
  });

  it('deliveries are listed newest first, by endpoint and by status', async () => {
    const { m, endpoint, product, delivery } = await wired();
    const { body: failing } = await create(m, { url: `${RECEIVER}/fail/${newBox()}` });
    await w.connect(product);
    await send();
    const totals = async (query: string) => (await get(m, `deliveries${query}`)).body.total;
    expect(
      await Promise.all(
        ['', `?endpoint_id=${endpoint.endpoint_id}`, '?status=succeeded', '?status=retrying', '?status=failed'].map(totals),
      ),
    ).toEqual([4, 3, 3, 1, 0]);
    expect(await totals(`?endpoint_id=${failing.endpoint_id}&status=succeeded`)).toBe(0);
    const { items } = (await get(m, 'deliveries')).body;
    expect(items.map((one: { delivery_id: number }) => one.delivery_id)).toEqual(
      [...items].map((one) => one.delivery_id).sort((a, b) => b - a),
    );
    expect(delivery).toMatchObject({
      event_type: 'payment.created',
      status: 'succeeded',
      attempt: 1,
      max_attempts: 10,
      response_status: 200,
    });
    const [retrying] = items.filter(({ status }: { status: string }) => status === 'retrying');
    expect(retrying).toMatchObject({ attempt: 1, response_status: 500, response_excerpt: 'no token=[redacted] here' });
    expect(Date.parse(retrying.next_attempt_at)).toBeGreaterThan(Date.now());
    for (const bad of ['?status=lost', '?endpoint_id=1', '?per_page=101']) expect((await get(m, `deliveries${bad}`)).status).toBe(422);
  });

  it('a replay is a delivery of its own with the same event and bytes, and a disabled endpoint refuses it', async () => {
    const { m, box, endpoint, delivery } = await wired();
    const replay = () => w.call('POST', `/v1/webhooks/deliveries/${delivery.delivery_id}/replay`, { key: m.key });
    const { status, body } = await replay();
    expect([status, body.replay_of, body.event_id, body.status]).toEqual([200, delivery.delivery_id, delivery.event_id, 'pending']);
    await w.attempt();
    const [first, second] = await received(box);
    expect([second!.headers['x-svc-event-id'], second!.body]).toEqual([first!.headers['x-svc-event-id'], first!.body]);
    expect([first, second].map((got) => got!.headers['x-svc-delivery-id'])).toEqual([delivery, body].map((one) => String(one.delivery_id)));
    await on(m, 'DELETE', endpoint.endpoint_id);
    const refused = await replay();
    expect([refused.status, refused.body.code]).toEqual([409, 'state_conflict']);
  });
});
