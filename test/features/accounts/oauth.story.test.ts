import { beforeEach, describe, expect, it } from 'vitest';
import { OAuthBrowser, openBrowser, type Somebody, somebody } from '../../support/clients/oauth.ts';
import { addApp } from '../../support/people/factors.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

const w = new World();
const me = async (token: string) => (await w.call('GET', '/v1/account/me', { key: token })).body;
const verify = (merchant: Merchant) => testEnv.DB.prepare('UPDATE persons SET email_verified = 1 WHERE id = ?').bind(merchant.userId).run();

describe.each(['google', 'github'])('sign-in with %s', (provider) => {
  let browser: OAuthBrowser;
  let ada: Somebody;
  beforeEach(async () => {
    ({ browser, ada } = await openBrowser(w, provider));
  });

  it('the first sign-in creates an account only in register mode, later ones open the same account', async () => {
    expect((await browser.signIn()).outcome).toEqual({ error: 'account_not_found' });
    const { page, outcome } = await browser.register();
    expect(page).toBe('/dashboard');
    const account = await me(outcome.token!);
    expect(account).toMatchObject({
      email: ada.email,
      display_name: 'Somebody',
      email_verified: true,
      has_password: false,
      auth_providers: [provider],
      tier: 'free',
    });
    for (const mode of ['login', 'register'])
      expect((await me((await browser.signIn({ mode })).outcome.token!)).user_id).toBe(account.user_id);
  });

  it('a provider sign-in is fresh, so it can create live keys', async () => {
    const { outcome } = await browser.register();
    const { status } = await w.call('POST', '/v1/keys', { key: outcome.token!, body: { name: 'server' } });
    expect(status).toBe(201);
  });

  it('an identity belongs to the provider’s subject, even if its email changes', async () => {
    const first = await me((await browser.register()).outcome.token!);
    const victim = await w.merchant('free');
    await verify(victim);
    await browser.is({ ...ada, email: victim.email });
    const again = await me((await browser.signIn()).outcome.token!);
    expect([again.user_id, again.email]).toEqual([first.user_id, ada.email]);
    const { body } = await w.call('GET', '/v1/account/identities', { key: (await browser.signIn()).outcome.token! });
    expect(body.items).toMatchObject([{ provider, email: victim.email }]);
  });

  it('an identity joins an account without a password at once if both sides verified the email', async () => {
    const merchant = await w.merchant('free');
    await verify(merchant);
    await testEnv.DB.prepare('UPDATE persons SET password_hash = NULL WHERE id = ?').bind(merchant.userId).run();
    await browser.is({ ...ada, email: merchant.email.toUpperCase() });
    const { outcome } = await browser.signIn();
    expect(await me(outcome.token!)).toMatchObject({ user_id: merchant.userId, has_password: false, auth_providers: [provider] });
    expect((await w.call('GET', '/v1/account/me', { key: merchant.key })).status).toBe(200);
  });

  it('an account without a password but with a factor gets nothing linked before the factor is proven', async () => {
    const owner = await w.merchant();
    await verify(owner);
    const { app } = await addApp(w, owner.token);
    await testEnv.DB.prepare('UPDATE persons SET password_hash = NULL WHERE id = ?').bind(owner.userId).run();
    await browser.is({ ...ada, email: owner.email });
    const { outcome } = await browser.signIn();
    expect([outcome.error, (await me(owner.key)).auth_providers]).toEqual(['factor_required', []]);
    const { status, body } = await w.call('POST', '/v1/auth/factor', { body: { ticket: outcome.ticket, totp: app.code() } });
    expect([status, body.user_id, (await me(owner.key)).auth_providers]).toEqual([200, owner.userId, [provider]]);
    expect((await browser.signIn()).outcome.error).toBe('factor_required');
  });

  it('the callback redirects to the requested page', async () => {
    const { page } = await browser.signIn({ mode: 'register', next: '/dashboard/keys?tab=live', surface: 'checkout' });
    expect(page).toBe('/dashboard/keys?tab=live');
  });

  it('a page of ours gets the session as its cookie, no address has the token, and the session of before ends', async () => {
    const begin = (next: string) => browser.signIn({ mode: 'register', next, surface: 'page' });
    const first = await begin('/login?locale=de&next=%2Fdashboard%2Fkeys');
    expect([first.page, first.outcome]).toEqual(['/dashboard/keys', {}]);
    const [, token] = /^__Host-svc_session=([\w.-]+); Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/.exec(first.cookie!)!;
    expect((await me(token!)).auth_providers).toEqual([provider]);
    const path = await browser.consent(await browser.start({ next: '/dashboard', surface: 'page' }));
    const { headers } = await browser.back(path, { cookie: `${browser.cookie}; __Host-svc_session=${token}` });
    expect(headers.get('Location')).toBe('/dashboard');
    expect((await w.call('GET', '/v1/account/me', { key: token! })).body.meta).toEqual({ reason: 'session_ended' });
    await browser.lies({ error: 'access_denied' });
    expect(await begin('/login?next=%2Fdashboard')).toEqual({
      ...{ page: '/login?next=%2Fdashboard', outcome: { error: 'access_denied' }, cookie: null },
    });
    await browser.lies({});
  });

  it('the error names the cause: person, account or provider', async () => {
    await browser.lies({ error: 'access_denied' });
    expect((await browser.register()).outcome).toEqual({ error: 'access_denied' });
    await browser.lies({ error: 'server_error' });
    expect((await browser.register()).outcome).toEqual({ error: 'provider_unavailable' });
    await browser.lies({ status: 500 });
    expect((await browser.register()).outcome).toEqual({ error: 'provider_unavailable' });
    await browser.lies({});
    const { user_id } = await me((await browser.register()).outcome.token!);
    await testEnv.DB.prepare("UPDATE accounts SET status = 'suspended' WHERE id = ?").bind(user_id).run();
    expect((await browser.signIn()).outcome).toEqual({ error: 'account_suspended' });
  });

  it('deletion erases the identity, and a later sign-in answers account_deleted', async () => {
    const { outcome } = await browser.register();
    expect((await w.call('DELETE', '/v1/account/account', { key: outcome.token! })).status).toBe(200);
    const left = testEnv.DB.prepare('SELECT count(*) AS n FROM sign_in_identities WHERE subject = ? AND provider = ?');
    expect(await left.bind(ada.subject, provider).first('n')).toBe(0);
    expect((await browser.signIn()).outcome).toEqual({ error: 'account_deleted' });
    expect((await browser.register()).outcome).toEqual({ error: 'account_deleted' });
  });

  it('an identity is linked to one account and can be unlinked', async () => {
    const merchant = await w.merchant('free');
    expect((await browser.signIn({}, { key: merchant.token })).outcome).toEqual({ linked: provider });
    expect((await browser.signIn({}, { key: merchant.token })).outcome).toEqual({ linked: provider });
    expect((await me((await browser.signIn()).outcome.token!)).user_id).toBe(merchant.userId);
    const other = await w.merchant('free');
    expect((await browser.signIn({}, { key: other.token })).outcome).toEqual({ error: 'identity_in_use' });
    await browser.is(somebody());
    expect((await browser.signIn({}, { key: merchant.token })).outcome).toEqual({ error: 'identity_in_use' });
    const { body } = await w.call('GET', '/v1/account/identities', { key: merchant.token });
    expect(body.items).toEqual([{ provider, email: ada.email, linked_at: expect.any(String) }]);
    const unlink = () => w.call('DELETE', `/v1/account/identities/${provider}`, { key: merchant.token });
    expect([(await unlink()).status, (await unlink()).status]).toEqual([204, 204]);
    expect((await me(merchant.token)).auth_providers).toEqual([]);
  });

  it('the last sign-in method cannot be unlinked', async () => {
    const { outcome } = await browser.register();
    const { status, body } = await w.call('DELETE', `/v1/account/identities/${provider}`, { key: outcome.token! });
    expect([status, body.code, body.meta.reason]).toEqual([409, 'state_conflict', 'last_way_in']);
  });

  it('linking and unlinking require a fresh sign-in, and keys are refused', async () => {
    const merchant = await w.merchant('free');
    const start = `/v1/auth/oauth/${provider}/start`;
    setTime(Date.now() + 16 * 60_000);
    const old = [
      await w.call('GET', start, { key: merchant.token }),
      await w.call('DELETE', `/v1/account/identities/${provider}`, { key: merchant.token }),
    ];
    letTimeRun();
    for (const { status, body } of old) expect([status, body.meta.reason]).toEqual([403, 'sign_in_required']);
    const asKey = await w.call('GET', start, { headers: { Authorization: `Bearer ${merchant.key}` } });
    expect([asKey.status, asKey.body.meta.reason]).toEqual([403, 'token_required']);
    expect((await w.call('GET', start, { key: 'garbage' })).status).toBe(401);
  });

  it('concurrent callbacks of one person create one account', async () => {
    const browsers = Array.from({ length: 4 }, () => new OAuthBrowser(w, provider));
    const paths = await Promise.all(browsers.map(async (one) => one.consent(await one.start({ mode: 'register' }))));
    const answers = await Promise.all(browsers.map((one, i) => one.back(paths[i]!)));
    const tokens = answers.map(({ headers }) => headers.get('Location')!.split('#token=')[1]!);
    const accounts = await Promise.all(tokens.map(async (token) => (await me(token)).user_id));
    expect(new Set(accounts).size).toBe(1);
  });
});

describe('OAuth providers', () => {
  it('the provider list names missing settings, and an unconfigured one answers 503, an unknown one 404', async () => {
    const env = { ...w.env, GITHUB_CLIENT_SECRET: '' };
    const { body } = await w.call('GET', '/v1/auth/oauth/providers', { env });
    expect(body.providers).toEqual([
      { provider: 'google', configured: true, callback_url: 'https://svc.test/v1/auth/oauth/google/callback', missing: [] },
      {
        provider: 'github',
        configured: false,
        callback_url: 'https://svc.test/v1/auth/oauth/github/callback',
        missing: ['GITHUB_CLIENT_SECRET'],
      },
    ]);
    for (const step of ['start', 'callback']) {
      const lacking = await w.call('GET', `/v1/auth/oauth/github/${step}`, { env });
      expect([lacking.status, lacking.body.code, lacking.body.meta.missing]).toEqual([
        503,
        'oauth_not_configured',
        ['GITHUB_CLIENT_SECRET'],
      ]);
      expect((await w.call('GET', `/v1/auth/oauth/facebook/${step}`)).status).toBe(404);
    }
    const merchant = await w.merchant('free');
    expect((await w.call('DELETE', '/v1/account/identities/facebook', { key: merchant.token })).status).toBe(404);
  });

  it('an unavailable provider answers 503 temporarily_unavailable when a sign-in begins', async () => {
    const env = { ...w.env, GOOGLE_ISSUER: `${testEnv.TEST_OUTSIDE_URL}/nothing-here` };
    const { status, body } = await w.call('GET', '/v1/auth/oauth/google/start', { env });
    expect([status, body.code]).toEqual([503, 'temporarily_unavailable']);
  });
});
