import type { KeyPairSigner } from '@solana/kit';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FIRST_LOOK, fateOf, letTimePass, SECOND_PROOF, sweepUntilBelieved } from '../../support/faults/finality.ts';
import { openShop, type Shop, sellToAgents, stall } from '../../support/people/agent.ts';
import { REPEATED } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A membership of 30 days that a buyer paid for, and how it stands. */
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

const expectStanding = async ({ id, view, membership, verified }: Bought) => {
  expect((await view()).orphaned_at).toBeUndefined();
  expect(await membership()).toMatchObject({ status: 'active' });
  expect(await verified()).toMatchObject({ valid: true });
  expect((await fateOf(id)).dropped_at).toBeNull();
};
const expectFinal = async (one: Bought) => {
  await expectStanding(one);
  expect((await one.view()).finalized_at).toEqual(expect.any(String));
  expect(await fateOf(one.id)).toMatchObject({ final_at: expect.any(Number), next_look_at: null, doubted_at: null });
};
const expectOrphaned = async ({ id, view, membership, verified }: Bought) => {
  expect(await view()).toMatchObject({ status: 'CONFIRMED', orphaned_at: expect.any(String) });
  expect(await membership()).toMatchObject({ status: 'cancelled' });
  expect(await verified()).toMatchObject({ valid: false, reason: 'transaction_orphaned' });
  expect((await fateOf(id)).dropped_at).toEqual(expect.any(Number));
};

describe('a node that says nothing of a payment', REPEATED, () => {
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
  ])('because it %s for an hour: nothing is taken back, and all is final once it is whole again', async (_why, history) => {
    const one = await bought(w, merchant, buyer);
    await w.chain.fault({ kind: 'no_history', times: 0, ...history });
    await sweeps(12, 5 * MINUTE);
    await expectStanding(one);
    expect(await w.eventTypes(one.id)).not.toContain('payment.orphaned');
    await w.chain.call('local_clearFaults');
    await sweeps(1, 10 * MINUTE);
    await expectFinal(one);
  });

  it('and was started anew shows what came after, which is made final meanwhile', async () => {
    const before = await bought(w, merchant, buyer);
    await letTimePass(w, FIRST_LOOK);
    await w.chain.fault({ kind: 'no_history', times: 0, slot: (await w.chain.call<{ slot: number }>('local_time')).slot });
    const after = await bought(w, merchant, buyer);
    await sweeps(3, FIRST_LOOK);
    await expectStanding(before);
    await expectFinal(after);
  });

  // What nodes answer for a block they cannot show; the last two do not tell a skipped slot from one they lost.
  it.each([-32001, -32004, -32005, -32011, -32014, -32007, -32009])('and answers %d for its block proves nothing', async (code) => {
    const one = await bought(w, merchant, buyer);
    await w.chain.fault({ kind: 'null_first', method: 'getSignatureStatuses', times: 0 });
    await w.chain.fault({ kind: 'rpc_error', method: 'getBlock', times: 0, code });
    await sweeps(4, FIRST_LOOK);
    await expectStanding(one);
  });

  it('but shows its block, with it, proves nothing either', async () => {
    const one = await bought(w, merchant, buyer);
    await w.chain.fault({ kind: 'null_first', method: 'getSignatureStatuses', times: 0 });
    await sweeps(4, FIRST_LOOK);
    await expectStanding(one);
    expect((await fateOf(one.id)).doubted_at).toBeNull();
  });

  it('is asked ever more rarely', async () => {
    const one = await bought(w, merchant, buyer);
    await w.chain.fault({ kind: 'no_history', times: 0 });
    const pauses: number[] = [];
    for (const seconds of [FIRST_LOOK, HOUR, 30 * DAY]) {
      await letTimePass(w, seconds);
      await w.sweepAlone('finality');
      pauses.push(Math.round(((await fateOf(one.id)).next_look_at! - Date.now()) / 1000 / MINUTE));
    }
    expect(pauses).toEqual([1, 8, 24 * 60]);
  });
});

describe('a payment that the cluster dropped', REPEATED, () => {
  const w = new World();
  let merchant: Merchant;
  let buyer: KeyPairSigner;
  beforeAll(async () => {
    merchant = await w.merchant();
    buyer = await w.chain.wallet();
  });

  it('is believed to be gone when its block is final without it, twice', async () => {
    const one = await bought(w, merchant, buyer);
    await w.chain.fault({ kind: 'vanish', signature: one.signature });
    await letTimePass(w, FIRST_LOOK);
    await w.sweepAlone('finality');
    await expectStanding(one);
    expect((await fateOf(one.id)).doubted_at).toEqual(expect.any(Number));
    await letTimePass(w, SECOND_PROOF);
    await w.sweepAlone('finality');
    await expectOrphaned(one);
  });

  it('is believed to be gone with its whole block, where the next one names the block before as its parent', async () => {
    const one = await bought(w, merchant, buyer);
    await w.chain.call('local_dropBlock', one.slot);
    await sweepUntilBelieved(w);
    await expectOrphaned(one);
  });

  it('and lands again in a later block before anybody looked is final there, and nothing was taken back', async () => {
    const one = await bought(w, merchant, buyer);
    await w.chain.fault({ kind: 'vanish', signature: one.signature });
    await w.chain.call('local_warp', 5);
    await w.chain.call('local_landAgain', one.signature);
    await letTimePass(w, FIRST_LOOK);
    await w.sweepAlone('finality');
    await expectFinal(one);
    expect((await fateOf(one.id)).slot).toBeGreaterThan(one.slot);
  });

  it('between two looks, after it had moved to another block, is proven gone by that block', async () => {
    const one = await bought(w, merchant, buyer);
    await w.chain.call('local_commitment', { confirmedAfterSlots: 0, finalizedAfterSlots: 100_000 });
    await w.chain.fault({ kind: 'vanish', signature: one.signature });
    await w.chain.call('local_warp', 5);
    await w.chain.call('local_landAgain', one.signature);
    await letTimePass(w, FIRST_LOOK);
    await w.sweepAlone('finality');
    const { slot } = await fateOf(one.id);
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
  ])('is looked for after %s, and given back where it is there after all: payment, membership, receipt', async (_when, looks) => {
    const one = await bought(w, merchant, buyer);
    const { paid_through: paidThrough } = await one.membership();
    await w.chain.fault({ kind: 'vanish', signature: one.signature });
    await sweepUntilBelieved(w);
    await expectOrphaned(one);
    let passed = 0;
    for (const [i, at] of looks.entries()) {
      if (i === looks.length - 1) await w.chain.call('local_landAgain', one.signature);
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
    const event = await w.env.DB.prepare("SELECT data FROM events WHERE payment_id = ? AND type = 'payment.finalized'").bind(one.id).all();
    expect(event.results.map(({ data }) => JSON.parse(data as string).previous)).toEqual([{ orphaned_at: expect.any(String) }]);
  });

  it('for good is looked for four times, also where no node could be asked, and then no more', async () => {
    const one = await bought(w, merchant, buyer);
    await w.chain.fault({ kind: 'vanish', signature: one.signature });
    await sweepUntilBelieved(w);
    const nextIn = async () => {
      const { next_look_at, dropped_at } = await fateOf(one.id);
      return next_look_at === null ? null : Math.round((next_look_at - dropped_at!) / 1000);
    };
    const nexts = [await nextIn()];
    let passed = 0;
    for (const at of [10 * MINUTE, HOUR, DAY]) {
      await letTimePass(w, at - passed + 1);
      passed = at + 1;
      await w.chain.fault({ kind: 'http_503', method: 'getSignatureStatuses', times: 100 });
      await w.sweepAlone('finality');
      expect((await fateOf(one.id)).next_look_at! - Date.now(), 'an hour later').toBeGreaterThan(59 * MINUTE * 1000);
      await w.chain.call('local_clearFaults');
      await w.env.DB.prepare('UPDATE tx_claims SET next_look_at = 1 WHERE subject_id = ?').bind(one.id).run();
      await w.sweepAlone('finality');
      nexts.push(await nextIn());
    }
    await letTimePass(w, 7 * DAY - passed + 1);
    await w.sweepAlone('finality');
    expect([...nexts, await nextIn()]).toEqual([10 * MINUTE, HOUR, DAY, 7 * DAY, null]);
    await expectOrphaned(one);
  });

  it('shortens a membership that others carry, and lengthens it again when it is back, whatever was bought meanwhile', async () => {
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

describe('units of a payment that the cluster dropped', REPEATED, () => {
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

  it('are taken back, and given again when it is there after all: as many as were left, however often it is told', async () => {
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

  it('stay given where the news of the drop comes after the news of the return', async () => {
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
