import { decodeJwt, decodeProtectedHeader } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { admissionIdOf } from '#core/ids.ts';
import { testEnv } from '../../support/runner/env.ts';
import { emailedToken } from '../../support/servers/mail.ts';
import { type Merchant, World } from '../../support/world.ts';

const PASSWORD = 'correct horse battery';

describe('registration and login', () => {
  const w = new World();
  let ada: Merchant;
  let people = 0;

  const register = (body: unknown) => w.call('POST', '/v1/auth/register', { body });
  const logIn = (email: string, password: string) => w.call('POST', '/v1/auth/login', { body: { email, password } });
  const newEmail = () => `person-${++people}-${crypto.randomUUID()}@example.com`;

  beforeAll(async () => {
    ada = await w.merchant('free');
  });

  it('registration creates a free account with a token that is valid at once', async () => {
    const email = newEmail();
    const { status, body } = await register({ email, password: PASSWORD, display_name: '  Grace  ' });
    expect(status).toBe(201);
    const fields = ['account_id', 'claims', 'email', 'expires_at', 'role', 'session_id', 'tier', 'token', 'user_id'];
    expect(Object.keys(body).sort()).toEqual(fields);
    expect([body.account_id, body.role]).toEqual([body.user_id, 'owner']);
    expect([body.tier, body.email]).toEqual(['free', email]);
    expect(body.claims).toEqual({ svc_score: false, svc_pay: true, svc_ops: false, is_staff: false });
    const me = await w.call('GET', '/v1/account/me', { key: body.token });
    expect(me.status).toBe(200);
    expect(me.body).toEqual({
      user_id: body.user_id,
      account_id: body.user_id,
      role: 'owner',
      email,
      wallet_address: null,
      display_name: 'Grace',
      tier: 'free',
      status: 'active',
      email_verified: false,
      timezone: 'UTC',
      locale: 'en',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      key_id: null,
      sandbox: false,
      notification_prefs: { webhooks: true, payouts: true, renewals: true, buyer_receipts: true, product_news: true },
      merchant_settings: {
        checkout_brand_name: '',
        checkout_logo_url: '',
        checkout_hero_image_url: '',
        checkout_success_button_label: '',
        checkout_accent_hex: '',
        default_redirect_url: '',
        default_support_url: '',
      },
      sales_paused: false,
      require_factor: false,
      claims: body.claims,
      factors: { passkeys: 0, totp: false, recovery_codes_left: 0 },
      has_password: true,
      auth_providers: [],
    });
  });

  it('a token is valid for 24 hours and names the account, its plan, claims and version', async () => {
    const { token, expires_at, user_id } = (await logIn(ada.email, PASSWORD)).body;
    expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'EdDSA', typ: 'JWT' });
    const claims = decodeJwt(token);
    expect(claims).toMatchObject({ sub: user_id, tier: 'free', svc_score: false, svc_pay: true, svc_ops: false, is_staff: false, ver: 1 });
    expect(claims.exp! - claims.iat!).toBe(86_400);
    expect(claims.auth_time).toBe(claims.iat);
    expect(Date.parse(expires_at)).toBe(claims.exp! * 1000);
  });

  it('account/me returns the calling key and its mode', async () => {
    const [live, sandbox] = await Promise.all([
      w.call('GET', '/v1/account/me', { key: ada.key }),
      w.call('GET', '/v1/account/me', { key: ada.sandboxKey }),
    ]);
    expect([live.body.sandbox, sandbox.body.sandbox]).toEqual([false, true]);
    const { body: keys } = await w.call('GET', '/v1/keys', { key: ada.token });
    const idOf = (sandboxMode: boolean) => keys.find(({ sandbox_mode }: { sandbox_mode: boolean }) => sandbox_mode === sandboxMode).id;
    expect([live.body.key_id, sandbox.body.key_id]).toEqual([idOf(false), idOf(true)]);
  });

  it('a 422 lists every problem with location, message and type', async () => {
    const { status, body } = await register({ email: 'nobody', display_name: ' ' });
    expect([status, body.code, body.retryable]).toEqual([422, 'validation_error', false]);
    expect(body.detail.map(({ loc }: { loc: string[] }) => loc)).toEqual([
      ['body', 'email'],
      ['body', 'password'],
      ['body', 'display_name'],
    ]);
    for (const problem of body.detail)
      expect(problem).toEqual({ loc: problem.loc, msg: expect.any(String), type: expect.stringMatching(/^[a-z_]+$/) });
    expect(body.docs_url).toBe('https://svc.test/docs/errors/validation_error');
  });

  it.each([
    ['no body fields', {}],
    ['an array', []],
    ['null', null],
    ['a number', 5],
    ['a number for an e-mail', { email: 5, password: PASSWORD, display_name: 'x' }],
    ['an e-mail without domain', { email: 'ada@', password: PASSWORD, display_name: 'x' }],
    ['an e-mail with a line break', { email: 'ada@example.com\r\nBcc: x@y.z', password: PASSWORD, display_name: 'x' }],
    ['an e-mail of 255 characters', { email: `${'a'.repeat(243)}@example.com`, password: PASSWORD, display_name: 'x' }],
    ['a password that is no text', { email: 'ada@example.com', password: 12345678, display_name: 'x' }],
    ['a display name of 121 characters', { email: 'ada@example.com', password: PASSWORD, display_name: 'x'.repeat(121) }],
  ])('a registration with %s is refused', async (_what, body) => {
    const answer = await register(body);
    expect([answer.status, answer.body.code]).toEqual([422, 'validation_error']);
    expect(answer.body.detail.length).toBeGreaterThan(0);
  });

  it('a common password is refused at registration, change and reset', async () => {
    const email = newEmail();
    const refused = { status: 422, body: { code: 'password_too_common' } };
    expect(await register({ email, password: 'Football', display_name: 'x' })).toMatchObject(refused);
    const { token, user_id } = (await register({ email, password: PASSWORD, display_name: 'x' })).body;
    const change = { current_password: PASSWORD, new_password: 'princess1' };
    expect(await w.call('PATCH', '/v1/account/me/security', { key: token, body: change })).toMatchObject(refused);
    const reset = { token: await emailedToken(w, user_id, 'reset'), new_password: '1qaz2wsx' };
    expect(await w.call('POST', '/v1/auth/password/reset', { body: reset })).toMatchObject(refused);
    expect((await logIn(email, PASSWORD)).status).toBe(200);
  });

  it('a password has 8 to 128 characters, counted as code points', async () => {
    for (const password of ['', '1234567', '🐎'.repeat(7), 'x'.repeat(129)]) {
      const { status, body } = await register({ email: newEmail(), password, display_name: 'x' });
      expect([password.length, status, body.code]).toEqual([password.length, 422, 'password_too_short']);
    }
    const [short, long] = [newEmail(), newEmail()];
    const accepted = await Promise.all([
      register({ email: short, password: '🐎'.repeat(8), display_name: 'x' }),
      register({ email: long, password: 'x'.repeat(128), display_name: 'x' }),
    ]);
    expect(accepted.map(({ status }) => status)).toEqual([201, 201]);
    expect((await logIn(long, 'x'.repeat(127))).status).toBe(401);
    expect((await logIn(long, 'x'.repeat(128))).status).toBe(200);
  });

  it('one email belongs to one account, in any spelling and under concurrent registrations', async () => {
    const email = newEmail();
    const spellings = [email, email.toUpperCase(), email.replace('person', 'Person')];
    const answers = await Promise.all(spellings.map((spelling) => register({ email: spelling, password: PASSWORD, display_name: 'x' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    for (const { status, body } of answers) if (status === 409) expect(body.code).toBe('email_registered');
    expect((await logIn(email.toUpperCase(), PASSWORD)).body.email).toBe(email);
  });

  it('an unknown email and a wrong password get the same answer', async () => {
    const [unknown, wrong] = await Promise.all([logIn(newEmail(), PASSWORD), logIn(ada.email, `${PASSWORD}!`)]);
    expect([unknown.status, wrong.status]).toEqual([401, 401]);
    const { request_id: _a, ...first } = unknown.body;
    const { request_id: _b, ...second } = wrong.body;
    expect(first).toEqual(second);
    expect(first.code).toBe('invalid_credentials');
    expect(first.meta).toEqual({});
  });

  it('no answer contains a password or its hash', async () => {
    const email = newEmail();
    const { body } = await register({ email, password: 'hunter2 hunter2', display_name: 'x' });
    const me = await w.call('GET', '/v1/account/me', { key: body.token });
    expect(JSON.stringify([body, me.body])).not.toMatch(/hunter2|scrypt|pepper/i);
  });

  it.each<['suspended' | 'deleted', string, number, number]>([
    ['suspended', 'account_suspended', 403, 403],
    ['deleted', 'account_deleted', 403, 401],
  ])('login discloses the state of a %s account only if the password is right', async (state, code, tokenStatus, keyStatus) => {
    const person = await w.merchant('free');
    await testEnv.DB.prepare('UPDATE accounts SET status = ?, version = version + 1 WHERE id = ?').bind(state, person.userId).run();
    const right = await logIn(person.email, PASSWORD);
    expect([right.status, right.body.code]).toEqual([403, code]);
    const wrong = await logIn(person.email, `${PASSWORD}!`);
    expect([wrong.status, wrong.body.code]).toEqual([401, 'invalid_credentials']);
    const again = await register({ email: person.email, password: PASSWORD, display_name: 'x' });
    expect([again.status, again.body.code]).toEqual([409, 'email_registered']);
    // The admission object receives the row with a higher version, as after a change by the operator.
    const row = {
      accountId: person.userId,
      plan: 'free',
      planThrough: null,
      status: state,
      tokenVersion: 1,
      isStaff: false,
      ownerId: person.userId,
      roles: {},
      version: 2,
    } as const;
    await testEnv.ADMISSION.getByName(`account:${admissionIdOf(person.userId)}`).load(row, []);
    const [token, key] = await Promise.all([
      w.call('GET', '/v1/products', { key: person.token }),
      w.call('GET', '/v1/products', { key: person.key }),
    ]);
    expect([token.status, token.body.code]).toEqual([tokenStatus, code]);
    expect([key.status, key.body.code]).toEqual([keyStatus, keyStatus === 401 ? 'invalid_authorization' : code]);
  });
});
