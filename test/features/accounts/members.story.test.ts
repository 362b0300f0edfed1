import { describe, expect, it } from 'vitest';
import { tokenSignedIn } from '../../support/clients/session.ts';
import { addApp } from '../../support/people/factors.ts';
import { actingToken, addMember, join } from '../../support/people/team.ts';
import { type Body, World } from '../../support/world.ts';

const PASSWORD = 'correct horse battery';
const w = new World();

const members = (key: string) => w.call('GET', '/v1/account/members', { key });
const setRole = (key: string, id: string, role: string) => w.call('PATCH', `/v1/account/members/${id}`, { key, body: { role } });
const remove = (key: string, id: string, query = '') => w.call('DELETE', `/v1/account/members/${id}${query}`, { key });
const switchTo = (key: string, id: string) => w.call('POST', '/v1/auth/switch', { key, body: { account_id: id } });
const listAccounts = async (key: string) => (await w.call('GET', '/v1/accounts', { key })).body.items;
const me = (key: string) => w.call('GET', '/v1/account/me', { key });
const createProduct = (key: string) =>
  w.call('POST', '/v1/products', { key, body: { name: 'Another', price: { asset: 'USDC', amount: '1' } } });
const refusalOf = ({ status, body }: { status: number; body: Body }) => [status, body.code, body.meta];
const NO_MEMBER = [401, 'invalid_authorization', { reason: 'not_a_member' }];
const lacking = (role: string, needs: string[]) => [403, 'invalid_authorization', { reason: 'role', role, needs }];

describe('GET /v1/account/members', () => {
  it('the list shows the owner, then the members with their names, addresses and roles', async () => {
    const owner = await w.merchant();
    const ada = await addMember(w, owner, 'developer');
    const { status, body } = await members(ada.token);
    expect(status).toBe(200);
    expect(body.items).toEqual([
      {
        user_id: owner.userId,
        display_name: 'Ada’s weather',
        email: owner.email,
        role: 'owner',
        has_factor: false,
        joined_at: expect.any(String),
        last_seen_at: expect.any(String),
      },
      {
        user_id: ada.userId,
        display_name: 'Ada’s weather',
        email: ada.own.email,
        role: 'developer',
        has_factor: false,
        joined_at: expect.any(String),
        last_seen_at: expect.any(String),
        invited_by: owner.userId,
      },
    ]);
  });

  it('the last use is that of open sessions for this account alone', async () => {
    const owner = await w.merchant();
    const [elsewhere, ended] = [await addMember(w, owner, 'viewer'), await addMember(w, owner, 'viewer')];
    expect((await switchTo(elsewhere.token, elsewhere.userId)).status).toBe(200);
    await w.call('POST', '/v1/auth/logout', { key: ended.token, body: { end: 'all' } });
    const { body } = await members(owner.token);
    const seen = Object.fromEntries(body.items.map((item: Body) => [item.user_id, item.last_seen_at]));
    expect(Math.abs(Date.parse(seen[owner.userId]) - Date.now())).toBeLessThan(5 * 60_000);
    expect([seen[elsewhere.userId], seen[ended.userId]]).toEqual([undefined, undefined]);
  });

  it('keys are refused', async () => {
    const owner = await w.merchant();
    const answers = [await members(owner.key), await setRole(owner.key, owner.userId, 'admin'), await remove(owner.key, owner.userId)];
    for (const answer of answers) expect(refusalOf(answer)).toEqual([403, 'invalid_authorization', { reason: 'token_required' }]);
  });
});

describe('accounts of a person', () => {
  it('the list shows the own account first, the roles, and the account that the token acts on', async () => {
    const owner = await w.merchant('growth');
    const bob = await addMember(w, owner, 'finance');
    const listed = [
      { account_id: bob.userId, display_name: 'Ada’s weather', role: 'owner', tier: 'free', current: false, joined_at: expect.any(String) },
      {
        account_id: owner.userId,
        display_name: 'Ada’s weather',
        role: 'finance',
        tier: 'growth',
        current: true,
        joined_at: expect.any(String),
      },
    ];
    expect(await listAccounts(bob.token)).toEqual(listed);
    expect((await listAccounts(bob.own.token)).map(({ current }: { current: boolean }) => current)).toEqual([true, false]);
    expect(await listAccounts(owner.token)).toMatchObject([{ account_id: owner.userId, role: 'owner', current: true }]);
  });

  it('a switched token acts on the other account, in the same session and sign-in', async () => {
    const owner = await w.merchant();
    const { own: bob } = await addMember(w, owner, 'admin');
    const before = (await w.call('POST', '/v1/auth/login', { body: { email: bob.email, password: PASSWORD } })).body;
    const { status, body } = await switchTo(before.token, owner.userId);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      user_id: bob.userId,
      account_id: owner.userId,
      role: 'admin',
      session_id: before.session_id,
      tier: 'scale',
    });
    const [claims, earlier] = [body.token, before.token].map((token) =>
      JSON.parse(atob(token.split('.')[1].replace(/-/g, '+').replace(/_/g, '/'))),
    );
    expect(claims).toMatchObject({ sub: bob.userId, acc: owner.userId, role: 'admin', tier: 'scale', is_staff: false });
    expect([claims.sid, claims.auth_time]).toEqual([earlier.sid, earlier.auth_time]);
    expect((await createProduct(body.token)).status).toBe(201);
    expect((await w.call('GET', '/v1/products', { key: owner.token })).body.total).toBe(1);
    const { items } = (await w.call('GET', '/v1/account/sessions', { key: body.token })).body;
    expect(items.find((one: { current: boolean }) => one.current).account_id).toBe(owner.userId);
  });

  it('an account without the person, or of nobody, is 404', async () => {
    const [owner, stranger] = [await w.merchant(), await w.merchant()];
    for (const id of [owner.userId, '01900000-0000-7000-8000-000000000000']) expect((await switchTo(stranger.token, id)).status).toBe(404);
  });

  it('a sign-in and a renewed token act on the account of before', async () => {
    const owner = await w.merchant();
    const bob = await addMember(w, owner, 'support');
    const logIn = async () => (await w.call('POST', '/v1/auth/login', { body: { email: bob.own.email, password: PASSWORD } })).body;
    const again = await logIn();
    const { items } = (await w.call('GET', '/v1/account/sessions', { key: again.token })).body;
    expect(items.find((one: { current: boolean }) => one.current).account_id).toBe(owner.userId);
    expect([again.account_id, again.role]).toEqual([owner.userId, 'support']);
    const renewed = (await w.call('POST', '/v1/auth/refresh', { body: { token: again.token } })).body;
    expect([renewed.account_id, renewed.role, renewed.session_id]).toEqual([owner.userId, 'support', again.session_id]);
    await remove(owner.token, bob.userId);
    const alone = await logIn();
    expect([alone.account_id, alone.role]).toEqual([bob.userId, 'owner']);
  });

  it('account me shows the person with a token, the owner with a key, and the account with both', async () => {
    const owner = await w.merchant();
    const bob = await addMember(w, owner, 'viewer');
    await w.call('PATCH', '/v1/account/me', { key: owner.token, body: { display_name: 'Shop', timezone: 'Europe/Berlin' } });
    const ofAccount = { account_id: owner.userId, display_name: 'Shop', timezone: 'Europe/Berlin', tier: 'scale' };
    expect((await me(bob.token)).body).toMatchObject({ ...ofAccount, user_id: bob.userId, email: bob.own.email, role: 'viewer' });
    expect((await me(owner.key)).body).toMatchObject({ ...ofAccount, user_id: owner.userId, email: owner.email, role: null });
  });

  it('a call about the person acts on the person, from whichever account', async () => {
    const owner = await w.merchant();
    const bob = await addMember(w, owner, 'viewer');
    const change = { current_password: PASSWORD, new_password: 'another battery staple' };
    expect((await w.call('PATCH', '/v1/account/me/security', { key: bob.token, body: change })).status).toBe(200);
    const logIn = (email: string, password: string) => w.call('POST', '/v1/auth/login', { body: { email, password } });
    expect((await logIn(bob.own.email, change.new_password)).status).toBe(200);
    expect((await logIn(owner.email, PASSWORD)).status).toBe(200);
    // The change ended every session of the person, and none of the owner.
    expect((await me(bob.token)).status).toBe(401);
    expect((await me(owner.token)).status).toBe(200);
  });

  it('staff are staff in their own account alone', async () => {
    const owner = await w.merchant();
    const bob = await addMember(w, owner, 'admin');
    await w.env.DB.prepare('UPDATE persons SET is_staff = 1 WHERE id = ?').bind(bob.userId).run();
    await w.env.DB.prepare('UPDATE accounts SET version = version + 1 WHERE id = ?').bind(bob.userId).run();
    const token = await actingToken(w, bob.own, owner);
    expect((await me(token)).body.claims.is_staff).toBe(false);
    const back = await actingToken(w, { token }, { userId: bob.userId });
    expect((await me(back)).body.claims.is_staff).toBe(true);
  });

  it('the factor of the person decides in each account, and a step-up stays in the account', async () => {
    const owner = await w.merchant();
    await addApp(w, owner.token);
    const admin = await addMember(w, owner, 'admin');
    const bob = await addMember(w, owner, 'viewer');
    // The owner has a factor and the admin none, so that a recent sign-in is enough.
    expect((await setRole(admin.token, bob.userId, 'support')).status).toBe(200);
    const { app } = await addApp(w, admin.own.token);
    const refused = await setRole(admin.token, bob.userId, 'viewer');
    expect([refused.status, refused.body.meta]).toMatchObject([403, { reason: 'step_up_required', methods: ['totp', 'recovery_code'] }]);
    const stepped = await w.call('POST', '/v1/auth/step-up', { key: admin.token, body: { totp: app.code() } });
    expect([stepped.body.account_id, stepped.body.role]).toEqual([owner.userId, 'admin']);
    expect((await setRole(stepped.body.token, bob.userId, 'viewer')).status).toBe(200);
    const factors = (await members(owner.token)).body.items.map(({ has_factor }: { has_factor: boolean }) => has_factor);
    expect(factors).toEqual([true, true, false]);
  });

  it('an ended session opens no account', async () => {
    const owner = await w.merchant();
    const bob = await addMember(w, owner, 'viewer');
    expect((await me(bob.token)).status).toBe(200);
    await w.call('POST', '/v1/auth/logout', { key: bob.token, body: { end: 'session' } });
    const ended = [401, 'invalid_authorization', { reason: 'session_ended' }];
    expect(refusalOf(await me(bob.token))).toEqual(ended);
    expect(refusalOf(await switchTo(bob.token, owner.userId))).toEqual(ended);
  });
});

describe('PATCH /v1/account/members/{user_id}', () => {
  it('another role counts from the next request on', async () => {
    const owner = await w.merchant();
    const bob = await addMember(w, owner, 'viewer');
    expect(refusalOf(await createProduct(bob.token))).toEqual(lacking('viewer', ['owner', 'admin', 'developer']));
    const { status, body } = await setRole(owner.token, bob.userId, 'developer');
    expect([status, body.user_id, body.role]).toEqual([200, bob.userId, 'developer']);
    expect((await createProduct(bob.token)).status).toBe(201);
    await setRole(owner.token, bob.userId, 'viewer');
    expect((await createProduct(bob.token)).status).toBe(403);
  });

  it('the owner alone makes, changes and removes admins', async () => {
    const owner = await w.merchant();
    const [admin, other, bob] = [
      await addMember(w, owner, 'admin'),
      await addMember(w, owner, 'admin'),
      await addMember(w, owner, 'viewer'),
    ];
    const refused = lacking('admin', ['owner']);
    expect(refusalOf(await setRole(admin.token, bob.userId, 'admin'))).toEqual(refused);
    expect(refusalOf(await setRole(admin.token, other.userId, 'viewer'))).toEqual(refused);
    expect(refusalOf(await remove(admin.token, other.userId))).toEqual(refused);
    expect((await setRole(admin.token, bob.userId, 'support')).status).toBe(200);
    expect((await setRole(owner.token, bob.userId, 'admin')).status).toBe(200);
    expect((await remove(owner.token, other.userId)).status).toBe(204);
  });

  it('the owner’s role is fixed, nobody becomes owner this way, and strangers are 404', async () => {
    const [owner, other] = [await w.merchant(), await w.merchant()];
    const admin = await addMember(w, owner, 'admin');
    const bob = await addMember(w, other, 'viewer');
    expect(refusalOf(await setRole(admin.token, owner.userId, 'viewer'))).toEqual([409, 'state_conflict', { reason: 'owner' }]);
    expect((await setRole(owner.token, admin.userId, 'owner')).status).toBe(422);
    expect((await setRole(owner.token, bob.userId, 'admin')).status).toBe(404);
    expect((await remove(owner.token, bob.userId)).status).toBe(404);
    expect((await members(other.token)).body.items.map(({ role }: { role: string }) => role)).toEqual(['owner', 'viewer']);
  });

  it('a role and a removal need a recent sign-in', async () => {
    const owner = await w.merchant();
    const bob = await addMember(w, owner, 'viewer');
    const old = await tokenSignedIn(w, owner.userId, 16);
    for (const answer of [await setRole(old, bob.userId, 'support'), await remove(old, bob.userId)])
      expect([answer.status, answer.body.meta.reason]).toEqual([403, 'sign_in_required']);
    expect((await members(old)).body.items).toMatchObject([{ role: 'owner' }, { role: 'viewer' }]);
  });

  it('concurrent changes of a role end in one of them', async () => {
    const owner = await w.merchant();
    const bob = await addMember(w, owner, 'viewer');
    const roles = ['developer', 'finance', 'support'];
    const answers = await Promise.all(roles.map((role) => setRole(owner.token, bob.userId, role)));
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    const [, { role }] = (await members(owner.token)).body.items;
    expect(roles).toContain(role);
    expect((await me(bob.token)).body.role).toBe(role);
  });
});

describe('the end of accounts and persons', () => {
  it('a deleted account has no members, and no one but the owner deletes it', async () => {
    const owner = await w.merchant();
    const admin = await addMember(w, owner, 'admin');
    expect(refusalOf(await w.call('DELETE', '/v1/account/account', { key: admin.token }))).toEqual(lacking('admin', ['owner']));
    expect((await w.call('DELETE', '/v1/account/account', { key: owner.token })).status).toBe(200);
    expect(refusalOf(await me(admin.token))).toEqual(NO_MEMBER);
    expect((await switchTo(admin.own.token, owner.userId)).status).toBe(404);
    expect(await listAccounts(admin.own.token)).toHaveLength(1);
    const left = await w.env.DB.prepare('SELECT count(*) AS n FROM members WHERE account_id = ?').bind(owner.userId).first('n');
    expect(left).toBe(0);
  });

  it('a deleted person leaves the accounts of others', async () => {
    const owner = await w.merchant();
    const bob = await addMember(w, owner, 'admin');
    expect((await w.call('DELETE', '/v1/account/account', { key: bob.own.token })).status).toBe(200);
    await w.sweepAlone('erasures');
    expect((await members(owner.token)).body.items).toHaveLength(1);
    expect((await me(bob.token)).status).toBe(401);
  });

  it('a person is a member of several accounts with a role in each', async () => {
    const [one, other, bob] = [await w.merchant(), await w.merchant(), await w.merchant()];
    await join(w, one, bob, 'admin');
    await join(w, other, bob, 'viewer');
    const tokens = [await actingToken(w, bob, one), await actingToken(w, bob, other)];
    expect((await Promise.all(tokens.map(createProduct))).map(({ status }) => status)).toEqual([201, 403]);
    expect((await listAccounts(bob.token)).map(({ role }: { role: string }) => role)).toEqual(['owner', 'admin', 'viewer']);
  });
});
