import { describe, expect, it } from 'vitest';
import { openTill } from '../../support/clients/facilitator-shop.ts';
import { letTimePass, sweepUntilBelieved } from '../../support/faults/finality.ts';
import { mayServe, newKey, openShop, payAs, sweepAll } from '../../support/people/agent.ts';
import { REPEATED, testEnv } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

const IDENTIFIER = 'order_of_the_same_buyer';

describe('payment dropped by the cluster before its success was answered', REPEATED, () => {
  const w = new World();
  /** The node hides the payment during its sale, the sweep sees it later, then the chain drops it. */
  const soldUnseenThenDropped = async (sell: () => Promise<unknown>) => {
    await w.chain.fault({ kind: 'http_503', method: 'getTransaction', times: 0 });
    await w.chain.fault({ kind: 'http_503', method: 'getSignatureStatuses', times: 0 });
    await sell();
    await w.chain.call('local_clearFaults');
    await sweepAll(w);
    const last = await testEnv.DB.prepare(
      "SELECT confirmed_at, tx_signature FROM tx_claims WHERE kind IN ('x402', 'facilitator') ORDER BY subject_id DESC",
    ).first<{ confirmed_at: number | null; tx_signature: string }>();
    expect(last!.confirmed_at).not.toBeNull();
    await w.chain.fault({ kind: 'vanish', signature: last!.tx_signature });
    await sweepUntilBelieved(w);
    await w.deliver();
    return async () => {
      await w.chain.call('local_landAgain', last!.tx_signature);
      await letTimePass(w, 601);
      await w.sweepAlone('finality');
      await w.deliver();
    };
  };

  it('the payment serves no agent request, and exactly one after it lands again', async () => {
    const shop = await openShop(w);
    const [payment, idempotencyKey] = [await shop.pay(), newKey()];
    const comeBack = await soldUnseenThenDropped(async () => {
      expect((await shop.settle(payment, {}, { idempotencyKey })).status).toBe(202);
    });
    for (const key of [idempotencyKey, newKey()]) {
      const refused = await shop.settle(payment, {}, { idempotencyKey: key });
      expect([refused.status, refused.body.code, mayServe(refused)]).toEqual([422, 'payment_mismatch', false]);
    }
    expect((await shop.entitlement()).used_units).toBe(0);
    await comeBack();
    const settled = await shop.settle(payment, {}, { idempotencyKey });
    expect([mayServe(settled), settled.body.consumed_units]).toEqual([true, 1]);
    expect(mayServe(await shop.settle(payment))).toBe(false);
  });

  it('the identifier of the payment is free for the next one, which has it even if the first lands again', async () => {
    const shop = await openShop(w);
    const payment = await payAs(shop.agent, await shop.challenge(), IDENTIFIER);
    const comeBack = await soldUnseenThenDropped(async () => {
      expect((await shop.settle(payment)).status).toBe(202);
    });
    const [second, third] = [await shop.challenge(), await shop.challenge()];
    expect(mayServe(await shop.settle(await payAs(shop.agent, second, IDENTIFIER)))).toBe(true);
    await comeBack();
    expect((await shop.settle(await payAs(shop.agent, third, IDENTIFIER))).body).toMatchObject({ code: 'idempotency_conflict' });
    expect(await shop.entitlement()).toMatchObject({ granted_units: 2, used_units: 1 });
  });

  it('the identifier of the payment is its own again once it lands again', async () => {
    const shop = await openShop(w);
    const comeBack = await soldUnseenThenDropped(async () => {
      expect((await shop.settle(await payAs(shop.agent, await shop.challenge(), IDENTIFIER))).status).toBe(202);
    });
    const next = await payAs(shop.agent, await shop.challenge(), IDENTIFIER);
    await comeBack();
    expect((await shop.settle(next)).body).toMatchObject({ code: 'idempotency_conflict', meta: { reason: 'payment_identifier' } });
  });

  it('the facilitator neither verifies nor settles the payment, and settles it once after it lands again', async () => {
    const till = await openTill(w);
    const body = await till.bodyFor();
    const comeBack = await soldUnseenThenDropped(async () => {
      expect((await till.ask('settle', body)).body.success).toBe(false);
    });
    expect((await till.ask('verify', body)).body).toMatchObject({ isValid: false });
    expect((await till.ask('settle', body)).body).toMatchObject({ success: false, errorReason: 'invalid_exact_svm_transaction_failed' });
    await comeBack();
    expect((await till.ask('verify', body)).body).toMatchObject({ isValid: true });
    const answers = await Promise.all([till.ask('settle', body), till.ask('settle', body)]);
    expect(answers.filter((answer) => answer.body.success)).toHaveLength(1);
  });
});
