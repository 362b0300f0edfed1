import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MINUTE } from '#core/time.ts';
import { OAuthBrowser, openBrowser, somebody } from '../../support/clients/oauth.ts';
import { addPasskey } from '../../support/people/factors.ts';
import { acceptInvitation, addMember, inviteTo } from '../../support/people/team.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { testEnv } from '../../support/runner/env.ts';
import { emailedToken, MailWorld, tokenIn, verifyAddress } from '../../support/servers/mail.ts';
import type { Merchant } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

const w = new MailWorld({ ALLOW_INSECURE_WEBHOOKS: 'true' });
afterEach(letTimeRun);
const PASSWORD = 'battery staple 9';
const me = (key: string) => w.call('GET', '/v1/account/me', { key });
const idem = () => ({ 'Idempotency-Key': crypto.randomUUID() });
const readRows = async (sql: string, ...bound: unknown[]): Promise<Body[]> =>
  (
    await testEnv.DB.prepare(sql)
      .bind(...bound)
      .all()
  ).results;
const linkTo = async (merchant: Merchant, person = somebody()) => {
  const google = new OAuthBrowser(w, 'google');
  await google.is(person);
  await google.lies({});
  expect((await google.signIn({}, { key: merchant.token })).outcome).toHaveProperty('linked');
  return google;
};

/** Opens a shop with all access a squatter could retain: endpoint, payout wallets and open sales. */
async function openShop(shop: Merchant) {
  const product = await w.product(shop, { success_url: 'https://squatter.example/bought' });
  const url = `${testEnv.TEST_RECEIVER_URL}/ok/claim-${crypto.randomUUID()}`;
  expect((await w.call('POST', '/v1/webhooks/endpoints', { key: shop.key, body: { url } })).status).toBe(201);
  const rail = { key: shop.token, body: { payout_wallet: shop.wallet.address }, headers: idem() };
  expect((await w.call('PUT', '/v1/access/rail-settings/solana_usdc', rail)).status).toBe(200);
  const handoff = await w.call('POST', `/v1/products/${product.product_id}/handoffs`, { key: shop.key, body: { customer_ref: 'grace' } });
  const session = await w.call('POST', '/v1/access/payment-sessions', {
    key: shop.key,
    body: { product_id: product.product_id },
    headers: idem(),
  });
  expect([handoff.status, session.status]).toEqual([201, 201]);
  const open = await w.connect(product);
  return { product, open, handoffToken: handoff.body.handoff_token as string, sessionId: session.body.payment_session_id as string };
}
type Shop = Awaited<ReturnType<typeof openShop>>;

async function expectSalesEnded({ product, open, handoffToken, sessionId }: Shop): Promise<void> {
  const connect = (body: object) => w.call('POST', `/v1/products/p/${product.slug}/connect`, { body });
  const resolve = await w.call('GET', `/v1/products/p/${product.slug}/handoff/${handoffToken}`);
  expect([resolve.status, (await connect({ handoff_token: handoffToken })).status]).toEqual([410, 410]);
  expect((await connect({ payment_session_id: sessionId })).status).toBe(410);
  expect((await connect({})).body.code).toBe('setup_not_ready');
  const { body } = await w.call('GET', `/v1/payments/${open.payment_id}`);
  expect(Date.parse(body.expires_at)).toBeLessThanOrEqual(Date.now());
}

describe('password reset of an account with an unverified email', () => {
  let squatter: Merchant;
  const reset = async (merchant: Merchant, headers = {}, env = w.env) => {
    const body = { token: await emailedToken(w, merchant.userId, 'reset'), new_password: PASSWORD };
    return w.call('POST', '/v1/auth/password/reset', { body, headers, env });
  };
  const login = async (email: string): Promise<string> =>
    (await w.call('POST', '/v1/auth/login', { body: { email, password: PASSWORD } })).body.token;

  beforeEach(async () => {
    squatter = await w.merchant();
    await w.db.run('DELETE FROM mails' as never);
  });

  it('a reset gives the account to the reader of the email and revokes all access of its maker', async () => {
    const shop = await openShop(squatter);
    const google = await linkTo(squatter);
    const answer = await reset(squatter);
    expect(answer.status).toBe(200);
    expect(answer.body.detail).toContain('2 keys, 1 webhook endpoints, 1 linked providers, 1 payout wallets');
    for (const key of [squatter.key, squatter.sandboxKey, squatter.token]) expect((await me(key)).status).toBe(401);
    expect((await google.signIn()).outcome).toEqual({ error: 'account_not_found' });
    await expectSalesEnded(shop);
    const token = await login(squatter.email);
    expect((await me(token)).body).toMatchObject({
      user_id: squatter.userId,
      email_verified: true,
      wallet_address: null,
      auth_providers: [],
      claimed: { at: expect.any(String), keys: 2, endpoints: 1, providers: 1, wallets: 1 },
    });
    const { body: hooks } = await w.call('GET', '/v1/webhooks/endpoints', { key: token });
    expect(hooks.items).toMatchObject([{ status: 'disabled', disabled_reason: 'account_claimed' }]);
    const { body: claimed } = await w.call('GET', `/v1/products/${shop.product.product_id}`, { key: token });
    expect([claimed.name, 'payout_wallet' in claimed, 'success_url' in claimed]).toEqual(['Weather API', false, false]);
    await w.post();
    const emails = (await w.posted()).taken.filter(({ body }) => body.to[0] === squatter.email);
    const [email, ...others] = emails.filter(({ body }) => !body.text.includes('from a place that it does not know'));
    expect([email!.body.subject, others]).toEqual(['Your address is proven, and your account is secured', []]);
    expect(email!.body.text).toContain('API keys: 2. Webhook endpoints: 1. Linked sign-in providers: 1. Payout wallets: 1.');
  });

  it('a reset of a verified address ends all other access if asked, and only then', async () => {
    const shop = await openShop(squatter);
    await verifyAddress(w, squatter);
    await w.purchase(shop.product, await w.chain.wallet());
    const google = await linkTo(squatter);
    await addPasskey(w, squatter.token);
    expect((await reset(squatter)).status).toBe(200);
    expect((await me(squatter.key)).status).toBe(200);
    const body = { token: await emailedToken(w, squatter.userId, 'reset'), new_password: PASSWORD, end_others: true };
    const answer = await w.call('POST', '/v1/auth/password/reset', { body });
    expect(answer.body.detail).toContain('2 keys, 1 webhook endpoints, 1 linked providers, 1 payout wallets');
    for (const key of [squatter.key, squatter.sandboxKey, squatter.token]) expect((await me(key)).status).toBe(401);
    expect((await google.signIn()).outcome).toEqual({ error: 'account_not_found' });
    expect((await me(await login(squatter.email))).body).toMatchObject({ factors: { passkeys: 0 }, auth_providers: [] });
    await expectSalesEnded(shop);
  });

  it('a reset ends and counts a replaced key that still works, and counts no expired key', async () => {
    const create = (body: object) => w.call('POST', '/v1/keys', { key: squatter.token, body: { name: 'k', ...body } });
    const old = (await create({})).body;
    const rolled = (await w.call('POST', `/v1/keys/${old.key.id}/roll`, { key: squatter.token, body: {} })).body;
    const short = (await create({ expires_at: new Date(Date.now() + 2 * MINUTE).toISOString() })).body;
    setTime(Date.now() + 3 * MINUTE);
    const statuses = [];
    for (const key of [old.raw_key, rolled.raw_key, short.raw_key]) statuses.push((await me(key)).status);
    expect(statuses).toEqual([200, 200, 401]);
    expect((await reset(squatter)).status).toBe(200);
    for (const key of [squatter.key, old.raw_key, rolled.raw_key]) expect((await me(key)).status).toBe(401);
    expect((await me(await login(squatter.email))).body.claimed).toMatchObject({ keys: 4 });
  });

  it('products sell again as soon as the new owner names a wallet', async () => {
    const { product } = await openShop(squatter);
    const { confirmed } = await w.purchase(product, await w.chain.wallet());
    expect((await reset(squatter)).status).toBe(200);
    const token = await login(squatter.email);
    expect((await w.call('GET', `/v1/payments/${confirmed.payment.payment_id}`, { key: token })).body.status).toBe('CONFIRMED');
    const { address } = await w.chain.wallet(0n);
    const change = { key: token, body: { payout_wallet: address } };
    expect((await w.call('PATCH', `/v1/products/${product.product_id}`, change)).status).toBe(200);
    expect((await w.connect(product)).recipient).toBe(address);
  });

  it('members of the maker lose their roles, and their invitations end', async () => {
    const bob = await addMember(w, squatter, 'admin');
    await verifyAddress(w, bob);
    const carol = await w.merchant();
    const { token } = await inviteTo(w, bob, carol.email);
    expect((await reset(squatter)).status).toBe(200);
    expect((await me(bob.token)).body.meta).toEqual({ reason: 'not_a_member' });
    expect((await acceptInvitation(w, carol, token)).body.code).toBe('link_expired');
    const { items } = (await w.call('GET', '/v1/account/members', { key: await login(squatter.email) })).body;
    expect(items.map(({ role }: Body) => role)).toEqual(['owner']);
  });

  it('an account with a verified email loses only its sessions', async () => {
    const { product } = await openShop(squatter);
    const verify = { body: { token: await emailedToken(w, squatter.userId, 'verify') } };
    expect((await w.call('POST', '/v1/account/email/verify', verify)).status).toBe(200);
    const answer = await reset(squatter);
    expect([answer.status, answer.body.detail]).toEqual([200, 'The password is set, and all sessions have ended. Sign in with it.']);
    expect([(await me(squatter.key)).status, (await me(squatter.token)).status]).toEqual([200, 401]);
    expect((await me(squatter.key)).body).not.toHaveProperty('claimed');
    expect((await w.connect(product)).recipient).toBe(squatter.wallet.address);
  });

  it('no key that was created at the same moment survives the reset', async () => {
    for (let round = 0; round < 5; round++) {
      const one = await w.merchant();
      const make = () => w.call('POST', '/v1/keys', { key: one.token, body: { name: 'late', sandbox_mode: false } });
      const [answer, ...made] = await Promise.all([reset(one), make(), make(), make()]);
      expect(answer.status).toBe(200);
      for (const { status, body } of made) if (status === 201) expect((await me(body.raw_key)).status).toBe(401);
    }
  });

  it('a repeat under the same Idempotency-Key gets the same answer, and one email is sent', async () => {
    const headers = idem();
    const body = { token: await emailedToken(w, squatter.userId, 'reset'), new_password: PASSWORD };
    const [one, two] = [0, 1].map(() => () => w.call('POST', '/v1/auth/password/reset', { body, headers }));
    const first = await one!();
    expect([first.status, (await two!()).body]).toEqual([200, first.body]);
    expect(await readRows('SELECT template FROM mails WHERE account_id = ?', squatter.userId)).toEqual([{ template: 'account_claimed' }]);
  });
});

describe('provider sign-in to an account with an unverified email', () => {
  it('a claim ends all open sales of the previous owner, and the new owner is notified', async () => {
    const squatter = await w.merchant();
    const shop = await openShop(squatter);
    const { browser, ada } = await openBrowser(w, 'github');
    await browser.is({ ...ada, email: squatter.email });
    const { outcome } = await browser.signIn();
    expect((await me(outcome.token!)).body.claimed).toEqual({ at: expect.any(String), keys: 2, endpoints: 1, providers: 0, wallets: 1 });
    await expectSalesEnded(shop);
    await w.post();
    const emails = (await w.posted()).taken.filter(({ body }) => body.to[0] === squatter.email);
    expect(emails.map(({ body }) => body.subject)).toContain('Your address is proven, and your account is secured');
  });
});

describe('security alert about a claim', () => {
  const changeEmail = async (owner: Merchant, email: string) => {
    const body = { email, current_password: 'correct horse battery' };
    expect((await w.call('PATCH', '/v1/account/me/security', { key: owner.token, body })).status).toBe(200);
  };
  /** Changes of the alerts to an address, without those about sign-ins, and the token of the newest one's link. */
  const alertsTo = async ({ userId, email }: Merchant) => {
    const sql = "SELECT facts FROM mails WHERE account_id = ? AND template = 'security_alert' AND address = ?";
    const alerts = (await readRows(sql, userId, email)).map(({ facts }) => JSON.parse(facts).change);
    const changes = alerts.filter((change) => change !== 'new_sign_in');
    await w.post();
    const tokens = (await w.posted()).taken.filter(({ body }) => body.to[0] === email).map(tokenIn);
    return { changes, token: tokens.filter((token) => token.split('.')[2] === changes.at(-1)).at(-1)! };
  };
  const expectUndone = async (owner: Merchant, token: string) => {
    expect((await w.call('POST', '/v1/account/not-me', { body: { token } })).status).toBe(200);
    const [{ email }] = await readRows('SELECT email FROM persons WHERE id = ?', owner.userId);
    expect(email).toBe(owner.email);
  };
  let owner: Merchant;
  beforeEach(async () => {
    owner = await w.merchant();
    await verifyAddress(w, owner);
  });

  it('the previous verified address gets one about a reset that ends all other access, and its link undoes the reset', async () => {
    await changeEmail(owner, `thief-${owner.email}`);
    await verifyAddress(w, owner);
    setTime(Date.now() + MINUTE);
    const body = { token: await emailedToken(w, owner.userId, 'reset'), new_password: PASSWORD, end_others: true };
    expect((await w.call('POST', '/v1/auth/password/reset', { body })).status).toBe(200);
    const { changes, token } = await alertsTo(owner);
    expect(changes).toEqual(['email', 'password']);
    await expectUndone(owner, token);
  });

  it('the previous verified address gets one about a first proof of an address, by a reset or a provider', async () => {
    await changeEmail(owner, `reader-${owner.email}`);
    setTime(Date.now() + MINUTE);
    const body = { token: await emailedToken(w, owner.userId, 'reset'), new_password: PASSWORD };
    expect((await w.call('POST', '/v1/auth/password/reset', { body })).status).toBe(200);
    expect((await alertsTo(owner)).changes).toEqual(['email', 'password']);
    const other = await w.merchant();
    await verifyAddress(w, other);
    await changeEmail(other, `reader-${other.email}`);
    setTime(Date.now() + MINUTE);
    const { browser, ada } = await openBrowser(w, 'github');
    await browser.is({ ...ada, email: `reader-${other.email}` });
    expect((await browser.signIn()).outcome).toHaveProperty('token');
    const { changes, token } = await alertsTo(other);
    expect(changes).toEqual(['email', 'provider_linked']);
    await expectUndone(other, token);
  });
});

describe('sign-in identity of a deleted account', () => {
  it('the identity opens no second account under any email, and only its keyed hash is stored', async () => {
    const { browser, ada } = await openBrowser(w, 'google');
    const { outcome } = await browser.signIn({ mode: 'register' });
    const { user_id } = (await me(outcome.token!)).body;
    expect((await w.call('DELETE', '/v1/account/account', { key: outcome.token! })).status).toBe(200);
    await w.sweepAlone('erasures');
    await w.sweepAlone('erasures');
    for (const email of [ada.email, somebody().email]) {
      await browser.is({ ...ada, email });
      for (const mode of ['register', 'login']) expect((await browser.signIn({ mode })).outcome).toEqual({ error: 'account_deleted' });
    }
    const rows = await readRows('SELECT * FROM sign_in_identities WHERE account_id = ?', user_id);
    expect(rows).toMatchObject([{ provider: 'google', subject: expect.stringMatching(/^lock:[0-9a-f]{64}$/), email: null }]);
    expect(await readRows('SELECT erased_at IS NOT NULL AS done FROM accounts WHERE id = ?', user_id)).toEqual([{ done: 1 }]);
    const other = await w.merchant();
    expect((await browser.signIn({}, { key: other.token })).outcome).toEqual({ error: 'identity_in_use' });
  });
});
