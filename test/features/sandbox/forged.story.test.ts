import { beforeAll, describe, expect, it } from 'vitest';
import { forgeTransfer } from '../../support/chain/forged.ts';
import { callTesting } from '../../support/clients/sandbox.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

const TABLES = ['payments', 'refunds', 'memberships', 'tx_claims', 'payment_candidates', 'events'];

describe('POST /v1/testing/pay with a transaction that carries the memo of a live refund', () => {
  const w = new World();
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });
  const liveRows = () =>
    Promise.all(TABLES.map(async (table) => (await testEnv.DB.prepare(`SELECT * FROM ${table} WHERE livemode = 1`).all()).results));

  /** Prepares a live payment to a wallet with its refund, and a sandbox transaction with the memo of that refund. */
  async function forgedRefund(payoutWallet: string) {
    const product = await w.product(ada, { access_period_days: 30, payout_wallet: payoutWallet });
    const buyer = await w.chain.wallet();
    const { payment } = await w.purchase(product, buyer);
    const path = `/v1/payments/${payment.payment_id}/refund-transaction`;
    await w.call('POST', path, { key: ada.key, body: { revoke_access: true } });
    const nonce = await testEnv.DB.prepare('SELECT nonce FROM refunds WHERE payment_id = ?')
      .bind(payment.payment_id)
      .first<string>('nonce');
    const bill = { mint: payment.mint, from: payoutWallet, to: buyer.address };
    const forged = await forgeTransfer(w, ada, { ...bill, memo: `svc-refund:${nonce}`, units: 5_000_000n });
    while (w.queue.sent.length > 0) await w.deliver();
    return forged;
  }
  const land = (transaction: string) => callTesting(w, ada, 'POST', 'pay', { transaction, wallet: 'thief' });

  it('the transaction does not land without the signature of its paying wallet', async () => {
    const forged = await forgedRefund((await w.chain.wallet()).address);
    const { status, body } = await land(forged.transaction);
    expect([status, body.tx_signature]).toEqual([200, undefined]);
  });

  it('no live row changes if a test wallet was the payee of the live payment', async () => {
    const declined = await callTesting(w, ada, 'POST', 'pay', { payment_id: await sandboxPayment(), wallet: 'thief', outcome: 'declined' });
    const { paymentId, transaction, txSignature } = await forgedRefund(declined.body.payer_wallet);
    const before = await liveRows();
    const confirm = () =>
      w.call('POST', `/v1/payments/${paymentId}/refund-confirm`, { key: ada.sandboxKey, body: { tx_signature: txSignature } });
    expect((await confirm()).status).toBe(200);
    expect((await land(transaction)).body.tx_signature).toBeDefined();
    expect((await confirm()).body).toMatchObject({ code: 'payment_mismatch', meta: { reason: 'memo_mismatch' } });
    for (let i = 0; i < 4; i++) await w.deliver();
    await w.deliver([{ kind: 'sweepSandbox', merchantId: ada.userId }]);
    expect(await liveRows()).toEqual(before);
  });

  async function sandboxPayment(): Promise<string> {
    const product = await w.product({ ...ada, key: ada.sandboxKey }, { price: { asset: 'USDC', amount: '0.5' } });
    return (await w.connect(product)).payment_id;
  }
});
