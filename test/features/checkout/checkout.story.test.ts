// @module-tag quick
import { beforeAll, describe, expect, it } from 'vitest';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { USDC } from '../../support/chain/chain.ts';
import { type Merchant, World } from '../../support/world.ts';

describe('checkout', () => {
  const w = new World();
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await w.merchant();
  });

  it('one payment on chain creates payment, membership and receipt', async () => {
    const product = await w.product(merchant, { access_period_days: 30 });
    const buyer = await w.chain.wallet();
    const { payment, signature, confirmed } = await w.purchase(product, buyer);
    expect(confirmed).toMatchObject({
      already_confirmed: false,
      payment: { status: 'CONFIRMED', tx_signature: signature, payer_wallet: buyer.address },
    });
    expect(await w.eventTypes(payment.payment_id)).toEqual([
      'payment.created',
      'payment.submitted',
      'payment.confirmed',
      'membership.activated',
      'receipt.created',
    ]);
    const membership = await w.call('GET', `/v1/memberships/lookup?wallet_address=${buyer.address}`, { key: merchant.key });
    expect(membership.body).toMatchObject({
      membership_id: confirmed.membership_id,
      status: 'active',
      last_payment_id: payment.payment_id,
    });
    const receipt = await w.call('GET', `/v1/receipt/${confirmed.receipt_id}`, { key: merchant.key });
    expect(receipt.body.document).toMatchObject({
      tx_sig: signature,
      payer: buyer.address,
      recipient: merchant.wallet.address,
      memo: payment.memo,
    });
    expect((await w.call('GET', `/v1/receipt/${confirmed.receipt_id}/verify`)).body).toMatchObject({ valid: true });
  });

  it('a second purchase extends the membership from its paid end, once', async () => {
    const product = await w.product(merchant, { access_period_days: 30 });
    const buyer = await w.chain.wallet();
    const first = await w.purchase(product, buyer);
    const second = await w.purchase(product, buyer);
    expect(second.confirmed.membership_id).toBe(first.confirmed.membership_id);
    const { body } = await w.call('GET', `/v1/memberships/lookup?payment_id=${second.payment.payment_id}`, { key: merchant.key });
    const days = (Date.parse(body.paid_through) - Date.parse(body.created_at)) / 86_400_000;
    expect(days).toBeCloseTo(60, 3);
    expect(body.version).toBe(2);
    await w.confirm(second.payment.payment_id, second.signature);
    const again = await w.call('GET', `/v1/memberships/lookup?payment_id=${second.payment.payment_id}`, { key: merchant.key });
    expect(again.body.paid_through).toBe(body.paid_through);
  });

  it('the membership belongs to the customer reference, whichever wallet pays', async () => {
    const product = await w.product(merchant);
    const purchases = [];
    for (const buyer of [await w.chain.wallet(), await w.chain.wallet()])
      purchases.push(await w.purchase(product, buyer, { customer_ref: 'user-42' }));
    expect(purchases[0]!.confirmed.membership_id).toBe(purchases[1]!.confirmed.membership_id);
    const { body } = await w.call('GET', `/v1/memberships/lookup?customer_ref=user-42&product_id=${product.product_id}`, {
      key: merchant.key,
    });
    expect(body.membership_id).toBe(purchases[0]!.confirmed.membership_id);
  });

  it('the prepared transaction pays as it is and creates a missing token account at the buyer’s expense', async () => {
    const seller = await w.merchant();
    const product = await w.product(seller);
    const buyer = await w.chain.wallet();
    const payment = await w.connect(product, { wallet_address: buyer.address });
    const wire = await w.chain.sign(buyer, payment.transaction);
    const sent = await w.call('POST', `/v1/payments/${payment.payment_id}/transaction`, { body: { transaction: wire } });
    expect(sent.body.payment).toMatchObject({ status: 'PENDING_CONFIRMATION', tx_signature: sent.body.tx_signature });
    await w.deliver();
    const { body } = await w.call('GET', `/v1/payments/${payment.payment_id}`);
    expect(body.status).toBe('CONFIRMED');
    const ata = await associatedTokenAccount(seller.wallet.address, USDC);
    const balance = await w.chain.call<{ value: { amount: string } }>('getTokenAccountBalance', ata);
    expect(balance.value.amount).toBe('5000000');
  });

  it('a transaction sent through the service is confirmed without further calls', async () => {
    const product = await w.product(merchant);
    const buyer = await w.chain.wallet();
    const payment = await w.connect(product, { wallet_address: buyer.address });
    const wire = await w.chain.sign(buyer, payment.transaction);
    await w.chain.fault({ kind: 'null_first', method: 'getSignatureStatuses', times: 2 });
    await w.call('POST', `/v1/payments/${payment.payment_id}/transaction`, { body: { transaction: wire } });
    for (let round = 0; round < 3; round++) await w.deliver();
    expect((await w.call('GET', `/v1/payments/${payment.payment_id}`)).body.status).toBe('CONFIRMED');
    expect(await w.count('payment_candidates', payment.payment_id)).toBe(0);
  });

  it('only the prepared transaction is broadcast', async () => {
    const product = await w.product(merchant);
    const buyer = await w.chain.wallet();
    const [mine, other] = await Promise.all([1, 2].map(() => w.connect(product, { wallet_address: buyer.address })));
    const wire = await w.chain.sign(buyer, other!.transaction);
    const refused = await w.call('POST', `/v1/payments/${mine!.payment_id}/transaction`, { body: { transaction: wire } });
    expect(refused).toMatchObject({ status: 422, body: { code: 'payment_mismatch', meta: { reason: 'memo' } } });
    const unsigned = await w.call('POST', `/v1/payments/${mine!.payment_id}/transaction`, { body: { transaction: mine!.transaction } });
    expect(unsigned).toMatchObject({ status: 422, body: { meta: { reason: 'unsigned' } } });
  });

  it('a buyer without funds gets 422 transaction_rejected, and the session stays unchanged', async () => {
    const product = await w.product(merchant);
    const buyer = await w.chain.wallet(1n);
    const payment = await w.connect(product, { wallet_address: buyer.address });
    const wire = await w.chain.sign(buyer, payment.transaction);
    const refused = await w.call('POST', `/v1/payments/${payment.payment_id}/transaction`, { body: { transaction: wire } });
    expect(refused).toMatchObject({ status: 422, body: { code: 'payment_mismatch', meta: { reason: 'transaction_rejected' } } });
    expect((await w.call('GET', `/v1/payments/${payment.payment_id}`)).body.status).toBe('PENDING_SIGNATURE');
    expect(await w.count('payment_candidates', payment.payment_id)).toBe(0);
  });

  it('the redirect URL is the success page with the payment id and status', async () => {
    const product = await w.product(merchant, { success_url: 'https://shop.example/thanks?from=svc' });
    const { confirmed, payment } = await w.purchase(product, await w.chain.wallet());
    expect(confirmed.redirect_url).toBe(`https://shop.example/thanks?from=svc&payment_id=${payment.payment_id}&status=CONFIRMED`);
  });

  it('the Solana Pay URL carries amount, mint, both references and the memo', async () => {
    const payment = await w.connect(await w.product(merchant, { price: { asset: 'USDC', amount: '0.05' } }));
    const url = new URL(payment.solana_pay_url);
    expect(url.protocol + url.pathname).toBe(`solana:${merchant.wallet.address}`);
    expect(url.searchParams.get('amount')).toBe('0.05');
    expect(url.searchParams.get('spl-token')).toBe(USDC);
    expect(url.searchParams.getAll('reference')).toEqual(payment.references);
    expect(url.searchParams.get('memo')).toBe(payment.memo);
  });

  it('bytes that are not a transaction are refused in any encoding', async () => {
    const { payment_id } = await w.connect(await w.product(merchant));
    const send = async (transaction: string) =>
      (await w.call('POST', `/v1/payments/${payment_id}/transaction`, { body: { transaction } })).body;
    expect(await send(btoa('nothing'))).toMatchObject({ code: 'payment_mismatch', meta: { reason: 'undecodable' } });
    for (const text of ['AB==', 'AAF=', 'AAAA=', 'A', '']) expect(await send(text)).toMatchObject({ code: 'validation_error' });
  });
});
