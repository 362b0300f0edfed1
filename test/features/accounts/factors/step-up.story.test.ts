import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HOUR, MINUTE, SECOND } from '#core/time.ts';
import { openBrowser } from '../../../support/clients/oauth.ts';
import { newKey } from '../../../support/people/agent.ts';
import type { App } from '../../../support/people/authenticator-app.ts';
import { addApp, addPasskey, logInAgain, newTicket } from '../../../support/people/factors.ts';
import { OPERATOR_SECRET, openStaff } from '../../../support/people/staff.ts';
import { letTimeRun, setTime } from '../../../support/runner/clock.ts';
import { type Merchant, World } from '../../../support/world.ts';

const w = new World({ OPERATOR_SECRET });
const PASSWORD = 'correct horse battery';
const STEP_UP = {
  status: 403,
  body: {
    code: 'invalid_authorization',
    meta: { reason: 'step_up_required', methods: ['totp', 'recovery_code'], step_up: '/v1/auth/step-up' },
  },
};

let ada: Merchant;
beforeEach(async () => {
  ada = await w.merchant();
});
afterEach(letTimeRun);

/** Calls that decide where money goes or who gets in. */
async function listGuarded(): Promise<[string, (key: string) => ReturnType<World['call']>][]> {
  const { address } = await w.chain.wallet(0n);
  const live = (await w.call('POST', '/v1/keys', { key: ada.token, body: { name: 'live', scopes: ['products:read'] } })).body.key.id;
  const product = await w.product(ada, { external_product_id: 'mine' });
  const price = { asset: 'USDC', amount: '1' };
  return [
    ['a live key', (key) => w.call('POST', '/v1/keys', { key, body: { name: 'server' } })],
    ['a rolled live key', (key) => w.call('POST', `/v1/keys/${live}/roll`, { key, body: {} })],
    ['a widened live key', (key) => w.call('PATCH', `/v1/keys/${live}`, { key, body: { scopes: null } })],
    ['a new payout wallet', (key) => w.call('POST', '/v1/products', { key, body: { name: 'Other', price, payout_wallet: address } })],
    ['an external id', (key) => w.call('PATCH', `/v1/products/${product.product_id}`, { key, body: { external_product_id: 'other' } })],
    [
      'the email address',
      (key) => w.call('PATCH', '/v1/account/me/security', { key, body: { email: `new-${ada.email}`, current_password: PASSWORD } }),
    ],
    [
      'the password',
      (key) =>
        w.call('PATCH', '/v1/account/me/security', { key, body: { new_password: 'another horse battery', current_password: PASSWORD } }),
    ],
    ['a linked provider', (key) => w.call('GET', '/v1/auth/oauth/google/start', { key })],
    ['an unlinked provider', (key) => w.call('DELETE', '/v1/account/identities/google', { key })],
    ['a passkey', (key) => w.call('POST', '/v1/account/passkeys/options', { key })],
    ['another authenticator app', (key) => w.call('POST', '/v1/account/totp', { key })],
    ['no authenticator app', (key) => w.call('DELETE', '/v1/account/totp', { key })],
    ['recovery codes', (key) => w.call('POST', '/v1/account/recovery-codes', { key })],
    ['the card checkout', (key) => w.call('POST', '/v1/billing/checkout/processor', { key, body: { plan: 'starter' } })],
    ['the card portal', (key) => w.call('POST', '/v1/billing/portal/processor', { key, body: {} })],
    ['the end of the account', (key) => w.call('DELETE', '/v1/account/account', { key })],
  ];
}

describe('step-up', () => {
  it('a step-up is required for every guarded call of a person with a factor, and lasts for FRESH_SIGN_IN_SECONDS', async () => {
    const guarded = await listGuarded();
    const { app } = await addApp(w, ada.token);
    for (const [name, call] of guarded) expect(await call(ada.token), name).toMatchObject(STEP_UP);
    // A token has seconds. On a second, the time of the step-up is exact.
    const asked = Math.ceil(Date.now() / SECOND) * SECOND;
    setTime(asked);
    const { token } = (await w.call('POST', '/v1/auth/step-up', { key: ada.token, body: { totp: app.code() } })).body;
    setTime(asked + 15 * MINUTE - 1000);
    const [[, makeKey]] = guarded as [(typeof guarded)[number]];
    expect((await makeKey(token)).status).toBe(201);
    setTime(asked + 15 * MINUTE + 2000);
    const renewed = (await w.call('POST', '/v1/auth/refresh', { body: { token } })).body.token;
    for (const [name, call] of guarded) expect(await call(renewed), name).toMatchObject(STEP_UP);
  });

  it('a step-up counts for the session that proved it, and passes every guarded call', async () => {
    const guarded = await listGuarded();
    const { app } = await addApp(w, ada.token);
    const { token } = (await w.call('POST', '/v1/auth/step-up', { key: ada.token, body: { totp: app.code() } })).body;
    const bypassed = guarded.filter(
      ([name]) => !['the email address', 'the password', 'no authenticator app', 'the end of the account'].includes(name),
    );
    for (const [name, call] of bypassed)
      expect((await call(token)) as { body: { meta?: { reason?: string } } | null }, name).not.toMatchObject(STEP_UP);
    expect(await guarded[0]![1](ada.token)).toMatchObject(STEP_UP);
  });

  it('a step-up is not required for reads, sandbox keys and settings', async () => {
    await addApp(w, ada.token);
    const statuses = await Promise.all([
      w.call('GET', '/v1/keys', { key: ada.token }),
      w.call('POST', '/v1/keys', { key: ada.token, body: { name: 'test', sandbox_mode: true } }),
      w.call('PATCH', '/v1/account/me', { key: ada.token, body: { timezone: 'Europe/Berlin' } }),
      w.call('GET', '/v1/account/passkeys', { key: ada.token }),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([200, 201, 200, 200]);
  });

  it('a step-up is required from the request after the factor was confirmed, in every session', async () => {
    const other = (await logInAgain(w, ada)).body.token;
    await addApp(w, ada.token);
    for (const key of [ada.token, other])
      expect(await w.call('POST', '/v1/keys', { key, body: { name: 'server' } })).toMatchObject(STEP_UP);
  });

  it('a factor changes nothing for a key', async () => {
    await addApp(w, ada.token);
    expect((await w.call('GET', '/v1/account/me', { key: ada.key })).body.factors).toEqual({
      passkeys: 0,
      totp: true,
      recovery_codes_left: 10,
    });
    expect(
      (await w.call('POST', '/v1/access/apps', { key: ada.key, body: { name: 'App' }, headers: { 'Idempotency-Key': newKey() } })).status,
    ).toBe(201);
  });
});

describe('ways to sign in', () => {
  it('a wallet alone gives a ticket to a person with a factor', async () => {
    const { walletSignIn } = await import('../../../support/chain/wallet.ts');
    const signer = await w.chain.wallet(0n);
    const { token } = (await walletSignIn(w, signer)).body;
    const { app } = await addApp(w, token);
    const { status, body } = await walletSignIn(w, signer);
    const refusal = body as unknown as { code: string; meta: { ticket: string } };
    expect([status, refusal.code]).toEqual([401, 'factor_required']);
    const done = await w.call('POST', '/v1/auth/factor', { body: { ticket: refusal.meta.ticket, totp: app.code() } });
    expect(done.status).toBe(200);
    expect((await w.call('GET', '/v1/account/sessions', { key: done.body.token })).body.items[0]).toMatchObject({
      method: 'siws',
      factor: 'totp',
    });
  });

  it('a provider’s callback ends in factor_required with a ticket', async () => {
    const { browser } = await openBrowser(w, 'google');
    const { outcome } = await browser.signIn({ mode: 'register' });
    const { app } = await addApp(w, outcome.token!);
    const again = (await browser.signIn({ mode: 'login' })).outcome;
    expect(again).toEqual({ error: 'factor_required', ticket: expect.any(String) });
    const done = await w.call('POST', '/v1/auth/factor', { body: { ticket: again.ticket, totp: app.code() } });
    expect(done.status).toBe(200);
    expect((await w.call('GET', '/v1/account/me', { key: done.body.token })).status).toBe(200);
  });

  it('a ticket of a provider that was unlinked meanwhile is refused', async () => {
    const { browser } = await openBrowser(w, 'google');
    const { token } = (await browser.signIn({ mode: 'register' })).outcome;
    const { app, codes } = await addApp(w, token!);
    const { ticket } = (await browser.signIn({ mode: 'login' })).outcome;
    await w.env.DB.prepare('DELETE FROM sign_in_identities').run();
    const refused = await w.call('POST', '/v1/auth/factor', { body: { ticket, totp: app.code() } });
    expect([refused.status, refused.body.code]).toEqual([401, 'invalid_credentials']);
    expect(codes).toHaveLength(10);
    expect((await w.call('GET', '/v1/account/sessions', { key: token! })).body.items).toHaveLength(1);
  });

  it('the last passkey is a way in that lets a provider be unlinked', async () => {
    const { browser } = await openBrowser(w, 'google');
    const { token } = (await browser.signIn({ mode: 'register' })).outcome;
    const unlink = (key: string) => w.call('DELETE', '/v1/account/identities/google', { key });
    expect((await unlink(token!)).body.meta.reason).toBe('last_way_in');
    const { device } = await addPasskey(w, token!);
    const { ceremony_id, options } = (await w.call('POST', '/v1/auth/passkey/options')).body;
    const signedIn = await w.call('POST', '/v1/auth/passkey', { body: { ceremony_id, response: await device.get(options) } });
    expect((await unlink(signedIn.body.token)).status).toBe(204);
  });
});

describe('STAFF_FACTOR', () => {
  const strict = { ...w.env, STAFF_FACTOR: 'required' };
  let staff: Merchant;
  let app: App;
  let ticket: string;
  const asStaff = async (key: string) => [
    await w.call('GET', '/v1/support/tickets?scope=all', { key, env: strict }),
    await w.call('GET', `/v1/support/tickets/${ticket}`, { key, env: strict }),
    await w.call('POST', `/v1/support/tickets/${ticket}/message`, { key, env: strict, body: { body: 'Hello' } }),
    await w.call('POST', `/v1/support/tickets/${ticket}/resolve`, { key, env: strict }),
    await w.call('POST', '/v1/keys', { key, env: strict, body: { name: 'staff', sandbox_mode: true, permissions: ['read', 'admin'] } }),
  ];
  beforeEach(async () => {
    staff = await openStaff(w);
    const opened = await w.call('POST', '/v1/support/tickets', { key: ada.token, body: { subject: 'Help', body: 'Please' } });
    ticket = opened.body.ticket_id;
  });

  it('required: staff without a factor are refused, and with one until it was proven within 12 hours', async () => {
    const token = (await logInAgain(w, staff)).body.token;
    for (const answer of await asStaff(token))
      expect(answer).toMatchObject({ status: 403, body: { meta: { reason: 'factor_required', enrol: '/dashboard/security' } } });
    ({ app } = await addApp(w, token));
    for (const answer of await asStaff(token)) expect(answer).toMatchObject(STEP_UP);
    const proven = (await w.call('POST', '/v1/auth/factor', { body: { ticket: await newTicket(w, staff), totp: app.code() } })).body.token;
    const proof = Date.now();
    setTime(proof + 12 * HOUR - MINUTE);
    for (const answer of await asStaff(proven)) expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    setTime(proof + 12 * HOUR + 1000);
    for (const answer of await asStaff(proven)) expect(answer).toMatchObject(STEP_UP);
  });

  it('required: staff read and answer their own tickets without a factor', async () => {
    const token = (await logInAgain(w, staff)).body.token;
    const mine = await w.call('POST', '/v1/support/tickets', { key: token, env: strict, body: { subject: 'Mine', body: 'Please' } });
    expect((await w.call('GET', `/v1/support/tickets/${mine.body.ticket_id}`, { key: token, env: strict })).status).toBe(200);
  });

  it('optional: staff act without a factor', async () => {
    const token = (await logInAgain(w, staff)).body.token;
    expect((await w.call('GET', '/v1/support/tickets?scope=all', { key: token })).status).toBe(200);
  });
});
