import { describe, expect, it } from 'vitest';
import { connectBuyer } from '#features/checkout/connect.ts';
import { sendTransaction } from '#features/checkout/send-transaction.ts';
import { confirmPayment } from '#features/payments/confirm/confirm.ts';
import { loadWithProduct } from '#features/payments/payment.ts';
import { newCtx, scopeIn } from '#platform/context.ts';
import { skipStoring } from '#platform/db/once.ts';
import { MemoryChain } from '../../support/chain/memory-chain.ts';
import { World } from '../../support/world.ts';

describe('MemoryChain', () => {
  it('a checkout runs from its transaction to its receipt without a node call', async () => {
    const w = new World();
    const product = await w.product(await w.merchant(), { access_period_days: 30 });
    const buyer = await w.chain.wallet(0n);
    const chain = new MemoryChain();
    const ctx = { ...newCtx(w.env, { requestId: 'req_memory_chain', defer: () => {} }), chain };
    await w.chain.call('local_resetCalls');

    const begun = await connectBuyer(ctx, { slug: product.slug, walletAddress: buyer.address }, skipStoring);
    if ('provider' in begun) throw new Error('this product asks for no identity');
    const { payment, prepared } = begun;
    const wire = await w.chain.sign(buyer, prepared!.transaction);
    const { txSignature } = await sendTransaction(scopeIn(ctx, payment), await loadWithProduct(ctx, payment.id, null), wire);
    const confirmed = await confirmPayment(ctx, { paymentId: payment.id, txSignature, viewer: null });

    expect(confirmed).toMatchObject({ alreadyConfirmed: false, payment: { status: 'CONFIRMED', txSignature, payerWallet: buyer.address } });
    expect(await w.count('receipts', payment.id)).toBe(1);
    expect(chain.transactions.get(txSignature)).toMatchObject({ memos: [`svc:${payment.nonce}`], slot: confirmed.payment.slot });
    expect(await w.chain.call('local_calls')).toEqual({});
  });

  it('a payment that the chain does not show stays PENDING_SIGNATURE', async () => {
    const w = new World();
    const product = await w.product(await w.merchant());
    const ctx = { ...newCtx(w.env, { requestId: 'req_empty_chain', defer: () => {} }), chain: new MemoryChain() };
    const { payment_id: id, ...bill } = await w.connect(product);
    const paidElsewhere = await w.chain.pay(await w.chain.wallet(), bill);
    const { payment } = await confirmPayment(ctx, { paymentId: id, txSignature: paidElsewhere, viewer: null });
    expect(payment.status).toBe('PENDING_SIGNATURE');
  });
});
