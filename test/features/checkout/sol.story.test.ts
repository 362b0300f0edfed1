// @module-tag quick
import { generateKeyPairSigner } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import { letTimePass } from '../../support/faults/finality.ts';
import { PAYMENT_SWEEPS } from '../../support/runner/sweeps.ts';
import { type Merchant, World } from '../../support/world.ts';

const SOL = { name: 'Weather API', price: { asset: 'SOL', amount: '0.05' } };

describe('product priced in SOL', () => {
  const w = new World();
  let merchant: Merchant;
  let product: { slug: string; product_id: string };
  beforeAll(async () => {
    await w.prices({ answer: 'down' });
    merchant = await w.merchant();
    product = await w.product(merchant, { ...SOL, access_period_days: 30 });
  });
  const view = async (id: string, key = merchant.key) => (await w.call('GET', `/v1/payments/${id}`, { key })).body;
  const readBalance = async (address: string) => (await w.chain.call<{ value: number }>('getBalance', address)).value;

  it('the product has its own rail and asset and accepts no USDC', async () => {
    const { body } = await w.call('GET', `/v1/products/${product.product_id}`, { key: merchant.key });
    expect(body).toMatchObject({ accepted_assets: ['SOL'], default_rail: 'solana_sol', allowed_rails: ['solana_sol'] });
    const offer = await w.call('GET', `/v1/products/p/${product.slug}`);
    expect(offer.body).toMatchObject({ price: { asset: 'SOL', amount: '0.05', base_units: '50000000' }, accepted_assets: ['SOL'] });
  });

  it('a transfer of lamports creates payment, membership and receipt in SOL', async () => {
    const payment = await w.connect(product);
    expect(payment).toMatchObject({ price: { asset: 'SOL', base_units: '50000000' }, decimals: 9, recipient: merchant.wallet.address });
    expect(['mint', 'price_quote', 'transaction'].filter((field) => field in payment)).toEqual([]);
    expect(Date.parse(payment.expires_at) - Date.now()).toBeGreaterThan(14 * 60_000);
    const url = new URL(payment.solana_pay_url);
    expect(url.pathname).toBe(merchant.wallet.address);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({ amount: '0.05', memo: payment.memo });
    expect(url.searchParams.getAll('reference')).toEqual(payment.references);
    expect(url.searchParams.has('spl-token')).toBe(false);

    const before = await readBalance(merchant.wallet.address);
    const buyer = await w.chain.wallet(0n);
    const signature = await w.chain.paySol(buyer, payment);
    const { body: confirmed } = await w.confirm(payment.payment_id, signature);
    expect(confirmed.payment).toMatchObject({
      status: 'CONFIRMED',
      payer_wallet: buyer.address,
      price: { asset: 'SOL', amount: '0.05' },
      tx_signature: signature,
    });
    expect((await readBalance(merchant.wallet.address)) - before).toBe(50_000_000);
    const receipt = await w.call('GET', `/v1/receipt/${confirmed.receipt_id}`, { key: merchant.key });
    expect(receipt.body.document).toMatchObject({
      amount: { asset: 'SOL', amount: '0.05', base_units: '50000000' },
      payer: buyer.address,
      recipient: merchant.wallet.address,
    });
    expect((await w.call('GET', `/v1/receipt/${confirmed.receipt_id}/verify`)).body.valid).toBe(true);
    const membership = await w.call('GET', `/v1/memberships/lookup?wallet_address=${buyer.address}`, { key: merchant.key });
    expect(membership.body).toMatchObject({ status: 'active', last_payment_id: payment.payment_id });
    expect(await w.eventTypes(payment.payment_id)).toEqual([
      'payment.created',
      'payment.submitted',
      'payment.confirmed',
      'membership.activated',
      'receipt.created',
    ]);
    expect((await w.confirm(payment.payment_id, signature)).body.already_confirmed).toBe(true);
  });

  it('the prepared transaction pays from a wallet that holds only SOL', async () => {
    const buyer = await w.chain.wallet(0n);
    const payment = await w.connect(product, { wallet_address: buyer.address });
    const wire = await w.chain.sign(buyer, payment.transaction);
    const sent = await w.call('POST', `/v1/payments/${payment.payment_id}/transaction`, { body: { transaction: wire } });
    expect([sent.status, sent.body.payment.status]).toEqual([200, 'PENDING_CONFIRMATION']);
    await w.deliver();
    expect(await view(payment.payment_id)).toMatchObject({ status: 'CONFIRMED', payer_wallet: buyer.address, net: { asset: 'SOL' } });
  });

  it('an unreported payment is found by the service reference and becomes final', async () => {
    const payment = await w.connect(product);
    await w.chain.paySol(await w.chain.wallet(0n), payment);
    await w.sweepEach(PAYMENT_SWEEPS);
    await w.env.DB.prepare('UPDATE payment_candidates SET next_check_at = 0 WHERE payment_id = ?').bind(payment.payment_id).run();
    await w.sweepEach(PAYMENT_SWEEPS);
    expect((await view(payment.payment_id)).status).toBe('CONFIRMED');
    await letTimePass(w, 120);
    await w.sweepAlone('finality');
    expect((await view(payment.payment_id)).finalized_at).toBeDefined();
  });

  it('short, second and late transfers are recorded as unmatched in SOL, and an overpayment on the payment', async () => {
    const fresh = new World();
    const seller = await fresh.merchant();
    const sold = await fresh.product(seller, SOL);
    const payment = await fresh.connect(sold);
    const buyer = await fresh.chain.wallet(0n);
    const short = await fresh.chain.paySol(buyer, payment, { units: 49_999_999n });
    expect(await fresh.confirm(payment.payment_id, short)).toMatchObject({ status: 422, body: { meta: { reason: 'underpaid' } } });
    const full = await fresh.chain.paySol(buyer, payment, { units: 50_000_001n });
    expect((await fresh.confirm(payment.payment_id, full)).body.payment.overpaid).toEqual({
      asset: 'SOL',
      amount: '0.000000001',
      base_units: '1',
    });
    const second = await fresh.chain.paySol(buyer, payment);
    expect((await fresh.confirm(payment.payment_id, second)).body.code).toBe('payment_transaction_conflict');
    const other = await fresh.connect(sold);
    await fresh.env.DB.prepare(
      "UPDATE payments SET status = 'FAILED', failure_code = 'session_expired', expires_at = expires_at - 1100000 WHERE id = ?",
    )
      .bind(other.payment_id)
      .run();
    const late = await fresh.chain.paySol(buyer, other);
    expect((await fresh.confirm(other.payment_id, late)).body.code).toBe('session_expired');
    const read = async (id: string) => (await fresh.call('GET', `/v1/payments/${id}`, { key: seller.key })).body;
    expect((await read(payment.payment_id)).unmatched).toMatchObject([
      { reason: 'underpaid', amount: { asset: 'SOL', base_units: '49999999' } },
      { reason: 'second_payment', amount: { asset: 'SOL', base_units: '50000000' } },
    ]);
    const accept = { key: seller.key, body: { tx_signature: late } };
    const accepted = await fresh.call('POST', `/v1/payments/${other.payment_id}/accept-unmatched`, accept);
    expect(accepted.body).toMatchObject({ status: 'CONFIRMED', price: { asset: 'SOL', amount: '0.05' }, payer_wallet: buyer.address });
  });

  it('tokens do not pay a SOL price, neither wrapped SOL nor USDC, and SOL does not pay a USDC price', async () => {
    const buyer = await w.chain.wallet();
    const wrapped = 'So11111111111111111111111111111111111111112';
    await w.chain.call('local_fundToken', wrapped, buyer.address, '1000000000', 9);
    const forSol = await w.connect(product);
    const inUsdc = await w.chain.pay(buyer, forSol, { units: 50_000_000n });
    expect(await w.confirm(forSol.payment_id, inUsdc)).toMatchObject({ status: 422, body: { meta: { reason: 'mint_mismatch' } } });
    const inWrapped = await w.chain.pay(buyer, forSol, { mint: wrapped, decimals: 9 });
    expect(await w.confirm(forSol.payment_id, inWrapped)).toMatchObject({ status: 422, body: { meta: { reason: 'mint_mismatch' } } });
    const forUsdc = await w.connect(await w.product(merchant));
    const inSol = await w.chain.paySol(buyer, forUsdc, { units: 5_000_000n });
    expect(await w.confirm(forUsdc.payment_id, inSol)).toMatchObject({ status: 422, body: { code: 'payment_mismatch' } });
    for (const { payment_id } of [forSol, forUsdc]) expect((await view(payment_id)).status).toBe('PENDING_SIGNATURE');
  });

  it('a transaction that is confirmed twice at once pays once', async () => {
    const payment = await w.connect(product);
    const signature = await w.chain.paySol(await w.chain.wallet(0n), payment);
    const answers = await Promise.all([1, 2].map(() => w.confirm(payment.payment_id, signature)));
    expect(answers.map(({ body }) => body.payment.status)).toEqual(['CONFIRMED', 'CONFIRMED']);
    expect(new Set(answers.map(({ body }) => body.receipt_id)).size).toBe(1);
    expect([await w.count('receipts', payment.payment_id), await w.count('tx_claims', payment.payment_id)]).toEqual([1, 1]);
    expect((await w.eventTypes(payment.payment_id)).filter((type) => type === 'payment.confirmed')).toHaveLength(1);
  });

  it('a transaction pays only its own session, though another session presents it', async () => {
    const [own, other] = [await w.connect(product), await w.connect(product)];
    const signature = await w.chain.paySol(await w.chain.wallet(0n), own);
    const [confirmed, refused] = await Promise.all([own, other].map(({ payment_id }) => w.confirm(payment_id, signature)));
    expect(confirmed!.body.payment.status).toBe('CONFIRMED');
    for (const answer of [refused!, await w.confirm(other.payment_id, signature)])
      expect([answer.status, answer.body.meta.reason]).toEqual([422, 'memo_mismatch']);
    expect([(await view(other.payment_id)).status, await w.count('tx_claims', other.payment_id)]).toEqual(['PENDING_SIGNATURE', 0]);
  });

  it('a price below the rent of an empty payout wallet is refused before anyone signs', async () => {
    const seller = await w.merchant();
    const nobody = (await generateKeyPairSigner()).address;
    const dust = await w.product(seller, { ...SOL, price: { asset: 'SOL', amount: '0.00089' }, payout_wallet: nobody });
    const connect = (slug: string) => w.call('POST', `/v1/products/p/${slug}/connect`, { body: {} });
    const refused = await connect(dust.slug);
    expect([refused.status, refused.body.code, refused.body.meta.reason]).toEqual([409, 'setup_not_ready', 'payout_wallet_empty']);
    expect(refused.body.meta).toMatchObject({
      next: `PATCH /v1/products/${dust.product_id}`,
      readiness: `GET /v1/access/setup/readiness?product_id=${dust.product_id}`,
      fix: { detail: expect.stringContaining('0.00089088 SOL') },
    });
    expect(refused.body.meta.fix.detail).toContain(nobody);
    const enough = await w.product(seller, { ...SOL, price: { asset: 'SOL', amount: '0.00089088' }, payout_wallet: nobody });
    const payment = await w.connect(enough);
    const { body } = await w.confirm(payment.payment_id, await w.chain.paySol(await w.chain.wallet(0n), payment));
    expect(body.payment.status).toBe('CONFIRMED');
    expect((await connect(dust.slug)).status).toBe(200);
  });
});

describe('fee in SOL', () => {
  let w: World;
  let merchant: Merchant;
  let feeWallet: string;
  beforeAll(async () => {
    feeWallet = (await generateKeyPairSigner()).address;
    w = new World({ FEE_BPS: '250', FEE_WALLET: feeWallet });
    merchant = await w.merchant();
  });

  it('the fee is a second transfer in the transaction, and is owed if it is left out', async () => {
    const product = await w.product(merchant, SOL);
    const buyer = await w.chain.wallet(0n);
    const payment = await w.connect(product, { wallet_address: buyer.address });
    expect(payment.fee).toEqual({ recipient: feeWallet, asset: 'SOL', amount: '0.00125', base_units: '1250000' });
    expect(payment.solana_pay_url).toBe(`solana:https://svc.test/v1/pay/${payment.payment_id}/solana-pay`);
    const wire = await w.chain.sign(buyer, payment.transaction);
    await w.call('POST', `/v1/payments/${payment.payment_id}/transaction`, { body: { transaction: wire } });
    await w.deliver();
    const { body } = await w.call('GET', `/v1/payments/${payment.payment_id}`, { key: merchant.key });
    expect(body).toMatchObject({ status: 'CONFIRMED', net: { asset: 'SOL', amount: '0.04875' }, fee: { asset: 'SOL', amount: '0.00125' } });
    expect(body.fee_owed).toBeUndefined();
    const bill = await w.connect(product);
    const full = await w.confirm(bill.payment_id, await w.chain.paySol(buyer, bill));
    expect(full.body.payment).toMatchObject({ status: 'CONFIRMED', fee_owed: { asset: 'SOL', amount: '0.00125' } });
    const third = await w.connect(product);
    const split = await w.confirm(third.payment_id, await w.chain.paySol(buyer, third, { isSplit: true }));
    expect([split.body.payment.status, split.body.payment.fee_owed]).toEqual(['CONFIRMED', undefined]);
  });

  it('the fee of a USDC price is a share of the lamports charged, rounded down', async () => {
    await w.prices({ price: '15142050000', expo: -8 });
    const product = await w.product(merchant, { price: { asset: 'USDC', amount: '8' }, accepted_assets: ['USDC', 'SOL'] });
    const buyer = await w.chain.wallet(0n);
    const readBalance = async (wallet: string) => (await w.chain.call<{ value: number }>('getBalance', wallet)).value;
    const held = async () => [await readBalance(merchant.wallet.address), await readBalance(feeWallet)] as [number, number];
    const before = await held();
    const payment = await w.connect(product, { asset: 'SOL', wallet_address: buyer.address });
    // USD 8 at 151.4205 is 52833004.77 lamports. 2.5 % of the amount charged is 1320825.125.
    expect([payment.price.base_units, payment.fee.base_units]).toEqual(['52833005', '1320825']);
    const wire = await w.chain.sign(buyer, payment.transaction);
    await w.call('POST', `/v1/payments/${payment.payment_id}/transaction`, { body: { transaction: wire } });
    await w.deliver();
    const { body } = await w.call('GET', `/v1/payments/${payment.payment_id}`, { key: merchant.key });
    expect(body).toMatchObject({ status: 'CONFIRMED', net: { asset: 'SOL', base_units: '51512180' }, price_quote: { rate: '151.4205' } });
    expect(body.fee_owed).toBeUndefined();
    const after = await held();
    expect([after[0] - before[0], after[1] - before[1]]).toEqual([51_512_180, 1_320_825]);
  });

  it('a fee below the rent of an empty fee wallet stops checkout with 503 fee_wallet_empty', async () => {
    const poor = new World({ FEE_BPS: '250', FEE_WALLET: (await generateKeyPairSigner()).address });
    const seller = await poor.merchant();
    const product = await poor.product(seller, { ...SOL, price: { asset: 'SOL', amount: '0.01' } });
    const { status, body } = await poor.call('POST', `/v1/products/p/${product.slug}/connect`, { body: {} });
    expect([status, body.code, body.meta.reason]).toEqual([503, 'fee_wallet_missing', 'fee_wallet_empty']);
  });
});
