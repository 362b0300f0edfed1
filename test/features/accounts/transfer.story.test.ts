import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DAY } from '#core/time.ts';
import { tokenSignedIn } from '../../support/clients/session.ts';
import { withRival } from '../../support/faults/faults.ts';
import { addApp } from '../../support/people/factors.ts';
import { acceptInvitation, acceptOffer, actingToken, addMember, inviteTo, newHeir, offer } from '../../support/people/team.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { emailedToken, MailWorld, verifyAddress } from '../../support/servers/mail.ts';
import type { Body, Merchant } from '../../support/world.ts';

const PASSWORD = 'correct horse battery';
let w: MailWorld;
let owner: Merchant;
let heir: Awaited<ReturnType<typeof addMember>>;

beforeEach(async () => {
  w = new MailWorld();
  owner = await w.merchant('growth');
  await verifyAddress(w, owner);
  heir = (await newHeir(w, 'developer', owner)).heir;
});
afterEach(letTimeRun);

const path = '/v1/account/transfer';
const withdraw = (key: string) => w.call('DELETE', path, { key });
const accept = () => acceptOffer(w, heir);
const me = (key: string) => w.call('GET', '/v1/account/me', { key });
const listRoles = async (key: string) =>
  (await w.call('GET', '/v1/account/members', { key })).body.items.map(({ user_id, role }: Body) => [user_id, role]);
const refusalOf = ({ status, body }: { status: number; body: Body }) => [status, body.code, body.meta?.reason];
const logIn = async (email: string) => (await w.call('POST', '/v1/auth/login', { body: { email, password: PASSWORD } })).body;
const remove = (key: string, id: string) => w.call('DELETE', `/v1/account/members/${id}`, { key });
const close = (key: string) => w.call('DELETE', '/v1/account/account', { key });
const handOver = async () => {
  expect((await offer(w, owner, heir)).status).toBe(202);
  expect((await accept()).status).toBe(200);
};
const listActions = async (key: string, action: string): Promise<Body[]> =>
  (await w.call('GET', `/v1/account/audit-log?action=${action}`, { key })).body.items;
const subjectsTo = async (email: string): Promise<string[]> => {
  for (const message of w.mail.splice(0)) await w.post([message]);
  return (await w.posted()).taken.filter(({ body }) => body.to[0] === email).map(({ body }) => body.subject);
};

describe('POST /v1/account/transfer', () => {
  it('the eleventh offer of a day is refused with Retry-After, and sends no email', async () => {
    const others = (await newHeir(w, 'viewer', owner)).heir;
    for (let count = 0; count < 10; count++) expect((await offer(w, owner, count % 2 === 0 ? heir : others)).status).toBe(202);
    const sent = (await subjectsTo(heir.own.email)).length;
    const refused = await offer(w, owner, heir);
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await me(owner.token)).body.transfer.to).toBe(others.userId);
    expect(await subjectsTo(heir.own.email)).toHaveLength(sent);
  });

  it('refused offers do not count', async () => {
    const eve = await addMember(w, owner, 'viewer');
    for (let count = 0; count < 11; count++) expect((await offer(w, owner, eve)).status).toBe(409);
    expect((await offer(w, owner, heir)).status).toBe(202);
  });

  it('open invitations of the former owner to admins end with the transfer, and the others go on', async () => {
    const guests = [await w.merchant('free'), await w.merchant('free')] as const;
    const links = [await inviteTo(w, owner, guests[0].email, 'admin'), await inviteTo(w, owner, guests[1].email, 'viewer')] as const;
    await handOver();
    const answers = [await acceptInvitation(w, guests[0], links[0].token), await acceptInvitation(w, guests[1], links[1].token)];
    expect(answers.map(({ status }) => status)).toEqual([410, 200]);
    expect(await listActions(heir.token, 'invitation.withdrawn')).toMatchObject([{ after: { email: guests[0].email, role: 'admin' } }]);
  });

  it('the member who accepts owns the account, with its keys and plan, and the former owner is an admin', async () => {
    const made = await offer(w, owner, heir);
    expect([made.status, made.body]).toEqual([202, { to: heir.userId, expires_at: expect.any(String) }]);
    const days = (Date.parse(made.body.expires_at) - Date.now()) / DAY;
    expect(Math.abs(days - 7)).toBeLessThan(0.01);
    for (const key of [owner.token, heir.token]) expect((await me(key)).body.transfer).toEqual(made.body);
    const accepted = await accept();
    expect([accepted.status, accepted.body]).toEqual([200, { account_id: owner.userId, role: 'owner' }]);
    expect(await listRoles(heir.token)).toEqual([
      [heir.userId, 'owner'],
      [owner.userId, 'admin'],
    ]);
    expect((await me(owner.key)).body).toMatchObject({ user_id: heir.userId, email: heir.own.email, account_id: owner.userId });
    expect((await me(owner.token)).body).toMatchObject({ user_id: owner.userId, email: owner.email, role: 'admin', tier: 'growth' });
    expect((await me(heir.token)).body.transfer).toBeUndefined();
    expect(refusalOf(await close(owner.token))).toEqual([403, 'invalid_authorization', 'role']);
    const listed = (await w.call('GET', '/v1/accounts', { key: heir.token })).body.items;
    expect(listed.map(({ account_id, role }: Body) => [account_id, role])).toEqual([
      [heir.userId, 'owner'],
      [owner.userId, 'owner'],
    ]);
  });

  it('both persons are emailed at the start and at the end, and the log names both', async () => {
    await handOver();
    const emails = ['Ownership of Ada’s weather', 'Ownership of Ada’s weather'];
    for (const { email } of [owner, heir.own]) expect(await subjectsTo(email)).toEqual(expect.arrayContaining(emails));
    const [entry] = await listActions(heir.token, 'account.transferred');
    expect(entry).toMatchObject({
      actor: { kind: 'person', id: heir.userId, role: 'developer' },
      before: { owner_id: owner.userId },
      after: { owner_id: heir.userId },
    });
    expect(await listActions(heir.token, 'account.transfer_started')).toHaveLength(1);
  });

  it('the owner alone starts a transfer, to a member with a verified address', async () => {
    const admin = await addMember(w, owner, 'admin');
    const stranger = await w.merchant();
    expect(refusalOf(await offer(w, admin, heir))).toEqual([403, 'invalid_authorization', 'role']);
    expect(refusalOf(await offer(w, owner, admin))).toEqual([409, 'state_conflict', 'email_unverified']);
    expect(refusalOf(await offer(w, owner, owner))).toEqual([409, 'state_conflict', 'owner']);
    expect((await offer(w, owner, stranger)).status).toBe(404);
    expect((await w.call('POST', path, { key: owner.key, body: { user_id: heir.userId } })).body.meta.reason).toBe('token_required');
  });

  it('a member needs a factor where the owner has one, at the offer and when it is accepted', async () => {
    await offer(w, owner, heir);
    const { app } = await addApp(w, owner.token);
    expect(refusalOf(await accept())).toEqual([409, 'state_conflict', 'factor_required']);
    const proven = (await w.call('POST', '/v1/auth/step-up', { key: owner.token, body: { totp: app.code() } })).body.token;
    expect(refusalOf(await offer(w, { token: proven }, heir))).toEqual([409, 'state_conflict', 'factor_required']);
  });

  it('an offer and its acceptance need a recent sign-in', async () => {
    const old = await tokenSignedIn(w, owner.userId, 16);
    expect(refusalOf(await offer(w, { token: old }, heir))).toEqual([403, 'invalid_authorization', 'sign_in_required']);
    await offer(w, owner, heir);
    expect(refusalOf(await withdraw(old))).toEqual([403, 'invalid_authorization', 'sign_in_required']);
    const late = await actingToken(w, { token: await tokenSignedIn(w, heir.userId, 16) }, owner);
    expect(refusalOf(await acceptOffer(w, { token: late }))).toEqual([403, 'invalid_authorization', 'sign_in_required']);
  });
});

describe('the end of an offer', () => {
  const refused = [409, 'state_conflict', 'no_transfer'];

  it('a withdrawn offer cannot be accepted, and a second withdrawal changes nothing', async () => {
    await offer(w, owner, heir);
    expect([(await withdraw(owner.token)).status, (await withdraw(owner.token)).status]).toEqual([204, 204]);
    expect(refusalOf(await accept())).toEqual(refused);
    expect(await listActions(owner.token, 'account.transfer_withdrawn')).toHaveLength(1);
  });

  it('an offer ends after seven days, and one to another member replaces it', async () => {
    await offer(w, owner, heir);
    const other = (await newHeir(w, 'viewer', owner)).heir;
    await offer(w, owner, other);
    expect(refusalOf(await accept())).toEqual(refused);
    setTime(Date.now() + 7 * DAY + 1000);
    const token = await actingToken(w, { token: await tokenSignedIn(w, other.userId, 0) }, owner);
    expect(refusalOf(await acceptOffer(w, { token }))).toEqual(refused);
    expect(await listRoles(await tokenSignedIn(w, owner.userId, 0))).toContainEqual([owner.userId, 'owner']);
  });

  it('an offer ends with the membership, also if the person joins again', async () => {
    await offer(w, owner, heir);
    await remove(owner.token, heir.userId);
    expect((await accept()).status).toBe(401);
    expect((await me(owner.token)).body.transfer).toBeUndefined();
  });

  it('concurrent acceptances hand the account over once', async () => {
    await offer(w, owner, heir);
    const answers = await Promise.all([accept(), accept(), accept()]);
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    expect((await accept()).status).toBe(200);
    expect(await listActions(heir.token, 'account.transferred')).toHaveLength(1);
    expect(await listRoles(heir.token)).toHaveLength(2);
  });

  it('an acceptance and a withdrawal that race: one has an effect and the other is refused', async () => {
    await offer(w, owner, heir);
    let rival = 0;
    const env = withRival(w.env, async () => {
      rival = (await withdraw(owner.token)).status;
    });
    const first = (await w.call('POST', `${path}/accept`, { key: heir.token, env })).status;
    expect([
      [200, 403],
      [409, 204],
    ]).toContainEqual([first, rival]);
    expect((await me(owner.token)).body.role).toBe(first === 200 ? 'admin' : 'owner');
    await withdraw(heir.token);
  });

  it('an acceptance is refused if the member is removed meanwhile', async () => {
    await offer(w, owner, heir);
    const env = withRival(w.env, () => remove(owner.token, heir.userId));
    expect((await w.call('POST', `${path}/accept`, { key: heir.token, env })).status).toBe(404);
    expect(await listRoles(owner.token)).toEqual([[owner.userId, 'owner']]);
  });

  it('an acceptance that races with another role of the member hands the account over', async () => {
    await offer(w, owner, heir);
    const rival = () => w.call('PATCH', `/v1/account/members/${heir.userId}`, { key: owner.token, body: { role: 'viewer' } });
    const { status } = await w.call('POST', `${path}/accept`, { key: heir.token, env: withRival(w.env, rival) });
    expect(status).toBe(200);
    expect(await listRoles(heir.token)).toEqual([
      [heir.userId, 'owner'],
      [owner.userId, 'admin'],
    ]);
  });

  it('a role change and an offer of the former owner are refused if the account is handed over meanwhile', async () => {
    const bob = await addMember(w, owner, 'viewer');
    await offer(w, owner, heir);
    const change = { key: owner.token, body: { role: 'admin' }, env: withRival(w.env, accept) };
    expect(refusalOf(await w.call('PATCH', `/v1/account/members/${bob.userId}`, change))).toEqual([403, 'invalid_authorization', 'role']);
    expect(refusalOf(await offer(w, owner, bob))).toEqual([403, 'invalid_authorization', 'role']);
  });

  it('a suspended account is not handed over', async () => {
    await offer(w, owner, heir);
    await w.env.DB.prepare("UPDATE accounts SET status = 'suspended', version = version + 1 WHERE id = ?").bind(owner.userId).run();
    expect((await accept()).body.code).toBe('account_suspended');
  });

  it('an account that is being deleted is not handed over', async () => {
    await offer(w, owner, heir);
    let rival = 0;
    const env = withRival(w.env, async () => {
      rival = (await accept()).status;
    });
    expect((await w.call('DELETE', '/v1/account/account', { key: owner.token, env })).status).toBe(200);
    expect(rival).toBeGreaterThanOrEqual(401);
    expect((await me(heir.token)).status).toBe(401);
  });
});

describe('a person who handed the account over', () => {
  beforeEach(handOver);

  it('the former owner signs in and acts on the account as admin, and on an empty one after removal', async () => {
    const again = await logIn(owner.email);
    expect([again.account_id, again.role]).toEqual([owner.userId, 'admin']);
    expect((await remove(heir.token, owner.userId)).status).toBe(204);
    expect(refusalOf(await me(again.token))).toEqual([401, 'invalid_authorization', 'not_a_member']);
    const [one, other] = await Promise.all([logIn(owner.email), logIn(owner.email)]);
    expect([one.account_id, one.role, one.tier]).toEqual([other.account_id, 'owner', 'free']);
    expect([owner.userId, heir.userId]).not.toContain(one.account_id);
    expect((await me(one.token)).body).toMatchObject({ user_id: owner.userId, email: owner.email, role: 'owner' });
    const body = { name: 'First', price: { asset: 'USDC', amount: '1' } };
    expect((await w.call('POST', '/v1/products', { key: one.token, body })).status).toBe(201);
    expect((await w.call('GET', '/v1/account/sessions', { key: one.token })).status).toBe(200);
    expect((await w.call('GET', '/v1/accounts', { key: one.token })).body.items).toHaveLength(1);
    expect((await listRoles(heir.token)).map(([id]: string[]) => id)).toEqual([heir.userId]);
  });

  it('the log of the account has no sign-in of the former owner', async () => {
    const before = (await listActions(heir.token, 'session.*')).length;
    await logIn(owner.email);
    const body = { current_password: PASSWORD, new_password: 'another battery staple' };
    expect((await w.call('PATCH', '/v1/account/me/security', { key: owner.token, body })).status).toBe(200);
    expect(await listActions(heir.token, 'session.*')).toHaveLength(before);
    expect(await listActions(heir.token, 'person.*')).toHaveLength(1);
  });

  it('a reset with all other access ends nothing of the account that the person no longer owns', async () => {
    const { emailedToken } = await import('../../support/servers/mail.ts');
    const token = await emailedToken(w, owner.userId, 'reset');
    const body = { token, new_password: 'another battery staple', end_others: true };
    expect((await w.call('POST', '/v1/auth/password/reset', { body })).status).toBe(200);
    expect((await me(owner.key)).status).toBe(200);
    expect(await listRoles(heir.token)).toHaveLength(2);
  });

  it('a reset with all other access of the new owner ends keys, members, wallets and offers of that account too', async () => {
    const eve = await addMember(w, owner, 'admin');
    const made = (await w.call('POST', '/v1/keys', { key: heir.token, body: { name: 'of a thief' } })).body.raw_key;
    const body = { token: await emailedToken(w, heir.userId, 'reset'), new_password: 'battery staple 9', end_others: true };
    expect((await w.call('POST', '/v1/auth/password/reset', { body })).status).toBe(200);
    expect((await w.call('GET', '/v1/products', { key: made })).status).toBe(401);
    expect((await me(eve.token)).status).toBe(401);
    const { body: session } = await w.call('POST', '/v1/auth/login', { body: { email: heir.own.email, password: 'battery staple 9' } });
    const token = await actingToken(w, session, owner);
    expect(await listRoles(token)).toEqual([[heir.userId, 'owner']]);
    expect(await listActions(token, 'account.claimed')).toMatchObject([{ actor: { id: heir.userId } }]);
  });

  it('a key that the former owner is making when the membership ends is not made', async () => {
    const rival = withRival(w.env, () => remove(heir.token, owner.userId));
    const body = { name: 'left behind', sandbox_mode: true };
    const made = await w.call('POST', '/v1/keys', { key: owner.token, body, env: rival });
    expect(refusalOf(made)).toEqual([401, 'invalid_authorization', 'not_a_member']);
    expect(JSON.stringify((await w.call('GET', '/v1/keys', { key: heir.token })).body)).not.toContain('left behind');
  });

  it('a removed member of an account that was handed over gets 401 not_a_member in calls about the person too', async () => {
    const bob = await addMember(w, owner, 'viewer');
    expect((await remove(heir.token, bob.userId)).status).toBe(204);
    expect(refusalOf(await w.call('GET', '/v1/account/sessions', { key: bob.token }))).toEqual([
      401,
      'invalid_authorization',
      'not_a_member',
    ]);
  });

  it('alerts about the account go to the new owner alone', async () => {
    await subjectsTo(owner.email);
    await w.call('POST', '/v1/keys', { key: heir.token, body: { name: 'server' } });
    const alert = 'Security alert for your account';
    expect(await subjectsTo(heir.own.email)).toContain(alert);
    expect(await subjectsTo(owner.email)).not.toContain(alert);
  });

  it('a person who owns another account too deletes neither', async () => {
    for (const token of [heir.token, await actingToken(w, heir.own, { userId: heir.userId })])
      expect(refusalOf(await close(token))).toEqual([409, 'state_conflict', 'owns_others']);
  });

  it('the former owner ends with the empty account, and the account that was handed over stays', async () => {
    await remove(heir.token, owner.userId);
    const { token } = await logIn(owner.email);
    expect((await close(token)).status).toBe(200);
    await w.sweepAlone('erasures');
    expect((await w.call('POST', '/v1/auth/login', { body: { email: owner.email, password: PASSWORD } })).status).toBe(403);
    expect((await me(token)).status).toBe(401);
    expect((await me(owner.key)).status).toBe(200);
    const row = await w.env.DB.prepare('SELECT email, name FROM persons WHERE id = ?').bind(owner.userId).first();
    expect(row).toEqual({ email: null, name: 'Deleted account' });
  });

  it('the new owner deletes the account, and the former owner still signs in', async () => {
    const third = (await newHeir(w, 'viewer', heir.own)).heir;
    const ownToken = await actingToken(w, heir.own, { userId: heir.userId });
    await offer(w, { token: ownToken }, third);
    expect((await acceptOffer(w, third)).status).toBe(200);
    expect((await close(heir.token)).status).toBe(200);
    await w.sweepAlone('erasures');
    expect((await me(owner.key)).status).toBe(401);
    const { token, account_id, role } = await logIn(owner.email);
    expect([role, account_id === owner.userId]).toEqual(['owner', false]);
    expect((await me(token)).body).toMatchObject({ user_id: owner.userId, email: owner.email, status: 'active' });
    expect((await me(third.token)).body).toMatchObject({ role: 'owner', account_id: heir.userId });
    expect(await listRoles(third.token)).toEqual([[third.userId, 'owner']]);
  });

  it('an erasure that stopped after the account ends the person too', async () => {
    await remove(heir.token, owner.userId);
    const { token, account_id } = await logIn(owner.email);
    await close(token);
    await w.env.DB.prepare('UPDATE persons SET ended_at = NULL, email = ? WHERE id = ?').bind(owner.email, owner.userId).run();
    expect(account_id).not.toBe(owner.userId);
    await w.sweepAlone('erasures');
    const row = await w.env.DB.prepare('SELECT email FROM persons WHERE id = ?').bind(owner.userId).first('email');
    expect(row).toBeNull();
  });
});
