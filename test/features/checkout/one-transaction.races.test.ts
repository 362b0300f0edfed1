import { getBase64Encoder, getSignatureFromTransaction, getTransactionDecoder } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { USDC } from '../../support/chain/chain.ts';
import { openSession } from '../../support/people/sale.ts';
import { type Merchant, World } from '../../support/world.ts';

const signatureOf = (wire: string) => getSignatureFromTransaction(getTransactionDecoder().decode(getBase64Encoder().encode(wire)));

describe('one payment, two wallets', () => {
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
  /** A payment with a transaction of each of so many buyers, signed and not yet sent. */
  async function signedByAll(count: number) {
    const { payment_id: paymentId } = await w.connect(product);
    const signed: string[] = [];
    for (let i = 0; i < count; i++) {
      const buyer = await w.chain.wallet();
      signed.push(await w.chain.sign(buyer, (await prepare(paymentId, buyer.address)).body.transaction));
    }
    return { paymentId, signed };
  }
  /** As if the blockhash of what was sent had run out. */
  const lapse = (paymentId: string) =>
    w.env.DB.prepare('UPDATE payment_candidates SET sent_at = sent_at - 120000 WHERE payment_id = ?').bind(paymentId).run();
  const arrived = async (): Promise<string> => {
    const account = await associatedTokenAccount(merchant.wallet.address, USDC);
    return (await w.chain.call<{ value: { amount: string } }>('getTokenAccountBalance', account)).value.amount;
  };

  it('that sign at once are charged once: what we sent first is on its way, the others are told to wait', async () => {
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

  it('is not put before the second wallet while the first is on its way, and is again once that one can no longer land', async () => {
    const { paymentId, signed } = await signedByAll(2);
    await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 1 });
    expect((await send(paymentId, signed[0]!)).status).toBe(200);
    // The same bytes again are the same payment.
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

  it('is not put before the buyer of a payment session a second time either, while what was sent may land', async () => {
    const { body: session } = await openSession(w, merchant, { product_id: product.product_id });
    const buyer = await w.chain.wallet();
    const input = { payment_session_id: session.payment_session_id, wallet_address: buyer.address };
    const { payment_id: paymentId, transaction } = await w.connect(product, input);
    // The request that sent it died before it wrote down more than the signature.
    await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 1 });
    expect((await send(paymentId, await w.chain.sign(buyer, transaction))).status).toBe(200);
    await w.env.DB.prepare("UPDATE payments SET status = 'PENDING_SIGNATURE' WHERE id = ?").bind(paymentId).run();
    const again = await w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: input });
    expect([again.status, again.body.meta?.reason]).toEqual([409, 'in_flight']);
    await lapse(paymentId);
    expect((await w.connect(product, input)).transaction).toBeDefined();
  });

  it('that is over says so, whatever is sent for it', async () => {
    const { paymentId, signed } = await signedByAll(1);
    const other = (await signedByAll(1)).signed[0]!;
    await w.env.DB.prepare("UPDATE payments SET status = 'FAILED', failure_code = 'session_expired' WHERE id = ?").bind(paymentId).run();
    const answers = [await send(paymentId, signed[0]!), await send(paymentId, other)];
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual(Array(2).fill([410, 'session_expired']));
  });

  it('is none the more for having been named before it was sent', async () => {
    const { paymentId, signed } = await signedByAll(2);
    await w.confirm(paymentId, signatureOf(signed[0]!));
    await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 1 });
    expect((await send(paymentId, signed[0]!)).status).toBe(200);
    const refused = await send(paymentId, signed[1]!);
    expect([refused.status, refused.body.meta?.reason]).toEqual([409, 'in_flight']);
  });

  it('is not held up by somebody else’s transaction, seen or not, that was named for it', async () => {
    const { payment_id: paymentId } = await w.connect(product);
    const stranger = await w.purchase(await w.product(merchant), await w.chain.wallet());
    await w.chain.fault({ kind: 'null_first', method: 'getTransaction', times: 1 });
    await w.confirm(paymentId, stranger.signature);
    expect((await prepare(paymentId, (await w.chain.wallet()).address)).status).toBe(200);
  });

  it('may be tried again as often as the time allows, one after the other', async () => {
    const { paymentId, signed } = await signedByAll(7);
    for (const transaction of signed) {
      await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 1 });
      expect((await send(paymentId, transaction)).status).toBe(200);
      expect((await prepare(paymentId, (await w.chain.wallet()).address)).status).toBe(409);
      await lapse(paymentId);
    }
  });
});
