import { getBase64Encoder, getSignatureFromTransaction, getTransactionDecoder } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { USDC } from '../../support/chain/chain.ts';
import { openSession } from '../../support/people/sale.ts';
import { type Merchant, World } from '../../support/world.ts';

const signatureOf = (wire: string) => getSignatureFromTransaction(getTransactionDecoder().decode(getBase64Encoder().encode(wire)));

describe('one payment with several signed transactions', () => {
  const w = new World();
  let merchant: Merchant;
  let product: { slug: string; product_id: string };
  beforeAll(async () => {
    merchant = await w.merchant();
    product = await w.product(merchant);
  });
  const prepare = (paymentId: string, account: string) => w.call('POST', `/v1/pay/${paymentId}/solana-pay`, { body: { account } });
  const send = (paymentId: string, transaction: string) =>
    w.call('POST', `/v1/payments/${paymentId}/transaction`, { body: { transaction } });
  async function signedByAll(count: number) {
    const { payment_id: paymentId } = await w.connect(product);
    const signed: string[] = [];
    for (let i = 0; i < count; i++) {
      const buyer = await w.chain.wallet();
      signed.push(await w.chain.sign(buyer, (await prepare(paymentId, buyer.address)).body.transaction));
    }
    return { paymentId, signed };
  }
  /** Simulates that the blockhash of the sent transaction has expired. */
  const lapse = (paymentId: string) =>
    w.env.DB.prepare('UPDATE payment_candidates SET sent_at = sent_at - 120000 WHERE payment_id = ?').bind(paymentId).run();
  const arrived = async (): Promise<string> => {
    const account = await associatedTokenAccount(merchant.wallet.address, USDC);
    return (await w.chain.call<{ value: { amount: string } }>('getTokenAccountBalance', account)).value.amount;
  };

  it('concurrent transactions of several wallets: one is sent, the others get 409 in_flight', async () => {
    for (let round = 0; round < 5; round++) {
      const { paymentId, signed } = await signedByAll(3);
      const answers = await Promise.all(signed.map((transaction) => send(paymentId, transaction)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
      for (const { status, body, headers } of answers.filter((answer) => answer.status !== 200)) {
        expect([status, body.code, body.meta.reason, body.retryable]).toEqual([409, 'state_conflict', 'in_flight', true]);
        expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0);
      }
      await w.deliver();
      const { body } = await w.call('GET', `/v1/payments/${paymentId}`, { key: merchant.key });
      expect([body.status, body.unmatched]).toEqual(['CONFIRMED', undefined]);
    }
    expect(await arrived()).toBe('25000000');
  });

  it('no second transaction is prepared while the first can still land, and one is prepared afterwards', async () => {
    const { paymentId, signed } = await signedByAll(2);
    await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 1 });
    expect((await send(paymentId, signed[0]!)).status).toBe(200);
    await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 1 });
    expect((await send(paymentId, signed[0]!)).status).toBe(200);
    const account = (await w.chain.wallet()).address;
    expect((await prepare(paymentId, account)).body).toMatchObject({
      code: 'state_conflict',
      retryable: true,
      meta: { reason: 'in_flight' },
    });
    await lapse(paymentId);
    expect((await prepare(paymentId, account)).status).toBe(200);
    const sent = await send(paymentId, signed[1]!);
    expect(sent.status).toBe(200);
    expect((await w.confirm(paymentId, sent.body.tx_signature)).body.payment.status).toBe('CONFIRMED');
  });

  it('a payment session prepares no second transaction while the first can still land', async () => {
    const { body: session } = await openSession(w, merchant, { product_id: product.product_id });
    const buyer = await w.chain.wallet();
    const input = { payment_session_id: session.payment_session_id, wallet_address: buyer.address };
    const { payment_id: paymentId, transaction } = await w.connect(product, input);
    // The request that sent the transaction crashed after it stored the signature.
    await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 1 });
    expect((await send(paymentId, await w.chain.sign(buyer, transaction))).status).toBe(200);
    await w.env.DB.prepare("UPDATE payments SET status = 'PENDING_SIGNATURE' WHERE id = ?").bind(paymentId).run();
    const again = await w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: input });
    expect([again.status, again.body.meta?.reason]).toEqual([409, 'in_flight']);
    await lapse(paymentId);
    expect((await w.connect(product, input)).transaction).toBeDefined();
  });

  it('an ended payment answers 410 session_expired to every transaction', async () => {
    const { paymentId, signed } = await signedByAll(1);
    const other = (await signedByAll(1)).signed[0]!;
    await w.env.DB.prepare("UPDATE payments SET status = 'FAILED', failure_code = 'session_expired' WHERE id = ?").bind(paymentId).run();
    const answers = [await send(paymentId, signed[0]!), await send(paymentId, other)];
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual(Array(2).fill([410, 'session_expired']));
  });

  it('a signature named before it was sent still blocks other transactions once it is sent', async () => {
    const { paymentId, signed } = await signedByAll(2);
    await w.confirm(paymentId, signatureOf(signed[0]!));
    await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 1 });
    expect((await send(paymentId, signed[0]!)).status).toBe(200);
    const refused = await send(paymentId, signed[1]!);
    expect([refused.status, refused.body.meta?.reason]).toEqual([409, 'in_flight']);
  });

  it('a foreign transaction named for the payment does not block it', async () => {
    const { payment_id: paymentId } = await w.connect(product);
    const stranger = await w.purchase(await w.product(merchant), await w.chain.wallet());
    await w.chain.fault({ kind: 'null_first', method: 'getTransaction', times: 1 });
    await w.confirm(paymentId, stranger.signature);
    expect((await prepare(paymentId, (await w.chain.wallet()).address)).status).toBe(200);
  });

  it('a transaction that never lands can be followed by the next, any number of times', async () => {
    const { paymentId, signed } = await signedByAll(7);
    for (const transaction of signed) {
      await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 1 });
      expect((await send(paymentId, transaction)).status).toBe(200);
      expect((await prepare(paymentId, (await w.chain.wallet()).address)).status).toBe(409);
      await lapse(paymentId);
    }
  });
});
