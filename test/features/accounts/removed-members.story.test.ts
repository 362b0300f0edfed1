import { describe, expect, it } from 'vitest';
import { withFaults, withRival } from '../../support/faults/faults.ts';
import { addMember } from '../../support/people/team.ts';
import { MailWorld, verifyAddress } from '../../support/servers/mail.ts';
import { type Body, World } from '../../support/world.ts';

const w = new World();

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

describe('DELETE /v1/account/members/{user_id}', () => {
  it('a removed member has no access from the next request on', async () => {
    const owner = await w.merchant();
    const bob = await addMember(w, owner, 'admin');
    expect((await remove(owner.token, bob.userId)).status).toBe(204);
    expect(refusalOf(await createProduct(bob.token))).toEqual(NO_MEMBER);
    expect(refusalOf(await me(bob.token))).toEqual(NO_MEMBER);
    expect(refusalOf(await switchTo(bob.token, bob.userId))).toEqual(NO_MEMBER);
    expect(refusalOf(await w.call('POST', '/v1/auth/refresh', { body: { token: bob.token } }))).toEqual(NO_MEMBER);
    expect((await switchTo(bob.own.token, owner.userId)).status).toBe(404);
    expect((await remove(owner.token, bob.userId)).status).toBe(404);
    expect(await listAccounts(bob.own.token)).toMatchObject([{ account_id: bob.userId }]);
  });

  it('calls that race with the removal are either made before it or refused', async () => {
    const owner = await w.merchant();
    const bob = await addMember(w, owner, 'developer');
    const [removed, ...calls] = await Promise.all([
      remove(owner.token, bob.userId),
      ...Array.from({ length: 8 }, () => createProduct(bob.token)),
    ]);
    expect(removed.status).toBe(204);
    expect(calls.every(({ status }) => status === 201 || status === 401)).toBe(true);
    const made = calls.filter(({ status }) => status === 201).length;
    expect((await w.call('GET', '/v1/products', { key: owner.token })).body.total).toBe(made);
    expect((await createProduct(bob.token)).status).toBe(401);
  });

  it('a member of any role leaves without a recent sign-in, the owner never', async () => {
    const owner = await w.merchant();
    const bob = await addMember(w, owner, 'viewer', 60);
    const eve = await addMember(w, owner, 'viewer', 60);
    expect(refusalOf(await remove(bob.token, eve.userId))).toEqual(lacking('viewer', ['owner', 'admin']));
    expect((await remove(bob.token, bob.userId)).status).toBe(204);
    expect(refusalOf(await me(bob.token))).toEqual(NO_MEMBER);
    expect(refusalOf(await remove(owner.token, owner.userId))).toEqual([409, 'state_conflict', { reason: 'owner' }]);
  });

  it('invitations that the member sent end with the removal, and with a role that invites nobody', async () => {
    const mail = new MailWorld();
    const owner = await mail.merchant();
    await verifyAddress(mail, owner);
    const [bob, eve] = [await addMember(mail, owner, 'admin'), await addMember(mail, owner, 'admin')];
    const invite = async (key: string) => {
      const body = { email: `${crypto.randomUUID()}@example.com`, role: 'viewer' };
      return (await mail.call('POST', '/v1/account/invitations', { key, body })).body.invitation_id as string;
    };
    for (const admin of [bob, eve]) await verifyAddress(mail, admin.own);
    const [ofBob, ofEve, ofOwner] = [await invite(bob.token), await invite(eve.token), await invite(owner.token)];
    expect((await mail.call('DELETE', `/v1/account/members/${bob.userId}`, { key: owner.token })).status).toBe(204);
    const body = { role: 'developer' };
    expect((await mail.call('PATCH', `/v1/account/members/${eve.userId}`, { key: owner.token, body })).status).toBe(200);
    const { items } = (await mail.call('GET', '/v1/account/invitations', { key: owner.token })).body;
    const statuses = new Map(items.map((item: Body) => [item.invitation_id, item.status]));
    expect([ofBob, ofEve, ofOwner].map((id) => statuses.get(id))).toEqual(['withdrawn', 'withdrawn', 'pending']);
    const log = (await mail.call('GET', '/v1/account/audit-log?action=invitation.withdrawn', { key: owner.token })).body.items;
    expect(log.map((entry: Body) => entry.subject.id).sort()).toEqual([ofBob, ofEve].sort());
  });

  it('keys and endpoints of the member end with the removal if the call says so, and no others', async () => {
    const owner = await w.merchant();
    const [bob, eve] = [await addMember(w, owner, 'developer'), await addMember(w, owner, 'developer')];
    const createKey = async (key: string) => (await w.call('POST', '/v1/keys', { key, body: { name: 'server' } })).body;
    const addEndpoint = async (key: string) =>
      (await w.call('POST', '/v1/webhooks/endpoints', { key, body: { url: 'https://shop.example.com/hooks' } })).body;
    const keys = [await createKey(bob.token), await createKey(eve.token)];
    const endpoints = [await addEndpoint(bob.token), await addEndpoint(eve.token)];
    expect(keys.map(({ key }) => key.created_by.user_id)).toEqual([bob.userId, eve.userId]);
    expect((await remove(owner.token, bob.userId, '?with=keys,endpoints')).status).toBe(204);
    expect((await remove(owner.token, eve.userId)).status).toBe(204);
    const reads = await Promise.all(keys.map(({ raw_key }) => w.call('GET', '/v1/products', { key: raw_key })));
    expect(reads.map(({ status }) => status)).toEqual([401, 200]);
    const { items } = (await w.call('GET', '/v1/webhooks/endpoints', { key: owner.token })).body;
    const shown = endpoints.map(({ endpoint_id: id }) => items.find((one: { endpoint_id: string }) => one.endpoint_id === id));
    expect(shown.map(({ status, disabled_reason }) => [status, disabled_reason])).toEqual([
      ['disabled', 'member_removed'],
      ['enabled', undefined],
    ]);
    expect((await remove(owner.token, eve.userId, '?with=wallets')).status).toBe(422);
  });

  it('an endpoint that a key of the member created ends with the removal too', async () => {
    const owner = await w.merchant();
    const bob = await addMember(w, owner, 'developer');
    const { raw_key: key } = (await w.call('POST', '/v1/keys', { key: bob.token, body: { name: 'server' } })).body;
    const urls = ['https://bob.example.com/hooks', 'https://owner.example.com/hooks'];
    for (const [index, by] of [key, owner.key].entries())
      expect((await w.call('POST', '/v1/webhooks/endpoints', { key: by, body: { url: urls[index]! } })).status).toBe(201);
    expect((await remove(owner.token, bob.userId, '?with=keys,endpoints')).status).toBe(204);
    const { items } = (await w.call('GET', '/v1/webhooks/endpoints', { key: owner.token })).body;
    expect(Object.fromEntries(items.map(({ url, status }: Body) => [url, status]))).toEqual({
      [urls[0]!]: 'disabled',
      [urls[1]!]: 'enabled',
    });
  });

  it('a removed member’s key is refused at once even if the object missed the call that revokes it', async () => {
    const owner = await w.merchant();
    const bob = await addMember(w, owner, 'developer');
    const { raw_key: key } = (await w.call('POST', '/v1/keys', { key: bob.token, body: { name: 'server' } })).body;
    expect((await w.call('GET', '/v1/products', { key })).status).toBe(200);
    const revokeKey = () => Promise.reject(new Error('the object does not answer'));
    const getByName = (name: string, options?: object) =>
      new Proxy(w.env.ADMISSION.getByName(name, options), {
        get: (stub, call) => (call === 'revokeKey' ? revokeKey : (Reflect.get(stub, call) as unknown)),
      });
    const env = { ...w.env, ADMISSION: { getByName } } as unknown as World['env'];
    const removed = await w.call('DELETE', `/v1/account/members/${bob.userId}?with=keys`, { key: owner.token, env });
    expect(removed.status).toBe(204);
    expect((await w.call('GET', '/v1/products', { key })).status).toBe(401);
  });

  it('a key that is under way when its maker is removed, or loses the role, is not made', async () => {
    const owner = await w.merchant();
    const bob = await addMember(w, owner, 'developer');
    const eve = await addMember(w, owner, 'developer');
    const known = (await w.call('POST', '/v1/keys', { key: eve.token, body: { name: 'server' } })).body.key;
    const create = { key: bob.token, body: { name: 'late' }, env: withRival(w.env, () => remove(owner.token, bob.userId, '?with=keys')) };
    expect(refusalOf(await w.call('POST', '/v1/keys', create))).toEqual(NO_MEMBER);
    const roll = { key: eve.token, body: {}, env: withRival(w.env, () => setRole(owner.token, eve.userId, 'viewer')) };
    expect(refusalOf(await w.call('POST', `/v1/keys/${known.id}/roll`, roll))).toEqual(lacking('viewer', ['owner', 'admin', 'developer']));
    const keys: Body[] = (await w.call('GET', '/v1/keys', { key: owner.token })).body;
    const madeBy = (id: string) => keys.filter(({ created_by }: Body) => created_by.user_id === id).map((one: Body) => one.id);
    expect([madeBy(bob.userId), madeBy(eve.userId)]).toEqual([[], [known.id]]);
  });

  it('members who send one Idempotency-Key each get an answer of their own', async () => {
    const owner = await w.merchant();
    const bob = await addMember(w, owner, 'developer');
    const create = (key: string) =>
      w.call('POST', '/v1/keys', { key, body: { name: 'server' }, headers: { 'Idempotency-Key': 'one-key-for-all' } });
    const [first, second] = [await create(owner.token), await create(bob.token)];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body.raw_key).not.toBe(first.body.raw_key);
    expect((await create(bob.token)).body.raw_key).toBe(second.body.raw_key);
  });
});

describe('POST /v1/keys/{key_id}/roll', () => {
  it('a key that is rolled without overlap is refused at once, whichever answer of the database was lost', async () => {
    const { token } = await w.merchant();
    for (let failsAt = 1; failsAt <= 12; failsAt++) {
      const { raw_key, key } = (await w.call('POST', '/v1/keys', { key: token, body: { name: 'server' } })).body;
      expect((await w.call('GET', '/v1/products', { key: raw_key })).status).toBe(200);
      const roll = { key: token, body: { overlap_hours: 0 } };
      const { env } = withFaults(w.env, { after: ({ number }) => number === failsAt });
      const first = await w.call('POST', `/v1/keys/${key.id}/roll`, { ...roll, env });
      if (first.status !== 201) expect([201, 409]).toContain((await w.call('POST', `/v1/keys/${key.id}/roll`, roll)).status);
      expect([failsAt, (await w.call('GET', '/v1/products', { key: raw_key })).status]).toEqual([failsAt, 401]);
    }
  });
});
