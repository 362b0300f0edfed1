import { beforeAll, describe, expect, it } from 'vitest';
import { priceClock } from '../../support/chain/price-clock.ts';
import { type Merchant, World } from '../../support/world.ts';

describe('price quoted in the other asset', () => {
  const w = new World();
  const { prices, realNow } = priceClock(w);
  let merchant: Merchant;
  let product: { slug: string; product_id: string };
  beforeAll(async () => {
    merchant = await w.merchant();
    product = await w.product(merchant, { accepted_assets: ['SOL', 'USDC'], access_period_days: 30 });
  });
  const connect = (body: unknown = { asset: 'SOL' }, slug = product.slug) => w.call('POST', `/v1/products/p/${slug}/connect`, { body });

  it('a USDC price is quoted in lamports, rounded up, for five minutes, and paid in them', async () => {
    await prices({ price: '15142050000', expo: -8 });
    const { body: payment } = await connect();
    expect(payment.price).toEqual({ asset: 'SOL', amount: '0.033020628', base_units: '33020628' });
    expect(payment.price_quote).toMatchObject({ rate: '151.4205', expires_at: payment.expires_at });
    expect(payment.price_quote.source).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(Math.abs(Date.parse(payment.expires_at) - Date.now() - 300_000)).toBeLessThan(2000);
    const buyer = await w.chain.wallet(0n);
    const { body } = await w.confirm(payment.payment_id, await w.chain.paySol(buyer, payment));
    expect(body.payment).toMatchObject({
      status: 'CONFIRMED',
      price: { asset: 'SOL', base_units: '33020628' },
      price_quote: payment.price_quote,
    });
    const receipt = await w.call('GET', `/v1/receipt/${body.receipt_id}`, { key: merchant.key });
    expect(receipt.body.document.amount).toEqual(payment.price);
  });

  it('a payment in the asset of the price needs no quote', async () => {
    await prices({ answer: 'down' });
    for (const body of [{}, { asset: 'USDC' }]) {
      const answer = await connect(body);
      expect([answer.status, answer.body.price.asset, 'price_quote' in answer.body]).toEqual([200, 'USDC', false]);
    }
  });

  it('a SOL price is quoted and paid in USDC', async () => {
    const sold = await w.product(merchant, { price: { asset: 'SOL', amount: '0.1' }, accepted_assets: ['SOL', 'USDC'] });
    await prices({ price: '15142050001', expo: -8 });
    const { body: payment } = await connect({ asset: 'USDC' }, sold.slug);
    expect(payment).toMatchObject({ price: { asset: 'USDC', base_units: '15142051' }, price_quote: { rate: '151.42050001' }, decimals: 6 });
    const { body } = await w.confirm(payment.payment_id, await w.chain.pay(await w.chain.wallet(), payment));
    expect(body.payment.status).toBe('CONFIRMED');
  });

  it('a price above the largest amount of SOL is 422', async () => {
    const dear = await w.product(merchant, { price: { asset: 'USDC', amount: '18000000000000' }, accepted_assets: ['SOL', 'USDC'] });
    const { status, body } = await connect({ asset: 'SOL' }, dear.slug);
    expect([status, body.detail[0].loc]).toEqual([422, ['body', 'asset']]);
  });

  it('an expired quote is not prepared, and a payment on the chain is judged by block time and grace', async () => {
    const buyer = await w.chain.wallet(0n);
    const ended = async (secondsAgo: number) => {
      const { body: payment } = await connect();
      await w.env.DB.prepare('UPDATE payments SET expires_at = ? WHERE id = ?')
        .bind(realNow() - secondsAgo * 1000, payment.payment_id)
        .run();
      return payment;
    };
    const inGrace = await ended(100);
    const prepared = await w.call('POST', `/v1/pay/${inGrace.payment_id}/solana-pay`, { body: { account: buyer.address } });
    expect([prepared.status, prepared.body.code]).toEqual([410, 'session_expired']);
    expect((await w.confirm(inGrace.payment_id, await w.chain.paySol(buyer, inGrace))).body.payment.status).toBe('CONFIRMED');

    const tooLate = await ended(140);
    const late = await w.confirm(tooLate.payment_id, await w.chain.paySol(buyer, tooLate));
    expect([late.status, late.body.code, late.body.meta.reason]).toEqual([410, 'session_expired', 'late']);
    const { body } = await w.call('GET', `/v1/payments/${tooLate.payment_id}`, { key: merchant.key });
    expect(body).toMatchObject({ status: 'PENDING_SIGNATURE', unmatched: [{ reason: 'late', amount: tooLate.price }] });
  });

  it('a transaction of an expired quote is not broadcast', async () => {
    const buyer = await w.chain.wallet(0n);
    const { body: payment } = await connect({ asset: 'SOL', wallet_address: buyer.address });
    const transaction = await w.chain.sign(buyer, payment.transaction);
    await w.env.DB.prepare('UPDATE payments SET expires_at = ? WHERE id = ?')
      .bind(Date.now() - 1000, payment.payment_id)
      .run();
    const { status, body } = await w.call('POST', `/v1/payments/${payment.payment_id}/transaction`, { body: { transaction } });
    expect([status, body.code]).toEqual([410, 'session_expired']);
  });

  it('a product with SOL can change its other fields without a price source', async () => {
    const sold = await w.product(merchant, { accepted_assets: ['USDC', 'SOL'] });
    const env = { ...w.env, PRICE_URL: '' };
    const patch = (body: object) => w.call('PATCH', `/v1/products/${sold.product_id}`, { key: merchant.key, body, env });
    const renamed = await patch({ name: 'Weather', price: { asset: 'USDC', amount: '6' }, accepted_assets: ['SOL', 'USDC'] });
    expect([renamed.status, renamed.body.name, renamed.body.accepted_assets]).toEqual([200, 'Weather', ['USDC', 'SOL']]);
    const moved = await patch({ price: { asset: 'SOL', amount: '1' } });
    expect([moved.status, moved.body.meta?.reason]).toEqual([409, 'price_source_missing']);
    expect((await patch({ accepted_assets: ['USDC'] })).body.accepted_assets).toEqual(['USDC']);
  });

  it('SOL needs a product that accepts it, a SOL rail, and no agent rail', async () => {
    const create = (body: object) =>
      w.call('POST', '/v1/products', { key: merchant.key, body: { name: 'x', price: { asset: 'USDC', amount: '1' }, ...body } });
    expect((await create({ accepted_assets: ['SOL'] })).body.detail[0].loc).toEqual(['body', 'accepted_assets']);
    expect((await create({ allowed_rails: ['solana_sol'] })).body.detail[0].loc).toEqual(['body', 'allowed_rails']);
    const x402 = { price: { asset: 'SOL', amount: '1' }, allowed_rails: ['x402_solana_usdc'] };
    expect((await create(x402)).body.detail[0].loc).toEqual(['body', 'allowed_rails']);
    const both = await create({ accepted_assets: ['SOL', 'USDC'] });
    expect(both.body).toMatchObject({
      accepted_assets: ['USDC', 'SOL'],
      allowed_rails: ['solana_usdc', 'solana_sol', 'x402_solana_usdc'],
      default_rail: 'solana_usdc',
    });
    const onlySol = { price: { asset: 'SOL', amount: '1' } };
    const path = `/v1/products/${both.body.product_id}`;
    const changed = await w.call('PATCH', path, { key: merchant.key, body: onlySol });
    expect(changed.body).toMatchObject({ accepted_assets: ['SOL', 'USDC'], default_rail: 'solana_sol' });
    const usdcOnly = await w.product(merchant, { accepted_assets: ['USDC', 'SOL'], allowed_rails: ['solana_usdc'] });
    expect((await w.call('GET', `/v1/products/p/${usdcOnly.slug}`)).body.accepted_assets).toEqual(['USDC']);
    const refused = await connect({ asset: 'SOL' }, usdcOnly.slug);
    expect([refused.status, refused.body.code, refused.body.meta.reason]).toEqual([409, 'setup_not_ready', 'rail_enabled']);
  });

  it('each asset is paid to the wallet of its own rail setting', async () => {
    const seller = await w.merchant();
    const [vault, cash] = [(await w.chain.wallet(0n)).address, (await w.chain.wallet(0n)).address];
    for (const [rail, wallet] of [
      ['solana_sol', vault],
      ['solana_usdc', cash],
    ]) {
      const headers = { 'Idempotency-Key': crypto.randomUUID() };
      await w.call('PUT', `/v1/access/rail-settings/${rail}`, { key: seller.token, headers, body: { payout_wallet: wallet } });
    }
    const sold = await w.product(seller, { accepted_assets: ['USDC', 'SOL'], payout_wallet: undefined });
    expect((await connect({ asset: 'SOL' }, sold.slug)).body.recipient).toBe(vault);
    expect((await connect({}, sold.slug)).body.recipient).toBe(cash);
    const onlySol = await w.product(seller, { price: { asset: 'SOL', amount: '1' }, payout_wallet: undefined });
    for (const { product_id } of [sold, onlySol]) {
      const body = { payout_wallet: (await w.chain.wallet(0n)).address };
      const { status, body: said } = await w.call('PATCH', `/v1/products/${product_id}`, { key: seller.key, body });
      expect([status, said.meta.reason]).toEqual([403, 'sign_in_required']);
    }
  });
});
