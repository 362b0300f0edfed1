import { generateKeyPairSigner } from '@solana/kit';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { AccountId } from '#core/ids.ts';
import { getAccount } from '#features/accounts/store.ts';
import { walletSignIn } from '../../support/chain/wallet.ts';
import { tokenSignedIn } from '../../support/clients/session.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type CallOptions, type Merchant, World } from '../../support/world.ts';

const PASSWORD = 'correct horse battery';
const w = new World();
const me = (key: string) => w.call('GET', '/v1/account/me', { key });
const patch = (key: string, body: unknown) => w.call('PATCH', '/v1/account/me', { key, body });
const secure = (key: string, body: unknown, options: CallOptions = {}) =>
  w.call('PATCH', '/v1/account/me/security', { key, body, ...options });
const login = (email: string, password: string) => w.call('POST', '/v1/auth/login', { body: { email, password } });
const readRow = (userId: string) => getAccount(w.db, userId as AccountId);

describe('PATCH /v1/account/me', () => {
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await w.merchant();
  });

  it('an update changes the named fields, lists them in updated_fields and leaves the rest', async () => {
    const { status, body } = await patch(merchant.token, {
      timezone: 'Europe/Berlin',
      merchant_settings: { checkout_brand_name: 'Ada’s', checkout_accent_hex: '#1a2B3c' },
    });
    expect(status).toBe(200);
    expect(body.updated_fields).toEqual(['timezone', 'merchant_settings.checkout_brand_name', 'merchant_settings.checkout_accent_hex']);
    expect((await me(merchant.token)).body).toMatchObject({ timezone: 'Europe/Berlin', display_name: 'Ada’s weather' });
  });

  it('settings are merged: a new one is added, an empty text clears one, the others stay', async () => {
    const { key, token } = await w.merchant();
    await patch(token, { merchant_settings: { checkout_brand_name: 'A', default_support_url: 'https://shop.example/help' } });
    const { body } = await patch(key, { merchant_settings: { checkout_brand_name: '', checkout_success_button_label: 'Go on' } });
    expect(body.updated_fields).toEqual(['merchant_settings.checkout_brand_name', 'merchant_settings.checkout_success_button_label']);
    expect((await me(token)).body.merchant_settings).toEqual({
      checkout_brand_name: '',
      checkout_logo_url: '',
      checkout_hero_image_url: '',
      checkout_success_button_label: 'Go on',
      checkout_accent_hex: '',
      default_redirect_url: '',
      default_support_url: 'https://shop.example/help',
    });
  });

  it('two concurrent updates of different fields are both stored', async () => {
    const { token } = await w.merchant();
    const answers = await Promise.all([
      patch(token, { timezone: 'Asia/Tokyo' }),
      patch(token, { merchant_settings: { checkout_brand_name: 'B' } }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect((await me(token)).body).toMatchObject({ timezone: 'Asia/Tokyo', merchant_settings: { checkout_brand_name: 'B' } });
  });

  it('a time zone is stored under its canonical name, in whichever case it is sent', async () => {
    const { token } = await w.merchant();
    expect((await patch(token, { timezone: 'europe/zurich' })).body.updated_fields).toEqual(['timezone']);
    expect((await me(token)).body.timezone).toBe('Europe/Zurich');
    expect((await patch(token, { timezone: 'EUROPE/ZURICH' })).body.updated_fields).toEqual([]);
  });

  it('updated_fields is empty if nothing changes', async () => {
    const { token } = await w.merchant();
    for (const body of [{}, { timezone: 'UTC' }, { merchant_settings: {} }, { merchant_settings: { checkout_brand_name: '' } }])
      expect(await patch(token, body)).toMatchObject({ status: 200, body: { updated_fields: [] } });
  });

  it('invalid time zones, names and settings are refused with 422', async () => {
    const refused = [
      { timezone: 'Mars/Olympus' },
      { timezone: '+02:00' },
      { timezone: '' },
      { display_name: '  ' },
      { display_name: 'x'.repeat(121) },
      ...[
        { checkout_accent_hex: '#fff' },
        { checkout_accent_hex: 'red' },
        { checkout_logo_url: 'http://shop.example/logo.png' },
        { checkout_logo_url: 'javascript:alert(1)' },
        { default_redirect_url: 'data:text/html,x' },
        { checkout_success_button_label: 'x'.repeat(41) },
        { checkout_brand_name: 'x'.repeat(81) },
      ].map((merchant_settings) => ({ merchant_settings })),
    ];
    for (const body of refused)
      expect(await patch(merchant.token, body), JSON.stringify(body)).toMatchObject({ status: 422, body: { code: 'validation_error' } });
    const misspelt = await patch(merchant.token, { merchant_settings: { checkout_brand: 'x' } });
    expect(misspelt).toMatchObject({ status: 422, body: { code: 'unknown_field', detail: [{ ctx: {} }] } });
  });

  it('a key needs the execute permission', async () => {
    const { raw_key } = (await w.call('POST', '/v1/keys', { key: merchant.token, body: { name: 'r', permissions: ['read'] } })).body;
    expect(await patch(raw_key, { display_name: 'X' })).toMatchObject({ status: 403, body: { meta: { reason: 'permission' } } });
    expect((await w.call('PATCH', '/v1/account/me', { body: { display_name: 'X' } })).status).toBe(401);
  });

  it('the change is reported as done if it was stored and only the answer of the database was lost', async () => {
    const { token, userId } = await w.merchant();
    const { env } = withFaults(w.env, { after: lostOnce('batch') });
    const { status, body } = await w.call('PATCH', '/v1/account/me', { key: token, body: { display_name: 'Lost' }, env });
    expect({ status, fields: body.updated_fields }).toEqual({ status: 200, fields: ['display_name'] });
    expect((await readRow(userId)).displayName).toBe('Lost');
  });

  it('an update never changes another account', async () => {
    const other = await w.merchant();
    const before = await readRow(other.userId);
    await patch(merchant.token, { display_name: 'Somebody else' });
    await secure(merchant.token, { current_password: PASSWORD, new_password: 'another password' });
    expect(await readRow(other.userId)).toEqual(before);
    expect((await me(other.token)).status).toBe(200);
    merchant.token = (await login(merchant.email, 'another password')).body.token;
  });
});

const lostOnce = (kind: string) => {
  let isCut = false;
  return (trip: { kind: string }) => {
    const cuts = trip.kind === kind && !isCut;
    if (cuts) isCut = true;
    return cuts;
  };
};

describe('PATCH /v1/account/me/security', () => {
  it('a new password ends the old token and the old password, and API keys continue to work', async () => {
    const { token, email, key } = await w.merchant();
    const answer = await secure(token, { current_password: PASSWORD, new_password: 'a better password' });
    expect(answer).toMatchObject({ status: 200, body: { updated_fields: ['password'] } });
    expect(await me(token)).toMatchObject({ status: 401, body: { code: 'invalid_authorization' } });
    expect((await w.call('POST', '/v1/auth/refresh', { body: { token } })).status).toBe(401);
    expect((await login(email, PASSWORD)).status).toBe(401);
    expect((await login(email, 'a better password')).status).toBe(200);
    expect((await me(key)).status).toBe(200);
  });

  it('a new email is unverified and ends the session', async () => {
    const { token, email, userId } = await w.merchant();
    await testEnv.DB.prepare('UPDATE persons SET email_verified = 1 WHERE id = ?').bind(userId).run();
    expect((await secure(token, { current_password: PASSWORD, email: `  NEW-${email}`.trim() })).body.updated_fields).toEqual(['email']);
    expect((await me(token)).status).toBe(401);
    expect((await login(email, PASSWORD)).status).toBe(401);
    const again = await login(`new-${email}`, PASSWORD);
    expect((await me(again.body.token)).body).toMatchObject({ email: `new-${email}`, email_verified: false });
    const taken = { email, password: PASSWORD, display_name: 'Next' };
    expect((await w.call('POST', '/v1/auth/register', { body: taken })).status).toBe(201);
  });

  it('a change requires the current password', async () => {
    const { token } = await w.merchant();
    for (const current of [{}, { current_password: 'wrong password' }])
      expect(await secure(token, { ...current, new_password: 'a better password' })).toMatchObject({
        status: 401,
        body: { code: 'invalid_credentials' },
      });
    expect((await me(token)).status).toBe(200);
  });

  it('a short password, a registered email and an empty change are refused', async () => {
    const [{ token, email }, other] = [await w.merchant(), await w.merchant()];
    const change = (body: object) => secure(token, { current_password: PASSWORD, ...body });
    expect(await change({ new_password: 'short' })).toMatchObject({ status: 422, body: { code: 'password_too_short' } });
    expect(await change({ new_password: 'x'.repeat(129) })).toMatchObject({ status: 422, body: { code: 'password_too_short' } });
    expect(await change({ email: other.email.toUpperCase() })).toMatchObject({ status: 409, body: { code: 'email_registered' } });
    for (const body of [{}, { email }, { new_password: PASSWORD }])
      expect(await change(body)).toMatchObject({ status: 422, body: { code: 'no_change' } });
    expect(await secure(token, {})).toMatchObject({ status: 422, body: { code: 'no_change' } });
    expect((await me(token)).status).toBe(200);
  });

  it('API keys are refused with 403 token_required', async () => {
    const { key } = await w.merchant();
    const refused = { status: 403, body: { meta: { reason: 'token_required' } } };
    expect(await secure(key, { current_password: PASSWORD, new_password: 'a better password' })).toMatchObject(refused);
    expect(await w.call('DELETE', '/v1/account/account', { key })).toMatchObject(refused);
  });

  it('a wallet account sets its first email and password only shortly after sign-in', async () => {
    const signer = await generateKeyPairSigner();
    const { token, user_id } = (await walletSignIn(w, signer)).body;
    const email = `${signer.address.toLowerCase()}@example.com`;
    const old = await tokenSignedIn(w, user_id, 16);
    expect(await secure(old, { email, new_password: 'first password' })).toMatchObject({
      status: 403,
      body: { code: 'invalid_authorization', meta: { reason: 'sign_in_required' } },
    });
    expect((await secure(token, { email, new_password: 'first password' })).body.updated_fields).toEqual(['email', 'password']);
    expect((await me(token)).status).toBe(401);
    expect((await login(email, 'first password')).body.user_id).toBe(user_id);
    const fresh = (await walletSignIn(w, signer)).body.token;
    expect((await secure(fresh, { new_password: 'second password' })).status).toBe(401);
  });

  it('two concurrent changes: one wins, and only its password is valid', async () => {
    const { token, email } = await w.merchant();
    const passwords = ['first of two', 'second of two'];
    const answers = await Promise.all(passwords.map((new_password) => secure(token, { current_password: PASSWORD, new_password })));
    const winners = passwords.filter((_, index) => answers[index]!.status === 200);
    expect(winners).toHaveLength(1);
    const logins = await Promise.all(passwords.map((password) => login(email, password)));
    expect(logins.map(({ status }) => status)).toEqual(passwords.map((password) => (winners.includes(password) ? 200 : 401)));
    const session = logins.find(({ status }) => status === 200)!;
    expect((await me(session.body.token)).status).toBe(200);
    expect((await me(token)).status).toBe(401);
  });

  it('a change that the database refused after admission was informed locks out the owner for a minute at most', async () => {
    const { token, email } = await w.merchant();
    const change = { current_password: PASSWORD, new_password: 'never stored' };
    const { env } = withFaults(w.env, { before: ({ kind }) => kind === 'batch' });
    expect((await secure(token, change, { env })).status).toBe(503);
    // The change is undecided: the token is refused until a minute has passed and the database is read again.
    expect((await me(token)).status).toBe(401);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
    try {
      expect((await me(token)).status).toBe(200);
      expect((await me((await login(email, PASSWORD)).body.token)).status).toBe(200);
    } finally {
      vi.useRealTimers();
    }
  });

  it('two accounts claim the same email at once: one gets it, the other continues unchanged', async () => {
    const rivals = [await w.merchant(), await w.merchant()];
    const email = `wanted-${rivals[0]!.email}`;
    const answers = await Promise.all(rivals.map(({ token }) => secure(token, { current_password: PASSWORD, email })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const loser = rivals[answers.findIndex(({ status }) => status === 409)]!;
    expect((await me(loser.token)).body.email).toBe(loser.email);
  });

  it('guesses at the current password are rate limited like logins', async () => {
    const strict = new World({ RATE_MULTIPLIER: '1' });
    const { token } = await w.merchant();
    const headers = { 'CF-Connecting-IP': '203.0.113.78' };
    const guess = () =>
      strict.call('PATCH', '/v1/account/me/security', {
        key: token,
        body: { current_password: 'no', new_password: 'battery staple 9' },
        headers,
      });
    for (let i = 0; i < 10; i++) expect((await guess()).status).toBe(401);
    expect((await guess()).status).toBe(429);
  });
});
