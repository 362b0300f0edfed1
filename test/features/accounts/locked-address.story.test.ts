import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OAuthBrowser, openBrowser, somebody } from '../../support/clients/oauth.ts';
import { withRival } from '../../support/faults/faults.ts';
import { bindDatabases, openOnly } from '../../support/fixtures/databases.ts';
import { addPasskey, stepUpWith } from '../../support/people/factors.ts';
import { testEnv } from '../../support/runner/env.ts';
import { emailedToken, MailWorld } from '../../support/servers/mail.ts';
import type { Merchant } from '../../support/world.ts';

const w = new MailWorld();
type Product = Awaited<ReturnType<typeof w.product>>;
const PASSWORD = 'battery staple 9';
const me = async (key: string) => (await w.call('GET', '/v1/account/me', { key })).body;
const sell = async (product: Product) => w.purchase(product, await w.chain.wallet());

describe('F8: the address of a shop that has sold, proven by its reader', () => {
  let maker: Merchant;
  let product: Product;
  let google: OAuthBrowser;

  const reset = async (env = w.env, headers: Record<string, string> = {}, token?: string) => {
    const body = { token: token ?? (await emailedToken(w, maker.userId, 'reset')), new_password: PASSWORD };
    return w.call('POST', '/v1/auth/password/reset', { body, env, headers });
  };
  const login = () => w.call('POST', '/v1/auth/login', { body: { email: maker.email, password: PASSWORD } });

  /** The shop retains its maker, sessions, keys and sales, and has no address. */
  async function expectShopUnchanged(): Promise<void> {
    expect(await me(maker.token)).toMatchObject({ user_id: maker.userId, email: null, email_verified: false });
    expect((await me(maker.key)).tier).toBeDefined();
    expect((await google.signIn()).outcome).toHaveProperty('token');
    expect((await w.connect(product)).recipient).toBe(maker.wallet.address);
    const { items } = (await w.call('GET', '/v1/account/audit-log?action=person.email_disowned', { key: maker.token })).body;
    expect(items).toMatchObject([{ actor: { kind: 'system' }, before: { email: maker.email }, after: { email: null } }]);
  }

  beforeEach(async () => {
    maker = await w.merchant();
    product = await w.product(maker);
    google = new OAuthBrowser(w, 'google');
    await google.is(somebody());
    await google.lies({});
    expect((await google.signIn({}, { key: maker.token })).outcome).toHaveProperty('linked');
  });

  it('a reset gives the reader a new account with the address, and the shop stays with its maker', async () => {
    await sell(product);
    const { status, body } = await reset();
    expect([status, body.detail]).toEqual([200, expect.stringContaining('Your address has a new account')]);
    const reader = (await login()).body;
    expect(reader.user_id).not.toBe(maker.userId);
    expect(await me(reader.token)).toMatchObject({ email: maker.email, email_verified: true, has_password: true, auth_providers: [] });
    expect((await w.call('GET', '/v1/products', { key: reader.token })).body.items).toEqual([]);
    await expectShopUnchanged();
  });

  it('a reset leaves the shop to a maker with a passkey', async () => {
    await w.call('DELETE', '/v1/account/identities/google', { key: maker.token });
    const { codes } = await addPasskey(w, maker.token);
    await sell(product);
    expect((await reset()).status).toBe(200);
    expect(await me(maker.token)).toMatchObject({ email: null, factors: { passkeys: 1 } });
    const [passkey] = (await w.call('GET', '/v1/account/passkeys', { key: maker.token })).body.items;
    const token = await stepUpWith(w, maker.token, { recovery_code: codes![0] });
    const removed = await w.call('DELETE', `/v1/account/passkeys/${passkey.passkey_id}`, { key: token });
    expect([removed.status, removed.body.meta]).toEqual([409, { reason: 'last_way_in' }]);
    expect((await login()).body.user_id).not.toBe(maker.userId);
  });

  it('a first sale at the moment of the reset leaves the shop to its maker', async () => {
    const answer = await reset(withRival(w.env, () => sell(product)));
    expect(answer.status).toBe(200);
    expect((await login()).body.user_id).not.toBe(maker.userId);
    const unlinked = await w.call('DELETE', '/v1/account/identities/google', { key: maker.token });
    expect([unlinked.status, unlinked.body.meta]).toEqual([409, { reason: 'last_way_in' }]);
    await expectShopUnchanged();
  });

  it('the link works once, and a repeat under the same Idempotency-Key gets the same answer', async () => {
    await sell(product);
    const token = await emailedToken(w, maker.userId, 'reset');
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const [first, second] = [await reset(w.env, headers, token), await reset(w.env, headers, token)];
    expect([first.status, second.body]).toEqual([200, first.body]);
    expect((await reset(w.env, {}, token)).status).toBe(401);
  });

  it('concurrent resets make one account', async () => {
    await sell(product);
    const token = await emailedToken(w, maker.userId, 'reset');
    const answers = await Promise.all([reset(w.env, {}, token), reset(w.env, {}, token)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
    expect((await login()).status).toBe(200);
  });

  it.each(['login', 'register'])('a believed provider in mode %s gives the reader a new account with the address', async (mode) => {
    await sell(product);
    const { browser, ada } = await openBrowser(w, 'github');
    await browser.is({ ...ada, email: maker.email });
    const { outcome } = await browser.signIn({ mode });
    const reader = await me(outcome.token!);
    expect(reader).toMatchObject({ email: maker.email, email_verified: true, has_password: false, auth_providers: ['github'] });
    expect(reader.user_id).not.toBe(maker.userId);
    expect((await me((await browser.signIn()).outcome.token!)).user_id).toBe(reader.user_id);
    await expectShopUnchanged();
  });

  it('concurrent proofs by a provider make one account', async () => {
    await sell(product);
    const { browser, ada } = await openBrowser(w, 'github');
    await browser.is({ ...ada, email: maker.email });
    const paths = [await browser.consent(await browser.start()), await browser.consent(await browser.start())];
    const answers = await Promise.all(paths.map((path) => browser.back(path)));
    const tokens = answers.map(({ headers }) => headers.get('Location')!.split('#token=')[1]!);
    const ids = await Promise.all(tokens.map(async (token) => (await me(token)).user_id));
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).not.toBe(maker.userId);
  });

  it('the maker sets another address, and the address that left stays with its reader', async () => {
    await sell(product);
    expect((await reset()).status).toBe(200);
    const change = (email: string) =>
      w.call('PATCH', '/v1/account/me/security', { key: maker.token, body: { email, current_password: 'correct horse battery' } });
    expect((await change(maker.email)).body.code).toBe('email_registered');
    const other = `other-${crypto.randomUUID()}@example.com`;
    expect((await change(other)).status).toBe(200);
    const back = await w.call('POST', '/v1/auth/login', { body: { email: other, password: 'correct horse battery' } });
    expect(back.body.user_id).toBe(maker.userId);
  });
});

describe('F8: a locked address in the second of two databases', () => {
  const several = new MailWorld();
  beforeAll(async () => {
    await bindDatabases(several, 'DB_2');
    openOnly(several, 'DB_2');
  });

  it('the directory leads to the new account of the address, and no other account can have it', async () => {
    const maker = await several.merchant();
    await testEnv.TEST_DIRECTORY.prepare('UPDATE names SET reserved_until = NULL').run();
    await several.purchase(await several.product(maker), await several.chain.wallet());
    const { browser, ada } = await openBrowser(several, 'github');
    await browser.is({ ...ada, email: maker.email });
    const first = (await several.call('GET', '/v1/account/me', { key: (await browser.signIn()).outcome.token! })).body;
    expect([first.email, first.user_id === maker.userId]).toEqual([maker.email, false]);
    const again = (await several.call('GET', '/v1/account/me', { key: (await browser.signIn()).outcome.token! })).body;
    expect(again.user_id).toBe(first.user_id);
    const body = { email: maker.email, password: PASSWORD, display_name: 'Rival' };
    expect((await several.call('POST', '/v1/auth/register', { body })).body.code).toBe('email_registered');
  });
});
