import type { KeyPairSigner } from '@solana/kit';
import { beforeEach, describe, expect, it } from 'vitest';
import { hex } from '#core/encoding.ts';
import { customerIdOf } from '#core/ids.ts';
import { DAY, HOUR, MINUTE } from '#core/time.ts';
import { granteeKeyOf, SELLERS_MAX } from '#rules/access/buyers.ts';
import { signText, walletSignIn } from '../../support/chain/wallet.ts';
import { forgedToken } from '../../support/fuzz/values.ts';
import { watchCopy } from '../../support/people/entitlement-copy.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { MailWorld } from '../../support/servers/mail.ts';
import type { Body, Merchant } from '../../support/world.ts';

let w: MailWorld;
let ada: Merchant;
let eve: Merchant;
let weather: Body;
let maps: Body;
/** Addresses that no other test uses, because links are counted by address. */
let people = 0;
const address = (): string => `buyer-${++people}@example.com`;

beforeEach(async () => {
  w = new MailWorld();
  [ada, eve] = [await w.merchant(), await w.merchant()];
  weather = await w.product(ada, { name: 'Weather', access_period_days: 30 });
  maps = await w.product(eve, { name: 'Maps', access_period_days: 30 });
});

const accountCount = () => w.env.DB.prepare('SELECT count(*) AS n FROM accounts').first('n');
const fold = () => w.sweepAlone('analytics');
const askNonce = (wallet: KeyPairSigner) => w.call('POST', '/v1/buyer/wallet/nonce', { body: { wallet_address: wallet.address } });
const signIn = async (wallet: KeyPairSigner, signed: 'message' | 'message_nonce' = 'message') => {
  const { body } = await askNonce(wallet);
  const proof = { wallet_address: wallet.address, signed_message: await signText(wallet, body[signed]), message_nonce: body.message_nonce };
  return w.call('POST', '/v1/buyer/wallet', { body: proof });
};
const asWallet = async (wallet: KeyPairSigner): Promise<string> => (await signIn(wallet)).body.token;
const read = (token: string, path: string) => w.call('GET', `/v1/buyer${path}`, { key: token });
const names = async (token: string, path: string): Promise<string[]> =>
  (await read(token, path)).body.items.map(({ product_name }: Body) => product_name).sort();

const portal = (merchant: Merchant, body: object, key = merchant.key) =>
  w.call('POST', '/v1/customers/portal-sessions', { key, body, headers: { 'Idempotency-Key': crypto.randomUUID() } });
const tokenIn = (url: string): string => new URL(url).searchParams.get('token')!;
const redeemPortal = (token: string) => w.call('POST', '/v1/buyer/portal-link/redeem', { body: { token } });
const asCustomer = async (merchant: Merchant, customer: object, key = merchant.key): Promise<string> =>
  (await redeemPortal(tokenIn((await portal(merchant, { customer }, key)).body.url))).body.token;

const linksSent = async (): Promise<string[]> =>
  (await w.posted()).taken.flatMap(({ body }) => /me\/link\?token=([\w.-]+)/.exec(body.text)?.[1] ?? []);
/** Asks for a link and returns the tokens of the links that it sent. */
const askLink = async (email: string): Promise<string[]> => {
  const before = (await linksSent()).length;
  expect((await w.call('POST', '/v1/buyer/email-link', { body: { email } })).status).toBe(202);
  for (const message of w.mail.splice(0)) await w.post([message]);
  return (await linksSent()).slice(before);
};
const redeemLink = (token: string) => w.call('POST', '/v1/buyer/email-link/redeem', { body: { token } });
const asReader = async (email: string): Promise<string> => (await redeemLink((await askLink(email))[0]!)).body.token;

describe('sign-in of a buyer', () => {
  it('a wallet signs in by the complete text for 24 hours, and no merchant’s account is made', async () => {
    const wallet = await w.chain.wallet();
    const before = await accountCount();
    const { status, body } = await signIn(wallet);
    expect([status, body.subject]).toEqual([200, { kind: 'wallet', wallet_address: wallet.address }]);
    expect(Date.parse(body.expires_at) - Date.now()).toBeGreaterThan(DAY - MINUTE);
    expect(await accountCount()).toBe(before);
  });

  it('a bare nonce, a merchant’s nonce and a used nonce are refused, and a buyer’s nonce opens no merchant’s account', async () => {
    const wallet = await w.chain.wallet();
    expect((await signIn(wallet, 'message_nonce')).status).toBe(401);
    const { body: merchants } = await w.call('POST', '/v1/auth/wallet/nonce', { body: { wallet_address: wallet.address } });
    const { body: buyers } = await askNonce(wallet);
    expect(buyers.message).toContain('See what this wallet bought. This costs nothing and moves no money.');
    const signedProof = async ({ message, message_nonce }: Body) => ({
      body: { wallet_address: wallet.address, signed_message: await signText(wallet, message), message_nonce },
    });
    expect((await w.call('POST', '/v1/buyer/wallet', await signedProof(merchants))).status).toBe(401);
    expect((await w.call('POST', '/v1/auth/wallet', await signedProof(buyers))).status).toBe(401);
    // A nonce that was shown to the wrong door is not used up by it.
    expect((await w.call('POST', '/v1/buyer/wallet', await signedProof(buyers))).status).toBe(200);
    expect((await w.call('POST', '/v1/buyer/wallet', await signedProof(buyers))).status).toBe(401);
  });

  it('a buyer’s token opens no other route, and neither key nor merchant’s token opens a buyer’s', async () => {
    const wallet = await w.chain.wallet();
    const token = await asWallet(wallet);
    for (const path of ['/v1/account/me', '/v1/payments', '/v1/customers', '/v1/accounts', '/v1/account/sessions'])
      expect((await w.call('GET', path, { key: token })).status, path).toBe(401);
    for (const key of [ada.token, ada.key, (await walletSignIn(w, wallet)).body.token, `${token.slice(0, -4)}AAAA`])
      expect((await read(key, '/purchases')).status).toBe(401);
  });

  it('logout ends the session for good, and other sessions go on', async () => {
    const wallet = await w.chain.wallet();
    const [token, other] = [await asWallet(wallet), await asWallet(wallet)];
    expect((await w.call('POST', '/v1/buyer/logout', { key: token })).status).toBe(200);
    const { status, body } = await read(token, '');
    expect([status, body.meta]).toEqual([401, { reason: 'session_ended' }]);
    expect((await read(other, '')).status).toBe(200);
  });

  it('an email goes out only to an address that a purchase names, and the answer is the same', async () => {
    await w.purchase(weather, await w.chain.wallet(), { email: 'Grace@example.com' });
    await fold();
    expect(await askLink('nobody@example.com')).toEqual([]);
    const [token] = await askLink('GRACE@example.com');
    expect(token).not.toMatch(/grace|R3JhY2U|Z3JhY2U/i);
    const { status, body } = await redeemLink(token!);
    expect([status, body.subject]).toEqual([200, { kind: 'email', email: 'grace@example.com' }]);
    expect(Date.parse(body.expires_at) - Date.now()).toBeLessThan(HOUR + MINUTE);
  });

  it('an emailed link works once, for 30 minutes, and a forged one never', async () => {
    const email = address();
    await w.purchase(weather, await w.chain.wallet(), { email });
    await fold();
    const [token] = await askLink(email);
    expect((await redeemLink(forgedToken(token!))).status).toBe(401);
    const [one, two] = await Promise.all([redeemLink(token!), redeemLink(token!)]);
    expect([one!.status, two!.status].sort()).toEqual([200, 401]);
    const [late] = await askLink(email);
    setTime(Date.now() + 31 * MINUTE);
    const refused = await redeemLink(late!);
    letTimeRun();
    expect([refused.status, refused.body.meta]).toEqual([401, { reason: 'expired' }]);
  });

  it('one address gets at most three links an hour', async () => {
    const email = address();
    await w.purchase(weather, await w.chain.wallet(), { email });
    await fold();
    let sent = 0;
    for (let asked = 0; asked < 5; asked++) sent += (await askLink(email)).length;
    expect(sent).toBe(3);
  });
});

describe('purchases that a proof opens', () => {
  it('a wallet sees what it paid at all sellers, and of a reference that it paid for only the receipts', async () => {
    const [grace, alan] = [await w.chain.wallet(), await w.chain.wallet()];
    await w.purchase(weather, grace);
    await w.purchase(maps, grace, { customer_ref: 'user-1' });
    await w.purchase(weather, alan, { customer_ref: 'user-2' });
    await fold();
    const token = await asWallet(grace);
    expect(await names(token, '/purchases')).toEqual(['Maps', 'Weather']);
    expect(await names(token, '/access')).toEqual(['Weather']);
    const { sellers } = (await read(token, '')).body;
    expect(sellers.map(({ account_id }: Body) => account_id).sort()).toEqual([ada.userId, eve.userId].sort());
    expect(await names(await asWallet(await w.chain.wallet()), '/purchases')).toEqual([]);
  });

  it('a customer of a reference sees one seller and the purchases of all wallets that paid for it', async () => {
    const [grace, alan] = [await w.chain.wallet(), await w.chain.wallet()];
    await w.purchase(weather, grace, { customer_ref: 'user-1' });
    await w.purchase(maps, grace, { customer_ref: 'user-1' });
    await w.purchase(weather, alan);
    const token = await asCustomer(ada, { customer_ref: 'user-1' });
    expect(await names(token, '/purchases')).toEqual(['Weather']);
    expect(await names(token, '/access')).toEqual(['Weather']);
    expect((await read(token, `/purchases?account_id=${eve.userId}`)).body.items).toEqual([]);
    expect((await read(token, '')).body.sellers.map(({ account_id }: Body) => account_id)).toEqual([ada.userId]);
  });

  it('a reader sees the purchases that name the address, shared or not, and none of their wallets’ others', async () => {
    const [grace, alan] = [await w.chain.wallet(), await w.chain.wallet()];
    await w.purchase(weather, grace, { email: 'team@example.com' });
    await w.purchase(maps, alan, { email: 'team@example.com' });
    const second = await w.product(ada, { name: 'Storms', access_period_days: 30 });
    await w.purchase(second, grace);
    await fold();
    const token = await asReader('team@example.com');
    expect(await names(token, '/purchases')).toEqual(['Maps', 'Weather']);
    expect(await names(token, '/access')).toEqual(['Maps', 'Weather']);
    expect((await read(token, `/access?account_id=${ada.userId}`)).body.items.map((item: Body) => item.product_name)).toEqual(['Weather']);
  });

  it('a merchant’s note of an address opens nothing to its reader', async () => {
    const email = address();
    await w.purchase(weather, await w.chain.wallet(), { customer_ref: 'user-1', email });
    await fold();
    await w.purchase(maps, await w.chain.wallet(), { customer_ref: 'user-9' });
    await fold();
    const id = customerIdOf(eve.userId, true, { customerRef: 'user-9' });
    expect((await w.call('PATCH', `/v1/customers/${id}`, { key: eve.key, body: { email } })).status).toBe(200);
    const token = await asReader(email);
    for (const query of ['', `?account_id=${eve.userId}`]) {
      expect(await names(token, `/purchases${query}`)).not.toContain('Maps');
      expect(await names(token, `/access${query}`)).not.toContain('Maps');
    }
  });

  it('test purchases show by a portal link of the sandbox alone', async () => {
    const email = address();
    const tester = { ...ada, key: ada.sandboxKey };
    const product = await w.product(tester, { name: 'Trial', access_period_days: 30 });
    const { payment_id } = (await w.connect(product, { customer_ref: 'user-1', email })) as Body;
    const { body: paid } = await w.call('POST', '/v1/testing/pay', { key: ada.sandboxKey, body: { payment_id } });
    expect((await w.confirm(payment_id, paid.tx_signature)).status).toBe(200);
    await w.sweepAll();
    expect(await askLink(email)).toEqual([]);
    const token = await asCustomer(ada, { customer_ref: 'user-1' }, ada.sandboxKey);
    const { items } = (await read(token, '/purchases')).body;
    expect(items.map(({ product_name, livemode }: Body) => [product_name, livemode])).toEqual([['Trial', false]]);
    await w.purchase(weather, await w.chain.wallet(), { customer_ref: 'user-1' });
    expect(await names(token, '/purchases')).toEqual(['Trial']);
    expect(await names(await asCustomer(ada, { customer_ref: 'user-1' }), '/purchases')).toEqual(['Weather']);
  });

  it('a first purchase is found at once at its seller, and a page of several sellers has no gap', async () => {
    const grace = await w.chain.wallet();
    await w.purchase(weather, grace);
    const token = await asWallet(grace);
    expect((await read(token, '/purchases')).body.items).toEqual([]);
    const { items } = (await read(token, `/purchases?account_id=${ada.userId}`)).body;
    expect(items).toMatchObject([
      { product_name: 'Weather', seller: { account_id: ada.userId }, amount: { asset: 'USDC', amount: '5' }, refunded: { amount: '0' } },
    ]);
    expect(items[0].receipt_url).toContain(`/r/${items[0].receipt_id}`);
    for (const product of [maps, weather, maps]) await w.purchase(product, grace);
    await fold();
    const pages = await Promise.all([1, 2, 3, 4].map(async (page) => (await read(token, `/purchases?per_page=1&page=${page}`)).body));
    expect(new Set(pages.flatMap(({ items: [item] }) => item.payment_id)).size).toBe(4);
    expect(pages.map(({ total, has_more }) => [total, has_more])).toEqual([4, 4, 4, 4].map((total, i) => [total, i < 3]));
    expect((await read(token, '/purchases?per_page=100&page=3')).status).toBe(422);
  });

  it('sellers that give access show after those that were paid, and never displace them', async () => {
    const wallet = await w.chain.wallet();
    const create = async ({ key }: Merchant, path: string, body: object) =>
      (await w.call('POST', `/v1/${path}`, { key, body, headers: { 'Idempotency-Key': crypto.randomUUID() } })).status;
    const customer = { wallet_address: wallet.address };
    for (const [merchant, product] of [
      [ada, weather],
      [eve, maps],
    ] as const) {
      const storeCopy = await watchCopy(w, merchant, product.product_id, { walletAddress: wallet.address });
      // Makes the row of the customer, which is no sighting of the buyer.
      const { product_id } = product;
      expect(await create(merchant, `products/${product_id}/handoffs`, customer)).toBe(201);
      expect(await create(merchant, 'access/entitlements/grant', { product_id, customer, units: 5, reason: 'a gift' })).toBe(200);
      await storeCopy();
    }
    const sellers = async () => (await read(await asWallet(wallet), '')).body.sellers.map(({ account_id }: Body) => account_id);
    await fold();
    expect((await sellers()).sort()).toEqual([ada.userId, eve.userId].sort());
    await w.purchase(maps, wallet);
    await fold();
    expect(await sellers()).toEqual([eve.userId, ada.userId]);
    const strangers = Array.from({ length: SELLERS_MAX }, (_, index) => `${index}`.padStart(32, '0'));
    const key = hex.encode(granteeKeyOf({ kind: 'wallet', wallet_address: wallet.address }));
    await w.env.DB.batch(
      strangers.map((id) => w.env.DB.prepare(`INSERT INTO buyer_sellers (buyer_key, merchant_id) VALUES (X'${key}', X'${id}')`)),
    );
    expect(await sellers()).toEqual([eve.userId]);
  });

  it('a membership is delivered again by its buyer alone', async () => {
    const [grace, alan] = [await w.chain.wallet(), await w.chain.wallet()];
    await w.purchase(weather, grace);
    await fold();
    const [{ membership_id: id }] = (await read(await asWallet(grace), '/access')).body.items;
    const retry = async (token: string) => (await w.call('POST', `/v1/buyer/memberships/${id}/retry-delivery`, { key: token })).status;
    expect(await retry(await asWallet(grace))).toBe(200);
    expect(await retry(await asWallet(alan))).toBe(404);
    expect(await retry(await asCustomer(ada, { wallet_address: grace.address }))).toBe(200);
    expect(
      (await w.call('POST', `/v1/buyer/memberships/${crypto.randomUUID()}/retry-delivery`, { key: await asWallet(grace) })).status,
    ).toBe(404);
  });
});

describe('portal session', () => {
  it('its link opens for ten minutes as often as needed, names no reference, and is refused forged, old and of an ended account', async () => {
    await w.purchase(weather, await w.chain.wallet(), { customer_ref: 'user-1' });
    const { status, body } = await portal(ada, { customer: { customer_ref: 'user-1' }, locale: 'de', flow: 'receipts' });
    expect([status, body.customer_id]).toEqual([201, customerIdOf(ada.userId, true, { customerRef: 'user-1' })]);
    const token = tokenIn(body.url);
    expect(new URL(body.url).pathname).toBe('/me/enter');
    expect(atob(token.split('.')[0]!.replaceAll('-', '+').replaceAll('_', '/'))).not.toContain('user-1');
    for (let opened = 0; opened < 2; opened++) expect(await redeemPortal(token)).toMatchObject({ status: 200, body: { flow: 'receipts' } });
    expect((await redeemPortal(forgedToken(token))).status).toBe(404);
    setTime(Date.now() + 11 * MINUTE);
    const late = await redeemPortal(token);
    letTimeRun();
    expect([late.status, late.body.code]).toEqual([410, 'link_expired']);
    const fresh = tokenIn((await portal(ada, { customer: { customer_ref: 'user-1' } })).body.url);
    await w.env.DB.prepare("UPDATE accounts SET status = 'suspended' WHERE id = ?").bind(ada.userId).run();
    expect((await redeemPortal(fresh)).status).toBe(410);
  });

  it('an unknown customer is 404, a page of another site 422, and the way back is that of this service', async () => {
    expect((await portal(ada, { customer: { customer_ref: 'nobody' } })).status).toBe(404);
    expect((await portal(ada, { customer_id: crypto.randomUUID() })).status).toBe(404);
    expect((await portal(ada, {})).status).toBe(422);
    await w.purchase(weather, await w.chain.wallet(), { customer_ref: 'user-1' });
    const customer = { customer_ref: 'user-1' };
    expect((await portal(ada, { customer, return_url: 'https://elsewhere.example/' })).status).toBe(422);
    const { body } = await portal(ada, { customer, return_url: 'https://svc.test/docs' });
    const { token } = (await redeemPortal(tokenIn(body.url))).body;
    expect((await read(token, '')).body.return_url).toBe('https://svc.test/docs');
    expect((await portal(eve, { customer })).status).toBe(404);
  });
});
