import { beforeAll, describe, expect, it } from 'vitest';
import type { AccountId } from '#core/ids.ts';
import { planErasedEntries } from '#features/accounts/entries/erasure.store.ts';
import { sweepAuditChain } from '#features/audit-log/chain.ts';
import { newCtx } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { multiply } from '../../support/fixtures/multiply.ts';
import { newKey, openShop, type Shop } from '../../support/people/agent.ts';
import { addMember } from '../../support/people/team.ts';
import { testEnv } from '../../support/runner/env.ts';
import { rowsOf, withRowCount, worstOf } from '../../support/runner/rows-read.ts';
import { type Merchant, World } from '../../support/world.ts';

interface Entry {
  entry_id: string;
  seq: number;
  action: string;
  actor: { kind: string; id?: string; name?: string; role?: string };
  subject: { type: string; id: string };
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
  request_id: string;
  ip?: string;
  livemode: boolean;
  prev_hash?: string;
  hash?: string;
}

const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
const LOG = '/v1/account/audit-log';
const chain = () => sweepAuditChain(newCtx(w.env, { requestId: 'req_chain', defer: () => {} }));
const read = async (key: string, query = '') => {
  const answer = await w.call('GET', `${LOG}?per_page=100${query}`, { key });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.items as Entry[];
};
const verify = async (key: string) => (await w.call('GET', `${LOG}/verify`, { key })).body;
const createProduct = (key: string, body: object = {}, headers: Record<string, string> = {}) =>
  w.call('POST', '/v1/products', { key, headers, body: { name: 'Weather', price: { asset: 'USDC', amount: '1' }, ...body } });

describe('audit log', () => {
  let shop: Shop;
  let ada: Merchant;
  beforeAll(async () => {
    shop = await openShop(w, { usage_units: 1000 });
    ada = shop.merchant;
  });

  it('concurrent calls of one effect have one entry', async () => {
    const { token } = await w.merchant();
    const key = (await w.call('POST', '/v1/keys', { key: token, body: { name: 'till' } })).body.key.id;
    expect((await w.call('PUT', '/v1/account/domain', { key: token, body: { domain: 'shop.example.com' } })).status).toBe(200);
    for (const path of [`/v1/keys/${key}`, '/v1/account/domain']) {
      const answers = await Promise.all(Array.from({ length: 5 }, () => w.call('DELETE', path, { key: token })));
      expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204, 204]);
    }
    const actions = (await read(token)).map(({ action }) => action);
    for (const ended of ['key.revoked', 'domain.removed']) expect(actions.filter((action) => action === ended)).toHaveLength(1);
  });

  it('chaining 200 entries, and erasing them, reads at most eight rows for each', async () => {
    const { token, userId } = await w.merchant();
    const { body: product } = await createProduct(token);
    await chain();
    const changed = await w.call('PATCH', `/v1/products/${product.product_id}`, { key: token, body: { name: 'Many' } });
    await multiply(w.env.DB, 'audit_entries', 'request_id', changed.headers.get('X-Svc-Request-Id')!, 199, {
      seq: '(SELECT max(a.seq) FROM audit_entries a WHERE a.merchant_id = audit_entries.merchant_id) + i',
    });
    const { env, readings } = withRowCount(w.env);
    await sweepAuditChain(newCtx(env, { requestId: 'req_chain', defer: () => {} }));
    expect((await verify(token)).valid).toBe(true);
    expect(rowsOf(readings), worstOf(readings)).toBeLessThanOrEqual(8 * 200);
    readings.length = 0;
    const shard = newCtx(env, { requestId: 'req_erase', defer: () => {} });
    await shard.db.batch((await planErasedEntries(shard, userId as AccountId, 300)) as [Write]);
    expect(rowsOf(readings), worstOf(readings)).toBeLessThanOrEqual(8 * 200);
  });

  it('an entry names actor, request, address and changed fields alone', async () => {
    const { body: product } = await createProduct(ada.token);
    const headers = { 'CF-Connecting-IP': '203.0.113.7' };
    const change = { key: ada.token, headers, body: { name: 'Wind' } };
    const changed = await w.call('PATCH', `/v1/products/${product.product_id}`, change);
    const [entry] = await read(ada.token, `&subject_id=${product.product_id}&action=product.updated`);
    expect(entry).toMatchObject({
      action: 'product.updated',
      actor: { kind: 'person', role: 'owner', name: expect.any(String) },
      subject: { type: 'product', id: product.product_id },
      before: { name: 'Weather' },
      after: { name: 'Wind' },
      ip: '203.0.113.7',
      livemode: true,
      request_id: changed.headers.get('X-Svc-Request-Id'),
    });
    expect(Object.keys(entry!.before!)).toEqual(['name']);
    expect((await w.call('GET', `${LOG}/${entry!.entry_id}`, { key: ada.token })).body).toEqual(entry);
  });

  it('a call that changes nothing, or repeats another, writes no entry', async () => {
    const headers = { 'Idempotency-Key': newKey() };
    const { body: product } = await createProduct(ada.token, {}, headers);
    await createProduct(ada.token, {}, headers);
    await w.call('PATCH', `/v1/products/${product.product_id}`, { key: ada.token, body: { name: 'Weather' } });
    for (const _ of [1, 2]) await w.call('POST', `/v1/products/${product.product_id}/archive`, { key: ada.token });
    const entries = await read(ada.token, `&subject_id=${product.product_id}`);
    expect(entries.map(({ action }) => action)).toEqual(['product.archived', 'product.created']);
  });

  it('concurrent writers get different numbers without a gap', async () => {
    await Promise.all(Array.from({ length: 6 }, () => createProduct(ada.token)));
    const numbers = (await read(ada.token, '&action=product.created')).slice(0, 6).map(({ seq }) => seq);
    expect(numbers.length).toBe(6);
    expect(numbers).toEqual(numbers.map((_, i) => numbers[0]! - i));
  });

  it('a key sees its own mode alone, and only with log:read among its scopes', async () => {
    const make = async (body: object) =>
      (await w.call('POST', '/v1/keys', { key: ada.token, body: { name: 'log', ...body } })).body as {
        raw_key: string;
        key: { id: string };
      };
    const [sandbox, narrow, log] = [
      await make({ sandbox_mode: true, scopes: ['log:read'] }),
      await make({ scopes: ['products:read'] }),
      await make({ scopes: ['log:read'] }),
    ];
    for (const key of [narrow.raw_key, (await make({})).raw_key, (await make({ sandbox_mode: true })).raw_key]) {
      const refused = await w.call('GET', LOG, { key });
      expect([refused.status, refused.body.code, refused.body.meta]).toEqual([
        403,
        'invalid_authorization',
        { reason: 'scope', needs: 'log:read' },
      ]);
    }
    const [live, tests] = [await read(log.raw_key), await read(sandbox.raw_key)];
    expect([new Set(live.map(({ livemode }) => livemode)), new Set(tests.map(({ livemode }) => livemode))]).toEqual([
      new Set([true]),
      new Set([false]),
    ]);
    expect(tests.some(({ subject }) => subject.id === sandbox.key.id)).toBe(true);
    expect((await w.call('GET', `${LOG}/${live[0]!.entry_id}`, { key: sandbox.raw_key })).status).toBe(404);
    const made = live.find(({ subject }) => subject.id === log.key.id)!;
    expect(made).toMatchObject({ action: 'key.created', after: { name: 'log', scopes: ['log:read'] } });
    const other = await openShop(w);
    for (const id of [live[0]!.entry_id, `aud_${'0'.repeat(26)}`])
      expect((await w.call('GET', `${LOG}/${id}`, { key: other.merchant.token })).status).toBe(404);
  });

  it('a developer, who may not read the log, makes and widens no key that reads it', async () => {
    const { merchant } = await openShop(w);
    const dev = await addMember(w, merchant, 'developer');
    const refusals = [await w.call('POST', '/v1/keys', { key: dev.token, body: { name: 'log', scopes: ['log:read'] } })];
    const { key } = (await w.call('POST', '/v1/keys', { key: dev.token, body: { name: 'any' } })).body;
    refusals.push(await w.call('PATCH', `/v1/keys/${key.id}`, { key: dev.token, body: { scopes: ['log:read'] } }));
    for (const { status, body } of refusals)
      expect([status, body.code, body.meta]).toEqual([
        403,
        'invalid_authorization',
        { reason: 'role', role: 'developer', needs: ['owner', 'admin'] },
      ]);
  });

  it('filters narrow the list', async () => {
    const all = await read(ada.token);
    const keys = await read(ada.token, '&action=key.*');
    expect(keys).toEqual(all.filter(({ action }) => action.startsWith('key.')));
    expect(await read(ada.token, '&q=PRODUCT.ARCHIVED')).toEqual(all.filter(({ action }) => action === 'product.archived'));
    expect(await read(ada.token, '&to=2020-01-01')).toEqual([]);
    expect(await read(ada.token, '&from=2020-01-01&actor_kind=person')).toEqual(all.filter(({ actor }) => actor.kind === 'person'));
    expect((await w.call('GET', `${LOG}?action=nothing.done`, { key: ada.token })).status).toBe(422);
  });

  it('revoked keys, endpoints, grants and settings have entries, and no secret is in one', async () => {
    const { body: made } = await w.call('POST', '/v1/keys', { key: ada.token, body: { name: 'short' } });
    const { body: endpoint } = await w.call('POST', '/v1/webhooks/endpoints', {
      key: made.raw_key,
      body: { url: 'https://shop.example.com/hooks' },
    });
    const { body: rotated } = await w.call('POST', `/v1/webhooks/endpoints/${endpoint.endpoint_id}/rotate-secret`, {
      key: ada.token,
      body: {},
    });
    await w.call('DELETE', `/v1/keys/${made.key.id}?with=endpoints`, { key: ada.token });
    await shop.grant({ customer: { customer_ref: 'ada' }, units: 5 });
    await w.call('PATCH', '/v1/account/me', { key: ada.token, body: { display_name: 'Ada & Co' } });
    const entries = await read(ada.token);
    const byEndpoint = entries.filter(({ subject }) => subject.id === endpoint.endpoint_id);
    expect(byEndpoint.map(({ action, actor }) => [action, actor.kind])).toEqual([
      ['endpoint.disabled', 'person'],
      ['endpoint.secret_rotated', 'person'],
      ['endpoint.created', 'key'],
    ]);
    expect(byEndpoint[2]!.actor).toEqual({ kind: 'key', id: made.key.id, name: 'short' });
    expect(entries.find(({ action }) => action === 'account.updated')).toMatchObject({ after: { display_name: 'Ada & Co' } });
    expect(entries.find(({ action }) => action === 'entitlement.granted')).toMatchObject({ after: { units: 5 } });
    expect(entries.some(({ action, subject }) => action === 'key.revoked' && subject.id === made.key.id)).toBe(true);
    const text = JSON.stringify(entries);
    for (const secret of [made.raw_key, endpoint.secret, rotated.secret, ada.token]) {
      expect(secret.length).toBeGreaterThan(10);
      expect(text).not.toContain(secret);
    }
  });

  it('entries are chained in order, and a changed byte in any column is found', async () => {
    await chain();
    const entries = await read(ada.token);
    expect(entries.every(({ hash }) => hash !== undefined)).toBe(true);
    const sound = await verify(ada.token);
    const head = await testEnv.DB.prepare('SELECT max(seq) AS seq, count(*) AS n FROM audit_entries WHERE merchant_id = ?')
      .bind(ada.userId)
      .first<{ seq: number; n: number }>();
    expect(sound).toEqual({ valid: true, checked: head!.n, head: { seq: head!.seq, hash: expect.stringMatching(/^[0-9a-f]{64}$/) } });
    const seq = entries[3]!.seq;
    const changes = [
      'at = at + 1',
      "actor_kind = 'system'",
      "actor_name = 'Eve'",
      "action = 'product.created2'",
      "subject_type = 'key2'",
      "subject_id = 'x'",
      "outcome = 'refused'",
      'is_live = 1 - is_live',
      "request_id = request_id || 'x'",
      "details = json_set(details, '$.ip', '192.0.2.1')",
      'is_erased = 1',
      "prev_hash = unhex('00')",
      "hash = unhex('00')",
    ];
    for (const change of changes) {
      const { results } = await testEnv.DB.prepare('SELECT * FROM audit_entries WHERE merchant_id = ? AND seq = ?')
        .bind(ada.userId, seq)
        .all();
      const before = results[0] as Record<string, unknown>;
      await testEnv.DB.prepare(`UPDATE audit_entries SET ${change} WHERE merchant_id = ? AND seq = ?`).bind(ada.userId, seq).run();
      expect(await verify(ada.token), change).toMatchObject({ valid: false, broken_at: seq });
      const names = Object.keys(before).filter((name) => !['merchant_id', 'seq'].includes(name));
      const restore = `UPDATE audit_entries SET ${names.map((name) => `${name} = ?`).join()} WHERE merchant_id = ? AND seq = ?`;
      const values = names.map((name) => (Array.isArray(before[name]) ? Uint8Array.from(before[name] as number[]) : before[name]));
      await testEnv.DB.prepare(restore)
        .bind(...values, ada.userId, seq)
        .run();
    }
    expect(await verify(ada.token)).toEqual(sound);
    await testEnv.DB.prepare('DELETE FROM audit_entries WHERE merchant_id = ? AND seq = ?').bind(ada.userId, seq).run();
    expect(await verify(ada.token)).toMatchObject({ valid: false, broken_at: seq });
  });

  it('the export has the columns of the contract, one row an entry', async () => {
    const { body, headers } = await w.call('GET', `${LOG}.csv?action=key.*`, { key: ada.token });
    const [head, ...rows] = String(body).trimEnd().split('\r\n');
    expect(headers.get('Content-Type')).toBe('text/csv; charset=utf-8');
    expect(head).toBe('at,actor_kind,actor_id,actor_name,role,action,subject_type,subject_id,outcome,ip,request_id,before,after,seq,hash');
    expect(rows.length).toBe((await read(ada.token, '&action=key.*')).length);
  });
});
