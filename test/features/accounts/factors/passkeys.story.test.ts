import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sha256Hex } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import { MINUTE } from '#core/time.ts';
import { Authenticator, type Lies } from '../../../support/people/authenticator.ts';
import { addApp, addPasskey, beginPasskey, logInAgain, newTicket } from '../../../support/people/factors.ts';
import { letTimeRun, setTime } from '../../../support/runner/clock.ts';
import { type Merchant, World } from '../../../support/world.ts';

const w = new World();
const WRONG = [401, 'invalid_credentials'];
const codeOf = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code];
const countOf = (answers: { status: number }[], status: number) => answers.filter((answer) => answer.status === status).length;
const register = (key: string, body: object) => w.call('POST', '/v1/account/passkeys', { key, body });
const list = async (key: string) => (await w.call('GET', '/v1/account/passkeys', { key })).body.items;
const remove = (key: string, id: string) => w.call('DELETE', `/v1/account/passkeys/${id}`, { key });
const beginSignIn = async () => (await w.call('POST', '/v1/auth/passkey/options')).body;
const signIn = (body: object) => w.call('POST', '/v1/auth/passkey', { body });
const beginStepUp = (key: string) => w.call('POST', '/v1/auth/step-up/options', { key });

async function signInWith(device: Authenticator, lies: Lies = {}, credential = device.credentials[0]!) {
  const { ceremony_id, options } = await beginSignIn();
  return signIn({ ceremony_id, response: await device.get(options, lies, credential) });
}

async function stepUpBy(device: Authenticator, key: string, lies: Lies = {}) {
  const { ceremony_id, options } = (await beginStepUp(key)).body;
  return w.call('POST', '/v1/auth/step-up', { key, body: { ceremony_id, response: await device.get(options, lies) } });
}

let ada: Merchant;
beforeEach(async () => {
  ada = await w.merchant();
});
afterEach(letTimeRun);

describe('registration of a passkey', () => {
  it('options name the service, and neither id nor email of the person as handle', async () => {
    const { options } = await beginPasskey(w, ada.token);
    expect(options).toMatchObject({
      rp: { id: 'svc.test', name: 'svc.test' },
      user: { name: ada.email },
      pubKeyCredParams: [-8, -7, -257].map((alg) => ({ type: 'public-key', alg })),
      timeout: 5 * MINUTE,
      excludeCredentials: [],
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      attestation: 'none',
    });
    expect(options.user.id).toMatch(/^[\w-]{43}$/);
    expect(options.challenge).toMatch(/^[\w-]{43}$/);
  });

  it('the first passkey returns recovery codes, and the list shows it', async () => {
    const { ceremony_id, options } = await beginPasskey(w, ada.token);
    const answer = await register(ada.token, { ceremony_id, response: await new Authenticator().create(options), name: 'Laptop' });
    expect(answer.status).toBe(201);
    expect(answer.body.recovery_codes).toHaveLength(10);
    expect(answer.body.passkey).toMatchObject({ name: 'Laptop', backed_up: true, transports: ['hybrid', 'internal'], last_used_at: null });
    expect(await list(ada.token)).toEqual([answer.body.passkey]);
  });

  it.each<[string, Lies, string]>([
    ['another challenge', { challenge: 'A'.repeat(43) }, 'challenge'],
    ['another origin', { origin: 'https://svc.test.evil.example' }, 'origin'],
    ['a frame of another origin', { isCrossOrigin: true }, 'origin'],
    ['another service', { rpId: 'evil.example' }, 'rp_id'],
    ['no user verification', { isUnverified: true }, 'user_verification'],
    ['no person present', { isAbsent: true }, 'format'],
    ['another ceremony', { type: 'webauthn.get' }, 'format'],
    ['a forged attestation', { isForged: true }, 'format'],
  ])('a response with %s is 422', async (_, lies, reason) => {
    const { ceremony_id, options } = await beginPasskey(w, ada.token);
    const answer = await register(ada.token, { ceremony_id, response: await new Authenticator().create(options, lies) });
    expect(answer).toMatchObject({
      status: 422,
      body: { code: 'validation_error', meta: { reason }, detail: [{ loc: ['body', 'response'], type: reason }] },
    });
    expect(await list(ada.token)).toEqual([]);
  });

  it('a used, an expired and a forged ceremony, and one of another person or purpose, are 422', async () => {
    const refused = async (ceremony_id: string, options: Parameters<Authenticator['create']>[0], key = ada.token) => {
      const answer = await register(key, { ceremony_id, response: await new Authenticator().create(options) });
      expect([answer.status, answer.body.meta?.reason]).toEqual([422, 'challenge']);
    };
    const used = await beginPasskey(w, ada.token);
    const bob = await w.merchant();
    await refused(used.ceremony_id, used.options, bob.token);
    await refused(`${used.ceremony_id.slice(0, -1)}${used.ceremony_id.endsWith('0') ? '1' : '0'}`, used.options);
    expect(
      (await register(ada.token, { ceremony_id: used.ceremony_id, response: await new Authenticator().create(used.options) })).status,
    ).toBe(201);
    await refused(used.ceremony_id, used.options, bob.token);
    const ofSignIn = await beginSignIn();
    const ofBob = await beginPasskey(w, bob.token);
    await refused(ofSignIn.ceremony_id, { ...ofBob.options, challenge: ofSignIn.options.challenge }, bob.token);
    setTime(Date.now() + 5 * MINUTE);
    await refused(ofBob.ceremony_id, ofBob.options, bob.token);
  });

  it('a known passkey is 409, also of another person', async () => {
    const { device, passkey } = await addPasskey(w, ada.token);
    const bob = await w.merchant();
    const token = (await stepUpBy(device, ada.token)).body.token;
    const mine = await beginPasskey(w, token);
    expect(mine.options.excludeCredentials).toEqual([
      { id: device.credentials[0]!.id, type: 'public-key', transports: passkey.transports },
    ]);
    await expect(device.create(mine.options)).rejects.toThrow('InvalidStateError');
    for (const [key, { ceremony_id, options }] of [
      [token, mine],
      [bob.token, await beginPasskey(w, bob.token)],
    ] as const) {
      const answer = await register(key, { ceremony_id, response: await device.create(options, {}, device.credentials[0]) });
      expect([...codeOf(answer), answer.body.meta.reason]).toEqual([409, 'state_conflict', 'passkey_known']);
    }
  });

  it('the eleventh passkey is 409, and all have one handle', async () => {
    let { device } = await addPasskey(w, ada.token);
    let token = '';
    for (let i = 2; i <= 10; i++) {
      token = (await stepUpBy(device, ada.token)).body.token;
      ({ device } = await addPasskey(w, token));
    }
    expect(await list(token)).toHaveLength(10);
    const answer = await w.call('POST', '/v1/account/passkeys/options', { key: token });
    expect([...codeOf(answer), answer.body.meta.limit]).toEqual([409, 'state_conflict', 10]);
    const handles = await w.env.DB.prepare('SELECT DISTINCT user_handle FROM passkeys WHERE person_id = ?').bind(ada.userId).all();
    expect(handles.results).toHaveLength(1);
  });

  it('a ceremony registers one passkey in 50 parallel requests', async () => {
    const { ceremony_id, options } = await beginPasskey(w, ada.token);
    const response = await new Authenticator().create(options);
    const answers = await Promise.all(Array.from({ length: 50 }, () => register(ada.token, { ceremony_id, response })));
    expect([countOf(answers, 201), countOf(answers, 422)]).toEqual([1, 49]);
    expect(await list(ada.token)).toHaveLength(1);
  });

  it('a rename takes no step-up, and another person’s passkey is 404', async () => {
    const { passkey } = await addPasskey(w, ada.token);
    const rename = (key: string, name: unknown) => w.call('PATCH', `/v1/account/passkeys/${passkey.passkey_id}`, { key, body: { name } });
    expect((await rename(ada.token, 'Phone')).body).toEqual({ ...passkey, name: 'Phone' });
    expect((await rename(ada.token, '')).status).toBe(422);
    expect((await rename((await w.merchant()).token, 'Mine')).status).toBe(404);
    expect((await list(ada.token))[0].name).toBe('Phone');
  });
});

describe('sign-in with a passkey', () => {
  it('a passkey needs no email and no second factor, and proves a factor', async () => {
    const { device } = await addPasskey(w, ada.token);
    const { options } = await beginSignIn();
    expect(options).toMatchObject({ rpId: 'svc.test', allowCredentials: [], userVerification: 'required' });
    const answer = await signInWith(device);
    expect(answer.body).toMatchObject({ user_id: ada.userId, email: ada.email });
    const claims = JSON.parse(atob(answer.body.token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/')));
    expect([claims.amr, claims.factor_time]).toEqual(['passkey', claims.auth_time]);
    const [session] = (await w.call('GET', '/v1/account/sessions', { key: answer.body.token })).body.items;
    expect(session).toMatchObject({ method: 'passkey', factor: 'passkey' });
    expect((await list(answer.body.token))[0].last_used_at).not.toBeNull();
  });

  it.each<[string, Lies]>([
    ['another challenge', { challenge: 'A'.repeat(43) }],
    ['another origin', { origin: 'https://evil.example' }],
    ['a frame of another origin', { isCrossOrigin: true }],
    ['another service', { rpId: 'evil.example' }],
    ['no user verification', { isUnverified: true }],
    ['no person present', { isAbsent: true }],
    ['another ceremony', { type: 'webauthn.create' }],
    ['a forged signature', { isForged: true }],
    ['another person’s handle', { userHandle: 'A'.repeat(43) }],
  ])('%s is 401', async (_, lies) => {
    const { device } = await addPasskey(w, ada.token);
    const answer = await signInWith(device, lies);
    expect([...codeOf(answer), answer.body.meta]).toEqual([...WRONG, {}]);
    expect((await signInWith(device)).status).toBe(200);
  });

  it('an unknown passkey, a used, an expired and another ceremony are 401', async () => {
    const { device } = await addPasskey(w, ada.token);
    const stranger = new Authenticator();
    await stranger.create((await beginPasskey(w, (await w.merchant()).token)).options);
    expect(codeOf(await signInWith(stranger))).toEqual(WRONG);
    const used = await beginSignIn();
    const body = { ceremony_id: used.ceremony_id, response: await device.get(used.options) };
    expect((await signIn(body)).status).toBe(200);
    expect(codeOf(await signIn(body))).toEqual(WRONG);
    const ofStepUp = (await beginStepUp(ada.token)).body;
    expect(codeOf(await signIn({ ceremony_id: ofStepUp.ceremony_id, response: await device.get(ofStepUp.options) }))).toEqual(WRONG);
    const old = await beginSignIn();
    setTime(Date.now() + 5 * MINUTE);
    expect(codeOf(await signIn({ ceremony_id: old.ceremony_id, response: await device.get(old.options) }))).toEqual(WRONG);
  });

  it('a ceremony signs in once in 50 parallel requests', async () => {
    const { device } = await addPasskey(w, ada.token);
    const { ceremony_id, options } = await beginSignIn();
    const response = await device.get(options);
    const answers = await Promise.all(Array.from({ length: 50 }, () => signIn({ ceremony_id, response })));
    expect([countOf(answers, 200), countOf(answers, 401)]).toEqual([1, 49]);
  });

  it('a counter that goes back or repeats is 401, and a later one signs in', async () => {
    const { device } = await addPasskey(w, ada.token);
    expect((await signInWith(device, { counter: 7 })).status).toBe(200);
    for (const counter of [6, 7, 0]) expect(codeOf(await signInWith(device, { counter })), String(counter)).toEqual(WRONG);
    expect((await signInWith(device, { counter: 8 })).status).toBe(200);
  });

  it('a suspended and a deleted account learn so', async () => {
    const { device } = await addPasskey(w, ada.token);
    const set = (status: string) =>
      w.env.DB.prepare('UPDATE accounts SET status = ?, version = version + 1 WHERE id = ?').bind(status, ada.userId).run();
    await set('suspended');
    expect(codeOf(await signInWith(device))).toEqual([403, 'account_suspended']);
    await set('active');
    const { token } = (await signInWith(device)).body;
    expect((await w.call('DELETE', '/v1/account/account', { key: token })).status).toBe(200);
    expect(codeOf(await signInWith(device))).toEqual([403, 'account_deleted']);
    expect(await w.env.DB.prepare('SELECT name FROM passkeys WHERE person_id = ?').bind(ada.userId).first('name')).toBe('');
  });

  it('a passkey completes a sign-in with a ticket, of its own person alone', async () => {
    const { device } = await addPasskey(w, ada.token);
    const bob = await w.merchant();
    const other = (await addPasskey(w, bob.token)).device;
    const ticket = await newTicket(w, ada);
    const complete = async (by: Authenticator) => {
      const { ceremony_id, options } = await beginSignIn();
      return w.call('POST', '/v1/auth/factor', { body: { ticket, ceremony_id, response: await by.get(options) } });
    };
    expect(codeOf(await complete(other))).toEqual(WRONG);
    const { body } = await complete(device);
    expect(body.user_id).toBe(ada.userId);
    expect((await w.call('GET', '/v1/account/sessions', { key: body.token })).body.items[0]).toMatchObject({
      method: 'password',
      factor: 'passkey',
    });
    expect(codeOf(await complete(device))).toEqual(WRONG);
  });

  it('the fifth wrong passkey spends the ticket', async () => {
    const { device } = await addPasskey(w, ada.token);
    const ticket = await newTicket(w, ada);
    const complete = async (lies: Lies) => {
      const { ceremony_id, options } = await beginSignIn();
      return w.call('POST', '/v1/auth/factor', { body: { ticket, ceremony_id, response: await device.get(options, lies) } });
    };
    for (let i = 0; i < 5; i++) expect(codeOf(await complete({ isForged: true }))).toEqual(WRONG);
    expect(codeOf(await complete({}))).toEqual(WRONG);
  });
});

describe('step-up with a passkey', () => {
  it('the options offer the person’s passkeys and the step-up returns a token of the same session', async () => {
    const { device } = await addPasskey(w, ada.token);
    const { options } = (await beginStepUp(ada.token)).body;
    expect(options.allowCredentials.map(({ id }: { id: string }) => id)).toEqual([device.credentials[0]!.id]);
    const answer = await stepUpBy(device, ada.token);
    expect(answer.status).toBe(200);
    const of = (token: string) => JSON.parse(atob(token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/')));
    const [before, after] = [of(ada.token), of(answer.body.token)];
    expect([after.sid, after.auth_time, after.amr]).toEqual([before.sid, before.auth_time, before.amr]);
    expect([before.factor_time, typeof after.factor_time]).toEqual([undefined, 'number']);
    expect(codeOf(await stepUpBy(device, ada.token, { isForged: true }))).toEqual(WRONG);
  });

  it('a person without a passkey gets 409', async () => {
    const answer = await beginStepUp(ada.token);
    expect([...codeOf(answer), answer.body.meta.reason]).toEqual([409, 'state_conflict', 'no_passkey']);
  });

  it('the passkey and the ceremony of another person are refused', async () => {
    const { device } = await addPasskey(w, ada.token);
    const bob = await w.merchant();
    const other = (await addPasskey(w, bob.token)).device;
    expect(codeOf(await stepUpBy(other, ada.token))).toEqual(WRONG);
    const { ceremony_id, options } = (await beginStepUp(bob.token)).body;
    const answer = await w.call('POST', '/v1/auth/step-up', { key: ada.token, body: { ceremony_id, response: await device.get(options) } });
    expect(codeOf(answer)).toEqual(WRONG);
  });
});

describe('removal of a passkey', () => {
  it('the removal takes a step-up, ends the sessions that it began and no others, and the last factor ends the codes', async () => {
    const { device, passkey, codes } = await addPasskey(w, ada.token);
    const begun = (await signInWith(device)).body.token;
    expect((await remove(ada.token, passkey.passkey_id)).body.meta).toMatchObject({
      reason: 'step_up_required',
      methods: ['passkey', 'recovery_code'],
    });
    const token = (await stepUpBy(device, ada.token)).body.token;
    expect((await remove(token, passkey.passkey_id)).status).toBe(204);
    const ended = await w.call('GET', '/v1/account/me', { key: begun });
    expect([ended.status, ended.body.meta.reason]).toEqual([401, 'session_ended']);
    const me = await w.call('GET', '/v1/account/me', { key: token });
    expect(me.body.factors).toEqual({ passkeys: 0, totp: false, recovery_codes_left: 0 });
    expect(codeOf(await signInWith(device))).toEqual(WRONG);
    expect(codeOf(await w.call('POST', '/v1/auth/step-up', { key: token, body: { recovery_code: codes![0] } }))).toEqual(WRONG);
    expect((await logInAgain(w, ada)).status).toBe(200);
    expect((await remove((await logInAgain(w, ada)).body.token, passkey.passkey_id)).status).toBe(404);
  });

  it('the only way to sign in cannot be removed', async () => {
    const { device, passkey } = await addPasskey(w, ada.token);
    await w.env.DB.prepare('UPDATE persons SET password_hash = NULL WHERE id = ?').bind(ada.userId).run();
    const token = (await signInWith(device)).body.token;
    const answer = await remove(token, passkey.passkey_id);
    expect([...codeOf(answer), answer.body.meta.reason]).toEqual([409, 'state_conflict', 'last_way_in']);
    const { passkey: second } = await addPasskey(w, token);
    expect((await remove(token, second.passkey_id)).status).toBe(204);
  });

  it('the authenticator app remains as factor', async () => {
    const { device, passkey } = await addPasskey(w, ada.token);
    const token = (await stepUpBy(device, ada.token)).body.token;
    await addApp(w, token);
    expect((await remove(token, passkey.passkey_id)).status).toBe(204);
    const answer = await logInAgain(w, ada);
    expect([answer.body.code, answer.body.meta.methods]).toEqual(['factor_required', ['totp', 'recovery_code']]);
  });
});

describe('name of a passkey', () => {
  it('the directory has a hash of the credential', async () => {
    const { device } = await addPasskey(w, ada.token);
    const { passkeyName } = await import('#features/accounts/passkeys/passkey.ts');
    const { id } = device.credentials[0]!;
    expect(passkeyName(id)).toMatchObject({ kind: 'passkey', keys: [sha256Hex(utf8(id))] });
  });
});
