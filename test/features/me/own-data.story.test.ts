import type { KeyPairSigner } from '@solana/kit';
import { beforeEach, describe, expect, it } from 'vitest';
import { signText } from '../../support/chain/wallet.ts';
import { PageBrowser } from '../../support/clients/page-browser.ts';
import { type Body, type Merchant, World } from '../../support/world.ts';

const COOKIE = '__Host-svc_buyer';
let w: World;
let ada: Merchant;
let weather: Body;
let grace: KeyPairSigner;

beforeEach(async () => {
  w = new World();
  ada = await w.merchant();
  weather = await w.product(ada, { name: 'Weather', access_period_days: 30 });
  grace = await w.chain.wallet();
});

const fold = () => w.sweepAlone('analytics');
async function signIn(wallet: KeyPairSigner): Promise<PageBrowser> {
  const { body } = await w.call('POST', '/v1/buyer/wallet/nonce', { body: { wallet_address: wallet.address } });
  const proof = {
    wallet_address: wallet.address,
    signed_message: await signText(wallet, body.message),
    message_nonce: body.message_nonce,
  };
  const signedIn = new PageBrowser(w);
  expect((await signedIn.post('/me/wallet', proof)).location).toBe('/me');
  return signedIn;
}

describe('own data at /me', () => {
  const KWAME = { name: 'Kwame & Söhne <GmbH>', address: 'Kai 1\r\n20457 Hamburg', tax_id: 'DE123', email: 'books@example.com' };

  it('details are saved, shown again and put on earlier receipts, and a refused form has what was typed', async () => {
    const { confirmed } = await w.purchase(weather, grace);
    await fold();
    const signedIn = await signIn(grace);
    const path = `/me/details?account_id=${ada.userId}`;
    expect((await signedIn.get('/me')).text).toContain(`href="${path}"`);
    const refused = await signedIn.post('/me/details', { ...KWAME, account_id: ada.userId, email: 'none' });
    expect([refused.status, refused.text.includes('value="none"')]).toEqual([422, true]);
    expect(refused.text).toContain('id="email" name="email" maxlength="200" autocomplete="email" aria-invalid="true"');
    expect((await signedIn.post('/me/details', { ...KWAME, account_id: ada.userId, earlier: 'on' })).location).toBe(`${path}&why=saved`);
    const saved = await signedIn.get(`${path}&why=saved`);
    expect(saved.text).toContain('role="status"');
    expect(saved.text).toContain('value="Kwame &amp; Söhne &lt;GmbH&gt;"');
    const { body } = await w.call('GET', `/v1/receipt/${confirmed.payment.receipt_id}`, { key: ada.key });
    expect(body.invoice_metadata.bill_to).toMatchObject({ name: KWAME.name, tax_id: 'DE123' });
    const stranger = await signIn(await w.chain.wallet());
    expect((await stranger.get(path)).status).toBe(404);
    expect((await new PageBrowser(w).get(path)).location).toBe('/me?why=ended');
  });

  it('the buyer downloads the own data and the own PDF, and a stranger neither', async () => {
    const { confirmed } = await w.purchase(weather, grace);
    await fold();
    const signedIn = await signIn(grace);
    const file = await signedIn.get('/me/export');
    expect(file.response.headers.get('Content-Disposition')).toBe('attachment; filename="my-purchases.json"');
    expect(JSON.parse(file.text).purchases.length).toBe(1);
    const pdf = `/me/receipts/${confirmed.payment.receipt_id}/pdf`;
    expect((await signedIn.get('/me')).text).toContain(`href="${pdf}"`);
    expect((await signedIn.get(pdf)).response.headers.get('Content-Type')).toBe('application/pdf');
    expect((await (await signIn(await w.chain.wallet())).get(pdf)).status).toBe(404);
    expect((await new PageBrowser(w).get('/me/export')).location).toBe('/me?why=ended');
  });

  it('a request of erasure is made once a day and said', async () => {
    await w.purchase(weather, grace);
    await fold();
    const signedIn = await signIn(grace);
    expect((await signedIn.get('/me')).text).toMatch(
      /<details><summary>Erase my data<\/summary>(?:(?!<\/details>).)*action="\/me\/erasure"/,
    );
    expect((await signedIn.post('/me/erasure', { account_id: ada.userId })).location).toBe('/me?why=erasureAsked');
    expect((await signedIn.get('/me?why=erasureAsked')).text).toContain('The seller was asked to erase your data.');
    const again = await signedIn.post('/me/erasure', { account_id: ada.userId });
    expect([again.status, again.text.includes('role="alert"')]).toEqual([429, true]);
  });

  it('a portal link ends the session that it replaces', async () => {
    await w.purchase(weather, grace, { customer_ref: 'user-1' });
    await fold();
    const signedIn = await signIn(grace);
    const replaced = signedIn.cookies.get(COOKIE)!;
    const { body } = await w.call('POST', '/v1/customers/portal-sessions', {
      key: ada.key,
      body: { customer: { customer_ref: 'user-1' } },
    });
    const { pathname, search } = new URL(body.url);
    await signedIn.get(pathname + search);
    expect((await w.call('GET', '/v1/buyer', { key: replaced })).status).toBe(401);
    expect((await w.call('GET', '/v1/buyer', { key: signedIn.cookies.get(COOKIE)! })).status).toBe(200);
  });
});
