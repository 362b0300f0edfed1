import type { KeyPairSigner } from '@solana/kit';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sweepFinality } from '#features/finality/watch.ts';
import { newCtx } from '#platform/context.ts';
import { withTwoNodes } from '../../support/chain/two-nodes.ts';
import { FIRST_CHECK, letTimePass, readOutcome, sweepUntilBelieved, watchOnce } from '../../support/faults/finality.ts';
import { REPEATED, testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Buys once. `nextIn` returns the seconds until the next check of the payment. */
async function bought(w: World, product: { slug: string }, buyer: KeyPairSigner) {
  const { payment, signature } = await w.purchase(product, buyer);
  const id = payment.payment_id as string;
  const outcome = () => readOutcome(id);
  const nextIn = async () => {
    const { next_check_at } = await outcome();
    return next_check_at === null ? null : Math.round((next_check_at - Date.now()) / 1000);
  };
  return { id, signature, outcome, nextIn };
}
/** Skips to the last check of a dropped payment. Each earlier check proves its absence again. */
async function waitForLastCheck(w: World, lessSeconds = 0): Promise<void> {
  let passed = 0;
  for (const at of [10 * MINUTE, HOUR, DAY]) {
    await letTimePass(w, at - passed + 1);
    passed = at + 1;
    await watchOnce(w);
  }
  await letTimePass(w, 7 * DAY - passed + 1 - lessSeconds);
}
const around = (seconds: number) => [expect.closeTo(seconds, -1)];

describe('final proof for a dropped payment', REPEATED, () => {
  const { w, first, second } = withTwoNodes();
  let merchant: Merchant;
  let buyer: KeyPairSigner;
  let product: { slug: string };
  beforeAll(async () => {
    merchant = await w.merchant();
    buyer = await w.chain.wallet();
    product = await w.product(merchant, { access_period_days: 30, session_seconds: 3600 });
  });
  afterEach(async () => {
    for (const node of [first, second]) await node.call('local_clearFaults');
    await first.call('local_commitment', { confirmedAfterSlots: 0, finalizedAfterSlots: 32 });
  });
  const dropped = async () => {
    const one = await bought(w, product, buyer);
    await w.chain.fault({ kind: 'vanish', signature: one.signature });
    await sweepUntilBelieved(w);
    expect((await one.outcome()).dropped_at).not.toBeNull();
    return one;
  };
  const expectReturned = async (id: string) => {
    expect(await readOutcome(id)).toMatchObject({ final_at: expect.any(Number), dropped_at: null, next_check_at: null });
    const { body } = await w.call('GET', `/v1/payments/${id}`, { key: merchant.key });
    expect([body.finalized_at, body.orphaned_at]).toEqual([expect.any(String), undefined]);
  };

  it.each([
    ['both nodes keep no history', async () => Promise.all([first, second].map((node) => node.fault({ kind: 'no_history', times: 0 })))],
    ['one of the two is away', async () => second.fault({ kind: 'http_503', times: 0 })],
  ])('a dropped payment is checked beyond the last check if then %s', async (_why, strike) => {
    const one = await dropped();
    await waitForLastCheck(w);
    await strike();
    await watchOnce(w);
    // The pause is an eighth of the time since the drop.
    expect([await one.nextIn()]).toEqual(around((7 * DAY) / 8));
    for (const node of [first, second]) await node.call('local_clearFaults');
    await w.chain.call('local_landAgain', one.signature);
    await letTimePass(w, DAY);
    await watchOnce(w);
    await expectReturned(one.id);
  });

  it('a payment that lands again a minute before the last check is final a minute after it', async () => {
    const one = await dropped();
    const { slot } = await one.outcome();
    await waitForLastCheck(w, MINUTE);
    await first.call('local_commitment', { confirmedAfterSlots: 0, finalizedAfterSlots: 1_000_000 });
    await w.chain.call('local_landAgain', one.signature);
    await letTimePass(w, MINUTE + 1);
    await watchOnce(w);
    expect([await one.nextIn()]).toEqual(around(MINUTE));
    expect((await one.outcome()).slot).toBeGreaterThan(slot!);
    await first.call('local_commitment', { confirmedAfterSlots: 0, finalizedAfterSlots: 32 });
    await letTimePass(w, MINUTE + 1);
    await watchOnce(w);
    await expectReturned(one.id);
  });

  it('a proof of absence in the last check ends the checks', async () => {
    const one = await dropped();
    await waitForLastCheck(w);
    await watchOnce(w);
    expect(await one.nextIn()).toBeNull();
  });
});

describe('payment without an answer from any node', REPEATED, () => {
  const w = new World();
  let buyer: KeyPairSigner;
  let product: { slug: string };
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await w.merchant();
    buyer = await w.chain.wallet();
    product = await w.product(merchant, { access_period_days: 30, session_seconds: 3600 });
  });
  afterEach(() => w.chain.call('local_clearFaults'));

  it('the checks become rarer, also after one doubt', async () => {
    const one = await bought(w, product, buyer);
    await w.chain.fault({ kind: 'vanish', signature: one.signature });
    await letTimePass(w, FIRST_CHECK);
    await watchOnce(w);
    expect((await one.outcome()).doubted_at).not.toBeNull();
    await w.chain.fault({ kind: 'no_history', times: 0 });
    const pauses: (number | null)[] = [];
    for (const seconds of [8 * MINUTE, 8 * HOUR, 30 * DAY]) {
      await letTimePass(w, seconds);
      await watchOnce(w);
      pauses.push(Math.round((await one.nextIn())! / MINUTE));
    }
    expect(pauses).toEqual([1, 61, 24 * 60]);
    expect((await one.outcome()).dropped_at).toBeNull();
  });

  it('unmatched money is checked, however long the check of the claims takes', async () => {
    await bought(w, product, buyer);
    const payment = await w.connect(product);
    const short = await w.chain.pay(buyer, payment, { units: 3_000_000n });
    expect((await w.confirm(payment.payment_id, short)).status).toBe(422);
    await letTimePass(w, FIRST_CHECK);
    const ctx = newCtx(w.env, { requestId: 'req_slow', defer: () => {} });
    let elapsed = 0;
    const { chain } = ctx;
    const readSlowly = (transactions: Parameters<typeof chain.finalityOf>[0]) => {
      elapsed += 25_000;
      return chain.finalityOf(transactions);
    };
    Object.defineProperties(ctx, {
      elapsedMs: { value: () => elapsed },
      chain: { value: new Proxy(chain, { get: (_, name) => (name === 'finalityOf' ? readSlowly : Reflect.get(chain, name)) }) },
    });
    await sweepFinality(ctx);
    const row = testEnv.DB.prepare('SELECT final_at FROM unmatched_payments WHERE tx_signature = ?').bind(short);
    expect(await row.first('final_at')).toEqual(expect.any(Number));
  });
});
