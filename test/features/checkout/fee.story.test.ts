import { generateKeyPairSigner } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Merchant, World } from '../../support/world.ts';

describe('service fee', () => {
  let w: World;
  let merchant: Merchant;
  let feeWallet: string;
  beforeAll(async () => {
    feeWallet = (await generateKeyPairSigner()).address;
    w = new World({ FEE_BPS: '250', FEE_WALLET: feeWallet });
    merchant = await w.merchant();
  });

  it('the fee is split off the price in the prepared transaction, and the buyer pays only the price', async () => {
    const product = await w.product(merchant);
    const buyer = await w.chain.wallet(5_000_000n);
    const payment = await w.connect(product, { wallet_address: buyer.address });
    expect(payment.fee).toEqual({ recipient: feeWallet, asset: 'USDC', amount: '0.125', base_units: '125000' });
    const wire = await w.chain.sign(buyer, payment.transaction);
    await w.call('POST', `/v1/payments/${payment.payment_id}/transaction`, { body: { transaction: wire } });
    await w.deliver();
    const { body } = await w.call('GET', `/v1/payments/${payment.payment_id}`, { key: merchant.key });
    expect(body).toMatchObject({ status: 'CONFIRMED', price: { amount: '5' }, fee: { amount: '0.125' }, net: { amount: '4.875' } });
    expect(body.fee_owed).toBeUndefined();
  });

  it('the fee is recorded as owed if the merchant received the full price', async () => {
    const { confirmed } = await w.purchase(await w.product(merchant), await w.chain.wallet());
    expect(confirmed.payment).toMatchObject({ status: 'CONFIRMED', fee_owed: { amount: '0.125' } });
  });

  it('a payment short by the fee is refused as underpaid', async () => {
    const payment = await w.connect(await w.product(merchant));
    const signature = await w.chain.pay(await w.chain.wallet(), payment, { units: 4_875_000n });
    expect(await w.confirm(payment.payment_id, signature)).toMatchObject({ status: 422, body: { meta: { reason: 'underpaid' } } });
  });

  it('the Solana Pay URL is a transaction request that any wallet can sign', async () => {
    const payment = await w.connect(await w.product(merchant));
    const link = payment.solana_pay_url.slice('solana:'.length);
    expect(link).toBe(`https://svc.test/v1/pay/${payment.payment_id}/solana-pay`);
    const buyer = await w.chain.wallet();
    const label = await w.call('GET', new URL(link).pathname);
    expect(label.body.label).toBe('Weather API');
    const request = await w.call('POST', new URL(link).pathname, { body: { account: buyer.address } });
    const sent = await w.call('POST', `/v1/payments/${payment.payment_id}/transaction`, {
      body: { transaction: await w.chain.sign(buyer, request.body.transaction) },
    });
    expect(sent.status).toBe(200);
    await w.deliver();
    expect((await w.call('GET', `/v1/payments/${payment.payment_id}`)).body.status).toBe('CONFIRMED');
  });

  it('a fee without a fee wallet stops checkout with 503 fee_wallet_missing', async () => {
    const broken = new World({ FEE_BPS: '250' });
    const seller = await broken.merchant();
    const product = await broken.product(seller);
    const refused = await broken.call('POST', `/v1/products/p/${product.slug}/connect`, { body: {} });
    expect(refused).toMatchObject({ status: 503, body: { code: 'fee_wallet_missing' } });
  });
});
