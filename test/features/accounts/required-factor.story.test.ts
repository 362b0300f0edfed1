import { describe, expect, it } from 'vitest';
import { addApp, stepUpWith } from '../../support/people/factors.ts';
import { addMember } from '../../support/people/team.ts';
import { type Body, World } from '../../support/world.ts';

const w = new World();

const me = (key: string) => w.call('GET', '/v1/account/me', { key });
const setRule = (key: string, require_factor: boolean) => w.call('PATCH', '/v1/account/me', { key, body: { require_factor } });
const refusalOf = ({ status, body }: { status: number; body: Body }) => [status, body.code, body.meta?.reason];
const REFUSED = [403, 'invalid_authorization', 'factor_required'];

/** Owner with a factor, and a token that proved it. */
async function newOwner() {
  const owner = await w.merchant();
  const { app } = await addApp(w, owner.token);
  return { owner, app, token: await stepUpWith(w, owner.token, { totp: app.code() }) };
}

describe('require_factor of an account', () => {
  it('a member without a factor is refused until one is added, and keys work as before', async () => {
    const { owner, token } = await newOwner();
    const bob = await addMember(w, owner, 'admin');
    expect((await setRule(token, true)).body.updated_fields).toEqual(['require_factor']);
    expect((await me(token)).body.require_factor).toBe(true);
    for (const path of ['/v1/products', '/v1/account/members', '/v1/keys', '/v1/account/audit-log'])
      expect(refusalOf(await w.call('GET', path, { key: bob.token }))).toEqual(REFUSED);
    const body = { name: 'Another', price: { asset: 'USDC', amount: '1' } };
    expect(refusalOf(await w.call('POST', '/v1/products', { key: bob.token, body }))).toEqual(REFUSED);
    expect((await w.call('GET', '/v1/products', { key: owner.key })).status).toBe(200);
    await addApp(w, bob.own.token);
    expect((await w.call('GET', '/v1/products', { key: bob.token })).status).toBe(200);
  });

  it('a member without a factor reads the account, switches, and manages sessions and factors', async () => {
    const { owner, token } = await newOwner();
    const bob = await addMember(w, owner, 'viewer');
    await setRule(token, true);
    for (const path of ['/v1/account/me', '/v1/accounts', '/v1/account/sessions', '/v1/account/passkeys'])
      expect([path, (await w.call('GET', path, { key: bob.token })).status]).toEqual([path, 200]);
    const back = await w.call('POST', '/v1/auth/switch', { key: bob.token, body: { account_id: bob.userId } });
    expect(back.status).toBe(200);
    expect((await w.call('GET', '/v1/products', { key: back.body.token })).status).toBe(200);
    expect((await w.call('POST', '/v1/auth/switch', { key: back.body.token, body: { account_id: owner.userId } })).status).toBe(200);
    expect((await w.call('POST', '/v1/account/totp', { key: bob.token })).status).toBe(201);
  });

  it('a member without a factor may leave', async () => {
    const { owner, token } = await newOwner();
    const bob = await addMember(w, owner, 'viewer');
    await setRule(token, true);
    expect((await w.call('DELETE', `/v1/account/members/${bob.userId}`, { key: bob.token })).status).toBe(204);
  });

  it('the owner alone sets it, with a factor and after a recent proof of it', async () => {
    const { owner, token } = await newOwner();
    const admin = await addMember(w, owner, 'admin');
    expect(refusalOf(await setRule(admin.token, true))).toEqual([403, 'invalid_authorization', 'role']);
    expect(refusalOf(await setRule(owner.key, true))).toEqual([403, 'invalid_authorization', 'token_required']);
    expect(refusalOf(await setRule(owner.token, true))).toEqual([403, 'invalid_authorization', 'step_up_required']);
    const plain = await w.merchant();
    expect(refusalOf(await setRule(plain.token, true))).toEqual([409, 'state_conflict', 'factor_required']);
    await setRule(token, true);
    expect(refusalOf(await setRule(admin.token, false))).toEqual(REFUSED);
    expect((await setRule(token, false)).status).toBe(200);
    expect((await w.call('GET', '/v1/products', { key: admin.token })).status).toBe(200);
    const { items } = (await w.call('GET', '/v1/account/audit-log?action=account.updated', { key: token })).body;
    expect(items.map(({ after }: Body) => after.require_factor)).toEqual([false, true]);
  });

  it('the owner who removed the factor can add one again', async () => {
    const { owner, app, token } = await newOwner();
    await setRule(token, true);
    expect((await w.call('DELETE', '/v1/account/totp', { key: token })).status).toBe(204);
    expect(app).toBeDefined();
    expect(refusalOf(await w.call('GET', '/v1/products', { key: owner.token }))).toEqual(REFUSED);
    await addApp(w, owner.token);
    expect((await w.call('GET', '/v1/products', { key: owner.token })).status).toBe(200);
  });
});
