import { describe, expect, it } from 'vitest';
import { bindDatabases, openOnly } from '../../support/fixtures/databases.ts';
import { addApp, addPasskey, logInAgain, stepUpWith } from '../../support/people/factors.ts';
import { acceptInvitation, actingToken, addMember, inviteTo, join } from '../../support/people/team.ts';
import { MailWorld, verifyAddress } from '../../support/servers/mail.ts';
import { type Merchant, World } from '../../support/world.ts';

interface Entry {
  seq: number;
  livemode: boolean;
  action: string;
  actor: { kind: string; id?: string; name?: string; role?: string };
  subject: { type: string; id: string };
  before?: object;
  after?: object;
}

const w = new World();
const LOG = '/v1/account/audit-log';
const read = async (key: string, query = ''): Promise<Entry[]> => (await w.call('GET', `${LOG}?per_page=100${query}`, { key })).body.items;
const rename = (id: string, name: string) => w.env.DB.prepare('UPDATE persons SET name = ? WHERE id = ?').bind(name, id).run();
const createProduct = (key: string) =>
  w.call('POST', '/v1/products', { key, body: { name: 'Wind', price: { asset: 'USDC', amount: '1' } } });
const actionsOf = (entries: Entry[]) => entries.map(({ action }) => action);

describe('authors of entries', () => {
  it('the owner’s log has an admin’s act with the admin’s id, name and role', async () => {
    const owner = await w.merchant();
    const bob = await addMember(w, owner, 'admin');
    await rename(bob.userId, 'Bob');
    const { body: product } = await createProduct(bob.token);
    const [entry] = await read(owner.token, `&subject_id=${product.product_id}`);
    expect(entry!.actor).toEqual({ kind: 'person', id: bob.userId, name: 'Bob', role: 'admin' });
    expect(await read(bob.own.token, '&action=product.created')).toEqual([]);
  });

  it('the role is that at the time of the act, and a key has a name of its own', async () => {
    const owner = await w.merchant();
    const bob = await addMember(w, owner, 'admin');
    const first = (await createProduct(bob.token)).body.product_id;
    await w.call('PATCH', `/v1/account/members/${bob.userId}`, { key: owner.token, body: { role: 'developer' } });
    const second = (await createProduct(bob.token)).body.product_id;
    const third = (await createProduct(owner.key)).body.product_id;
    const authors = new Map((await read(owner.token, '&action=product.created')).map(({ subject, actor }) => [subject.id, actor]));
    expect([authors.get(first)!.role, authors.get(second)!.role]).toEqual(['admin', 'developer']);
    expect(authors.get(third)).toEqual({ kind: 'key', id: expect.any(String), name: expect.any(String) });
  });

  it('a member of another database has id and role, and no name', async () => {
    const world = new World();
    const owner = await world.merchant();
    await bindDatabases(world, 'DB_2');
    openOnly(world, 'DB_2');
    const bob = await world.merchant('free');
    await join(world, owner, bob, 'admin');
    const token = await actingToken(world, bob, owner);
    const body = { name: 'Wind', price: { asset: 'USDC', amount: '1' } };
    const product = await world.call('POST', '/v1/products', { key: token, body });
    expect(product.status).toBe(201);
    const { body: page } = await world.call('GET', `${LOG}?subject_id=${product.body.product_id}`, { key: owner.token });
    expect(page.items[0].actor).toEqual({ kind: 'person', id: bob.userId, role: 'admin' });
  });

  it('the log of a person has what the person changed in a session for another account', async () => {
    const owner = await w.merchant();
    const bob = await addMember(w, owner, 'developer');
    const { codes } = await addApp(w, bob.token);
    const entries = await read(bob.own.token, '&action=person.*');
    expect(entries).toMatchObject([
      { action: 'person.totp_added', actor: { kind: 'person', id: bob.userId }, subject: { id: bob.userId } },
    ]);
    expect(entries[0]!.actor.role).toBeUndefined();
    expect(JSON.stringify(entries)).not.toContain(codes![0]);
    expect(await read(owner.token, '&action=person.*')).toEqual([]);
  });
});

describe('entries of members', () => {
  const changeRole = (key: string, id: string, role: string) => w.call('PATCH', `/v1/account/members/${id}`, { key, body: { role } });

  it('a changed role has one entry with both roles, a repeated one none', async () => {
    const owner = await w.merchant();
    const bob = await addMember(w, owner, 'viewer');
    for (const _ of [1, 2]) expect((await changeRole(owner.token, bob.userId, 'finance')).status).toBe(200);
    expect(await read(owner.token, '&action=member.*')).toMatchObject([
      {
        action: 'member.role_changed',
        actor: { kind: 'person', id: owner.userId, role: 'owner' },
        subject: { type: 'member', id: bob.userId },
        before: { role: 'viewer' },
        after: { role: 'finance' },
      },
    ]);
  });

  it('a removal names the member, and each key and endpoint that ended with it', async () => {
    const owner = await w.merchant();
    const bob = await addMember(w, owner, 'developer');
    const keys = await Promise.all(
      [false, true].map(async (sandbox_mode) => {
        const { body } = await w.call('POST', '/v1/keys', { key: bob.token, body: { name: 'server', sandbox_mode } });
        return body.key.id as string;
      }),
    );
    const endpoint = await w.call('POST', '/v1/webhooks/endpoints', { key: bob.token, body: { url: 'https://shop.example.com/hooks' } });
    const both = async () => [...(await read(owner.token)), ...(await read(owner.token, '&mode=sandbox'))];
    const known = new Set((await both()).map(({ seq }) => seq));
    const removed = await w.call('DELETE', `/v1/account/members/${bob.userId}?with=keys,endpoints`, { key: owner.token });
    expect(removed.status).toBe(204);
    const all = await both();
    const entries = all.filter(({ seq }) => !known.has(seq));
    expect(entries.map(({ action, subject }) => `${action} ${subject.id}`).sort()).toEqual(
      [`member.removed ${bob.userId}`, `endpoint.disabled ${endpoint.body.endpoint_id}`, ...keys.map((id) => `key.revoked ${id}`)].sort(),
    );
    expect(entries.every(({ actor }) => actor.id === owner.userId)).toBe(true);
    expect(entries.filter(({ livemode }) => !livemode).map(({ subject }) => subject.id)).toEqual([keys[1]]);
    expect(all.map(({ seq }) => seq).sort((a, b) => a - b)).toEqual(all.map((_, i) => i + 1));
  });

  it('an invitation, its withdrawal and the join of the invited person have entries', async () => {
    const mails = new MailWorld();
    const owner = await mails.merchant('growth');
    await verifyAddress(mails, owner);
    const [bob, cy] = [await mails.merchant(), await mails.merchant()];
    const accepted = await inviteTo(mails, owner, bob.email);
    const withdrawn = await inviteTo(mails, owner, cy.email);
    const path = `/v1/account/invitations/${withdrawn.id}`;
    expect((await mails.call('POST', `${path}/resend`, { key: owner.token })).status).toBe(202);
    for (const _ of [1, 2]) expect((await mails.call('DELETE', path, { key: owner.token })).status).toBe(204);
    expect((await acceptInvitation(mails, bob, accepted.token)).status).toBe(200);
    const { items } = (await mails.call('GET', LOG, { key: owner.token })).body;
    const found = items.filter(({ action }: Entry) => /^(?:member|invitation)\./.test(action)).reverse();
    expect(found).toMatchObject([
      { action: 'member.invited', subject: { type: 'invitation', id: accepted.id }, after: { email: bob.email, role: 'developer' } },
      { action: 'member.invited', subject: { id: withdrawn.id }, actor: { id: owner.userId, role: 'owner' } },
      { action: 'invitation.resent', subject: { id: withdrawn.id } },
      { action: 'invitation.withdrawn', subject: { id: withdrawn.id } },
      {
        action: 'member.joined',
        actor: { kind: 'person', id: bob.userId, role: 'developer' },
        subject: { type: 'member', id: bob.userId },
        after: { role: 'developer', invited_by: owner.userId },
      },
    ]);
    expect(found).toHaveLength(5);
    const own = (await mails.call('GET', `${LOG}?action=person.email_verified`, { key: bob.token })).body.items;
    expect(own).toMatchObject([{ actor: { id: bob.userId }, after: { email: bob.email } }]);
  });

  it('a member who leaves is the author of the entry', async () => {
    const owner = await w.merchant();
    const bob = await addMember(w, owner, 'support');
    await w.call('DELETE', `/v1/account/members/${bob.userId}`, { key: bob.token });
    expect(await read(owner.token, '&action=member.removed')).toMatchObject([
      { actor: { id: bob.userId, role: 'support' }, subject: { id: bob.userId }, before: { role: 'support' } },
    ]);
  });
});

describe('entries of factors', () => {
  const signIn = async (merchant: Merchant, proof: object) => {
    const { body } = await logInAgain(w, merchant);
    return w.call('POST', '/v1/auth/factor', { body: { ticket: body.meta.ticket, ...proof } });
  };

  it('each change of a factor has one entry, and no code or secret is in one', async () => {
    const ada = await w.merchant();
    const { codes } = await addApp(w, ada.token);
    const fresh = await stepUpWith(w, ada.token, { recovery_code: codes![0]! });
    const { passkey } = await addPasskey(w, fresh);
    const name = (to: string) => w.call('PATCH', `/v1/account/passkeys/${passkey.passkey_id}`, { key: fresh, body: { name: to } });
    for (const _ of [1, 2]) await name('Phone');
    const renewed = await w.call('POST', '/v1/account/recovery-codes', { key: fresh });
    expect((await signIn(ada, { recovery_code: renewed.body.recovery_codes[0] })).status).toBe(200);
    await w.call('DELETE', `/v1/account/passkeys/${passkey.passkey_id}`, { key: fresh });
    for (const _ of [1, 2]) expect((await w.call('DELETE', '/v1/account/totp', { key: fresh })).status).toBe(204);
    const entries = await read(ada.token, '&action=person.*');
    expect(actionsOf(entries).reverse()).toEqual([
      'person.totp_added',
      'person.recovery_code_used',
      'person.passkey_added',
      'person.passkey_renamed',
      'person.recovery_codes_renewed',
      'person.recovery_code_used',
      'person.passkey_removed',
      'person.totp_removed',
    ]);
    expect(entries.every(({ actor }) => actor.id === ada.userId && actor.role === 'owner')).toBe(true);
    const text = JSON.stringify(entries);
    for (const code of [codes![0], renewed.body.recovery_codes[0]]) expect(text).not.toContain(code);
  });
});

describe('chain of entries', () => {
  it('the message of a call chains its entries, and the sweep those of a lost message', async () => {
    const ada = await w.merchant();
    await createProduct(ada.token);
    const messages = w.queue.sent.splice(0).filter(({ job }) => job.kind === 'chainEntries');
    expect(messages.flatMap(({ job }) => (job.kind === 'chainEntries' ? job.accountIds : []))).toContain(ada.userId);
    const hashes = async () => (await w.call('GET', LOG, { key: ada.token })).body.items.map(({ hash }: { hash?: string }) => hash);
    expect((await hashes()).every((hash: string | undefined) => hash === undefined)).toBe(true);
    await w.deliver(messages.map(({ job }) => job));
    expect((await hashes()).every((hash: string | undefined) => hash !== undefined)).toBe(true);
    await createProduct(ada.token);
    w.queue.sent.splice(0);
    await w.sweepAlone('auditChain');
    expect((await hashes()).every((hash: string | undefined) => hash !== undefined)).toBe(true);
    expect((await w.call('GET', `${LOG}/verify`, { key: ada.token })).body.valid).toBe(true);
  });
});
