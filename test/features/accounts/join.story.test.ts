import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DAY, MINUTE } from '#core/time.ts';
import { OAuthBrowser, openBrowser, type Somebody, somebody } from '../../support/clients/oauth.ts';
import { addApp, addPasskey } from '../../support/people/factors.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { testEnv } from '../../support/runner/env.ts';
import { emailedToken, MailWorld, verifyAddress } from '../../support/servers/mail.ts';
import type { Merchant } from '../../support/world.ts';

const w = new MailWorld();
const PASSWORD = 'correct horse battery';
afterEach(letTimeRun);

const me = async (token: string) => (await w.call('GET', '/v1/account/me', { key: token })).body;
const join = (ticket: string, password = PASSWORD, headers: Record<string, string> = {}) =>
  w.call('POST', '/v1/auth/oauth/join', { body: { ticket, password }, headers });
const countIdentities = (accountId: string) =>
  testEnv.DB.prepare('SELECT count(*) AS n FROM sign_in_identities WHERE account_id = ?').bind(accountId).first<number>('n');

describe.each(['google', 'github'])('F1: joining by %s an account that has a password', (provider) => {
  let browser: OAuthBrowser;
  let ada: Somebody;
  let merchant: Merchant;
  let ticket: string;

  /** Signs in at the provider as the reader of the merchant's verified address. */
  async function askPassword(): Promise<string> {
    const { page, outcome } = await browser.signIn();
    expect([page, outcome.error, outcome.token]).toEqual(['/dashboard', 'password_required', undefined]);
    return outcome.ticket!;
  }

  beforeEach(async () => {
    merchant = await w.merchant();
    await verifyAddress(w, merchant);
    ({ browser, ada } = await openBrowser(w, provider));
    await browser.is({ ...ada, email: merchant.email.toUpperCase() });
    ticket = await askPassword();
  });

  it('gives no session and links nothing until the password is shown', async () => {
    expect(await countIdentities(merchant.userId)).toBe(0);
    const { status, body } = await join(ticket);
    expect([status, body.user_id, body.account_id, body.role]).toEqual([200, merchant.userId, merchant.userId, 'owner']);
    expect(await me(body.token)).toMatchObject({ user_id: merchant.userId, has_password: true, auth_providers: [provider] });
    const { outcome } = await browser.signIn();
    expect((await me(outcome.token!)).user_id).toBe(merchant.userId);
  });

  it('emails the owner that the provider was linked, and notes it in the audit log', async () => {
    const { body } = await join(ticket);
    await w.post();
    const texts = (await w.posted()).taken.filter((sent) => sent.body.to[0] === merchant.email).map((sent) => sent.body.text);
    expect(texts.some((text: string) => text.includes(provider === 'google' ? 'Google' : 'GitHub'))).toBe(true);
    const log = await w.call('GET', '/v1/account/audit-log?action=person.provider_linked', { key: body.token });
    expect(log.body.items).toMatchObject([{ actor: { kind: 'person', id: merchant.userId }, after: { provider } }]);
  });

  const reset = async (body: object = {}) =>
    w.call('POST', '/v1/auth/password/reset', {
      body: { token: await emailedToken(w, merchant.userId, 'reset'), new_password: 'battery staple 9', ...body },
    });
  const reads = async (key: string) => (await w.call('GET', '/v1/account/me', { key })).status;

  it('a password reset without the asked password ends all earlier access', async () => {
    const product = await w.product(merchant);
    await w.purchase(product, await w.chain.wallet());
    const { body, status } = await reset();
    expect([status, body.detail]).toEqual([200, expect.stringContaining('2 keys')]);
    for (const key of [merchant.key, merchant.sandboxKey, merchant.token]) expect(await reads(key)).toBe(401);
    expect((await w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: {} })).body.code).toBe('setup_not_ready');
    const { body: session } = await w.call('POST', '/v1/auth/login', { body: { email: merchant.email, password: 'battery staple 9' } });
    expect(await me(session.token)).toMatchObject({ user_id: merchant.userId, wallet_address: null, claimed: { keys: 2 } });
    // The reader knows the password now, so the next reset ends sessions alone.
    const created = await w.call('POST', '/v1/keys', { key: session.token, body: { name: 'server' } });
    expect((await reset()).status).toBe(200);
    expect(await reads(created.body.raw_key)).toBe(200);
  });

  it('a password reset without the asked password removes no second factor: a mailbox alone signs nobody in', async () => {
    await addApp(w, merchant.token);
    expect((await reset()).status).toBe(200);
    const { body } = await w.call('POST', '/v1/auth/login', { body: { email: merchant.email, password: 'battery staple 9' } });
    expect(body).toMatchObject({ code: 'factor_required', meta: { methods: expect.arrayContaining(['totp']) } });
    expect(await reads(merchant.key)).toBe(401);
  });

  it('a password reset without the asked password ends the factors that were added before the address was proven, with their codes', async () => {
    const squatter = await w.merchant();
    const { device, codes } = await addPasskey(w, squatter.token);
    setTime(Date.now() + MINUTE);
    await verifyAddress(w, squatter);
    await browser.is({ ...ada, email: squatter.email });
    expect((await browser.signIn()).outcome).toMatchObject({ error: 'password_required' });
    const body = { token: await emailedToken(w, squatter.userId, 'reset'), new_password: 'battery staple 9' };
    expect((await w.call('POST', '/v1/auth/password/reset', { body })).status).toBe(200);
    const login = await w.call('POST', '/v1/auth/login', { body: { email: squatter.email, password: 'battery staple 9' } });
    expect([login.status, (await me(login.body.token)).factors]).toEqual([200, { passkeys: 0, totp: false, recovery_codes_left: 0 }]);
    const { ceremony_id, options } = (await w.call('POST', '/v1/auth/passkey/options')).body;
    const response = await device.get(options);
    expect([codes?.length, (await w.call('POST', '/v1/auth/passkey', { body: { ceremony_id, response } })).status]).toEqual([10, 401]);
  });

  it('a password reset after the password was shown ends sessions alone', async () => {
    expect((await join(ticket)).status).toBe(200);
    expect((await reset()).status).toBe(200);
    expect([await reads(merchant.key), await reads(merchant.token)]).toEqual([200, 401]);
  });

  it('a provider that the maker links, or a sign-in of the maker, does not spare earlier access', async () => {
    const makers = new OAuthBrowser(w, provider);
    await makers.is(somebody());
    expect((await makers.signIn({}, { key: merchant.token })).outcome).toEqual({ linked: provider });
    const login = { email: merchant.email, password: PASSWORD };
    expect((await w.call('POST', '/v1/auth/login', { body: login })).status).toBe(200);
    expect((await reset()).status).toBe(200);
    expect(await reads(merchant.key)).toBe(401);
    expect((await makers.signIn()).outcome).toEqual({ error: 'account_not_found' });
  });

  it('a password is asked for as well if the maker linked another identity of the provider, and a reset ends that too', async () => {
    await testEnv.DB.prepare('UPDATE persons SET join_asked_at = NULL WHERE id = ?').bind(merchant.userId).run();
    const [makers, maker] = [new OAuthBrowser(w, provider), somebody()];
    await makers.is(maker);
    await makers.signIn({}, { key: merchant.token });
    await browser.is({ ...ada, email: merchant.email });
    expect((await browser.signIn()).outcome).toEqual({ error: 'identity_in_use' });
    expect((await reset()).status).toBe(200);
    await makers.is(maker);
    expect((await makers.signIn()).outcome).toEqual({ error: 'account_not_found' });
  });

  it('a password reset a week after the provider’s sign-in ends sessions alone', async () => {
    setTime(Date.now() + 7 * DAY + MINUTE);
    expect((await reset()).status).toBe(200);
    expect(await reads(merchant.key)).toBe(200);
  });

  it('a wrong password answers 401, and the same ticket still takes the right one', async () => {
    const wrong = await join(ticket, 'wrong horse battery');
    expect([wrong.status, wrong.body.code]).toEqual([401, 'invalid_credentials']);
    expect(await countIdentities(merchant.userId)).toBe(0);
    expect((await join(ticket)).status).toBe(200);
  });

  it.runIf(provider === 'google')(
    'wrong passwords count among those of the person, so that a guesser meets email_link_required',
    async () => {
      for (let tries = 0; tries < 101; tries++) await join(ticket, `wrong ${tries}`, { 'CF-Connecting-IP': `203.0.113.${tries % 20}` });
      const from = { 'CF-Connecting-IP': '198.51.100.7' };
      for (const password of [PASSWORD, 'wrong horse battery'])
        expect((await join(ticket, password, from)).body.meta).toEqual({ reason: 'email_link_required' });
      const login = await w.call('POST', '/v1/auth/login', { body: { email: merchant.email, password: PASSWORD }, headers: from });
      expect(login.body.meta).toEqual({ reason: 'email_link_required' });
      expect(await countIdentities(merchant.userId)).toBe(0);
    },
  );

  it('the ticket works once, also for concurrent requests', async () => {
    const both = await Promise.all([join(ticket), join(ticket)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
    expect([(await join(ticket)).status, await countIdentities(merchant.userId)]).toEqual([401, 1]);
  });

  it('a ticket older than ten minutes is refused', async () => {
    setTime(Date.now() + 10 * MINUTE);
    expect((await join(ticket)).body.code).toBe('invalid_credentials');
  });

  it('a forged ticket and one for another use are refused', async () => {
    const [payload, mac] = ticket.split('.') as [string, string];
    const other = await w.merchant();
    const decoded = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')));
    const forged = btoa(JSON.stringify({ ...decoded, personId: other.userId }));
    await addApp(w, other.token);
    const factor = await w.call('POST', '/v1/auth/login', { body: { email: other.email, password: PASSWORD } });
    for (const bad of ['', 'x', payload, `${payload}.${'0'.repeat(64)}`, `${forged}.${mac}`, factor.body.meta.ticket])
      expect([bad, (await join(bad)).status]).toEqual([bad, 401]);
    expect(await countIdentities(other.userId)).toBe(0);
  });

  it('a new password ends the ticket', async () => {
    const body = { current_password: PASSWORD, new_password: 'another horse battery' };
    expect((await w.call('PATCH', '/v1/account/me/security', { key: merchant.token, body })).status).toBe(200);
    for (const password of [PASSWORD, 'another horse battery']) expect((await join(ticket, password)).status).toBe(401);
    expect(await countIdentities(merchant.userId)).toBe(0);
  });

  it('a person with a factor gets factor_required, and the provider is linked once the factor is proven', async () => {
    const { app } = await addApp(w, merchant.token);
    const { status, body } = await join(ticket);
    expect([status, body.code]).toEqual([401, 'factor_required']);
    const done = await w.call('POST', '/v1/auth/factor', { body: { ticket: body.meta.ticket, totp: app.code() } });
    expect([done.status, done.body.user_id]).toEqual([200, merchant.userId]);
    expect((await me(done.body.token)).auth_providers).toEqual([provider]);
    expect((await browser.signIn()).outcome.error).toBe('factor_required');
    expect((await join(ticket)).status).toBe(401);
  });

  it('an identity that was linked to another account meanwhile is not linked by a factor, which signs in all the same', async () => {
    const { app } = await addApp(w, merchant.token);
    const { body } = await join(ticket);
    const rival = await w.merchant();
    expect((await browser.signIn({}, { key: rival.token })).outcome).toEqual({ linked: provider });
    const done = await w.call('POST', '/v1/auth/factor', { body: { ticket: body.meta.ticket, totp: app.code() } });
    expect([done.status, await countIdentities(merchant.userId)]).toEqual([200, 0]);
  });

  it('a reset after the password was shown ends no access of a person with a factor', async () => {
    await addApp(w, merchant.token);
    expect((await join(await askPassword())).body.code).toBe('factor_required');
    expect((await reset()).status).toBe(200);
    expect(await reads(merchant.key)).toBe(200);
  });

  it('a suspended account is refused after the right password, and a wrong one says nothing of it', async () => {
    await testEnv.DB.prepare("UPDATE accounts SET status = 'suspended' WHERE id = ?").bind(merchant.userId).run();
    expect((await join(ticket, 'wrong horse battery')).body.code).toBe('invalid_credentials');
    expect((await join(ticket)).body.code).toBe('account_suspended');
  });

  it('an identity that was linked to another account meanwhile is refused with 409', async () => {
    const rival = await w.merchant();
    expect((await browser.signIn({}, { key: rival.token })).outcome).toEqual({ linked: provider });
    const { status, body } = await join(ticket);
    expect([status, body.code, body.meta]).toEqual([409, 'state_conflict', { reason: 'identity_in_use' }]);
    expect(await countIdentities(merchant.userId)).toBe(0);
  });

  it('an account with another identity of the provider asks for no password', async () => {
    expect((await join(ticket)).status).toBe(200);
    await browser.is({ ...somebody(), email: merchant.email });
    expect((await browser.signIn()).outcome).toEqual({ error: 'identity_in_use' });
  });
});
