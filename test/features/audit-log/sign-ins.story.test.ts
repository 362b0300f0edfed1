import { generateKeyPairSigner } from '@solana/kit';
import { beforeEach, describe, expect, it } from 'vitest';
import { DAY, HOUR } from '#core/time.ts';
import { askNonce, signText, walletSignIn } from '../../support/chain/wallet.ts';
import { type Trip, withFaults } from '../../support/faults/faults.ts';
import { addApp, addPasskey, logInAgain, newTicket } from '../../support/people/factors.ts';
import { setNoon, setTime } from '../../support/runner/clock.ts';
import { testEnv } from '../../support/runner/env.ts';
import { withRowCount, worstOf } from '../../support/runner/rows-read.ts';
import { emailedToken } from '../../support/servers/mail.ts';
import { type Merchant, World } from '../../support/world.ts';

const w = new World();
const LOG = '/v1/account/audit-log?per_page=100';
const read = async (key: string, query = '') => (await w.call('GET', `${LOG}${query}`, { key })).body.items;
const from = (ip: string) => ({ headers: { 'CF-Connecting-IP': ip } });
const logIn = ({ email }: Pick<Merchant, 'email'>, password: string, ip = '203.0.113.7') =>
  w.call('POST', '/v1/auth/login', { ...from(ip), body: { email, password } });
const REFUSED = '&action=session.started&outcome=refused';

describe('entries of sign-ins', () => {
  beforeEach(() => setNoon());

  it('each sign-in has one entry with session, method and address, and the acts of a session name it', async () => {
    const ada = await w.merchant();
    const { body } = await logInAgain(w, ada, from('203.0.113.7'));
    const [entry] = await read(ada.token, '&action=session.started');
    expect(entry).toMatchObject({
      actor: { kind: 'person', id: ada.userId, role: 'owner' },
      subject: { type: 'session', id: body.session_id },
      after: { method: 'password' },
      outcome: 'done',
      ip: '203.0.113.7',
    });
    await w.call('PATCH', '/v1/account/me', { key: body.token, body: { display_name: 'Ada & Co' } });
    expect((await read(ada.token, '&action=account.updated'))[0].session_id).toBe(body.session_id);
    expect((await read(ada.token, '&action=session.started')).length).toBe(2);
  });

  it('a registration that is repeated has one entry of its session', async () => {
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const body = { email: 'new@example.com', password: 'correct horse battery', display_name: 'New' };
    const first = await w.call('POST', '/v1/auth/register', { headers, body });
    const again = await w.call('POST', '/v1/auth/register', { headers, body });
    expect([first.status, again.status]).toEqual([201, 201]);
    expect((await read(first.body.token)).map(({ action }: { action: string }) => action)).toEqual(['session.started', 'account.created']);
  });

  it('a sign-in with a factor names it', async () => {
    const ada = await w.merchant();
    const { app } = await addApp(w, ada.token);
    const ticket = await newTicket(w, ada);
    expect((await w.call('POST', '/v1/auth/factor', { body: { ticket, totp: app.code() } })).status).toBe(200);
    expect((await read(ada.token, '&action=session.started'))[0].after).toEqual({ method: 'password', factor: 'totp' });
  });

  it('an end of all sessions right after one of the others has its own entry', async () => {
    const ada = await w.merchant();
    await logInAgain(w, ada);
    for (const [current, ended] of [
      [true, 1],
      [false, 1],
    ])
      expect((await w.call('DELETE', `/v1/account/sessions?keep_current=${current}`, { key: ada.token })).body).toEqual({ ended });
    const { token } = (await logInAgain(w, ada)).body;
    const entries = await read(token, '&action=session.ended');
    expect(entries.map(({ after }: { after: { sessions: number } }) => after.sessions)).toEqual([1, 1]);
  });

  it('ended sessions have entries, a session that had ended none', async () => {
    const ada = await w.merchant();
    const other = await logInAgain(w, ada);
    const path = `/v1/account/sessions/${other.body.session_id}`;
    for (const _ of [1, 2]) expect((await w.call('DELETE', path, { key: ada.token })).status).toBe(204);
    expect(await read(ada.token, '&action=session.ended')).toMatchObject([{ subject: { type: 'session', id: other.body.session_id } }]);
    await logInAgain(w, ada);
    await logInAgain(w, ada);
    for (const ended of [2, 0])
      expect((await w.call('DELETE', '/v1/account/sessions?keep_current=true', { key: ada.token })).body).toEqual({ ended });
    const [entry, ...others] = await read(ada.token, '&action=session.ended');
    expect([entry.subject, entry.after.sessions, others.length]).toEqual([{ type: 'person', id: ada.userId }, 2, 1]);
    const again = (await logInAgain(w, ada)).body;
    await w.call('POST', '/v1/auth/logout', { key: again.token });
    expect((await read(ada.token, '&action=session.ended')).length).toBe(2);
    await w.call('POST', '/v1/auth/logout', { key: again.token, body: { end: 'session' } });
    expect((await read(ada.token, '&action=session.ended'))[0]).toMatchObject({
      subject: { id: again.session_id },
      session_id: again.session_id,
    });
  });

  for (const side of ['before', 'after'] as const)
    it(`an end of sessions that fails ${side} its entry is stored, and is repeated, has one entry`, async () => {
      const ada = await w.merchant();
      const other = (await logInAgain(w, ada)).body.session_id;
      const calls = [`/v1/account/sessions/${other}`, '/v1/account/sessions'];
      for (const [index, path] of calls.entries()) {
        const later = index === 0 ? other : (await logInAgain(w, ada)).body.session_id;
        setTime(Date.now() + 1000);
        const { env } = withFaults(w.env, { [side]: ({ kind }: Trip) => kind === 'batch' });
        expect((await w.call('DELETE', path, { key: ada.token, env })).status).toBeGreaterThanOrEqual(500);
        expect((await w.call('DELETE', path, { key: ada.token })).status).toBeLessThan(300);
        const open = (await w.call('GET', '/v1/account/sessions', { key: ada.token })).body.items;
        expect(open.map(({ session_id }: { session_id: string }) => session_id)).not.toContain(later);
        expect((await read(ada.token, '&action=session.ended')).length).toBe(index + 1);
      }
    });

  it('an end of sessions and a reset read few entries of a long log', async () => {
    const ada = await w.merchant();
    await testEnv.DB.prepare(
      `INSERT INTO audit_entries SELECT merchant_id, seq + 1000 + value, at, actor_kind, actor_id, actor_name, role, 'product.updated',
        'product', subject_id, outcome, is_live, request_id, details, is_erased, prev_hash, hash
      FROM audit_entries, json_each(?) WHERE merchant_id = (SELECT id FROM persons WHERE email = ?) AND seq = 1`,
    )
      .bind(JSON.stringify(Array.from({ length: 3000 }, (_, i) => i)), ada.email)
      .run();
    const other = (await logInAgain(w, ada)).body.session_id;
    const { env, readings } = withRowCount(w.env);
    for (const path of [`/v1/account/sessions/${other}`, '/v1/account/sessions'])
      expect((await w.call('DELETE', path, { key: ada.token, env })).status).toBeLessThan(300);
    const reset = { token: await emailedToken(w, ada.userId, 'reset'), new_password: 'battery staple 9', end_others: true };
    expect((await w.call('POST', '/v1/auth/password/reset', { body: reset, env })).status).toBe(200);
    const ofLog = readings.filter(({ sql }) => sql.includes('audit_entries'));
    expect(ofLog.length).toBeGreaterThan(2);
    expect(Math.max(...ofLog.map(({ rows }) => rows)), worstOf(ofLog)).toBeLessThan(100);
  });

  it('wrong passwords have one entry an hour and network', async () => {
    const ada = await w.merchant();
    for (const ip of ['203.0.113.7', '203.0.113.99', '198.51.100.1', '203.0.113.7'])
      expect((await logIn(ada, 'wrong', ip)).status).toBe(401);
    const entries = await read(ada.token, REFUSED);
    expect(entries).toMatchObject([
      { after: { method: 'password', network: '198.51.100.0/24' }, ip: '198.51.100.1' },
      { after: { method: 'password', network: '203.0.113.0/24' }, ip: '203.0.113.7', reason: 'invalid_credentials' },
    ]);
    expect(entries[0].actor).toEqual({ kind: 'person' });
    expect(entries[0].subject).toEqual({ type: 'person', id: ada.userId });
    setTime(Date.now() + HOUR + 1);
    await logIn(ada, 'wrong', '203.0.113.8');
    expect((await read(ada.token, REFUSED)).length).toBe(3);
    expect((await read(ada.token, REFUSED)).every(({ session_id }: { session_id?: string }) => session_id === undefined)).toBe(true);
  });

  it('a day has at most a hundred entries of refused sign-ins', async () => {
    const ada = await w.merchant();
    for (let i = 0; i < 103; i++) await logIn(ada, 'wrong', `10.0.${i}.1`);
    expect((await read(ada.token, REFUSED)).length).toBe(100);
    setTime(Date.now() + DAY + 1);
    await logIn(ada, 'wrong', '10.1.1.1');
    expect((await w.call('GET', `${LOG}${REFUSED}`, { key: (await logInAgain(w, ada)).body.token })).body.total).toBe(101);
  }, 60_000);

  it('a wrong code, a wrong passkey and a wrong signature of a wallet have an entry', async () => {
    const ada = await w.merchant();
    const { app } = await addApp(w, ada.token);
    const ticket = await newTicket(w, ada);
    expect((await w.call('POST', '/v1/auth/factor', { ...from('10.2.0.1'), body: { ticket, totp: '000000' } })).status).toBe(401);
    expect((await read(ada.token, REFUSED))[0]).toMatchObject({ after: { method: 'factor', network: '10.2.0.0/24' } });
    const bob = await w.merchant();
    const { device } = await addPasskey(w, bob.token);
    const begun = (await w.call('POST', '/v1/auth/passkey/options')).body;
    const response = await device.get({ ...begun.options, challenge: 'AAAA' });
    const body = { ceremony_id: begun.ceremony_id, response };
    expect((await w.call('POST', '/v1/auth/passkey', { ...from('10.3.0.1'), body })).status).toBe(401);
    expect((await read(bob.token, REFUSED))[0]).toMatchObject({ after: { method: 'passkey', network: '10.3.0.0/24' } });
    expect(app.code()).not.toBe('000000');
    const signer = await generateKeyPairSigner();
    const { token } = (await walletSignIn(w, signer)).body;
    const { message_nonce } = (await askNonce(w, signer.address)).body;
    const signed_message = await signText(await generateKeyPairSigner(), message_nonce);
    const wrong = { wallet_address: signer.address, signed_message, message_nonce };
    expect((await w.call('POST', '/v1/auth/wallet', { ...from('10.4.0.1'), body: wrong })).status).toBe(401);
    expect((await read(token, REFUSED))[0]).toMatchObject({ after: { method: 'siws', network: '10.4.0.0/24' } });
  });
});
