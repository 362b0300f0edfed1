import { generateKeyPairSigner, type KeyPairSigner } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { memoInstruction, type PayOptions, USDC } from '../../support/chain/chain.ts';
import { type Merchant, World } from '../../support/world.ts';

describe('confirm with a transaction that does not pay the session', () => {
  const w = new World();
  let merchant: Merchant;
  let product: { slug: string };
  let buyer: KeyPairSigner;
  beforeAll(async () => {
    merchant = await w.merchant();
    product = await w.product(merchant);
    buyer = await w.chain.wallet(100_000_000n);
  });

  /** Pays wrongly, confirms, and asserts that the session did not change. */
  async function refused(options: PayOptions, payer = buyer) {
    const payment = await w.connect(product);
    const signature = await w.chain.pay(payer, payment, options);
    const answer = await w.confirm(payment.payment_id, signature);
    expect((await w.call('GET', `/v1/payments/${payment.payment_id}`)).body).toMatchObject({ status: 'PENDING_SIGNATURE', version: 1 });
    // An underpayment is recorded as unmatched money.
    const recorded = answer.body.meta?.reason === 'underpaid' ? ['payment.unmatched'] : [];
    expect(await w.eventTypes(payment.payment_id)).toEqual(['payment.created', ...recorded]);
    expect(await w.count('tx_claims', payment.payment_id)).toBe(0);
    const honest = await w.confirm(payment.payment_id, await w.chain.pay(buyer, payment));
    expect(honest.body.payment.status).toBe('CONFIRMED');
    return { status: answer.status, code: answer.body.code, reason: answer.body.meta?.reason };
  }
  const mismatch = (reason: string) => ({ status: 422, code: 'payment_mismatch', reason });

  it('a transaction without a memo is refused with memo_missing', async () =>
    expect(await refused({ memos: [] })).toEqual(mismatch('memo_missing')));
  it('a transaction with another memo is refused with memo_mismatch', async () =>
    expect(await refused({ memos: ['svc:somebodyelse'] })).toEqual(mismatch('memo_mismatch')));
  it('a transaction one unit below the price is refused with underpaid', async () =>
    expect(await refused({ units: 4_999_999n })).toEqual(mismatch('underpaid')));
  it('a transaction of dust is refused with underpaid', async () => expect(await refused({ units: 1n })).toEqual(mismatch('underpaid')));

  it('a transaction to another recipient is refused with recipient_mismatch', async () => {
    expect(await refused({ recipient: (await generateKeyPairSigner()).address })).toEqual(mismatch('recipient_mismatch'));
  });

  it('a transaction in another token is refused with mint_mismatch', async () => {
    const fake = (await generateKeyPairSigner()).address;
    await w.chain.call('local_fundToken', fake, buyer.address, '100000000', 6);
    expect(await refused({ mint: fake })).toEqual(mismatch('mint_mismatch'));
  });

  it('a stranger’s failed transaction is refused with transaction_failed and does not fail the payment', async () => {
    const poor = await w.chain.wallet(1n);
    expect(await refused({ skipPreflight: true }, poor)).toEqual(mismatch('transaction_failed'));
  });

  it('a tip that carries the session’s memo is refused with recipient_mismatch', async () => {
    const payment = await w.connect(product);
    const signature = await w.chain.tip(buyer, payment.recipient, payment.memo);
    expect(await w.confirm(payment.payment_id, signature)).toMatchObject({ status: 422, body: { meta: { reason: 'recipient_mismatch' } } });
  });

  it('a transaction that names two sessions is refused with memo_ambiguous for both', async () => {
    const [a, b] = [await w.connect(product), await w.connect(product)];
    const signature = await w.chain.pay(buyer, a, { extra: [memoInstruction(b.memo)], units: 10_000_000n });
    for (const payment of [a, b]) {
      expect(await w.confirm(payment.payment_id, signature)).toMatchObject({ status: 422, body: { meta: { reason: 'memo_ambiguous' } } });
    }
  });

  it('a transaction that paid one session is refused for every other, across products and merchants', async () => {
    const other = await w.merchant();
    const elsewhere = await w.connect(await w.product(other, { payout_wallet: merchant.wallet.address }));
    const sibling = await w.connect(product);
    const { signature } = await w.purchase(product, buyer);
    for (const payment of [elsewhere, sibling]) {
      expect(await w.confirm(payment.payment_id, signature)).toMatchObject({ status: 422, body: { meta: { reason: 'memo_mismatch' } } });
    }
  });

  it('a second transaction for a confirmed payment is 409 payment_transaction_conflict', async () => {
    const { payment } = await w.purchase(product, buyer);
    const second = await w.chain.pay(buyer, payment, { units: 5_000_001n });
    expect(await w.confirm(payment.payment_id, second)).toMatchObject({ status: 409, body: { code: 'payment_transaction_conflict' } });
  });

  it('a transaction older than the session is refused with too_early', async () => {
    const payment = await w.connect(product);
    const signature = await w.chain.pay(buyer, payment);
    // Moves the session ten minutes past its transaction, as if the memo had been paid long before.
    await w.env.DB.prepare('UPDATE payments SET created_at = created_at + 600000, expires_at = expires_at + 600000 WHERE id = ?')
      .bind(payment.payment_id)
      .run();
    expect(await w.confirm(payment.payment_id, signature)).toMatchObject({ status: 422, body: { meta: { reason: 'too_early' } } });
  });

  it('a transaction with a block time past the grace is 410 session_expired', async () => {
    const payment = await w.connect(product);
    await w.chain.call('local_warp', 900 + 120 + 5);
    const signature = await w.chain.pay(buyer, payment);
    expect(await w.confirm(payment.payment_id, signature)).toMatchObject({ status: 410, body: { code: 'session_expired' } });
  });

  it('a transaction on time by its block confirms after the session has ended', async () => {
    const late = new World();
    const seller = await late.merchant();
    const payment = await late.connect(await late.product(seller));
    const signature = await late.chain.pay(await late.chain.wallet(), payment);
    await late.env.DB.prepare('UPDATE payments SET created_at = created_at - 950000, expires_at = expires_at - 950000 WHERE id = ?')
      .bind(payment.payment_id)
      .run();
    expect((await late.confirm(payment.payment_id, signature)).body.payment.status).toBe('CONFIRMED');
  });

  it('the buyer’s own failed transaction fails the payment for good', async () => {
    const poor = await w.chain.wallet(1n);
    const payment = await w.connect(product, { wallet_address: poor.address });
    const signature = await w.chain.pay(poor, payment, { skipPreflight: true });
    expect((await w.confirm(payment.payment_id, signature)).body.payment).toMatchObject({
      status: 'FAILED',
      failure_code: 'transaction_failed',
      poll_after_ms: null,
    });
    expect(await w.confirm(payment.payment_id, signature)).toMatchObject({ status: 409, body: { code: 'payment_failed' } });
    expect(await w.eventTypes(payment.payment_id)).toEqual(['payment.created', 'payment.failed']);
  });
});

describe('confirm with an unusual transaction', () => {
  const w = new World();
  it('an overpayment confirms and the surplus is shown', async () => {
    const payment = await w.connect(await w.product(await w.merchant()));
    const signature = await w.chain.pay(await w.chain.wallet(), payment, { units: 5_250_000n });
    expect((await w.confirm(payment.payment_id, signature)).body.payment).toMatchObject({
      status: 'CONFIRMED',
      overpaid: { amount: '0.25' },
    });
  });

  it('a transaction that uses a lookup table confirms', async () => {
    const payment = await w.connect(await w.product(await w.merchant()));
    const buyer = await w.chain.wallet();
    const table = [await associatedTokenAccount(payment.recipient, USDC), USDC, ...payment.references];
    const signature = await w.chain.pay(buyer, payment, { lookupTable: table });
    expect((await w.confirm(payment.payment_id, signature)).body.payment).toMatchObject({
      status: 'CONFIRMED',
      payer_wallet: buyer.address,
    });
  });
});
