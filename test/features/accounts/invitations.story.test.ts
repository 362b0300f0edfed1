import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DAY, HOUR } from '#core/time.ts';
import { tokenSignedIn } from '../../support/clients/session.ts';
import { withRivalAt } from '../../support/faults/faults.ts';
import { acceptInvitation, actingToken, addMember, invitationTokenOf, inviteTo } from '../../support/people/team.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { rowsOf, withRowCount, worstOf } from '../../support/runner/rows-read.ts';
import { MailWorld, tokenIn, verifyAddress } from '../../support/servers/mail.ts';
import { type Body, type Merchant, World } from '../../support/world.ts';

let w: MailWorld;
let owner: Merchant;
beforeEach(async () => {
  w = new MailWorld();
  owner = await w.merchant('growth');
  await verifyAddress(w, owner);
});
afterEach(letTimeRun);

const invite = (key: string, email: string, role = 'developer', more: object = {}) =>
  w.call('POST', '/v1/account/invitations', { key, body: { email, role, ...more } });
const list = async (key: string): Promise<Body[]> => (await w.call('GET', '/v1/account/invitations', { key })).body.items;
const resend = (key: string, id: string) => w.call('POST', `/v1/account/invitations/${id}/resend`, { key });
const withdraw = (key: string, id: string) => w.call('DELETE', `/v1/account/invitations/${id}`, { key });
const preview = (token: string) => w.call('POST', '/v1/invitations/preview', { body: { token } });
const refusalOf = ({ status, body }: { status: number; body: Body }) => [status, body.code, body.meta?.reason];
const listRoles = async (): Promise<Body[]> =>
  (await w.call('GET', '/v1/account/members', { key: owner.token })).body.items.map(({ role }: Body) => role);

async function emailedTo(email: string) {
  for (const message of w.mail.splice(0)) await w.post([message]);
  return (await w.posted()).taken.filter(({ body }) => body.to[0] === email);
}

describe('POST /v1/account/invitations', () => {
  it('the invited person reads who invites, accepts, and acts on the account in the given role', async () => {
    const bob = await w.merchant();
    const made = await invite(owner.token, bob.email.toUpperCase(), 'finance');
    expect([made.status, made.body]).toEqual([
      201,
      {
        invitation_id: expect.any(String),
        email: bob.email,
        role: 'finance',
        status: 'pending',
        invited_by: { user_id: owner.userId, display_name: 'Ada’s weather' },
        expires_at: expect.any(String),
        created_at: expect.any(String),
      },
    ]);
    const [email] = await emailedTo(bob.email);
    expect(email!.body.subject).toBe('Join Ada’s weather');
    const token = tokenIn(email);
    expect((await preview(token)).body).toEqual({
      account: { display_name: 'Ada’s weather' },
      role: 'finance',
      email: `m…@example.com`,
      invited_by: 'Ada’s weather',
      expires_at: made.body.expires_at,
    });
    const accepted = await acceptInvitation(w, bob, token);
    expect([accepted.status, accepted.body]).toEqual([200, { account_id: owner.userId, role: 'finance' }]);
    const acting = await actingToken(w, bob, owner);
    const { body } = await w.call('GET', '/v1/account/me', { key: acting });
    expect([body.account_id, body.role, body.email_verified]).toEqual([owner.userId, 'finance', true]);
    expect((await list(owner.token)).map(({ status }) => status)).toEqual(['accepted']);
    expect(await listRoles()).toEqual(['owner', 'finance']);
  });

  it('a used, withdrawn, replaced or old link is 410, and a forged one 401', async () => {
    const [bob, cy, dee, eve] = [await w.merchant(), await w.merchant(), await w.merchant(), await w.merchant()];
    const used = await inviteTo(w, owner, bob.email);
    expect((await acceptInvitation(w, bob, used.token)).status).toBe(200);
    const withdrawn = await inviteTo(w, owner, cy.email);
    expect((await withdraw(owner.token, withdrawn.id)).status).toBe(204);
    expect((await withdraw(owner.token, withdrawn.id)).status).toBe(204);
    const replaced = await inviteTo(w, owner, dee.email);
    setTime(Date.now() + 1000);
    expect((await resend(owner.token, replaced.id)).status).toBe(202);
    const old = await inviteTo(w, owner, eve.email);
    for (const [person, { token }] of [
      [bob, used],
      [cy, withdrawn],
      [dee, replaced],
    ] as const) {
      expect(refusalOf(await acceptInvitation(w, person, token))).toEqual([410, 'link_expired', undefined]);
      expect(refusalOf(await preview(token))).toEqual([410, 'link_expired', undefined]);
    }
    const [current] = (await list(owner.token)).filter(({ email }) => email === dee.email);
    expect((await acceptInvitation(w, dee, invitationTokenOf(w, current as never))).status).toBe(200);
    const forged = `${old.token.slice(0, -1)}${old.token.endsWith('A') ? 'B' : 'A'}`;
    expect(refusalOf(await acceptInvitation(w, eve, forged))).toEqual([401, 'invalid_credentials', undefined]);
    expect(refusalOf(await acceptInvitation(w, eve, 'nonsense'))).toEqual([401, 'invalid_credentials', undefined]);
    setTime(Date.now() + 7 * DAY);
    expect(refusalOf(await preview(old.token))).toEqual([410, 'link_expired', undefined]);
    const later = await tokenSignedIn(w, owner.userId, 0);
    expect((await list(later)).find(({ email }) => email === eve.email)!.status).toBe('expired');
  });

  it('a person of another address and a member are refused, and the link stays unused', async () => {
    const [bob, mallory] = [await w.merchant(), await w.merchant()];
    const { token } = await inviteTo(w, owner, bob.email);
    expect(refusalOf(await acceptInvitation(w, mallory, token))).toEqual([409, 'state_conflict', 'other_address']);
    expect((await acceptInvitation(w, bob, token)).status).toBe(200);
    expect(refusalOf(await invite(owner.token, bob.email))).toEqual([409, 'state_conflict', 'already_member']);
    expect(refusalOf(await invite(owner.token, owner.email))).toEqual([409, 'state_conflict', 'already_member']);
  });

  it('an acceptance verifies no address that the person set meanwhile', async () => {
    for (let trip = 1, hasRun = true; hasRun; trip++) {
      const bob = await w.merchant();
      const { token } = await inviteTo(w, owner, bob.email);
      const email = `meanwhile-${trip}@example.com`;
      const body = { email, current_password: 'correct horse battery' };
      const rival = withRivalAt(w.env, trip, () => w.call('PATCH', '/v1/account/me/security', { key: bob.token, body }));
      const { status } = await w.call('POST', '/v1/invitations/accept', { key: bob.token, body: { token }, env: rival.env });
      hasRun = rival.hasRun();
      const { email: present, email_verified } = (await w.call('GET', '/v1/account/me', { key: bob.key })).body;
      expect([trip, present, email_verified]).toEqual([trip, hasRun ? email : bob.email, !hasRun]);
      if (!hasRun) expect(status).toBe(200);
      // Leaves the seat for the next one.
      await w.call('DELETE', `/v1/account/members/${bob.userId}`, { key: owner.token });
      for (const { invitation_id } of await list(owner.token)) await withdraw(owner.token, invitation_id);
    }
  });

  it('two withdrawals that meet both have their effect', async () => {
    for (let trip = 1, hasRun = true; hasRun; trip++) {
      const [one, other] = [await inviteTo(w, owner, `one-${trip}@example.com`), await inviteTo(w, owner, `other-${trip}@example.com`)];
      const rival = withRivalAt(w.env, trip, () => withdraw(owner.token, other.id));
      expect((await w.call('DELETE', `/v1/account/invitations/${one.id}`, { key: owner.token, env: rival.env })).status).toBe(204);
      hasRun = rival.hasRun();
      if (!hasRun) await withdraw(owner.token, other.id);
      expect([trip, (await list(owner.token)).map(({ status }) => status)]).toEqual([trip, Array(2 * trip).fill('withdrawn')]);
    }
  });

  it('two acceptances of one person that meet both list their account', async () => {
    for (let trip = 1, hasRun = true; hasRun; trip++) {
      const [bob, other] = [await w.merchant(), await w.merchant('growth')];
      await verifyAddress(w, other);
      const [here, there] = [await inviteTo(w, owner, bob.email), await inviteTo(w, other, bob.email)];
      const rival = withRivalAt(w.env, trip, () => acceptInvitation(w, bob, there.token));
      const { status } = await w.call('POST', '/v1/invitations/accept', { key: bob.token, body: { token: here.token }, env: rival.env });
      hasRun = rival.hasRun();
      if (!hasRun) await acceptInvitation(w, bob, there.token);
      const accounts = (await w.call('GET', '/v1/accounts', { key: bob.token })).body.items.map((one: Body) => one.account_id);
      expect([trip, status, accounts.sort()]).toEqual([trip, 200, [bob.userId, owner.userId, other.userId].sort()]);
      await w.call('DELETE', `/v1/account/members/${bob.userId}`, { key: owner.token });
    }
  });

  it('20 concurrent acceptances make one member, and two concurrent invitations of one address one invitation', async () => {
    const bob = await w.merchant();
    const made = await Promise.all([invite(owner.token, bob.email), invite(owner.token, bob.email)]);
    expect(made.map(({ status }) => status).sort()).toEqual([201, 409]);
    const token = invitationTokenOf(w, made.find(({ status }) => status === 201)!.body as never);
    const answers = await Promise.all(Array.from({ length: 20 }, () => acceptInvitation(w, bob, token)));
    for (const { status } of answers) expect([200, 409, 410]).toContain(status);
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    expect(refusalOf(await acceptInvitation(w, bob, token))).toEqual([410, 'link_expired', undefined]);
    expect(await listRoles()).toEqual(['owner', 'developer']);
  });

  it('a withdrawal and an acceptance at once leave either a member or a withdrawn invitation', async () => {
    for (let tries = 0; tries < 5; tries++) {
      const bob = await w.merchant();
      const { id, token } = await inviteTo(w, owner, bob.email);
      const before = (await listRoles()).length;
      const [accepted, withdrawn] = await Promise.all([acceptInvitation(w, bob, token), withdraw(owner.token, id)]);
      expect([
        [200, 409],
        [410, 204],
      ]).toContainEqual([accepted.status, withdrawn.status]);
      expect((await listRoles()).length).toBe(before + (accepted.status === 200 ? 1 : 0));
    }
  });

  it('members and open invitations take the seats of the plan, and an ended invitation gives its seat back', async () => {
    const free = await w.merchant('free');
    await verifyAddress(w, free);
    const { id } = await inviteTo(w, free, 'one@example.com');
    const refused = await invite(free.token, 'two@example.com');
    expect([refused.status, refused.body.code, refused.body.meta]).toEqual([
      429,
      'plan_limit_reached',
      { limit: 2, used: 2, plan: 'free' },
    ]);
    expect((await withdraw(free.token, id)).status).toBe(204);
    expect((await invite(free.token, 'two@example.com')).status).toBe(201);
  });

  it('an address gets three emails an hour', async () => {
    const { id } = await inviteTo(w, owner, 'often@example.com');
    expect((await resend(owner.token, id)).status).toBe(202);
    expect((await resend(owner.token, id)).status).toBe(202);
    const refused = await resend(owner.token, id);
    expect(refusalOf(refused)).toEqual([429, 'rate_limited', undefined]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    setTime(Date.now() + HOUR);
    expect((await resend(owner.token, id)).status).toBe(202);
  });

  it('the list and a new invitation read nothing of the invitations that ended more than a month ago', async () => {
    const bob = await w.merchant();
    await inviteTo(w, owner, bob.email);
    await w.env.DB.prepare(
      `INSERT INTO invitations (id, account_id, email, email_key, role, status, invited_by, expires_at, created_at)
        WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1000)
        SELECT randomblob(16), i.account_id, 'old' || n, 'old' || n, i.role, 'pending', i.invited_by, ?, ? FROM n JOIN (SELECT * FROM invitations WHERE email = ?) i`,
    )
      .bind(Date.now() - 31 * DAY, Date.now() - 38 * DAY, bob.email)
      .run();
    const { env, readings } = withRowCount(w.env);
    const { body } = await w.call('GET', '/v1/account/invitations', { key: owner.token, env });
    expect(body.items.map(({ email }: Body) => email)).toEqual([bob.email]);
    expect(rowsOf(readings), worstOf(readings)).toBeLessThanOrEqual(20);
    readings.length = 0;
    const made = await w.call('POST', '/v1/account/invitations', {
      ...{ key: owner.token, env },
      body: { email: 'cy@example.com', role: 'viewer' },
    });
    expect(made.status).toBe(201);
    expect(rowsOf(readings), worstOf(readings)).toBeLessThanOrEqual(60);
  });

  it('an account makes 20 invitations a day', async () => {
    const large = await w.merchant('scale');
    await verifyAddress(w, large);
    for (let made = 0; made < 20; made++) expect((await invite(large.token, `p${made}@example.com`)).status).toBe(201);
    expect(refusalOf(await invite(large.token, 'p20@example.com'))).toEqual([429, 'rate_limited', undefined]);
    setTime(Date.now() + DAY);
    expect((await invite(large.token, 'p20@example.com')).status).toBe(201);
  });

  it('an unverified inviter, a role of the owner, a viewer, an admin who invites an admin and a service without email are refused', async () => {
    const unverified = await w.merchant('growth');
    expect(refusalOf(await invite(unverified.token, 'a@example.com'))).toEqual([403, 'invalid_authorization', 'email_unverified']);
    expect((await invite(owner.token, 'a@example.com', 'owner')).status).toBe(422);
    const [admin, viewer] = [await addMember(w, owner, 'admin'), await addMember(w, owner, 'viewer')];
    await verifyAddress(w, admin);
    expect(refusalOf(await invite(viewer.token, 'a@example.com'))).toEqual([403, 'invalid_authorization', 'role']);
    expect(refusalOf(await invite(admin.token, 'a@example.com', 'admin'))).toEqual([403, 'invalid_authorization', 'role']);
    expect((await invite(admin.token, 'a@example.com', 'support')).status).toBe(201);
    const { id } = await inviteTo(w, owner, 'b@example.com', 'admin');
    expect(refusalOf(await withdraw(admin.token, id))).toEqual([403, 'invalid_authorization', 'role']);
    const silent = new World();
    const one = await silent.merchant('growth');
    await verifyAddress(silent, one);
    const answer = await silent.call('POST', '/v1/account/invitations', {
      key: one.token,
      body: { email: 'a@example.com', role: 'viewer' },
    });
    expect([answer.status, answer.body.code]).toEqual([503, 'mail_not_configured']);
  });

  it('another account neither reads, sends nor withdraws an invitation, and a deleted account has none', async () => {
    const other = await w.merchant('growth');
    await verifyAddress(w, other);
    const bob = await w.merchant();
    const { id, token } = await inviteTo(w, owner, bob.email);
    expect(await list(other.token)).toEqual([]);
    expect((await resend(other.token, id)).status).toBe(404);
    expect((await withdraw(other.token, id)).status).toBe(404);
    expect((await w.call('DELETE', '/v1/account/account', { key: owner.token })).status).toBe(200);
    expect(refusalOf(await acceptInvitation(w, bob, token))).toEqual([410, 'link_expired', undefined]);
    const left = await w.env.DB.prepare('SELECT count(*) AS n FROM invitations WHERE account_id = ?').bind(owner.userId).first('n');
    expect(left).toBe(0);
  });

  it('the open invitations of a deleted person end in the accounts of others', async () => {
    const bob = await addMember(w, owner, 'admin');
    await verifyAddress(w, bob.own);
    const friend = await w.merchant();
    const { token } = await inviteTo(w, bob, friend.email);
    expect((await w.call('DELETE', '/v1/account/account', { key: bob.own.token })).status).toBe(200);
    await w.sweepAlone('erasures');
    expect((await acceptInvitation(w, friend, token)).status).toBe(410);
    expect((await w.call('GET', '/v1/account/members', { key: owner.token })).body.items).toHaveLength(1);
  });

  it('an invitation that is withdrawn before its email was sent is not sent', async () => {
    const { id } = await inviteTo(w, owner, 'soon@example.com');
    expect((await withdraw(owner.token, id)).status).toBe(204);
    expect(await emailedTo('soon@example.com')).toEqual([]);
  });
});
