import { describe, expect, it } from 'vitest';
import { base58 } from '#core/encoding.ts';
import { newId, type PaymentId } from '#core/ids.ts';
import { chargeCall, currentBudget, withBudget } from '#core/isolate/budget.ts';
import { sweepSettlements } from '#features/settlements/sweep.ts';
import { newCtx } from '#platform/context.ts';
import { settlements } from '#platform/db/tables/settlements.ts';
import { ONE, openShop, restateSettlement, sweepAll } from '../../support/people/agent.ts';
import { SOAK } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

describe('settlement sweep', () => {
  it(
    'one run credits 300 unseen landed payments with one status call per page, twenty transactions at a time',
    async () => {
      const w = new World();
      const shop = await openShop(w);
      const COUNT = 300;
      const settled = await shop.settle(await shop.pay(), { consume_units: 0 });
      const known = await restateSettlement(w, settled.body.payment_id);
      const copies = [];
      for (let i = 0; i < COUNT; i++) {
        const nonce = `copy-${i}`;
        const bill = { recipient: known.recipientWallet, memo: `svc:${nonce}`, price: { base_units: '10000' }, references: [] };
        const txSignature = await w.chain.pay(shop.agent.wallet, bill, { skipPreflight: true });
        const paymentId = newId<PaymentId>(Date.now(), known.merchantId);
        copies.push({ ...known, paymentId, nonce, txSignature, status: 'pending' as const, nextCheckAt: 0 });
      }
      for (const copy of copies) await w.db.insert(settlements).values(copy);
      await w.chain.call('local_resetCalls');
      await w.sweepAlone('settlements');
      const left = () => w.env.DB.prepare("SELECT count(*) AS n FROM settlements WHERE status = 'pending'").first<number>('n');
      expect(await left()).toBe(0);
      expect(await shop.entitlement({ wallet_address: known.payerWallet })).toMatchObject({ granted_units: COUNT + 1 });
      const calls = await w.chain.call<Record<string, number>>('local_calls');
      expect(calls.getTransaction).toBe(COUNT);
      expect(calls.sendTransaction ?? 0).toBe(0);
      // Two pages and up to sixteen groups, plus a few calls of finality and references.
      expect(calls.getEpochInfo).toBeLessThanOrEqual(18);
      expect(calls.getSignatureStatuses).toBeLessThanOrEqual(20);
      expect(settled.status).toBe(200);
    },
    60_000 * SOAK,
  );

  it('the sweep claims only as many settlements as the remaining call budget allows', async () => {
    const w = new World();
    const shop = await openShop(w);
    const settled = await shop.settle(await shop.pay(), { consume_units: 0 });
    const known = { ...(await restateSettlement(w, settled.body.payment_id)), lastValidBlockHeight: 1_000_000 };
    for (let i = 0; i < 20; i++)
      await w.db.insert(settlements).values({
        ...known,
        paymentId: newId<PaymentId>(Date.now(), known.merchantId),
        txSignature: base58.encode(crypto.getRandomValues(new Uint8Array(64))),
        nonce: `left-${i}`,
        status: 'pending',
        nextCheckAt: 1,
      });
    const due = () => w.env.DB.prepare('SELECT count(*) AS n FROM settlements WHERE next_check_at = 1').first<number>('n');
    const sweepWith = (calls: number) =>
      withBudget(() => {
        while (currentBudget().left > calls) chargeCall();
        return sweepSettlements(newCtx(w.env, { requestId: 'req_sweep', defer: () => {} }));
      });
    expect(await sweepWith(0)).toEqual({ taken: 0, end: 'bound' });
    expect(await due()).toBe(20);
    expect(await sweepWith(30)).toEqual({ taken: 4, end: 'bound' });
    expect(await due()).toBe(16);
    await w.env.DB.prepare("DELETE FROM settlements WHERE nonce LIKE 'left-%'").run();
  });

  it('an unknown transaction is resent while its blockhash is valid, and never afterwards', async () => {
    const w = new World();
    const shop = await openShop(w);
    const payment = await shop.pay();
    await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 0 });
    expect((await shop.settle(payment)).status).toBe(202);
    const sends = async () => {
      await w.chain.call('local_resetCalls');
      await sweepAll(w);
      return (await w.chain.call<Record<string, number>>('local_calls')).sendTransaction ?? 0;
    };
    expect(await sends()).toBe(1);
    await w.chain.call('local_warp', 90);
    expect(await sends()).toBe(0);
    expect(await shop.books()).toEqual({ ...ONE, settlements: 1, payments: 0, receipts: 0 });
  });
});
