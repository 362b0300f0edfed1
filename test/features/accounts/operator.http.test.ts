import { generateKeyPairSigner } from '@solana/kit';
import { describe, expect, it } from 'vitest';
import { walletSignIn } from '../../support/chain/wallet.ts';
import { openApi } from '../../support/clients/call.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type CallOptions, World } from '../../support/world.ts';

const SECRET = 'the secret of an operator in a test';
const w = new World({ OPERATOR_SECRET: SECRET });
const me = (key: string) => w.call('GET', '/v1/account/me', { key });
const operate = (account: string, action: string, options: CallOptions = {}, world = w) =>
  world.call('POST', '/v1/operator/accounts', { body: { account, action }, headers: { 'X-Svc-Operator-Secret': SECRET }, ...options });

describe('POST /v1/operator/accounts', () => {
  it('suspend refuses tokens, keys and sign-ins from the next request on', async () => {
    const { token, key, sandboxKey, email, userId } = await w.merchant();
    expect((await me(key)).status).toBe(200);
    expect(await operate(email, 'suspend')).toMatchObject({ status: 200, body: { user_id: userId, status: 'suspended' } });
    for (const credential of [token, key, sandboxKey])
      expect(await me(credential)).toMatchObject({ status: 403, body: { code: 'account_suspended' } });
    const attempt = { email, password: 'correct horse battery' };
    expect(await w.call('POST', '/v1/auth/login', { body: attempt })).toMatchObject({ status: 403, body: { code: 'account_suspended' } });
    expect(await w.call('POST', '/v1/auth/login', { body: { ...attempt, password: 'a guess at it' } })).toMatchObject({ status: 401 });
    expect(await w.call('POST', '/v1/auth/refresh', { body: { token } })).toMatchObject({
      status: 403,
      body: { code: 'account_suspended' },
    });
  });

  it('resume makes keys valid again, but not tokens from before', async () => {
    const { token, key, email, userId } = await w.merchant();
    await operate(userId, 'suspend');
    expect(await operate(userId, 'resume')).toMatchObject({ status: 200, body: { status: 'active' } });
    expect((await me(key)).status).toBe(200);
    expect((await me(token)).status).toBe(401);
    const again = await w.call('POST', '/v1/auth/login', { body: { email, password: 'correct horse battery' } });
    expect((await me(again.body.token)).status).toBe(200);
  });

  it('staff may create admin keys until the status is removed', async () => {
    const { token, email, userId } = await w.merchant();
    const adminKey = () => w.call('POST', '/v1/keys', { key: token, body: { name: 'a', permissions: ['admin'] } });
    expect(await adminKey()).toMatchObject({ status: 403, body: { code: 'admin_requires_staff' } });
    expect((await operate(userId, 'staff')).body.is_staff).toBe(true);
    expect((await adminKey()).status).toBe(201);
    expect((await me(token)).body.claims.is_staff).toBe(true);
    expect((await operate(email, 'unstaff')).body.is_staff).toBe(false);
    expect((await adminKey()).status).toBe(403);
  });

  it('an email names a future staff member only if it is verified', async () => {
    const { email, userId } = await w.merchant();
    const refused = await operate(email, 'staff');
    expect([refused.status, refused.body.code, refused.body.meta.reason]).toEqual([409, 'state_conflict', 'email_unverified']);
    await w.env.DB.prepare('UPDATE persons SET email_verified = 1 WHERE id = ?').bind(userId).run();
    expect((await operate(email, 'staff')).body).toMatchObject({ user_id: userId, is_staff: true });
  });

  it('a wallet account cannot become staff', async () => {
    const { user_id } = (await walletSignIn(w, await generateKeyPairSigner())).body;
    expect(await operate(user_id, 'staff')).toMatchObject({ status: 409, body: { code: 'state_conflict' } });
  });

  it('repeated actions succeed, and a deleted account cannot be revived', async () => {
    const { token, userId } = await w.merchant();
    for (const action of ['suspend', 'suspend', 'resume', 'resume', 'staff', 'staff'])
      expect((await operate(userId, action)).status).toBe(200);
    const { token: fresh } = (
      await w.call('POST', '/v1/auth/login', { body: { email: (await readEmail(userId))!, password: 'correct horse battery' } })
    ).body;
    expect((await me(token)).status).toBe(401);
    await w.call('DELETE', '/v1/account/account', { key: fresh });
    for (const action of ['suspend', 'resume', 'staff']) expect((await operate(userId, action)).status).toBe(409);
  });

  it('an action changes only the named account', async () => {
    const [named, other] = [await w.merchant(), await w.merchant()];
    await operate(named.email, 'suspend');
    for (const credential of [other.token, other.key]) expect((await me(credential)).status).toBe(200);
    expect((await operate('nobody@example.com', 'suspend')).status).toBe(404);
    expect((await operate(crypto.randomUUID(), 'suspend')).status).toBe(404);
    expect((await operate(named.email, 'promote')).status).toBe(422);
  });
});

describe('non-operator callers', () => {
  it('an unconfigured operator API and a wrong secret give the same 404', async () => {
    const { email } = await w.merchant();
    const open = new World();
    const answers = [
      await operate(email, 'suspend', {}, open),
      await operate(email, 'suspend', { headers: {} }, open),
      await operate(email, 'suspend', { headers: {} }),
      await operate(email, 'suspend', { headers: { 'X-Svc-Operator-Secret': `${SECRET}!` } }),
      await operate(email, 'suspend', { headers: { 'X-Svc-Operator-Secret': '' } }),
      await operate(email, 'suspend', { headers: { 'X-Svc-Operator-Secret': 'no' }, body: { nonsense: true } }),
    ];
    const seen = new Set(answers.map(({ status, body }) => JSON.stringify([status, { ...body, request_id: '' }])));
    expect([...seen]).toHaveLength(1);
    expect(answers[0]).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(
      await readEmail((await w.call('POST', '/v1/auth/login', { body: { email, password: 'correct horse battery' } })).body.user_id),
    ).toBe(email);
  });

  it('guesses at the secret are limited to ten a minute', async () => {
    const strict = new World({ OPERATOR_SECRET: SECRET, RATE_MULTIPLIER: '1' });
    const headers = { 'X-Svc-Operator-Secret': 'a guess', 'CF-Connecting-IP': '203.0.113.79' };
    for (let i = 0; i < 10; i++) expect((await operate('x', 'suspend', { headers }, strict)).status).toBe(404);
    const right = { ...headers, 'X-Svc-Operator-Secret': SECRET };
    expect((await operate('x', 'suspend', { headers: right }, strict)).status).toBe(429);
  });

  it('the published OpenAPI document does not mention the operator API', () => {
    expect(JSON.stringify(openApi).toLowerCase()).not.toContain('operator/');
  });
});

const readEmail = async (userId: string) =>
  (await testEnv.DB.prepare('SELECT email FROM persons WHERE id = ?').bind(userId).first<{ email: string | null }>())?.email;
