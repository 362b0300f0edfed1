import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { USDC } from '../../support/chain/chain.ts';
import { sweepUntilBelieved } from '../../support/faults/finality.ts';
import {
  asDuplicate,
  letDoubtsAge,
  mayServe,
  newAgent,
  newKey,
  ONE,
  openShop,
  type Shop,
  sellToAgents,
  stall,
} from '../../support/people/agent.ts';
import { REPEATED } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

const PENDING = { ...ONE, settlements: 1, payments: 0, receipts: 0 };

describe('broadcast with an unknown outcome', REPEATED, () => {
  const w = new World();
  let shop: Shop;
  let own: Shop;
  let payment: string;
  beforeAll(async () => {
    shop = await openShop(w);
  });
  beforeEach(async () => {
    await w.chain.call('local_clearFaults');
    own = stall(w, shop.merchant, await sellToAgents(w, shop.merchant), shop.agent);
    payment = await own.pay();
  });
  const sweepNow = async () => {
    await w.env.DB.prepare("UPDATE settlements SET next_check_at = 0 WHERE status = 'pending'").run();
    await w.sweepAlone('settlements');
  };
  const expectSettledOnce = async () => {
    const [first, second] = [await own.settle(payment), await own.settle(payment)];
    expect([mayServe(first), mayServe(second)]).toEqual([true, false]);
    expect(second.body).toEqual(asDuplicate(first.body));
    expect(await own.books()).toEqual(ONE);
    expect(await own.entitlement()).toMatchObject({ granted_units: 1, used_units: 1 });
  };
  const expectPending = async (options = {}) => {
    const pending = await own.settle(payment, {}, options);
    expect([pending.status, pending.body]).toEqual([
      202,
      { success: false, error_reason: 'settlement_pending', tx_signature: expect.any(String), retry_after: 2 },
    ]);
    expect([pending.headers.get('PAYMENT-REQUIRED'), pending.headers.get('Retry-After')]).toEqual([null, '2']);
    expect(await own.books()).toEqual(PENDING);
    return pending;
  };

  it('a send timeout after landing is settled in the same call', async () => {
    await w.chain.fault({ kind: 'fail_after_broadcast', method: 'sendTransaction', times: 2 });
    const settled = await own.settle(payment);
    expect([settled.status, mayServe(settled)]).toEqual([200, true]);
    expect(await own.books()).toEqual(ONE);
  });

  it.each(['http_503', 'http_500', 'http_429', 'drop'])(
    '%s without landing is pending without a new challenge; the sweep sends it and the same payment succeeds',
    async (kind) => {
      await w.chain.fault({ kind, method: 'sendTransaction', times: 2 });
      const idempotencyKey = newKey();
      const pending = await expectPending({ idempotencyKey });
      await w.chain.call('local_clearFaults');
      await sweepNow();
      // A 202 is not stored, so the same key continues.
      const settled = await own.settle(payment, {}, { idempotencyKey });
      expect([settled.status, mayServe(settled), settled.body.tx_signature]).toEqual([200, true, pending.body.tx_signature]);
      expect((await own.settle(payment, {}, { idempotencyKey })).headers.get('Idempotent-Replayed')).toBe('true');
      expect(await own.books()).toEqual(ONE);
    },
  );

  it('an unsent payment is sent after seconds by the next request that brings it', async () => {
    await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 1 });
    await expectPending();
    await w.env.DB.prepare("UPDATE settlements SET created_at = created_at - 6000 WHERE status = 'pending'").run();
    await expectSettledOnce();
  });

  it('a transaction that the node shows late is settled in the same call', async () => {
    await w.chain.fault({ kind: 'null_first', method: 'getSignatureStatuses', times: 1 });
    expect(mayServe(await own.settle(payment))).toBe(true);
    expect(await own.books()).toEqual(ONE);
  });

  it('a transaction that the node hides for long is pending, then settled by the sweep', async () => {
    await w.chain.fault({ kind: 'null_first', method: 'getSignatureStatuses', times: 3 });
    await expectPending();
    await sweepNow();
    expect(await own.books()).toEqual(ONE);
    await expectSettledOnce();
  });

  it('an unconfirmed transaction is pending and grants nothing', async () => {
    await w.chain.call('local_commitment', { confirmedAfterSlots: 1_000_000, finalizedAfterSlots: 1_000_000 });
    await expectPending();
    expect((await own.entitlement()).code).toBe('not_found');
    await w.chain.call('local_commitment', { confirmedAfterSlots: 0, finalizedAfterSlots: 32 });
    await expectSettledOnce();
  });

  it('a node outage before the claim answers 503 and writes nothing, and the payment is valid afterwards', async () => {
    await w.chain.fault({ kind: 'http_503', method: 'simulateTransaction', times: 2 });
    expect(await own.settle(payment)).toMatchObject({ status: 503, body: { code: 'rpc_unavailable', retryable: true } });
    expect(await own.books()).toEqual({ settlements: 0, claims: 0, payments: 0, receipts: 0, memberships: 0 });
    await expectSettledOnce();
  });

  it('a sweep during a node outage leaves the payment pending, and two concurrent sweeps settle it once', async () => {
    await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 1 });
    await expectPending();
    await w.chain.fault({ kind: 'http_503', times: 0 });
    await sweepNow();
    expect(await own.books()).toEqual(PENDING);
    await w.chain.call('local_clearFaults');
    await w.env.DB.prepare("UPDATE settlements SET next_check_at = 0 WHERE status = 'pending'").run();
    await Promise.all([w.sweepAlone('settlements'), w.sweepAlone('settlements')]);
    await expectSettledOnce();
  });
});

describe('payment that can never land', REPEATED, () => {
  const w = new World();
  let merchant: Shop['merchant'];
  beforeAll(async () => {
    merchant = (await openShop(w)).merchant;
  });
  const newStall = async (usdc?: bigint) => stall(w, merchant, await sellToAgents(w, merchant), await newAgent(w, usdc));
  /** Leaves a payment unsent: the node acknowledges and drops it. */
  const unsent = async (own: Shop) => {
    const payment = await own.pay();
    await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 1 });
    expect((await own.settle(payment)).status).toBe(202);
    return payment;
  };
  const expectNever = async (own: Shop, payment: string) => {
    for (let i = 0; i < 2; i++) {
      const refused = await own.settle(payment);
      expect([refused.status, refused.body.code, refused.body.meta.reason]).toEqual([
        422,
        'payment_mismatch',
        'invalid_exact_svm_transaction_failed',
      ]);
      expect(refused.headers.get('PAYMENT-REQUIRED')).toBeTruthy();
    }
    expect(await own.books()).toEqual(PENDING);
    expect((await own.entitlement()).code).toBe('not_found');
    return (await own.settle(payment)).headers.get('PAYMENT-REQUIRED')!;
  };
  const doubts = (own: Shop) =>
    w.env.DB.prepare('SELECT count(doubted_at) AS n FROM settlements WHERE product_id = ?').bind(own.product.product_id).first<number>('n');
  const expectFreshWorks = async (own: Shop, header: string) => {
    const settled = await own.settle(await own.agent.pay(header));
    expect([settled.status, mayServe(settled)]).toEqual([200, true]);
  };

  it('a payment with an expired blockhash fails on repetition with a fresh challenge and stays failed', async () => {
    const own = await newStall();
    const payment = await unsent(own);
    // Past the blockhash's life, within the safety margin.
    for (const seconds of [90, 60]) {
      await w.chain.call('local_warp', seconds);
      expect((await own.settle(payment)).status).toBe(202);
    }
    expect(await doubts(own)).toBe(1);
    expect((await own.settle(payment)).status).toBe(202);
    await letDoubtsAge(w);
    await expectFreshWorks(own, await expectNever(own, payment));
    const { results } = await w.env.DB.prepare('SELECT status, failure_reason FROM settlements WHERE product_id = ? ORDER BY created_at')
      .bind(own.product.product_id)
      .all();
    expect(results).toEqual([{ status: 'failed', failure_reason: 'blockhash_expired' }]);
    expect(await own.books()).toEqual({ ...ONE, settlements: 1, claims: 2 });
  });

  it('the sweep fails an expired payment only after the finalized chain has passed it', async () => {
    const own = await newStall();
    const payment = await unsent(own);
    const statusNow = async () => {
      await w.env.DB.prepare("UPDATE settlements SET next_check_at = 0 WHERE status = 'pending'").run();
      await w.sweepAlone('settlements');
      return w.env.DB.prepare('SELECT status FROM settlements WHERE product_id = ?').bind(own.product.product_id).first('status');
    };
    await w.chain.call('local_mode', 'manual');
    await w.chain.call('local_slots', 170);
    expect(await statusNow()).toBe('pending');
    // The margin for a node that lags behind has not passed either.
    await w.chain.call('local_slots', 150);
    expect(await statusNow()).toBe('pending');
    expect(await doubts(own)).toBe(0);
    await w.chain.call('local_slots', 40);
    for (let round = 0; round < 2; round++) expect(await statusNow()).toBe('pending');
    expect(await doubts(own)).toBe(1);
    await letDoubtsAge(w);
    expect(await statusNow()).toBe('failed');
    await w.chain.call('local_mode', 'live');
    await expectNever(own, payment);
  });

  it('a payment without money at execution fails on chain, grants nothing and gets a fresh challenge', async () => {
    const own = await newStall(10_000n);
    const payment = await unsent(own);
    const elsewhere = (await w.chain.wallet(0n)).address;
    await w.chain.pay(own.agent.wallet, { recipient: elsewhere, memo: 'moved', price: { base_units: '10000' }, references: [] });
    await w.env.DB.prepare("UPDATE settlements SET next_check_at = 0 WHERE status = 'pending'").run();
    await w.sweepAlone('settlements');
    const failure = await w.env.DB.prepare('SELECT failure_reason FROM settlements WHERE product_id = ?')
      .bind(own.product.product_id)
      .first();
    expect(failure).toEqual({ failure_reason: 'transaction_failed' });
    const header = await expectNever(own, payment);
    await w.chain.call('local_fundUsdc', own.agent.wallet.address, '10000');
    await expectFreshWorks(own, header);
  });

  it('a payment above the buyer’s balance is refused before the claim and valid after funding', async () => {
    const own = await newStall(9_999n);
    const payment = await own.pay();
    const refused = await own.settle(payment);
    expect([refused.status, refused.body.meta.reason]).toEqual([422, 'invalid_exact_svm_transaction_simulation_failed']);
    expect(refused.headers.get('PAYMENT-REQUIRED')).toBeTruthy();
    expect(await own.books()).toEqual({ ...PENDING, settlements: 0, claims: 0 });
    await w.chain.call('local_fundUsdc', own.agent.wallet.address, '1');
    expect((await own.settle(payment)).status).toBe(200);
    expect(await w.chain.call('getTokenAccountBalance', await tokenAccount(own))).toMatchObject({ value: { amount: '0' } });
  });

  it('a confirmed payment that the chain drops is revoked once', async () => {
    const own = await newStall();
    const settled = await own.settle(await own.pay(), { consume_units: 0 });
    await w.chain.fault({ kind: 'vanish', signature: settled.body.tx_signature });
    await sweepUntilBelieved(w);
    const jobs = w.queue.sent.splice(0).map(({ job }) => job);
    await w.deliver([...jobs, ...jobs]);
    expect(await own.entitlement()).toMatchObject({ status: 'revoked', remaining: 0 });
    expect(await w.eventTypes(settled.body.payment_id)).toEqual(['payment.confirmed', 'receipt.created', 'payment.orphaned']);
    expect((await own.consume()).body.code).toBe('entitlement_missing');
  });
});

async function tokenAccount({ agent }: Shop): Promise<string> {
  const { associatedTokenAccount } = await import('#solana/checkout-transaction.ts');
  return associatedTokenAccount(agent.wallet.address, USDC);
}
