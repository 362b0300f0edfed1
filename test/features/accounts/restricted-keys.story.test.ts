import { evictDurableObject } from 'cloudflare:test';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { admissionIdOf } from '#core/ids.ts';
import { DAY, HOUR, MINUTE } from '#core/time.ts';
import { GROUPS } from '#rules/access/scopes.ts';
import { PLANS } from '#rules/plans.ts';
import { takes, targets } from '../../support/clients/document.ts';
import { tokenSignedIn } from '../../support/clients/session.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { newKey, openShop, type Shop } from '../../support/people/agent.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

const w = new World();
afterEach(letTimeRun);

const NOWHERE = '01900000-0000-7000-8000-000000000000';
const iso = (ms: number) => new Date(ms).toISOString();

describe('restricted keys', () => {
  let shop: Shop;
  let ada: Merchant;
  beforeAll(async () => {
    shop = await openShop(w, { usage_units: 1000 });
    ada = shop.merchant;
    await shop.grant({ customer: { customer_ref: 'ada' }, units: 1000 });
  });

  const create = async (body: object, key = ada.token) => {
    const answer = await w.call('POST', '/v1/keys', { key, body: { name: 'narrow', ...body } });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body as { raw_key: string; key: { id: string; [field: string]: unknown } };
  };
  const patch = (id: string, body: object, key = ada.token) => w.call('PATCH', `/v1/keys/${id}`, { key, body });
  const roll = (id: string, body: object = {}, options: { key?: string; headers?: Record<string, string> } = {}) =>
    w.call('POST', `/v1/keys/${id}/roll`, { key: ada.token, body, ...options });
  const from = (ip: string) => ({ 'CF-Connecting-IP': ip });
  const products = (key: string, headers: Record<string, string> = {}) => w.call('GET', '/v1/products', { key, headers });
  /** The exact content type takes the short way, another one the router. */
  const consume = (key: string, isPlain: boolean, headers: Record<string, string> = {}) =>
    w.call('POST', '/v1/access/entitlements/consume', {
      key,
      body: { product_id: shop.product.product_id, customer: { customer_ref: 'ada' } },
      headers: {
        'Idempotency-Key': newKey(),
        'Content-Type': isPlain ? 'application/json' : 'application/json; charset=utf-8',
        ...headers,
      },
    });
  const refusalOf = ({ status, body }: { status: number; body: { code: string; meta?: object } }) => [status, body.code, body.meta];
  const listed = async (id: string) =>
    ((await w.call('GET', '/v1/keys', { key: ada.token })).body as { id: string }[]).find((key) => key.id === id) as Record<
      string,
      unknown
    >;

  it('a key without restrictions says so', async () => {
    const { key } = await create({});
    expect(key).toMatchObject({ scopes: null, expires_at: null, allowed_ips: null, last_used_ip: null });
    expect(key.created_by).toEqual({ kind: 'person', user_id: ada.userId });
    expect('ends_at' in key || 'rolled_from' in key).toBe(false);
    await w.call('DELETE', `/v1/keys/${key.id}`, { key: ada.token });
  });

  it('every operation of a key needs the scope of its group, and names it', async () => {
    const { raw_key } = await create({ scopes: ['requests:read'] });
    const needs: Record<string, string> = {};
    for (const { method, path, operation } of targets) {
      if (!takes(operation, 'apiKey')) continue;
      const url = path.replace(/\{(\w+)\}/g, (_, name) => (name === 'rail_id' ? 'x402_solana_usdc' : name === 'slug' ? 'none' : NOWHERE));
      const answer = await w.call(method, url, {
        key: raw_key,
        ...(method === 'GET' ? {} : { body: {} }),
        headers: { 'Idempotency-Key': newKey() },
      });
      expect([answer.status, answer.body.code, answer.body.meta?.reason], `${method} ${path}`).toEqual([
        403,
        'invalid_authorization',
        'scope',
      ]);
      needs[`${method} ${path}`] = answer.body.meta.needs;
      expect(operation['x-scope'] ?? 'billing:write', `${method} ${path}`).toBe(answer.body.meta.needs);
    }
    expect(Object.keys(needs).length).toBeGreaterThan(80);
    expect(Object.keys(needs).filter((name) => needs[name] === 'billing:write')).toHaveLength(4);
    const groups = new Set(Object.values(needs).map((scope) => scope.split(':')[0]));
    expect([...groups].sort()).toEqual(GROUPS.filter((group) => group !== 'requests').sort());
  }, 60_000);

  it('a key with a scope can call the operations of its group, if its permissions allow them', async () => {
    const read = await create({ scopes: ['products:read', 'webhooks:write'], permissions: ['read'] });
    expect((await products(read.raw_key)).status).toBe(200);
    const body = { url: 'https://example.com/hook', event_types: ['payment.confirmed'] };
    const made = await w.call('POST', '/v1/webhooks/endpoints', { key: read.raw_key, body });
    expect(refusalOf(made)).toEqual([403, 'invalid_authorization', { reason: 'permission' }]);
    const list = await w.call('GET', '/v1/webhooks/endpoints', { key: read.raw_key });
    expect(list.status).toBe(200);
  });

  it.each([true, false])('scope, address and end hold for a consume, by the short way or not: %s', async (isPlain) => {
    const only = await create({
      scopes: ['consume:write'],
      allowed_ips: ['203.0.113.0/24', '2001:db8::/48'],
      expires_at: iso(Date.now() + HOUR),
    });
    const other = await create({ scopes: ['products:write'] });
    const use = (ip?: string) => consume(only.raw_key, isPlain, ip ? from(ip) : {});
    for (const ip of ['203.0.113.9', '2001:db8::9', '::ffff:203.0.113.9']) expect((await use(ip)).status).toBe(200);
    for (const ip of ['203.0.114.9', '2001:db9::9', undefined])
      expect(refusalOf(await use(ip))).toEqual([403, 'invalid_authorization', { reason: 'ip_not_allowed' }]);
    expect(JSON.stringify((await use('198.51.100.1')).body)).not.toContain('203.0');
    expect(refusalOf(await products(only.raw_key, from('203.0.113.9')))).toEqual([
      403,
      'invalid_authorization',
      { reason: 'scope', needs: 'products:read' },
    ]);
    expect(refusalOf(await consume(other.raw_key, isPlain))).toEqual([
      403,
      'invalid_authorization',
      { reason: 'scope', needs: 'consume:write' },
    ]);
    setTime(Date.now() + HOUR);
    expect(refusalOf(await use('203.0.113.9'))).toEqual([401, 'invalid_authorization', { reason: 'expired' }]);
  });

  it.each([true, false])(
    'a key that consumed is refused at the next consume once it is narrowed or revoked, short way: %s',
    async (isPlain) => {
      const { raw_key, key } = await create({ scopes: ['consume:write', 'products:read'] });
      expect((await consume(raw_key, isPlain)).status).toBe(200);
      expect((await patch(key.id, { allowed_ips: ['203.0.113.0/24'] })).status).toBe(200);
      expect(refusalOf(await consume(raw_key, isPlain))).toEqual([403, 'invalid_authorization', { reason: 'ip_not_allowed' }]);
      expect((await consume(raw_key, isPlain, from('203.0.113.9'))).status).toBe(200);
      expect((await patch(key.id, { scopes: ['products:read'] })).status).toBe(200);
      const needs = { reason: 'scope', needs: 'consume:write' };
      expect(refusalOf(await consume(raw_key, isPlain, from('203.0.113.9')))).toEqual([403, 'invalid_authorization', needs]);
      expect((await patch(key.id, { scopes: ['consume:write'] })).status).toBe(200);
      expect((await consume(raw_key, isPlain, from('203.0.113.9'))).status).toBe(200);
      const [, ...racing] = await Promise.all([
        w.call('DELETE', `/v1/keys/${key.id}`, { key: ada.token }),
        ...Array.from({ length: 4 }, () => consume(raw_key, isPlain, from('203.0.113.9'))),
      ]);
      for (const { status } of racing) expect([200, 401]).toContain(status);
      expect((await consume(raw_key, isPlain, from('203.0.113.9'))).status).toBe(401);
    },
  );

  it('refused calls count as the key’s, with their address', async () => {
    const { raw_key, key } = await create({ scopes: ['products:read'], allowed_ips: ['203.0.113.1'] });
    await products(raw_key, from('203.0.113.1'));
    await products(raw_key, from('203.0.113.2'));
    await w.call('GET', '/v1/receipts', { key: raw_key, headers: from('203.0.113.1') });
    expect(await listed(key.id)).toMatchObject({
      last_used_ip: '203.0.113.1',
      usage_summary: { total_calls: 3, success_calls: 1, error_calls: 2 },
    });
  });

  it.each([
    [{ scopes: [] }, 'scopes'],
    [{ scopes: ['everything:read'] }, 'scopes'],
    [{ scopes: ['members:read'] }, 'scopes'],
    [{ scopes: ['keys:write'] }, 'scopes'],
    [{ scopes: 'products:read' }, 'scopes'],
    [{ allowed_ips: [] }, 'allowed_ips'],
    [{ allowed_ips: ['0.0.0.0/0'] }, 'allowed_ips'],
    [{ allowed_ips: ['::/0'] }, 'allowed_ips'],
    [{ allowed_ips: ['example.com'] }, 'allowed_ips'],
    [{ allowed_ips: Array.from({ length: 21 }, (_, i) => `203.0.113.${i}`) }, 'allowed_ips'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    [{ expires_at: iso(Date.now() + 3 * 365 * DAY) }, 'expires_at'],
    [{ expires_at: 'soon' }, 'expires_at'],
  ])('%j is refused at its field, at creation and later', async (body, field) => {
    const { key } = await create({ sandbox_mode: true });
    for (const answer of [await w.call('POST', '/v1/keys', { key: ada.token, body: { name: 'k', ...body } }), await patch(key.id, body)]) {
      expect([answer.status, answer.body.code]).toEqual([422, 'validation_error']);
      expect(answer.body.detail[0].loc.slice(0, 2)).toEqual(['body', field]);
    }
    await w.call('DELETE', `/v1/keys/${key.id}`, { key: ada.token });
  });

  it('a key is narrowed from the next request on, by an old sign-in too, and widened by a new one only', async () => {
    const { raw_key, key } = await create({ scopes: ['products:write', 'receipts:read'] });
    const old = await tokenSignedIn(w, ada.userId, 60);
    const narrowed = await patch(key.id, { scopes: ['products:read'], name: 'narrower' }, old);
    expect(narrowed.body).toMatchObject({ id: key.id, name: 'narrower', scopes: ['products:read'] });
    expect((await products(raw_key)).status).toBe(200);
    expect((await w.call('GET', '/v1/receipts', { key: raw_key })).body.meta.needs).toBe('receipts:read');
    for (const wider of [{ scopes: null }, { scopes: ['products:write'] }, { scopes: ['products:read', 'log:read'] }])
      expect((await patch(key.id, wider, old)).body.meta.reason).toBe('sign_in_required');
    expect((await patch(key.id, { allowed_ips: ['203.0.113.0/24'] }, old)).status).toBe(200);
    expect((await patch(key.id, { allowed_ips: ['203.0.113.0/25'], expires_at: iso(Date.now() + DAY) }, old)).status).toBe(200);
    for (const wider of [
      { allowed_ips: ['203.0.113.0/24'] },
      { allowed_ips: null },
      { expires_at: iso(Date.now() + 2 * DAY) },
      { expires_at: null },
    ])
      expect((await patch(key.id, wider, old)).body.meta.reason).toBe('sign_in_required');
    expect((await patch(key.id, { scopes: null, allowed_ips: null, expires_at: null })).status).toBe(200);
    expect((await w.call('GET', '/v1/receipts', { key: raw_key })).status).toBe(200);
    const sandbox = await create({ sandbox_mode: true, scopes: ['products:read'] });
    expect((await patch(sandbox.key.id, { scopes: null }, old)).status).toBe(200);
  });

  it('the restrictions of a key survive its object, and the newer of two changes holds', async () => {
    const { raw_key, key } = await create({ scopes: ['products:read'] });
    await Promise.all([patch(key.id, { scopes: ['products:read', 'receipts:read'] }), patch(key.id, { scopes: ['receipts:read'] })]);
    const { scopes } = await listed(key.id);
    const check = async () => {
      const answers = [await products(raw_key), await w.call('GET', '/v1/receipts', { key: raw_key })];
      expect(answers.map(({ status }) => status === 200)).toEqual(
        ['products:read', 'receipts:read'].map((scope) => (scopes as string[]).includes(scope)),
      );
    };
    await check();
    await evictDurableObject(testEnv.ADMISSION.getByName(`account:${admissionIdOf(ada.userId)}`));
    await check();
  });

  it('a key of another account, and a key as the caller, are refused', async () => {
    const { key } = await create({ sandbox_mode: true });
    const eve = await w.merchant();
    for (const answer of [await patch(key.id, { name: 'x' }, eve.token), await roll(key.id, {}, { key: eve.token })])
      expect(answer.status).toBe(404);
    for (const answer of [await patch(key.id, { name: 'x' }, ada.key), await roll(key.id, {}, { key: ada.key })])
      expect(refusalOf(answer)).toEqual([403, 'invalid_authorization', { reason: 'token_required' }]);
    await w.call('DELETE', `/v1/keys/${key.id}`, { key: ada.token });
  });

  it('a rolled key works until its end, as does the new one, which has the same name and rights', async () => {
    const { raw_key, key } = await create({ scopes: ['products:read'], allowed_ips: ['203.0.113.0/24'], permissions: ['read'] });
    const before = Date.now();
    const rolled = await roll(key.id);
    expect(rolled.status).toBe(201);
    const { key: next, raw_key: nextRaw } = rolled.body;
    expect(next).toMatchObject({
      name: 'narrow',
      scopes: ['products:read'],
      allowed_ips: ['203.0.113.0/24'],
      permissions: ['read'],
      rolled_from: key.id,
    });
    const old = await listed(key.id);
    expect(old.revoked_at).toBeNull();
    expect(Date.parse(old.ends_at as string) - before).toBeGreaterThanOrEqual(DAY);
    const home = from('203.0.113.5');
    expect([(await products(raw_key, home)).status, (await products(nextRaw, home)).status]).toEqual([200, 200]);
    expect(refusalOf(await roll(key.id))).toEqual([409, 'state_conflict', { reason: 'rolled' }]);
    expect(refusalOf(await patch(key.id, { name: 'x' }))).toEqual([409, 'state_conflict', { reason: 'rolled' }]);
    setTime(Date.parse(old.ends_at as string));
    expect([(await products(raw_key, home)).status, (await products(nextRaw, home)).status]).toEqual([401, 200]);
    const ended = await listed(key.id);
    expect([ended.revoked_at, ended.ends_at]).toEqual([old.ends_at, undefined]);
  });

  it('a roll without overlap revokes at once, and a rolled key can be revoked before its end', async () => {
    const first = await create({});
    const second = (await roll(first.key.id, { overlap_hours: 0 })).body;
    expect((await products(first.raw_key)).status).toBe(401);
    const third = (await roll(second.key.id, { overlap_hours: 168, expires_at: iso(Date.now() + 30 * DAY) })).body;
    expect(third.key.expires_at).not.toBeNull();
    expect((await products(second.raw_key)).status).toBe(200);
    expect((await w.call('DELETE', `/v1/keys/${second.key.id}`, { key: ada.token })).status).toBe(204);
    expect([(await products(second.raw_key)).status, (await products(third.raw_key)).status]).toEqual([401, 200]);
    for (const body of [{ overlap_hours: 169 }, { overlap_hours: -1 }, { overlap_hours: 1.5 }])
      expect((await roll(third.key.id, body)).status).toBe(422);
    expect((await roll(third.key.id, {}, { key: await tokenSignedIn(w, ada.userId, 60) })).body.meta.reason).toBe('sign_in_required');
  });

  it('one of twenty concurrent rolls creates a key, and its repetition returns the same key', async () => {
    const { key } = await create({});
    const headers = { 'Idempotency-Key': newKey() };
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => roll(key.id, {}, i === 0 ? { headers } : {})));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(19);
    const { key: mine } = await create({});
    const made = await roll(mine.id, {}, { headers: { 'Idempotency-Key': 'roll-again-1' } });
    const again = await roll(mine.id, {}, { headers: { 'Idempotency-Key': 'roll-again-1' } });
    expect([again.status, again.body]).toEqual([201, made.body]);
  });

  it('an expired key and a rolled key are not counted in the quota', async () => {
    const free = await w.merchant('free');
    const make = (body: object = {}) => w.call('POST', '/v1/keys', { key: free.token, body: { name: 'k', sandbox_mode: true, ...body } });
    const made = await make({ expires_at: iso(Date.now() + 2 * MINUTE) });
    expect([made.status, (await make()).status]).toEqual([201, 429]);
    setTime(Date.now() + 3 * MINUTE);
    const second = await make();
    expect([second.status, (await make()).status]).toEqual([201, 429]);
    const rolled = await w.call('POST', `/v1/keys/${second.body.key.id}/roll`, { key: free.token, body: {} });
    expect([rolled.status, (await make()).status]).toEqual([201, 429]);
    for (const answer of [
      await w.call('POST', `/v1/keys/${made.body.key.id}/roll`, { key: free.token, body: {} }),
      await w.call('PATCH', `/v1/keys/${made.body.key.id}`, { key: free.token, body: { expires_at: iso(Date.now() + DAY) } }),
    ])
      expect(refusalOf(answer)).toEqual([409, 'state_conflict', { reason: 'expired' }]);
  });

  it('replaced keys that still work have the limit of the plan too, unless the roll has no overlap', async () => {
    const free = await w.merchant('free');
    const rollOf = (id: string, body: object, key = free.token) => w.call('POST', `/v1/keys/${id}/roll`, { key, body });
    const works = async (key: string) => (await products(key)).status === 200;
    let last = (await w.call('POST', '/v1/keys', { key: free.token, body: { name: 'k', sandbox_mode: true } })).body;
    const raw: string[] = [last.raw_key];
    for (let i = 0; i < PLANS.free.activeKeysMax; i++) {
      last = (await rollOf(last.key.id, { overlap_hours: 168 })).body;
      raw.push(last.raw_key);
    }
    const refused = await rollOf(last.key.id, { overlap_hours: 1 });
    expect([refused.status, refused.body.code, refused.body.meta.used]).toEqual([429, 'plan_limit_reached', PLANS.free.activeKeysMax]);
    for (const key of raw) expect(await works(key)).toBe(true);
    const next = (await rollOf(last.key.id, { overlap_hours: 0 })).body;
    expect([await works(last.raw_key), await works(next.raw_key)]).toEqual([false, true]);
    setTime(Date.now() + 8 * DAY);
    expect((await rollOf(next.key.id, { overlap_hours: 1 }, await tokenSignedIn(w, free.userId, 0))).status).toBe(201);
  });

  it.each([undefined, 'roll-lost-1'])(
    'a roll with a lost answer of the database returns the stored key: Idempotency-Key %s',
    async (id) => {
      const { key, raw_key } = await create({});
      const before = ((await w.call('GET', '/v1/keys', { key: ada.token })).body as unknown[]).length;
      let batches = 0;
      const { env } = withFaults(w.env, { after: ({ kind }) => kind === 'batch' && ++batches === 1 });
      const headers: Record<string, string> = id === undefined ? {} : { 'Idempotency-Key': id };
      const rolled = await w.call('POST', `/v1/keys/${key.id}/roll`, { key: ada.token, body: {}, headers, env });
      expect([batches > 0, rolled.status]).toEqual([true, 201]);
      expect([(await products(rolled.body.raw_key)).status, (await products(raw_key)).status]).toEqual([200, 200]);
      expect(((await w.call('GET', '/v1/keys', { key: ada.token })).body as unknown[]).length).toBe(before + 1);
    },
  );

  it('a key with admin is rolled by staff only', async () => {
    const { key } = await create({ sandbox_mode: true });
    await w.env.DB.prepare(`UPDATE api_keys SET permissions = '["read","admin"]' WHERE id = ?`).bind(key.id).run();
    const answer = await roll(key.id);
    expect([answer.status, answer.body.code]).toEqual([403, 'admin_requires_staff']);
  });
});
