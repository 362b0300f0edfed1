import { beforeEach, describe, expect, it } from 'vitest';
import { type CallOptions, type Merchant, World } from '../../support/world.ts';

const SECRET = 'the secret of an operator in a test';

describe('key usage summary', () => {
  const w = new World({ OPERATOR_SECRET: SECRET });
  const strict = { ...w.env, RATE_MULTIPLIER: '1' };
  let owner: Merchant;
  let key: { id: string; raw: string };

  beforeEach(async () => {
    owner = await w.merchant();
    const made = await w.call('POST', '/v1/keys', { key: owner.token, body: { name: 'watched', permissions: ['read'] } });
    key = { id: made.body.key.id, raw: made.body.raw_key };
  });

  const shown = async () => {
    const { body } = await w.call('GET', '/v1/keys', { key: owner.token });
    return body.find(({ id }: { id: string }) => id === key.id);
  };
  const usage = async () => (await shown()).usage_summary;

  it.each<[string, number, string, string, CallOptions]>([
    ['without the permission', 403, 'POST', '/v1/products', { body: {} }],
    ['in the other mode', 403, 'GET', '/v1/products?mode=sandbox', {}],
    ['where only a person may', 403, 'POST', '/v1/keys', { body: { name: 'x' } }],
    ['in a mode that does not exist', 422, 'GET', '/v1/products?mode=neither', {}],
    ['with a page that is none', 422, 'GET', '/v1/products?page=0', {}],
    ['for what is not there', 404, 'GET', '/v1/products/01900000-0000-7000-8000-000000000000', {}],
  ])('usage counts a call %s (%i)', async (_what, status, method, path, options) => {
    const answer = await w.call(method, path, { ...options, key: key.raw, headers: { 'X-Svc-Request-Id': 'the-refused-one' } });
    expect(answer.status).toBe(status);
    const { usage_summary, recent_activity } = await shown();
    expect(usage_summary).toMatchObject({ total_calls: 1, success_calls: 0, error_calls: 1 });
    expect(usage_summary.latest_endpoint).toMatch(new RegExp(`^${method} /v1/`));
    expect(recent_activity).toMatchObject([{ method, status, request_id: 'the-refused-one' }]);
  });

  it('usage counts calls that the account’s rate limit refused (429)', async () => {
    const free = await w.merchant('free');
    const made = await w.call('GET', '/v1/account/me', { key: free.sandboxKey, env: strict });
    const limit = Number(made.headers.get('X-RateLimit-Limit'));
    for (let left = limit - 1; left > 0; left--) await w.call('GET', '/v1/account/me', { key: free.sandboxKey, env: strict });
    const refused = await w.call('GET', '/v1/account/me', { key: free.sandboxKey, env: strict });
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited']);
    const { body } = await w.call('GET', '/v1/keys', { key: free.token });
    const { usage_summary } = body.find(({ id }: { id: string }) => id === made.body.key_id);
    expect(usage_summary).toMatchObject({ total_calls: limit + 1, success_calls: limit, error_calls: 1 });
  });

  it('usage counts calls of a suspended account, and none of a revoked or forged key', async () => {
    const operate = (action: string) =>
      w.call('POST', '/v1/operator/accounts', { headers: { 'X-Svc-Operator-Secret': SECRET }, body: { account: owner.email, action } });
    await operate('suspend');
    expect((await w.call('GET', '/v1/products', { key: key.raw })).status).toBe(403);
    await operate('resume');
    owner.token = (await w.call('POST', '/v1/auth/login', { body: { email: owner.email, password: 'correct horse battery' } })).body.token;
    expect(await usage()).toMatchObject({ total_calls: 1, error_calls: 1 });
    expect((await w.call('DELETE', `/v1/keys/${key.id}`, { key: owner.token })).status).toBe(204);
    expect((await w.call('GET', '/v1/products', { key: key.raw })).status).toBe(401);
    expect((await w.call('GET', '/v1/products', { key: `${key.raw.slice(0, -1)}${key.raw.endsWith('0') ? '1' : '0'}` })).status).toBe(401);
    expect(await usage()).toMatchObject({ total_calls: 1, error_calls: 1 });
  });
});
