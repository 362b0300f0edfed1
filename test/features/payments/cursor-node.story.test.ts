import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sweepReference } from '#features/payments/watch/reference-scan.ts';
import { newCtx } from '#platform/context.ts';
import { newReferenceWorld } from '../../support/chain/own-reference.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { REPEATED } from '../../support/runner/env.ts';
import { PAYMENT_SWEEPS } from '../../support/runner/sweeps.ts';
import type { Merchant, World } from '../../support/world.ts';

const CONFIRMED = ['payment.created', 'payment.submitted', 'payment.confirmed', 'membership.activated', 'receipt.created'];
const SECOND = 1000;
const MINUTE = 60 * SECOND;

describe('what a node shows late', REPEATED, () => {
  let w: World;
  let merchant: Merchant;
  let product: { slug: string };
  beforeEach(async () => {
    w = await newReferenceWorld();
    merchant = await w.merchant();
    product = await w.product(merchant);
  });
  afterEach(() => vi.restoreAllMocks());
  /** The service's clock moves on; the chain's does not, unless it is warped. */
  let ahead = 0;
  beforeEach(() => {
    ahead = 0;
  });
  const pass = (ms: number) => {
    vi.restoreAllMocks();
    ahead += ms;
    const real = Date.now.bind(Date);
    vi.spyOn(Date, 'now').mockImplementation(() => real() + ahead);
  };
  const statusOf = async (id: string) => (await w.call('GET', `/v1/payments/${id}`)).body.status;
  const pay = async () => {
    const payment = await w.connect(product, { customer_ref: crypto.randomUUID() });
    return { id: payment.payment_id as string, signature: await w.chain.pay(await w.chain.wallet(), payment) };
  };
  const passedAt = () => w.env.DB.prepare("SELECT passed_at FROM cursors WHERE name = 'service-reference'").first<number>('passed_at');

  it('does not fail a session: nobody is given up before the node itself has come past the last moment', async () => {
    const payment = await w.connect(product);
    pass((900 + 200) * SECOND);
    await w.sweepEach(PAYMENT_SWEEPS);
    await w.sweepEach(PAYMENT_SWEEPS);
    expect(await statusOf(payment.payment_id)).toBe('PENDING_SIGNATURE');
    // The node catches up, and shows that nothing came.
    await w.chain.call('local_warp', 900 + 200);
    await w.sweepEach(PAYMENT_SWEEPS);
    expect(await statusOf(payment.payment_id)).toBe('FAILED');
  });

  it('confirms its own session and recovers nothing, where the payment was made while the node was behind', async () => {
    const payment = await w.connect(product);
    const { payment_id: id } = payment;
    pass((900 + 200) * SECOND);
    await w.sweepEach(PAYMENT_SWEEPS);
    await w.chain.pay(await w.chain.wallet(), payment);
    await w.sweepEach(PAYMENT_SWEEPS);
    expect(await w.eventTypes(id)).toEqual(CONFIRMED);
  });

  it('is never told by our clock alone: a node ahead of us, or one that hides its time, moves nothing beyond it', async () => {
    await w.chain.call('local_warp', 3600);
    await w.sweepEach(PAYMENT_SWEEPS);
    expect(await passedAt()).toBeLessThanOrEqual(Date.now() - 30 * SECOND);
    const before = await passedAt();
    pass(10 * MINUTE);
    await w.chain.fault({ kind: 'rpc_error', method: 'getAccountInfo', times: 0 });
    await w.sweepEach(PAYMENT_SWEEPS);
    expect(await passedAt()).toBe(before);
    await w.chain.call('local_clearFaults');
    await w.sweepEach(PAYMENT_SWEEPS);
    expect(await passedAt()).toBeGreaterThan(before!);
  });

  it('in its list, minutes after those around it, is found all the same', async () => {
    const { id, signature } = await pay();
    await w.chain.fault({ kind: 'unlisted', signature, times: 0 });
    for (let i = 0; i < 4; i++) {
      await pay();
      await w.sweepEach(PAYMENT_SWEEPS);
      await w.chain.call('local_warp', 60);
      pass(MINUTE);
    }
    expect(await w.eventTypes(id)).toEqual(['payment.created']);
    await w.chain.call('local_clearFaults');
    await w.sweepEach(PAYMENT_SWEEPS);
    expect(await w.eventTypes(id)).toEqual(CONFIRMED);
  });

  describe('because it was started anew and knows nothing from before', () => {
    const cursorOf = (name: string) => w.env.DB.prepare('SELECT * FROM cursors WHERE name = ?').bind(name).first<Record<string, unknown>>();
    const minutes = async (count: number) => {
      await w.chain.call('local_warp', count * 60);
      pass(count * MINUTE);
    };
    /** A walk has ended at a transaction; one more is paid for that no walk has seen; then the node loses all of it. */
    const restart = async () => {
      await pay();
      await minutes(6);
      await w.sweepEach(PAYMENT_SWEEPS);
      expect((await cursorOf('service-reference'))!.until).toEqual(expect.any(String));
      const { id } = await pay();
      await minutes(1);
      await w.chain.fault({ kind: 'no_history', times: 0, slot: (await w.chain.call<{ slot: number }>('local_time')).slot });
      return id;
    };

    it('fails no session that was paid, finds what is paid meanwhile, and passes when it knows again', async () => {
      const id = await restart();
      const before = await passedAt();
      const fresh = await pay();
      await minutes(25);
      await w.sweepEach(PAYMENT_SWEEPS);
      await w.sweepEach(PAYMENT_SWEEPS);
      expect(await passedAt()).toBe(before);
      expect(await statusOf(id)).toBe('PENDING_SIGNATURE');
      expect(await w.eventTypes(fresh.id)).toEqual(CONFIRMED);
      await w.chain.call('local_clearFaults');
      await w.sweepEach(PAYMENT_SWEEPS);
      expect(await w.eventTypes(id)).toEqual(CONFIRMED);
      expect(await passedAt()).toBeGreaterThan(before!);
    });

    it('for good, is believed after a day, and walks end again', async () => {
      await restart();
      const before = await passedAt();
      await minutes(24 * 60);
      await w.sweepEach(PAYMENT_SWEEPS);
      await w.sweepEach(PAYMENT_SWEEPS);
      expect(await passedAt()).toBeGreaterThan(before! + 23 * 60 * MINUTE);
      const payment = await w.connect(product);
      await minutes(25);
      await w.sweepEach(PAYMENT_SWEEPS);
      expect(await statusOf(payment.payment_id)).toBe('FAILED');
    });

    it('is asked once where a walk lost its place, and again by the next sweep', async () => {
      await restart();
      const { until } = (await cursorOf('service-reference'))!;
      await w.env.DB.prepare(
        "INSERT INTO cursors (name, walk_before, until, passed_at, version) VALUES ('service-reference-backlog', ?1, ?1, 0, 1)",
      )
        .bind(until)
        .run();
      await w.chain.call('local_resetCalls');
      await w.sweepEach(PAYMENT_SWEEPS);
      expect((await w.chain.call<Record<string, number>>('local_calls')).getSignaturesForAddress).toBeLessThanOrEqual(2);
      expect((await cursorOf('service-reference-backlog'))!.walk_before).toBe(until);
    });
  });

  describe('because strangers fill the list', () => {
    const walk = (env = w.env, pageSize = 2) => sweepReference(newCtx(env, { requestId: 'req_walk', defer: () => {} }), pageSize);
    const spam = async (count: number) => {
      const spammer = await w.chain.wallet();
      const bill = { recipient: merchant.wallet.address, price: { base_units: '1' }, references: [w.env.SERVICE_REFERENCE as string] };
      for (let i = 0; i < count; i++) await w.chain.pay(spammer, { ...bill, memo: `noise ${i}` }, { units: 1n });
    };
    /** A walk that gets no further than so many pages before its process ends. */
    const stopAfter = async (pages: number) => {
      let steps = 0;
      const { env } = withFaults(w.env, { before: ({ kind }) => kind === 'batch' && ++steps > pages });
      await walk(env).catch(() => undefined);
    };
    const foundOf = (id: string) =>
      w.env.DB.prepare("SELECT count(*) AS n FROM payment_candidates WHERE payment_id = ? AND origin = 'found'").bind(id).first('n');

    it('waits for nothing that is newer: each walk begins at the top, and the rest is read after it', async () => {
      const old = await pay();
      await spam(12);
      await stopAfter(3);
      const recent = await pay();
      // This one ends early too: what is newest was read first.
      await stopAfter(2);
      expect(await foundOf(recent.id)).toBe(1);
      expect(await foundOf(old.id)).toBe(0);
      const before = await passedAt();
      await walk();
      expect(await foundOf(old.id)).toBe(1);
      // Nothing older was seen before: only now sessions of that time may be given up.
      expect(before).toBe(0);
      await walk();
      expect(await passedAt()).toBeGreaterThan(0);
    });

    it('loses nothing of what several interrupted walks have left, whatever came between them', async () => {
      const ids: string[] = [];
      for (let round = 0; round < 4; round++) {
        ids.push((await pay()).id);
        await spam(6);
        ids.push((await pay()).id);
        await stopAfter(1 + round);
      }
      expect(await passedAt()).toBe(0);
      for (let i = 0; i < 3; i++) await walk();
      for (const id of ids) expect(await foundOf(id)).toBe(1);
      expect(await passedAt()).toBeGreaterThan(0);
    });

    it('and is read on by two walkers at once, each page once or twice, none never', async () => {
      const ids = [(await pay()).id];
      await spam(8);
      await stopAfter(2);
      ids.push((await pay()).id);
      await Promise.all([walk(), walk(), walk()]);
      await walk();
      await walk();
      for (const id of ids) expect(await foundOf(id)).toBe(1);
    });
  });
});
