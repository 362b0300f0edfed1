import { generateKeyPairSigner, type KeyPairSigner } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { memoInstruction, type PayOptions, USDC } from '../../support/chain/chain.ts';
import { type Merchant, World } from '../../support/world.ts';

describe('a transaction that does not pay this session', () => {
  const w = new World();
  let merchant: Merchant;
  let product: { slug: string };
  let buyer: KeyPairSigner;
  beforeAll(async () => {
    merchant = await w.merchant();
    product = await w.product(merchant);
    buyer = await w.chain.wallet(100_000_000n);
  });

  /** Pays wrongly, confirms, and proves that nothing at all happened to the session. */
  async function refused(options: PayOptions, payer = buyer) {
    const payment = await w.connect(product);
    const signature = await w.chain.pay(payer, payment, options);
    const answer = await w.confirm(payment.payment_id, signature);
    expect((await w.call('GET', `/v1/payments/${payment.payment_id}`)).body).toMatchObject({ status: 'PENDING_SIGNATURE', version: 1 });
    // Money that came in short is recorded beside the session, which stays as it was.
    const recorded = answer.body.meta?.reason === 'underpaid' ? ['payment.unmatched'] : [];
    expect(await w.eventTypes(payment.payment_id)).toEqual(['payment.created', ...recorded]);
    expect(await w.count('tx_claims', payment.payment_id)).toBe(0);
    // The session is still good for an honest payment.
    const honest = await w.confirm(payment.payment_id, await w.chain.pay(buyer, payment));
    expect(honest.body.payment.status).toBe('CONFIRMED');
    return { status: answer.status, code: answer.body.code, reason: answer.body.meta?.reason };
  }
  const mismatch = (reason: string) => ({ status: 422, code: 'payment_mismatch', reason });

  it('is refused without a memo', async () => expect(await refused({ memos: [] })).toEqual(mismatch('memo_missing')));
  it('is refused with another memo', async () => expect(await refused({ memos: ['svc:somebodyelse'] })).toEqual(mismatch('memo_mismatch')));
  it('is refused when it pays less by one unit', async () => expect(await refused({ units: 4_999_999n })).toEqual(mismatch('underpaid')));
  it('is refused as dust', async () => expect(await refused({ units: 1n })).toEqual(mismatch('underpaid')));

  it('is refused when the money went to somebody else', async () => {
    expect(await refused({ recipient: (await generateKeyPairSigner()).address })).toEqual(mismatch('recipient_mismatch'));
  });

  it('is refused when it pays in a token that only calls itself money', async () => {
    const fake = (await generateKeyPairSigner()).address;
    await w.chain.call('local_fundToken', fake, buyer.address, '100000000', 6);
    expect(await refused({ mint: fake })).toEqual(mismatch('mint_mismatch'));
  });

  it('is refused when it failed on chain, and a stranger’s failure cannot fail the payment', async () => {
    const poor = await w.chain.wallet(1n);
    expect(await refused({ skipPreflight: true }, poor)).toEqual(mismatch('transaction_failed'));
  });

  it('is refused when only its memo is right: a tip with a spoofed memo pays nothing', async () => {
    const payment = await w.connect(product);
    const signature = await w.chain.tip(buyer, payment.recipient, payment.memo);
    expect(await w.confirm(payment.payment_id, signature)).toMatchObject({ status: 422, body: { meta: { reason: 'recipient_mismatch' } } });
  });

  it('is refused when it names two sessions, for either of them', async () => {
    const [a, b] = [await w.connect(product), await w.connect(product)];
    const signature = await w.chain.pay(buyer, a, { extra: [memoInstruction(b.memo)], units: 10_000_000n });
    for (const payment of [a, b]) {
      expect(await w.confirm(payment.payment_id, signature)).toMatchObject({ status: 422, body: { meta: { reason: 'memo_ambiguous' } } });
    }
  });

  it('is refused for every other session once it paid one, also across products and merchants', async () => {
    const other = await w.merchant();
    const elsewhere = await w.connect(await w.product(other, { payout_wallet: merchant.wallet.address }));
    const sibling = await w.connect(product);
    const { signature } = await w.purchase(product, buyer);
    for (const payment of [elsewhere, sibling]) {
      expect(await w.confirm(payment.payment_id, signature)).toMatchObject({ status: 422, body: { meta: { reason: 'memo_mismatch' } } });
    }
  });

  it('conflicts with 409 only when another transaction was verified before', async () => {
    const { payment } = await w.purchase(product, buyer);
    const second = await w.chain.pay(buyer, payment, { units: 5_000_001n });
    expect(await w.confirm(payment.payment_id, second)).toMatchObject({ status: 409, body: { code: 'payment_transaction_conflict' } });
  });

  it('is refused when it is older than the session', async () => {
    const payment = await w.connect(product);
    const signature = await w.chain.pay(buyer, payment);
    // As if the same memo had been paid long before: the session is moved ten minutes past its transaction.
    await w.env.DB.prepare('UPDATE payments SET created_at = created_at + 600000, expires_at = expires_at + 600000 WHERE id = ?')
      .bind(payment.payment_id)
      .run();
    expect(await w.confirm(payment.payment_id, signature)).toMatchObject({ status: 422, body: { meta: { reason: 'too_early' } } });
  });

  it('answers 410 when it came after the session and its grace, judged by the time of its block', async () => {
    const payment = await w.connect(product);
    await w.chain.call('local_warp', 900 + 120 + 5);
    const signature = await w.chain.pay(buyer, payment);
    expect(await w.confirm(payment.payment_id, signature)).toMatchObject({ status: 410, body: { code: 'session_expired' } });
  });

  it('still counts when it was on time by its block, however late we look', async () => {
    const late = new World();
    const seller = await late.merchant();
    const payment = await late.connect(await late.product(seller));
    const signature = await late.chain.pay(await late.chain.wallet(), payment);
    await late.env.DB.prepare('UPDATE payments SET created_at = created_at - 950000, expires_at = expires_at - 950000 WHERE id = ?')
      .bind(payment.payment_id)
      .run();
    expect((await late.confirm(payment.payment_id, signature)).body.payment.status).toBe('CONFIRMED');
  });

  it('fails the payment for good when it is the buyer’s own and failed on chain', async () => {
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

describe('a transaction that pays in an unusual way', () => {
  const w = new World();
  it('counts when it overpays, and the surplus is told', async () => {
    const payment = await w.connect(await w.product(await w.merchant()));
    const signature = await w.chain.pay(await w.chain.wallet(), payment, { units: 5_250_000n });
    expect((await w.confirm(payment.payment_id, signature)).body.payment).toMatchObject({
      status: 'CONFIRMED',
      overpaid: { amount: '0.25' },
    });
  });

  it('counts when its accounts come from a lookup table', async () => {
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
