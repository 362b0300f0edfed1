import { beforeEach, describe, expect, it } from 'vitest';
import { OAuthBrowser, openBrowser, type Somebody, somebody } from '../../support/clients/oauth.ts';
import { addApp } from '../../support/people/factors.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { testEnv } from '../../support/runner/env.ts';
import { MailWorld } from '../../support/servers/mail.ts';
import { World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
const me = (token: string) => w.call('GET', '/v1/account/me', { key: token });
const countIdentities = async (accountId: string): Promise<number> =>
  (await testEnv.DB.prepare('SELECT count(*) AS n FROM sign_in_identities WHERE account_id = ?').bind(accountId).first<number>('n'))!;

describe.each(['google', 'github'])('attacks on sign-in with %s', (provider) => {
  let browser: OAuthBrowser;
  let ada: Somebody;
  beforeEach(async () => {
    ({ browser, ada } = await openBrowser(w, provider));
  });

  it('an email that the provider has not verified opens no account', async () => {
    const victim = await w.merchant('free');
    for (const isVerifiedHere of [0, 1]) {
      await testEnv.DB.prepare('UPDATE persons SET email_verified = ? WHERE id = ?').bind(isVerifiedHere, victim.userId).run();
      await browser.is({ ...ada, email: victim.email, isEmailVerified: false });
      for (const mode of ['login', 'register']) expect((await browser.signIn({ mode })).outcome).toEqual({ error: 'email_unverified' });
    }
    expect(await countIdentities(victim.userId)).toBe(0);
    expect((await me(victim.token)).status).toBe(200);
  });

  it('a squatter who registered the email first loses all access when its owner signs in', async () => {
    const squatter = await w.merchant('free');
    const spare = await w.call('POST', '/v1/keys', { key: squatter.token, body: { name: 'second' } });
    const product = await w.product(squatter, {
      payout_wallet: squatter.wallet.address,
      success_url: 'https://squatter.example/bought',
    });
    await w.call('PUT', '/v1/access/rail-settings/solana_usdc', {
      key: squatter.token,
      body: { payout_wallet: squatter.wallet.address },
      headers: { 'Idempotency-Key': crypto.randomUUID() },
    });
    const settings = {
      checkout_brand_name: 'Squatter',
      default_redirect_url: 'https://squatter.example',
      default_support_url: 'https://squatter.example',
    };
    const patch = {
      merchant_settings: settings,
      display_name: 'Squatter & Co',
      notification_prefs: { payouts: false, webhooks: false },
      timezone: 'Asia/Tokyo',
      locale: 'ja',
    };
    expect((await w.call('PATCH', '/v1/account/me', { key: squatter.token, body: patch })).status).toBe(200);
    const hook = { url: `${testEnv.TEST_RECEIVER_URL}/ok/squatter-${provider}` };
    const endpoint = await w.call('POST', '/v1/webhooks/endpoints', { key: squatter.key, body: hook });
    const other = new OAuthBrowser(w, provider === 'google' ? 'github' : 'google');
    await other.is(somebody());
    expect((await other.signIn({}, { key: squatter.token })).outcome).toHaveProperty('linked');
    await browser.is({ ...ada, email: squatter.email });
    const { outcome } = await browser.signIn();
    const { body: account } = await me(outcome.token!);
    expect(account).toMatchObject({
      user_id: squatter.userId,
      has_password: false,
      wallet_address: null,
      email_verified: true,
      auth_providers: [provider],
      display_name: 'Somebody',
      timezone: 'UTC',
      locale: 'en',
    });
    expect(Object.values(account.notification_prefs)).not.toContain(false);
    expect(JSON.stringify(account)).not.toMatch(/squatter(?!-)/i);
    for (const key of [squatter.key, squatter.sandboxKey, squatter.token, spare.body.raw_key]) expect((await me(key)).status).toBe(401);
    const login = await w.call('POST', '/v1/auth/login', { body: { email: squatter.email, password: 'correct horse battery' } });
    expect(login.status).toBe(401);
    const read = async (path: string): Promise<Body> => (await w.call('GET', path, { key: outcome.token! })).body;
    const { items = [] } = await read('/v1/webhooks/endpoints');
    expect(items.map((one: Body) => [one.endpoint_id, one.status])).toEqual([[endpoint.body.endpoint_id, 'disabled']]);
    expect(Object.keys(await read(`/v1/products/${product.product_id}`))).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(?:payout_wallet|success_url)$/)]),
    );
    expect(JSON.stringify(await read('/v1/access/rail-settings'))).not.toContain(squatter.wallet.address);
    await other.is(somebody());
  });

  it('a stolen state is useless without the cookie of its browser', async () => {
    const path = await browser.consent(await browser.start({ mode: 'register' }));
    const thief = new OAuthBrowser(w, provider);
    await thief.start();
    for (const cookie of ['', thief.cookie, `${browser.cookie}x`, '__Host-svc_oauth=', browser.cookie.replace('__Host-', '')]) {
      const { status, body } = await browser.back(path, { cookie });
      expect([cookie, status, body.code]).toEqual([cookie, 400, 'invalid_state']);
    }
    expect((await browser.back(path)).status).toBe(302);
  });

  it('a replayed, late or cross-provider callback is refused', async () => {
    const path = await browser.consent(await browser.start({ mode: 'register' }));
    const both = await Promise.all([browser.back(path), browser.back(path)]);
    expect(both.map(({ status }) => status).sort()).toEqual([302, 400]);
    expect((await browser.back(path)).status).toBe(400);
    const late = await browser.consent(await browser.start());
    setTime(Date.now() + 10 * 60_000 + 1000);
    const { status, body } = await browser.back(late);
    letTimeRun();
    expect([status, body.code]).toEqual([400, 'invalid_state']);
    const crossed = (await browser.consent(await browser.start())).replace(provider, provider === 'google' ? 'github' : 'google');
    expect((await browser.back(crossed)).status).toBe(400);
  });

  it('a forged state is refused with 400 invalid_state', async () => {
    const path = await browser.consent(await browser.start());
    const state = new URLSearchParams(path.split('?')[1]).get('state')!;
    const [payload, mac] = state.split('.') as [string, string];
    const decoded = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')));
    const changed = btoa(JSON.stringify({ ...decoded, next: '/elsewhere' }))
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replaceAll('=', '');
    for (const forged of [
      '',
      'x',
      '.',
      payload,
      `${payload}.`,
      `${payload}.${'0'.repeat(64)}`,
      `${changed}.${mac}`,
      `${state}0`,
      `${state}.${mac}`,
      '%00',
    ]) {
      const answer = await browser.back(`/v1/auth/oauth/${provider}/callback?${new URLSearchParams({ code: 'x', state: forged })}`);
      expect([forged, answer.status, answer.body.code]).toEqual([forged, 400, 'invalid_state']);
    }
    expect((await browser.back(`/v1/auth/oauth/${provider}/callback`)).status).toBe(400);
  });

  it('a callback refused by the rate limit can be repeated with the same state', async () => {
    const address = provider === 'google' ? '203.0.113.71' : '203.0.113.72';
    const sharedAddress = { headers: { 'CF-Connecting-IP': address }, env: { ...w.env, RATE_MULTIPLIER: '1' } };
    const used = await browser.consent(await browser.start({ mode: 'register' }));
    expect((await browser.back(used)).status).toBe(302);
    for (let index = 0; index < 30; index++) expect((await browser.back(used, sharedAddress)).status).toBe(400);
    const path = await browser.consent(await browser.start());
    expect((await browser.back(path, sharedAddress)).body.code).toBe('rate_limited');
    expect((await browser.back(path)).headers.get('Location')).toContain('#token=');
  });

  it('a link that began before the owner ended all sessions is refused', async () => {
    const victim = await w.merchant('free');
    const path = await browser.consent(await browser.start({}, { key: victim.token }));
    const body = { current_password: 'correct horse battery', new_password: 'another horse battery' };
    expect((await w.call('PATCH', '/v1/account/me/security', { key: victim.token, body })).status).toBe(200);
    expect((await browser.back(path)).headers.get('Location')).toBe('/dashboard#error=access_denied');
    expect(await countIdentities(victim.userId)).toBe(0);
  });

  it('a link that began in a session is refused once that session has ended', async () => {
    const victim = await w.merchant('free');
    const logIn = { email: victim.email, password: 'correct horse battery' };
    const { token: stolen } = (await w.call('POST', '/v1/auth/login', { body: logIn })).body;
    const path = await browser.consent(await browser.start({}, { key: stolen }));
    expect((await w.call('DELETE', '/v1/account/sessions', { key: victim.token })).body.ended).toBe(1);
    expect((await browser.back(path)).headers.get('Location')).toBe('/dashboard#error=access_denied');
    expect(await countIdentities(victim.userId)).toBe(0);
  });

  it('a link that began before the person added a factor is refused', async () => {
    const victim = await w.merchant('free');
    const path = await browser.consent(await browser.start({}, { key: victim.token }));
    await addApp(w, victim.token);
    expect((await browser.back(path)).headers.get('Location')).toBe('/dashboard#error=access_denied');
    expect(await countIdentities(victim.userId)).toBe(0);
  });

  it('two tabs of one browser both complete, because the second reuses the cookie of the first', async () => {
    const first = await browser.consent(await browser.start({ mode: 'register', next: '/one' }));
    const { cookie } = browser;
    const second = await browser.consent(await browser.start({ mode: 'register', next: '/two' }));
    expect(browser.cookie).toBe(cookie);
    const answers = [await browser.back(second), await browser.back(first)];
    expect(answers.map(({ headers }) => headers.get('Location')!.split('#')[0])).toEqual(['/two', '/one']);
  });

  it('a next that leads to another site is refused with 422, in any spelling', async () => {
    const elsewhere = [
      'https://evil.example',
      '//evil.example',
      '///evil.example',
      '/\\evil.example',
      '\\\\evil.example',
      '/\t/evil.example',
      '/\n/evil.example',
      '/\r\n/evil.example',
      '\t//evil.example',
      ' //evil.example',
      '/\u0000/evil.example',
      '/dashboard\u007f',
      'javascript:alert(1)',
      'data:text/html,x',
      'evil.example',
      '@evil.example',
      '/dashboard#token=forged',
      '#',
      '',
      '?x',
      `/${'a'.repeat(600)}`,
      'http:/evil.example',
      '/\t\\evil.example',
      // Browsers resolve this to a path that begins with two slashes.
      '/a/..//b',
    ];
    for (const next of elsewhere) {
      const { status } = await w.call('GET', `/v1/auth/oauth/${provider}/start?${new URLSearchParams({ next })}`);
      expect([next, status]).toEqual([next, 422]);
    }
    for (const next of ['/dashboard', '/%2f/evil.example', '/a/../b', '/p/x?to=https://evil.example'])
      expect((await w.call('GET', `/v1/auth/oauth/${provider}/start?${new URLSearchParams({ next })}`)).status).toBe(200);
    for (const query of ['mode=link', 'mode=', 'surface=other'])
      expect((await w.call('GET', `/v1/auth/oauth/${provider}/start?${query}`)).status).toBe(422);
  });

  it('a used code and a code of another sign-in are refused', async () => {
    expect((await browser.register()).outcome.token).toBeDefined();
    await browser.lies({ reusesCode: true });
    expect((await browser.signIn()).outcome).toEqual({ error: 'provider_unavailable' });
    await browser.lies({});
    const [one, two] = [await browser.consent(await browser.start()), await browser.consent(await browser.start())];
    const [first, second] = [one, two].map((path) => new URLSearchParams(path.split('?')[1])) as [URLSearchParams, URLSearchParams];
    const mixed = new URLSearchParams({ code: second.get('code')!, state: first.get('state')! });
    const answer = await browser.back(`/v1/auth/oauth/${provider}/callback?${mixed}`);
    expect(answer.headers.get('Location')).toBe('/dashboard#error=provider_unavailable');
    expect((await browser.lies({})).refusals).toContain('code_verifier');
  });

  it('the token appears only in the URL fragment, and the answer is not cached', async () => {
    const url = new URL(await browser.start({ mode: 'register' }));
    expect(url.searchParams.get('code_challenge_method')).toBe('S256');
    const started = await w.call('GET', `/v1/auth/oauth/${provider}/start`);
    const cookie = started.headers.get('Set-Cookie')!;
    expect(cookie).toMatch(/^__Host-svc_oauth=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; Secure; SameSite=Lax$/);
    const { headers, body } = await browser.back(await browser.consent(url.href));
    expect([headers.get('Cache-Control'), headers.get('Referrer-Policy')]).toEqual(['no-store', 'no-referrer']);
    expect(headers.get('Location')).toMatch(/^\/dashboard#token=[\w.-]+$/);
    expect(JSON.stringify(body ?? '')).not.toContain('token');
  });
});

describe('id token', () => {
  const browser = new OAuthBrowser(w, 'google');
  const outcome = async (lies: object) => {
    await browser.is(somebody());
    await browser.lies(lies);
    return (await browser.signIn({ mode: 'register' })).outcome;
  };

  it.each([
    ['for another audience', { audience: 'client-of-others' }],
    ['of another issuer', { issuer: 'https://issuer.example' }],
    ['of another sign-in', { nonce: 'of another one' }],
    ['signed with a key that is not published', { key: 'hidden' }],
    ['that nobody has signed', { algorithm: 'none' }],
    ['by a clock that is ten minutes ahead', { skewSeconds: 600 }],
    ['by a clock that is ten minutes behind', { skewSeconds: -600 }],
  ])('an id token %s is refused', async (_, lies) => {
    expect(await outcome(lies)).toEqual({ error: 'provider_unavailable' });
  });

  it('an id token is accepted with 30 s of clock skew and after the provider rotated its keys', async () => {
    for (const lies of [{ skewSeconds: 30 }, { skewSeconds: -30 }, { key: 'turned' }, {}])
      expect(await outcome(lies)).toHaveProperty('token');
  });
});

describe('F9: Google verified an address that it does not assign', () => {
  let browser: OAuthBrowser;
  let ada: Somebody;
  beforeEach(async () => {
    ({ browser, ada } = await openBrowser(w, 'google'));
  });

  it.each([
    ['without a Workspace', null],
    ['of a Workspace with another domain', 'elsewhere.example'],
  ])('the address %s joins no account and claims none', async (_, workspace) => {
    for (const isVerifiedHere of [0, 1]) {
      const victim = await w.merchant('free');
      await testEnv.DB.prepare('UPDATE persons SET email_verified = ? WHERE id = ?').bind(isVerifiedHere, victim.userId).run();
      await browser.is({ ...ada, email: victim.email, workspace });
      expect((await browser.signIn()).outcome).toEqual({ error: 'email_unverified' });
      expect(await countIdentities(victim.userId)).toBe(0);
      expect((await me(victim.token)).status).toBe(200);
    }
  });

  it('a new account with such an address has to verify it by our email', async () => {
    const post = new MailWorld();
    const opened = await openBrowser(post, 'google');
    await opened.browser.is({ ...opened.ada, workspace: null });
    const { outcome } = await opened.browser.signIn({ mode: 'register' });
    expect((await post.call('GET', '/v1/account/me', { key: outcome.token! })).body).toMatchObject({
      email: opened.ada.email,
      email_verified: false,
    });
    await post.post();
    expect((await post.posted()).taken.map(({ body }) => body)).toEqual([
      expect.objectContaining({ to: [opened.ada.email], text: expect.stringContaining('/verify-email#token=') }),
    ]);
  });

  it.each(['gmail.com', 'googlemail.com'])('an address at %s is believed without a Workspace', async (domain) => {
    await browser.is({ ...ada, email: `${ada.subject}-${crypto.randomUUID().slice(0, 8)}@${domain}`, workspace: null });
    const { outcome } = await browser.signIn({ mode: 'register' });
    expect((await me(outcome.token!)).body).toMatchObject({ email_verified: true });
  });
});
