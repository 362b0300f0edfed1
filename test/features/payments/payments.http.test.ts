// @module-tag quick
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { base58 } from '#core/encoding.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { USDC } from '../../support/chain/chain.ts';
import { getPage } from '../../support/clients/page.ts';
import { type Merchant, World } from '../../support/world.ts';

const randomSignature = () => base58.encode(crypto.getRandomValues(new Uint8Array(64)));

describe('payment sessions', () => {
  const w = new World();
  let ada: Merchant;
  let product: { product_id: string; slug: string };

  const connect = (slug: string, body: unknown = {}) => w.call('POST', `/v1/products/p/${slug}/connect`, { body });
  const read = (id: string, key?: string) => w.call('GET', `/v1/payments/${id}`, key ? { key } : {});
  const solanaPay = (id: string, account: string) => w.call('POST', `/v1/pay/${id}/solana-pay`, { body: { account } });

  beforeAll(async () => {
    ada = await w.merchant();
    product = await w.product(ada, { success_url: 'https://example.com/thanks?from=svc' });
  });

  it('connect opens a session with everything a buyer needs and its own nonce and reference', async () => {
    const [first, second] = await Promise.all([w.connect(product), w.connect(product)]);
    expect(first).toMatchObject({
      status: 'PENDING_SIGNATURE',
      memo: `svc:${first.nonce}`,
      recipient: ada.wallet.address,
      decimals: 6,
      mint: USDC,
    });
    expect(base58.decode(first.nonce)).toHaveLength(16);
    expect(first.status_url).toBe(`https://svc.test/v1/payments/${first.payment_id}`);
    expect(first.references[1]).toBe(second.references[1]);
    expect(first.nonce).not.toBe(second.nonce);
    expect(first.references[0]).not.toBe(second.references[0]);
    expect(Date.parse(first.expires_at) - Date.now()).toBeGreaterThan(14 * 60_000);
    expect('transaction' in first).toBe(false);
  });

  it('the owner sees fields that the buyer does not, and a stranger gets 404', async () => {
    const { payment_id } = await w.connect(product, { customer_ref: 'customer-1' });
    const stranger = await w.merchant();
    const buyer = await read(payment_id);
    expect(['net', 'customer_ref', 'unmatched'].filter((field) => field in buyer.body)).toEqual([]);
    for (const credential of [ada.key, ada.token]) {
      const owner = await read(payment_id, credential);
      expect(owner.body).toMatchObject({ net: { asset: 'USDC', amount: '5', base_units: '5000000' }, customer_ref: 'customer-1' });
    }
    for (const credential of [stranger.key, stranger.token, ada.sandboxKey]) expect((await read(payment_id, credential)).status).toBe(404);
    expect((await read(payment_id, 'svc_live_garbage')).status).toBe(401);
  });

  it.each([
    ['customer_ref', ''],
    ['customer_ref', 'outer space '],
    ['customer_ref', 'x'.repeat(181)],
    ['customer_ref', '\u0085'],
    ['email', 'nobody'],
    ['asset', 'BTC'],
    ['asset', 'SOL'],
    ['wallet_address', 5],
  ])('connect with %s of %j is 422', async (field, value) => {
    const { status, body } = await connect(product.slug, { [field]: value });
    expect([status, body.code, body.detail[0].loc]).toEqual([422, 'validation_error', ['body', field]]);
  });

  it('a token account, garbage and the seller’s own wallet are refused as invalid_wallet_address', async () => {
    const { payment_id } = await w.connect(product);
    for (const wallet of [await associatedTokenAccount(ada.wallet.address, USDC), 'garbage', '', ada.wallet.address]) {
      for (const { status, body } of [await connect(product.slug, { wallet_address: wallet }), await solanaPay(payment_id, wallet)])
        expect([wallet, status, body.code]).toEqual([wallet, 422, 'invalid_wallet_address']);
    }
  });

  it('connect answers setup_not_ready with the missing check if the product has no payout wallet', async () => {
    const walletless = await w.product(ada, { payout_wallet: undefined });
    const { status, body } = await connect(walletless.slug);
    expect([status, body.code, body.meta.reason]).toEqual([409, 'setup_not_ready', 'payout_wallet_set']);
    expect((await connect('no-such-product')).status).toBe(404);
  });

  it('connect opens no session while the node is down or the fee has no wallet', async () => {
    const dark = new World();
    await dark.chain.fault({ kind: 'http_503', times: 100 });
    const wallet = (await w.chain.wallet()).address;
    const away = await w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: { wallet_address: wallet }, env: dark.env });
    expect([away.status, away.body.code, away.body.retryable]).toEqual([503, 'rpc_unavailable', true]);
    expect(Number(away.headers.get('Retry-After'))).toBeGreaterThanOrEqual(1);
    const greedy = await w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: {}, env: new World({ FEE_BPS: '100' }).env });
    expect([greedy.status, greedy.body.code]).toEqual([503, 'fee_wallet_missing']);
  });

  it('the redirect retains the merchant’s query, and a repeated confirm changes nothing', async () => {
    const { payment, signature, confirmed } = await w.purchase(product, await w.chain.wallet());
    expect(confirmed).toMatchObject({
      already_confirmed: false,
      payment: { status: 'CONFIRMED', tx_signature: signature, poll_after_ms: null },
    });
    expect(confirmed.redirect_url).toBe(`https://example.com/thanks?from=svc&payment_id=${payment.payment_id}&status=CONFIRMED`);
    const again = await w.confirm(payment.payment_id, signature);
    expect(again.body).toEqual({ ...confirmed, now: expect.any(String), already_confirmed: true });
    const other = await w.confirm(payment.payment_id, randomSignature());
    expect([other.status, other.body.code]).toEqual([409, 'payment_transaction_conflict']);
    const done = await solanaPay(payment.payment_id, (await w.chain.wallet()).address);
    expect([done.status, done.body.code, done.body.meta.reason]).toEqual([409, 'state_conflict', 'confirmed']);
  });

  it('a signature that the chain does not show yet is stored and changes nothing', async () => {
    const { payment_id } = await w.connect(product);
    const { status, body } = await w.confirm(payment_id, randomSignature());
    expect([status, body.payment.status, body.already_confirmed]).toEqual([200, 'PENDING_SIGNATURE', false]);
    expect(await w.count('payment_candidates', payment_id)).toBe(1);
    expect((await read(payment_id)).body.version).toBe(1);
  });

  it.each([
    [{}, ['payment_id', 'tx_signature']],
    [{ payment_id: '5', tx_signature: 'x' }, ['payment_id', 'tx_signature']],
    [{ payment_id: { toString: 1 }, tx_signature: ['x'] }, ['payment_id', 'tx_signature']],
    [{ payment_id: null, tx_signature: null }, ['payment_id', 'tx_signature']],
  ])('confirm with %j is 422', async (body, fields) => {
    const answer = await w.call('POST', '/v1/pay/confirm', { body });
    expect([answer.status, answer.body.code]).toEqual([422, 'validation_error']);
    expect(answer.body.detail.map(({ loc }: { loc: string[] }) => loc[1])).toEqual(fields);
  });

  it('confirm of an unknown payment makes no node call', async () => {
    await w.call('GET', '/health');
    const fetched = vi.spyOn(globalThis, 'fetch');
    for (let i = 0; i < 5; i++) expect((await w.confirm(crypto.randomUUID(), randomSignature())).status).toBe(404);
    const { length } = fetched.mock.calls;
    fetched.mockRestore();
    expect(length).toBe(0);
  });

  it('a payment fails only by its buyer’s own failed transaction, and then for good', async () => {
    const poor = await w.chain.wallet(1n);
    const payment = await w.connect(product, { wallet_address: poor.address });
    const failed = await w.chain.pay(poor, payment, { skipPreflight: true });
    const first = await w.confirm(payment.payment_id, failed);
    expect([first.status, first.body.payment.status, first.body.payment.failure_code]).toEqual([200, 'FAILED', 'transaction_failed']);
    const rich = await w.chain.wallet();
    for (const answer of [
      await w.confirm(payment.payment_id, await w.chain.pay(rich, payment)),
      await solanaPay(payment.payment_id, rich.address),
    ])
      expect([answer.status, answer.body.code]).toEqual([409, 'payment_failed']);
    expect((await read(payment.payment_id)).body.status).toBe('FAILED');
  });

  it('a transaction late by the chain’s clock is 410 session_expired', async () => {
    const brief = new World({ SESSION_SECONDS: '2', LATE_GRACE_SECONDS: '0' });
    const merchant = await brief.merchant();
    const buyer = await brief.chain.wallet();
    const payment = await brief.connect(await brief.product(merchant), { wallet_address: buyer.address });
    await brief.chain.call('local_warp', 10);
    const late = await brief.confirm(payment.payment_id, await brief.chain.pay(buyer, payment));
    expect([late.status, late.body.code]).toEqual([410, 'session_expired']);
    expect((await brief.call('GET', `/v1/payments/${payment.payment_id}`)).status).toBe(200);
  });

  it('an expired session prepares and broadcasts nothing', async () => {
    const over = new World({ SESSION_SECONDS: '0', LATE_GRACE_SECONDS: '0' });
    const merchant = await over.merchant();
    const buyer = await over.chain.wallet();
    const payment = await over.connect(await over.product(merchant), { wallet_address: buyer.address });
    await new Promise((resolve) => setTimeout(resolve, 5));
    const wire = await over.chain.sign(buyer, payment.transaction);
    for (const { status, body } of [
      await over.call('POST', `/v1/pay/${payment.payment_id}/solana-pay`, { body: { account: buyer.address } }),
      await over.call('POST', `/v1/payments/${payment.payment_id}/transaction`, { body: { transaction: wire } }),
    ])
      expect([status, body.code]).toEqual([410, 'session_expired']);
  });

  it('only the prepared transaction is broadcast', async () => {
    const buyer = await w.chain.wallet();
    const [mine, other] = [
      await w.connect(product, { wallet_address: buyer.address }),
      await w.connect(product, { wallet_address: buyer.address }),
    ];
    const send = (transaction: unknown) => w.call('POST', `/v1/payments/${mine.payment_id}/transaction`, { body: { transaction } });
    for (const wrong of [await w.chain.sign(buyer, other.transaction), mine.transaction, 'AAAA', btoa('x'.repeat(500))]) {
      const { status, body } = await send(wrong);
      expect([status, body.code, typeof body.meta.reason]).toEqual([422, 'payment_mismatch', 'string']);
    }
    for (const malformed of ['', '***', 5, 'A'.repeat(4100)]) expect((await send(malformed)).body.code).toBe('validation_error');
    const sent = await send(await w.chain.sign(buyer, mine.transaction));
    expect([sent.status, sent.body.payment.status]).toEqual([200, 'PENDING_CONFIRMATION']);
    expect((await w.confirm(mine.payment_id, sent.body.tx_signature)).body.payment.status).toBe('CONFIRMED');
  });

  it('the Solana Pay request answers with a label, an icon and a transaction to sign', async () => {
    const { payment_id } = await w.connect(product);
    const label = await w.call('GET', `/v1/pay/${payment_id}/solana-pay`);
    expect([label.status, label.body.label]).toEqual([200, 'Weather API']);
    const icon = new URL(label.body.icon);
    expect(icon.protocol).toMatch(/^https?:$/);
    const picture = await getPage(w, icon.pathname);
    expect([picture.status, picture.headers.get('Content-Type'), picture.headers.get('Access-Control-Allow-Origin')]).toEqual([
      200,
      'image/svg+xml',
      '*',
    ]);
    expect(picture.html).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"[\s\S]*<\/svg>$/);
    const buyer = await w.chain.wallet();
    const asked = await solanaPay(payment_id, buyer.address);
    expect([asked.status, asked.headers.get('Cache-Control')]).toEqual([200, 'no-store']);
    const wire = await w.chain.sign(buyer, asked.body.transaction);
    expect((await w.call('POST', `/v1/payments/${payment_id}/transaction`, { body: { transaction: wire } })).status).toBe(200);
  });
});
