import { beforeAll, describe, expect, it } from 'vitest';
import { admissionIdOf } from '#core/ids.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

interface Key {
  id: string;
  key_prefix: string;
  revoked_at: string | null;
  sandbox_mode: boolean;
  usage_summary: Record<string, unknown>;
  recent_activity: Record<string, unknown>[];
}

describe('API keys', () => {
  const w = new World();
  let ada: Merchant;
  let free: Merchant;

  const create = (merchant: Merchant, body: unknown = { name: 'k' }) => w.call('POST', '/v1/keys', { key: merchant.token, body });
  const list = async (credential: string): Promise<Key[]> => (await w.call('GET', '/v1/keys', { key: credential })).body;
  const revoke = (merchant: Merchant, id: string) => w.call('DELETE', `/v1/keys/${id}`, { key: merchant.token });
  const activeIds = async (merchant: Merchant) =>
    (await list(merchant.token)).filter(({ revoked_at }) => revoked_at === null).map(({ id }) => id);

  beforeAll(async () => {
    [ada, free] = await Promise.all([w.merchant(), w.merchant('free')]);
  });

  it('a key is accepted as a Bearer token too', async () => {
    const merchant = await w.merchant();
    const me = (headers: Record<string, string>) => w.call('GET', '/v1/account/me', { headers });
    const asBearer = await me({ Authorization: `Bearer ${merchant.key}` });
    expect([asBearer.status, asBearer.body]).toEqual([200, (await me({ 'X-Svc-Key': merchant.key })).body]);
    const { status, body } = await me({ Authorization: `Bearer ${merchant.key.slice(0, -1)}${merchant.key.endsWith('x') ? 'y' : 'x'}` });
    expect([status, body.code]).toEqual([401, 'invalid_authorization']);
  });

  it('the raw key is shown once, at creation', async () => {
    const { status, body } = await create(ada, { name: ' server ', permissions: ['execute', 'read', 'read'] });
    expect(status).toBe(201);
    expect(body.raw_key).toMatch(/^svc_live_[0-9A-Za-z]{38}$/);
    expect(body.key).toMatchObject({
      name: 'server',
      key_prefix: body.raw_key.slice(0, 13),
      sandbox_mode: false,
      revoked_at: null,
      last_used_at: null,
    });
    expect([...body.key.permissions].sort()).toEqual(['execute', 'read']);
    const keys = await w.call('GET', '/v1/keys', { key: ada.token });
    expect(Array.isArray(keys.body)).toBe(true);
    expect(JSON.stringify(keys.body)).not.toContain(body.raw_key.slice(13));
    const stored = await testEnv.DB.prepare('SELECT * FROM api_keys WHERE id = ?').bind(body.key.id).first();
    expect(JSON.stringify(stored)).not.toContain(body.raw_key.slice(13));
  });

  it('sandbox keys have the prefix svc_test_', async () => {
    const { body } = await create(ada, { name: 'k', sandbox_mode: true });
    expect(body.raw_key).toMatch(/^svc_test_[0-9A-Za-z]{38}$/);
    expect(body.key.sandbox_mode).toBe(true);
  });

  it.each([[[]], [['write']], [['read', 'everything']], [['READ']], [['']]])('the permissions %j are refused', async (permissions) => {
    const { status, body } = await create(ada, { name: 'k', permissions });
    expect([status, body.code]).toEqual([422, 'invalid_permissions']);
  });

  it.each([
    {},
    { name: '' },
    { name: ' ' },
    { name: 'x'.repeat(121) },
    { name: 'k', sandbox_mode: 'yes' },
    { name: 'k', permissions: 'read' },
  ])('a new key with the body %j is refused with 422', async (body) => {
    const answer = await create(ada, body);
    expect([answer.status, answer.body.code]).toEqual([422, 'validation_error']);
  });

  it('only staff can create keys with the admin permission', async () => {
    const { status, body } = await create(ada, { name: 'k', permissions: ['read', 'admin'] });
    expect([status, body.code]).toEqual([403, 'admin_requires_staff']);
    const colleague = await w.merchant();
    await testEnv.DB.prepare('UPDATE persons SET is_staff = 1 WHERE id = ?').bind(colleague.userId).run();
    await testEnv.DB.prepare('UPDATE accounts SET version = version + 1 WHERE id = ?').bind(colleague.userId).run();
    const row = {
      accountId: colleague.userId,
      plan: 'scale',
      planThrough: null,
      status: 'active',
      tokenVersion: 1,
      isStaff: true,
      ownerId: colleague.userId,
      roles: {},
      version: 2,
    } as const;
    await testEnv.ADMISSION.getByName(`account:${admissionIdOf(colleague.userId)}`).load(row, []);
    const granted = await create(colleague, { name: 'k', permissions: ['read', 'admin'] });
    expect(granted.status).toBe(201);
    // The admin permission does not include the others.
    const write = await w.call('POST', '/v1/products', {
      key: granted.body.raw_key,
      body: { name: 'x', price: { asset: 'USDC', amount: '1' } },
    });
    expect([write.status, write.body.meta.reason]).toEqual([403, 'permission']);
  });

  it('a key beyond the plan’s quota is refused with 429 and the quota, without Retry-After', async () => {
    for (const sandbox_mode of [false, true]) {
      expect((await create(free, { name: 'k', sandbox_mode })).status).toBe(201);
      const { status, body, headers } = await create(free, { name: 'k', sandbox_mode });
      expect([status, body.code, body.retryable]).toEqual([429, 'plan_limit_reached', false]);
      expect(body.meta).toEqual({ limit: 2, used: 2, plan: 'free' });
      expect(headers.get('Retry-After')).toBeNull();
    }
  });

  it('only active keys count, and exactly two of twenty concurrent creations succeed', async () => {
    for (const id of await activeIds(free)) expect((await revoke(free, id)).status).toBe(204);
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(free)));
    const made = answers.filter(({ status }) => status === 201);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, ...Array(18).fill(429)]);
    expect(answers.filter(({ status }) => status === 429).every(({ body }) => body.code === 'plan_limit_reached')).toBe(true);
    expect((await activeIds(free)).sort()).toEqual(made.map(({ body }) => body.key.id).sort());
    for (const { body } of made) expect((await w.call('GET', '/v1/products', { key: body.raw_key })).status).toBe(200);
  });

  it('a revocation is final: a repeat changes nothing and preserves the first time', async () => {
    const { body } = await create(ada);
    expect((await revoke(ada, body.key.id)).status).toBe(204);
    const [first] = (await list(ada.token)).filter(({ id }) => id === body.key.id);
    expect(first!.revoked_at).not.toBeNull();
    const again = await Promise.all([revoke(ada, body.key.id), revoke(ada, body.key.id)]);
    expect(again.map(({ status, body: nothing }) => [status, nothing])).toEqual([
      [204, null],
      [204, null],
    ]);
    const [second] = (await list(ada.token)).filter(({ id }) => id === body.key.id);
    expect(second).toEqual(first);
  });

  it('a token lists the keys of both modes, a key only those of its own mode', async () => {
    const person = await w.merchant();
    const modes = async (credential: string) => (await list(credential)).map(({ sandbox_mode }) => sandbox_mode).sort();
    expect(await modes(person.token)).toEqual([false, true]);
    expect(await modes(person.key)).toEqual([false]);
    expect(await modes(person.sandboxKey)).toEqual([true]);
  });

  it('every call of a key is counted exactly and listed newest first, also when calls are concurrent', async () => {
    const person = await w.merchant();
    const get = (path: string, requestId: string) => w.call('GET', path, { key: person.key, headers: { 'X-Svc-Request-Id': requestId } });
    await Promise.all(Array.from({ length: 21 }, (_, i) => get('/v1/products', `parallel-${i}`)));
    await get('/v1/products?per_page=1000', 'refused-1');
    await get('/v1/memberships', 'the-last-one');
    const [live, sandbox] = await Promise.all(
      [false, true].map(async (mode) => (await list(person.token)).find((key) => key.sandbox_mode === mode)!),
    );
    expect(live!.usage_summary).toMatchObject({
      total_calls: 23,
      success_calls: 22,
      error_calls: 1,
      credits_burned: 0,
      latest_endpoint: 'GET /v1/memberships',
    });
    expect(live!.recent_activity).toHaveLength(20);
    expect(live!.recent_activity[0]).toEqual({
      at: live!.usage_summary.latest_activity_at,
      method: 'GET',
      endpoint: '/v1/memberships',
      status: 200,
      request_id: 'the-last-one',
    });
    expect(live!.recent_activity[1]).toMatchObject({ status: 422, request_id: 'refused-1', endpoint: '/v1/products' });
    expect(sandbox!.usage_summary).toEqual({
      total_calls: 0,
      success_calls: 0,
      error_calls: 0,
      credits_burned: 0,
      latest_activity_at: null,
      latest_endpoint: null,
    });
    expect(sandbox!.recent_activity).toEqual([]);
  });
});
