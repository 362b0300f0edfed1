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

describe('the operator', () => {
  it('suspends an account: tokens and keys are refused on their next request, and so is signing in', async () => {
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

  it('resumes it: keys work again, a token from before stays dead', async () => {
    const { token, key, email, userId } = await w.merchant();
    await operate(userId, 'suspend');
    expect(await operate(userId, 'resume')).toMatchObject({ status: 200, body: { status: 'active' } });
    expect((await me(key)).status).toBe(200);
    expect((await me(token)).status).toBe(401);
    const again = await w.call('POST', '/v1/auth/login', { body: { email, password: 'correct horse battery' } });
    expect((await me(again.body.token)).status).toBe(200);
  });

  it('makes staff, who may create admin keys; unmade, both that and those keys end', async () => {
    const { token, email, userId } = await w.merchant();
    const adminKey = () => w.call('POST', '/v1/keys', { key: token, body: { name: 'a', permissions: ['admin'] } });
    expect(await adminKey()).toMatchObject({ status: 403, body: { code: 'admin_requires_staff' } });
    expect((await operate(userId, 'staff')).body.is_staff).toBe(true);
    expect((await adminKey()).status).toBe(201);
    expect((await me(token)).body.claims.is_staff).toBe(true);
    expect((await operate(email, 'unstaff')).body.is_staff).toBe(false);
    expect((await adminKey()).status).toBe(403);
  });

  it('takes an e-mail for a colleague’s only where it was proven: anybody may have registered it first', async () => {
    const { email, userId } = await w.merchant();
    const refused = await operate(email, 'staff');
    expect([refused.status, refused.body.code, refused.body.meta.reason]).toEqual([409, 'state_conflict', 'email_unverified']);
    await w.env.DB.prepare('UPDATE accounts SET email_verified = 1 WHERE id = ?').bind(userId).run();
    expect((await operate(email, 'staff')).body).toMatchObject({ user_id: userId, is_staff: true });
  });

  it('never makes staff of a wallet', async () => {
    const { user_id } = (await walletSignIn(w, await generateKeyPairSigner())).body;
    expect(await operate(user_id, 'staff')).toMatchObject({ status: 409, body: { code: 'state_conflict' } });
  });

  it('may say the same twice, and never revives a deleted account', async () => {
    const { token, userId } = await w.merchant();
    for (const action of ['suspend', 'suspend', 'resume', 'resume', 'staff', 'staff'])
      expect((await operate(userId, action)).status).toBe(200);
    const { token: fresh } = (
      await w.call('POST', '/v1/auth/login', { body: { email: (await emailOf(userId))!, password: 'correct horse battery' } })
    ).body;
    expect((await me(token)).status).toBe(401);
    await w.call('DELETE', '/v1/account/account', { key: fresh });
    for (const action of ['suspend', 'resume', 'staff']) expect((await operate(userId, action)).status).toBe(409);
  });

  it('touches only the account it names', async () => {
    const [named, other] = [await w.merchant(), await w.merchant()];
    await operate(named.email, 'suspend');
    for (const credential of [other.token, other.key]) expect((await me(credential)).status).toBe(200);
    expect((await operate('nobody@example.com', 'suspend')).status).toBe(404);
    expect((await operate(crypto.randomUUID(), 'suspend')).status).toBe(404);
    expect((await operate(named.email, 'promote')).status).toBe(422);
  });
});

describe('everybody else', () => {
  it('finds nothing there: not configured and wrong secret answer alike', async () => {
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
      await emailOf((await w.call('POST', '/v1/auth/login', { body: { email, password: 'correct horse battery' } })).body.user_id),
    ).toBe(email);
  });

  it('guesses ten times a minute at most', async () => {
    const strict = new World({ OPERATOR_SECRET: SECRET, RATE_MULTIPLIER: '1' });
    const headers = { 'X-Svc-Operator-Secret': 'a guess', 'CF-Connecting-IP': '203.0.113.79' };
    for (let i = 0; i < 10; i++) expect((await operate('x', 'suspend', { headers }, strict)).status).toBe(404);
    const right = { ...headers, 'X-Svc-Operator-Secret': SECRET };
    expect((await operate('x', 'suspend', { headers: right }, strict)).status).toBe(429);
  });

  it('does not read of it in the published document', () => {
    expect(JSON.stringify(openApi).toLowerCase()).not.toContain('operator/');
  });
});

const emailOf = async (userId: string) =>
  (await testEnv.DB.prepare('SELECT email FROM accounts WHERE id = ?').bind(userId).first<{ email: string | null }>())?.email;
