import { beforeEach, describe, expect, it } from 'vitest';
import { PLANS } from '#rules/plans.ts';
import { type Consumer, consumer, received } from '../../support/people/consumer.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

const ENDPOINTS_MAX = PLANS.scale.enabledEndpointsMax;
const NOTICES = ['webhook.endpoint_created', 'webhook.endpoint_changed'];

describe('events of another endpoint', () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  let ada: Merchant;
  let leaked: { id: string; raw: string };
  let watcher: Consumer;

  beforeEach(async () => {
    ada = await w.merchant();
    const { body } = await w.call('POST', '/v1/keys', { key: ada.token, body: { name: 'leaked' } });
    leaked = { id: body.key.id, raw: body.raw_key };
    watcher = await consumer(w, ada, 'ok', { event_types: ['webhook.*'] });
  });

  const call = (method: string, path: string, body: unknown, key = leaked.raw, headers = {}) =>
    w.call(method, `/v1/webhooks/endpoints${path}`, { key, body, headers });
  const box = () => `${testEnv.TEST_RECEIVER_URL}/ok/${crypto.randomUUID()}`;
  const notices = async (who: Consumer) => {
    await w.deliver();
    await w.attempt();
    return (await received(who)).map(({ body }) => JSON.parse(body)).filter(({ type }) => NOTICES.includes(type));
  };

  it('an endpoint that a key creates is announced to the other endpoints, without its secret and with the key', async () => {
    const url = box();
    const { body: made } = await call('POST', '', { url });
    const found = await notices(watcher);
    expect(found).toMatchObject([
      {
        type: 'webhook.endpoint_created',
        subject: { type: 'webhook_endpoint', id: made.endpoint_id, version: 1 },
        data: { object: { endpoint_id: made.endpoint_id, url }, by: { kind: 'key', id: leaked.id } },
      },
    ]);
    expect(found[0].data.object).not.toHaveProperty('secret');
    expect(JSON.stringify(found)).not.toContain(made.secret);
    expect(await notices({ ...watcher, box: url.split('/').at(-1)! })).toEqual([]);
  });

  it('an automation hook is announced too, and another merchant or mode receives nothing', async () => {
    const eve = await w.merchant();
    const others = [await consumer(w, eve, 'ok'), await consumer(w, ada, 'ok', {}, ada.sandboxKey)];
    const hook = { target_url: box(), event_type: 'payment.confirmed' };
    expect((await w.call('POST', '/v1/integrations/automation/hooks', { key: leaked.raw, body: hook })).status).toBe(201);
    expect(await notices(watcher)).toMatchObject([{ data: { object: { kind: 'automation', url: hook.target_url } } }]);
    for (const other of others) expect(await notices(other)).toEqual([]);
  });

  it('a new URL or secret is announced once each with its author, also if repeated, and other changes are not', async () => {
    const theirs = await consumer(w, ada, 'ok', {}, ada.token);
    await notices(watcher);
    const url = box();
    for (const body of [{ description: 'mine' }, { url }, { url }, { status: 'disabled' }, { status: 'enabled' }])
      expect((await call('PATCH', `/${theirs.id}`, body)).status).toBe(200);
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const rotated = [];
    for (let turn = 0; turn < 2; turn++) rotated.push(await call('POST', `/${theirs.id}/rotate-secret`, {}, ada.token, headers));
    expect(rotated.map(({ status }) => status)).toEqual([200, 200]);
    const changed = (await notices(watcher)).filter(({ type }) => type === 'webhook.endpoint_changed');
    const byVersion = changed.sort((one, other) => one.subject.version - other.subject.version);
    expect(byVersion.map(({ data }) => [data.object.url, data.by, data.object.changed_by])).toEqual([
      [url, { kind: 'key', id: leaked.id }, { kind: 'key', id: leaked.id }],
      [url, { kind: 'person', id: ada.userId }, { kind: 'person', id: ada.userId }],
    ]);
    expect(JSON.stringify(changed)).not.toContain(rotated[0]!.body.secret);
  });

  it('a changed endpoint hears nothing of its change, also if it recovers missed events', async () => {
    await call('POST', `/${watcher.id}/rotate-secret`, {});
    const window = { since: new Date(Date.now() - 3_600_000).toISOString() };
    expect((await call('POST', `/${watcher.id}/recover`, window)).status).toBe(202);
    expect(await notices(watcher)).toEqual([]);
  });

  it('a creation that the plan’s limit refuses causes no event', async () => {
    const answers = [];
    for (let turn = 0; turn < ENDPOINTS_MAX; turn++) answers.push((await call('POST', '', { url: box() })).status);
    expect(answers.filter((status) => status !== 201)).toEqual([429]);
    const path = '/v1/webhooks/events?event_type=webhook.endpoint_created';
    expect((await w.call('GET', path, { key: ada.key })).body.total).toBe(ENDPOINTS_MAX);
  });
});
