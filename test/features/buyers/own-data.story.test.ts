import type { KeyPairSigner } from '@solana/kit';
import { beforeEach, describe, expect, it } from 'vitest';
import { customerIdOf } from '#core/ids.ts';
import { DAY } from '#core/time.ts';
import worker from '../../../worker/index.ts';
import { signText } from '../../support/chain/wallet.ts';
import { fetchBytes } from '../../support/fixtures/bytes.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { invoked } from '../../support/runner/invocation.ts';
import { MailWorld } from '../../support/servers/mail.ts';
import type { Body, Merchant } from '../../support/world.ts';

let w: MailWorld;
let ada: Merchant;
let eve: Merchant;
let weather: Body;
let maps: Body;
let grace: KeyPairSigner;

beforeEach(async () => {
  w = new MailWorld();
  [ada, eve] = [await w.merchant(), await w.merchant()];
  weather = await w.product(ada, { name: 'Weather', access_period_days: 30 });
  maps = await w.product(eve, { name: 'Maps', access_period_days: 30 });
  grace = await w.chain.wallet();
});

const KWAME = { name: 'Kwame & Söhne GmbH', address: 'Kai 1\n20457 Hamburg', tax_id: 'DE123456789', email: 'books@example.com' };

const fold = () => w.sweepAlone('analytics');
const asWallet = async (wallet: KeyPairSigner): Promise<string> => {
  const { body } = await w.call('POST', '/v1/buyer/wallet/nonce', { body: { wallet_address: wallet.address } });
  const signed_message = await signText(wallet, body.message);
  const proof = { wallet_address: wallet.address, signed_message, message_nonce: body.message_nonce };
  return (await w.call('POST', '/v1/buyer/wallet', { body: proof })).body.token;
};
const asCustomer = async (merchant: Merchant, customer: object, key = merchant.key): Promise<string> => {
  const headers = { 'Idempotency-Key': crypto.randomUUID() };
  const { body } = await w.call('POST', '/v1/customers/portal-sessions', { key, body: { customer }, headers });
  const token = new URL(body.url).searchParams.get('token');
  return (await w.call('POST', '/v1/buyer/portal-link/redeem', { body: { token } })).body.token;
};
const details = (key: string, query = '') => w.call('GET', `/v1/buyer/invoice-details${query}`, { key });
const save = (key: string, body: object) => w.call('PUT', '/v1/buyer/invoice-details', { key, body });
const bill = (key: string, receiptId: string) => w.call('POST', `/v1/buyer/receipts/${receiptId}/invoice-details`, { key });
const buy = async (product: Body, customer: Record<string, unknown> = {}, wallet = grace): Promise<string> => {
  const { confirmed } = await w.purchase(product, wallet, customer);
  return confirmed.payment.receipt_id;
};
const metadata = async (receiptId: string, { key } = ada): Promise<Body | undefined> =>
  (await w.call('GET', `/v1/receipt/${receiptId}`, { key })).body.invoice_metadata;
const write = (receiptId: string, body: object) => w.call('PATCH', `/v1/receipt/${receiptId}/invoice-metadata`, { key: ada.key, body });
const erase = (key: string, accountId: string, headers = {}) =>
  w.call('POST', '/v1/buyer/erasure', { key, body: { account_id: accountId }, headers });
const pdf = (key: string, receiptId: string) =>
  invoked(`PDF ${receiptId}`, async (execution) => {
    const request = new Request(`https://svc.test/v1/buyer/receipts/${receiptId}/pdf`, { headers: { Authorization: `Bearer ${key}` } });
    const response = await worker.fetch(request, w.env, execution);
    return { status: response.status, bytes: new Uint8Array(await response.arrayBuffer()) };
  });

describe('invoice details of a buyer', () => {
  it('details are on new receipts of the seller within a minute, and on an earlier one when asked', async () => {
    const first = await buy(weather);
    const token = await asWallet(grace);
    await fold();
    expect((await details(token)).body).toEqual({});
    expect([(await save(token, KWAME)).body, (await details(token)).body]).toEqual([KWAME, KWAME]);
    const second = await buy(weather, { customer_ref: 'user-1' });
    const others = await buy(weather, {}, await w.chain.wallet());
    const eves = await buy(maps);
    await fold();
    expect(await metadata(second)).toEqual({ bill_to: KWAME });
    expect(await Promise.all([metadata(first), metadata(others), metadata(eves, eve)])).toEqual([undefined, undefined, undefined]);
    expect((await bill(token, first)).body).toEqual(KWAME);
    expect(await metadata(first)).toEqual({ bill_to: KWAME });
    const { body: listed } = await w.call('GET', '/v1/receipts?q=kwame', { key: ada.key });
    expect(listed.items.length).toBe(2);
  });

  it('leave the merchant’s own entry alone, and join the other fields', async () => {
    const [own, numbered] = [await buy(weather), await buy(weather)];
    const customer = await asCustomer(ada, { wallet_address: grace.address });
    await save(customer, KWAME);
    await write(own, { bill_to: { name: 'Written by Ada' } });
    await write(numbered, { invoice_number: 'INV-1' });
    await fold();
    expect([await metadata(own), await metadata(numbered)]).toEqual([
      { bill_to: { name: 'Written by Ada' } },
      { bill_to: KWAME, invoice_number: 'INV-1' },
    ]);
    const refused = await bill(customer, own);
    expect([refused.status, refused.body.code]).toEqual([409, 'state_conflict']);
    // The merchant corrects one field, and answers for the entry from then on.
    await write(numbered, { bill_to: { name: 'Corrected' } });
    expect((await bill(customer, numbered)).status).toBe(409);
  });

  it('belong to one subject at one seller', async () => {
    await buy(weather, { customer_ref: 'user-1', email: 'grace@example.com' });
    await buy(maps);
    await fold();
    const [wallet, customer] = [await asWallet(grace), await asCustomer(ada, { customer_ref: 'user-1' })];
    const unnamed = await save(wallet, KWAME);
    expect([unnamed.status, unnamed.body.detail[0].loc]).toEqual([422, ['body', 'account_id']]);
    expect((await details(wallet)).body.detail[0].loc).toEqual(['query', 'account_id']);
    expect((await save(wallet, { ...KWAME, account_id: ada.userId })).status).toBe(200);
    expect((await details(wallet, `?account_id=${ada.userId}`)).body).toEqual(KWAME);
    expect((await details(wallet, `?account_id=${eve.userId}`)).body).toEqual({});
    expect((await details(customer)).body).toEqual({});
    expect((await save(customer, { account_id: eve.userId })).status).toBe(404);
    // A wallet that bought nothing from this seller stores nothing there.
    const stranger = await asWallet(await w.chain.wallet());
    expect((await save(stranger, { ...KWAME, account_id: ada.userId })).status).toBe(404);
    expect((await save(wallet, { account_id: ada.userId, name: 'x'.repeat(201) })).status).toBe(422);
    expect((await save(wallet, { account_id: ada.userId, tax_id: 'x'.repeat(200) })).status).toBe(200);
    expect((await save(wallet, { account_id: ada.userId })).body).toEqual({});
  });

  it('show in the buyer’s own PDF alone, and another’s receipt is 404', async () => {
    const receipt = await buy(weather);
    await fold();
    const [owner, stranger] = [await asWallet(grace), await asWallet(await w.chain.wallet())];
    expect((await bill(owner, receipt)).body.meta).toEqual({ reason: 'no_details' });
    const { bytes: plain } = await fetchBytes(w, `/v1/receipt/${receipt}/pdf`);
    expect((await pdf(owner, receipt)).bytes).toEqual(plain);
    await save(owner, KWAME);
    await bill(owner, receipt);
    expect((await pdf(owner, receipt)).bytes.length).toBeGreaterThan(plain.length);
    expect((await fetchBytes(w, `/v1/receipt/${receipt}/pdf`)).bytes).toEqual(plain);
    const customer = await asCustomer(ada, { wallet_address: grace.address });
    expect((await pdf(customer, receipt)).bytes).toEqual(plain);
    // The same words of another proof are that proof's own.
    await save(customer, KWAME);
    expect((await bill(customer, receipt)).status).toBe(200);
    expect((await pdf(customer, receipt)).bytes.length).toBeGreaterThan(plain.length);
    expect([(await pdf(stranger, receipt)).status, (await bill(stranger, receipt)).status]).toEqual([404, 404]);
    expect((await bill(owner, crypto.randomUUID())).status).toBe(404);
  });

  it('saved three times at once end as one of them, and a receipt billed three times at once is billed once', async () => {
    const receipt = await buy(weather);
    await fold();
    const token = await asWallet(grace);
    const saved = await Promise.all(Array.from({ length: 3 }, (_, n) => save(token, { name: `Name ${n}` })));
    const { name } = (await details(token)).body;
    expect(saved.filter(({ status }) => status === 200).map(({ body }) => body.name)).toContain(name);
    const billed = await Promise.all(Array.from({ length: 3 }, () => bill(token, receipt)));
    expect(billed.map(({ status }) => status)).toEqual([200, 200, 200]);
    const row = await w.env.DB.prepare('SELECT version FROM receipt_metadata').first('version');
    expect(row).toBe(1);
  });
});

describe('POST /v1/buyer/erasure', () => {
  it('notifies that seller by event and email, erases the invoice details, and works once a day', async () => {
    await buy(weather, { customer_ref: 'user-1' });
    await buy(maps);
    await fold();
    const token = await asWallet(grace);
    await save(token, { ...KWAME, account_id: ada.userId });
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    expect((await erase(token, ada.userId, headers)).status).toBe(202);
    expect((await erase(token, ada.userId, headers)).headers.get('idempotent-replayed')).toBe('true');
    expect((await details(token, `?account_id=${ada.userId}`)).body).toEqual({});
    const { body: events } = await w.call('GET', '/v1/webhooks/events?event_type=customer.erasure_requested', { key: ada.key });
    expect(events.items.map(({ data }: Body) => data.object)).toEqual([
      {
        erasure_id: expect.any(String),
        customer_ids: [customerIdOf(ada.userId, true, { customerRef: 'user-1' })],
        wallet_address: grace.address,
        requested_at: expect.any(String),
      },
    ]);
    const { body: eves } = await w.call('GET', '/v1/webhooks/events?event_type=customer.erasure_requested', { key: eve.key });
    expect(eves.items).toEqual([]);
    const again = await erase(token, ada.userId);
    expect([again.status, again.body.code]).toEqual([429, 'rate_limited']);
    expect(Number(again.headers.get('retry-after'))).toBeGreaterThan(DAY / 1000 - 60);
    expect((await erase(token, eve.userId)).status).toBe(202);
    setTime(Date.now() + DAY);
    expect((await erase(await asWallet(grace), ada.userId)).status).toBe(202);
    letTimeRun();
  });

  it('sent three times at once notifies the seller once, and a seller of whom nothing was bought is 404', async () => {
    await buy(weather);
    await fold();
    const token = await asWallet(grace);
    const statuses = (await Promise.all([1, 2, 3].map(() => erase(token, ada.userId)))).map(({ status }) => status).sort();
    expect(statuses).toEqual([202, 429, 429]);
    expect((await erase(token, eve.userId)).status).toBe(404);
    expect((await erase(token, crypto.randomUUID())).status).toBe(404);
  });
});
