import type { KeyPairSigner } from '@solana/kit';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FIRST_CHECK, letTimePass, readOutcome, SECOND_PROOF, sweepUntilBelieved } from '../../support/faults/finality.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { openShop, type Shop, sellToAgents, stall } from '../../support/people/agent.ts';
import { REPEATED } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

async function bought(w: World, merchant: Merchant, buyer: KeyPairSigner) {
  const product = await w.product(merchant, { access_period_days: 30, session_seconds: 3600 });
  const { payment, signature, confirmed } = await w.purchase(product, buyer);
  const id = payment.payment_id as string;
  const view = async () => (await w.call('GET', `/v1/payments/${id}`, { key: merchant.key })).body;
  const membership = async () => (await w.call('GET', `/v1/memberships/lookup?payment_id=${id}`, { key: merchant.key })).body;
  const verified = async () => (await w.call('GET', `/v1/receipt/${confirmed.receipt_id}/verify`)).body;
  return { id, signature, product, slot: confirmed.payment.slot as number, view, membership, verified };
}
type Bought = Awaited<ReturnType<typeof bought>>;

const expectUnchanged = async ({ id, view, membership, verified }: Bought) => {
  expect((await view()).orphaned_at).toBeUndefined();
  expect(await membership()).toMatchObject({ status: 'active' });
  expect(await verified()).toMatchObject({ valid: true });
  expect((await readOutcome(id)).dropped_at).toBeNull();
};
const expectFinal = async (one: Bought) => {
  await expectUnchanged(one);
  expect((await one.view()).finalized_at).toEqual(expect.any(String));
  expect(await readOutcome(one.id)).toMatchObject({ final_at: expect.any(Number), next_check_at: null, doubted_at: null });
};
const expectOrphaned = async ({ id, view, membership, verified }: Bought) => {
  expect(await view()).toMatchObject({ status: 'CONFIRMED', orphaned_at: expect.any(String) });
  expect(await membership()).toMatchObject({ status: 'cancelled' });
  expect(await verified()).toMatchObject({ valid: false, reason: 'transaction_orphaned' });
  expect((await readOutcome(id)).dropped_at).toEqual(expect.any(Number));
};

describe('node without information on a payment', REPEATED, () => {
  const w = new World();
  let merchant: Merchant;
  let buyer: KeyPairSigner;
  beforeAll(async () => {
    merchant = await w.merchant();
    buyer = await w.chain.wallet();
  });
  afterEach(() => w.chain.call('local_clearFaults'));
  const sweeps = async (count: number, seconds: number) => {
    for (let i = 0; i < count; i++) {
      await letTimePass(w, seconds);
      await w.sweepAlone('finality');
    }
  };

  it.each([
    ['keeps no history at all', {}],
    ['was started anew, and knows nothing from before', { slot: 1_000_000 }],
  ])('nothing is revoked while a node %s for an hour, and the payment is final afterwards', async (_why, history) => {
    const one = await bought(w, merchant, buyer);
    await w.chain.fault({ kind: 'no_history', times: 0, ...history });
    await sweeps(12, 5 * MINUTE);
    await expectUnchanged(one);
    expect(await w.eventTypes(one.id)).not.toContain('payment.orphaned');
    await w.chain.call('local_clearFaults');
    await sweeps(1, 10 * MINUTE);
    await expectFinal(one);
  });

  it('a restarted node makes newer payments final and leaves older ones unchanged', async () => {
    const before = await bought(w, merchant, buyer);
    await letTimePass(w, FIRST_CHECK);
    await w.chain.fault({ kind: 'no_history', times: 0, slot: (await w.chain.call<{ slot: number }>('local_time')).slot });
    const after = await bought(w, merchant, buyer);
    await sweeps(3, FIRST_CHECK);
    await expectUnchanged(before);
    await expectFinal(after);
  });

  // RPC errors for an unavailable block. The last two do not distinguish a skipped slot from a lost one.
  it.each([-32001, -32004, -32005, -32011, -32014, -32007, -32009])('the answer %d for the block proves nothing', async (code) => {
    const one = await bought(w, merchant, buyer);
    await w.chain.fault({ kind: 'null_first', method: 'getSignatureStatuses', times: 0 });
    await w.chain.fault({ kind: 'rpc_error', method: 'getBlock', times: 0, code });
    await sweeps(4, FIRST_CHECK);
    await expectUnchanged(one);
  });

  it('a block that contains the transaction proves no absence', async () => {
    const one = await bought(w, merchant, buyer);
    await w.chain.fault({ kind: 'null_first', method: 'getSignatureStatuses', times: 0 });
    await sweeps(4, FIRST_CHECK);
    await expectUnchanged(one);
    expect((await readOutcome(one.id)).doubted_at).toBeNull();
  });

  it('the checks of the payment become rarer', async () => {
    const one = await bought(w, merchant, buyer);
    await w.chain.fault({ kind: 'no_history', times: 0 });
    const pauses: number[] = [];
    for (const seconds of [FIRST_CHECK, HOUR, 30 * DAY]) {
      await letTimePass(w, seconds);
      await w.sweepAlone('finality');
      pauses.push(Math.round(((await readOutcome(one.id)).next_check_at! - Date.now()) / 1000 / MINUTE));
    }
    expect(pauses).toEqual([1, 8, 24 * 60]);
  });
});

describe('payment dropped by the cluster', REPEATED, () => {
  const w = new World();
  let merchant: Merchant;
  let buyer: KeyPairSigner;
  beforeAll(async () => {
    merchant = await w.merchant();
    buyer = await w.chain.wallet();
  });

  it('a payment is orphaned when its block is final without it, in two checks', async () => {
    const one = await bought(w, merchant, buyer);
    await w.chain.fault({ kind: 'vanish', signature: one.signature });
    await letTimePass(w, FIRST_CHECK);
    await w.sweepAlone('finality');
    await expectUnchanged(one);
    expect((await readOutcome(one.id)).doubted_at).toEqual(expect.any(Number));
    await letTimePass(w, SECOND_PROOF);
    await w.sweepAlone('finality');
    await expectOrphaned(one);
  });

  it('a payment is orphaned with its skipped block, proven by the parent of the next one', async () => {
    const one = await bought(w, merchant, buyer);
    await w.chain.call('local_dropBlock', one.slot);
    await sweepUntilBelieved(w);
    await expectOrphaned(one);
  });

  it('a payment that lands again in a later block before a check is final there, and nothing is revoked', async () => {
    const one = await bought(w, merchant, buyer);
    await w.chain.fault({ kind: 'vanish', signature: one.signature });
    await w.chain.call('local_warp', 5);
    await w.chain.call('local_landAgain', one.signature);
    await letTimePass(w, FIRST_CHECK);
    await w.sweepAlone('finality');
    await expectFinal(one);
    expect((await readOutcome(one.id)).slot).toBeGreaterThan(one.slot);
  });

  it('a payment that moved to another block is proven absent by that block', async () => {
    const one = await bought(w, merchant, buyer);
    await w.chain.call('local_commitment', { confirmedAfterSlots: 0, finalizedAfterSlots: 100_000 });
    await w.chain.fault({ kind: 'vanish', signature: one.signature });
    await w.chain.call('local_warp', 5);
    await w.chain.call('local_landAgain', one.signature);
    await letTimePass(w, FIRST_CHECK);
    await w.sweepAlone('finality');
    const { slot } = await readOutcome(one.id);
    expect(slot).toBeGreaterThan(one.slot);
    await w.chain.call('local_commitment', { confirmedAfterSlots: 0, finalizedAfterSlots: 32 });
    await w.chain.call('local_dropBlock', slot);
    await sweepUntilBelieved(w);
    await expectOrphaned(one);
  });

  it.each([
    ['ten minutes', [10 * MINUTE]],
    ['an hour', [10 * MINUTE, HOUR]],
    ['a day', [10 * MINUTE, HOUR, DAY]],
    ['a week', [10 * MINUTE, HOUR, DAY, 7 * DAY]],
  ])('a payment that returns after %s is restored: payment, membership, receipt', async (_when, checkTimes) => {
    const one = await bought(w, merchant, buyer);
    const { paid_through: paidThrough } = await one.membership();
    await w.chain.fault({ kind: 'vanish', signature: one.signature });
    await sweepUntilBelieved(w);
    await expectOrphaned(one);
    let passed = 0;
    for (const [i, at] of checkTimes.entries()) {
      if (i === checkTimes.length - 1) await w.chain.call('local_landAgain', one.signature);
      await letTimePass(w, at - passed + 1);
      passed = at + 1;
      await Promise.all([w.sweepAlone('finality'), w.sweepAlone('finality')]);
    }
    await expectFinal(one);
    expect((await one.membership()).paid_through).toBe(paidThrough);
    expect((await w.eventTypes(one.id)).slice(-4)).toEqual([
      'payment.orphaned',
      'membership.access_revoked',
      'payment.finalized',
      'membership.renewed',
    ]);
    const event = await prepareOnEvents(w.env.DB, "SELECT data FROM events WHERE payment_id = ? AND type = 'payment.finalized'")
      .bind(one.id)
      .all();
    expect(event.results.map(({ data }) => JSON.parse(data as string).previous)).toEqual([{ orphaned_at: expect.any(String) }]);
  });

  it('a payment that never returns is checked four times, and a node outage delays a check by an hour', async () => {
    const one = await bought(w, merchant, buyer);
    await w.chain.fault({ kind: 'vanish', signature: one.signature });
    await sweepUntilBelieved(w);
    const nextIn = async () => {
      const { next_check_at, dropped_at } = await readOutcome(one.id);
      return next_check_at === null ? null : Math.round((next_check_at - dropped_at!) / 1000);
    };
    const nexts = [await nextIn()];
    let passed = 0;
    for (const at of [10 * MINUTE, HOUR, DAY]) {
      await letTimePass(w, at - passed + 1);
      passed = at + 1;
      await w.chain.fault({ kind: 'http_503', method: 'getSignatureStatuses', times: 100 });
      await w.sweepAlone('finality');
      expect((await readOutcome(one.id)).next_check_at! - Date.now(), 'an hour later').toBeGreaterThan(59 * MINUTE * 1000);
      await w.chain.call('local_clearFaults');
      await w.env.DB.prepare('UPDATE tx_claims SET next_check_at = 1 WHERE subject_id = ?').bind(one.id).run();
      await w.sweepAlone('finality');
      nexts.push(await nextIn());
    }
    await letTimePass(w, 7 * DAY - passed + 1);
    await w.sweepAlone('finality');
    expect([...nexts, await nextIn()]).toEqual([10 * MINUTE, HOUR, DAY, 7 * DAY, null]);
    await expectOrphaned(one);
  });

  it('a drop shortens a membership and a return lengthens it, whatever was bought meanwhile', async () => {
    const first = await bought(w, merchant, buyer);
    const second = await w.purchase(first.product, buyer);
    const through = async () => Date.parse((await first.membership()).paid_through);
    const both = await through();
    await w.chain.fault({ kind: 'vanish', signature: second.signature });
    await sweepUntilBelieved(w);
    expect(await through()).toBe(both - 30 * DAY * 1000);
    await w.purchase(first.product, buyer);
    await w.chain.call('local_landAgain', second.signature);
    await letTimePass(w, 10 * MINUTE + 1);
    await w.sweepAlone('finality');
    expect(await through()).toBe(both + 30 * DAY * 1000);
  });
});

describe('units of a dropped payment', REPEATED, () => {
  const w = new World();
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop(w);
  });
  const own = async () => stall(w, shop.merchant, await sellToAgents(w, shop.merchant, { usage_units: 5 }), shop.agent);
  const drop = async (signature: string) => {
    await w.chain.fault({ kind: 'vanish', signature });
    await sweepUntilBelieved(w);
    await w.deliver();
  };
  const bringBack = async (signature: string) => {
    await w.chain.call('local_landAgain', signature);
    await letTimePass(w, 10 * MINUTE + 1);
    await w.sweepAlone('finality');
  };

  it('a drop revokes the units, and a return restores the remaining ones once', async () => {
    const mine = await own();
    const { body } = await mine.settle(await mine.pay(), { consume_units: 2 });
    await drop(body.tx_signature);
    expect(await mine.entitlement()).toMatchObject({ remaining: 0 });
    expect((await mine.consume()).status).toBe(403);
    await bringBack(body.tx_signature);
    const jobs = w.queue.sent.splice(0).map(({ job }) => job);
    await w.deliver([...jobs, ...jobs]);
    expect(await mine.entitlement()).toMatchObject({ granted_units: 5, used_units: 2, remaining: 3 });
    expect((await mine.consume({ units: 3 })).status).toBe(200);
    expect((await mine.consume()).status).toBe(403);
    expect(await w.eventTypes(body.payment_id)).toEqual(['payment.confirmed', 'receipt.created', 'payment.orphaned', 'payment.finalized']);
  });

  it('units stay granted if the drop event arrives after the return event', async () => {
    const mine = await own();
    const { body } = await mine.settle(await mine.pay());
    await w.deliver();
    await w.chain.fault({ kind: 'vanish', signature: body.tx_signature });
    await sweepUntilBelieved(w);
    const dropped = w.queue.sent.splice(0).map(({ job }) => job);
    await bringBack(body.tx_signature);
    await w.deliver();
    await w.deliver(dropped);
    expect(await mine.entitlement()).toMatchObject({ granted_units: 5, used_units: 1, remaining: 4 });
  });
});
