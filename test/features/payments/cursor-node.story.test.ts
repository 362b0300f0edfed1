import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sweepReference } from '#features/payments/watch/reference-scan.ts';
import { newReferenceWorld } from '../../support/chain/own-reference.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { REPEATED } from '../../support/runner/env.ts';
import { ctxOf } from '../../support/runner/shards.ts';
import { PAYMENT_SWEEPS } from '../../support/runner/sweeps.ts';
import type { Merchant, World } from '../../support/world.ts';

const CONFIRMED = ['payment.created', 'payment.submitted', 'payment.confirmed', 'membership.activated', 'receipt.created'];
const SECOND = 1000;
const MINUTE = 60 * SECOND;

describe('reference sweep with a late node', REPEATED, () => {
  let w: World;
  let merchant: Merchant;
  let product: { slug: string };
  beforeEach(async () => {
    w = await newReferenceWorld();
    merchant = await w.merchant();
    product = await w.product(merchant);
  });
  afterEach(() => vi.restoreAllMocks());
  /** Offset of the service's clock in ms. The chain's clock moves only by local_warp. */
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
  const readStatus = async (id: string) => (await w.call('GET', `/v1/payments/${id}`)).body.status;
  const pay = async () => {
    const payment = await w.connect(product, { customer_ref: crypto.randomUUID() });
    return { id: payment.payment_id as string, signature: await w.chain.pay(await w.chain.wallet(), payment) };
  };
  const passedAt = () => w.env.DB.prepare("SELECT passed_at FROM cursors WHERE name LIKE 'service-reference %'").first<number>('passed_at');

  it('a session does not expire before the node’s own time has passed its deadline', async () => {
    const payment = await w.connect(product);
    pass((900 + 200) * SECOND);
    await w.sweepEach(PAYMENT_SWEEPS);
    await w.sweepEach(PAYMENT_SWEEPS);
    expect(await readStatus(payment.payment_id)).toBe('PENDING_SIGNATURE');
    await w.chain.call('local_warp', 900 + 200);
    await w.sweepEach(PAYMENT_SWEEPS);
    expect(await readStatus(payment.payment_id)).toBe('FAILED');
  });

  it('a payment made while the node was behind confirms its own session', async () => {
    const payment = await w.connect(product);
    const { payment_id: id } = payment;
    pass((900 + 200) * SECOND);
    await w.sweepEach(PAYMENT_SWEEPS);
    await w.chain.pay(await w.chain.wallet(), payment);
    await w.sweepEach(PAYMENT_SWEEPS);
    expect(await w.eventTypes(id)).toEqual(CONFIRMED);
  });

  it('the cursor passes neither the service’s clock nor a time that the node does not report', async () => {
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

  it('a transaction that the node lists minutes late is still found', async () => {
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

  describe('node without earlier history', () => {
    const readCursor = (name: string) =>
      w.env.DB.prepare('SELECT * FROM cursors WHERE name = ?').bind(`${name} ${w.env.SERVICE_REFERENCE}`).first<Record<string, unknown>>();
    const minutes = async (count: number) => {
      await w.chain.call('local_warp', count * 60);
      pass(count * MINUTE);
    };
    /** Ends a walk at a transaction, pays once more, then makes the node lose both. */
    const restart = async () => {
      await pay();
      await minutes(6);
      await w.sweepEach(PAYMENT_SWEEPS);
      expect((await readCursor('service-reference'))!.until).toEqual(expect.any(String));
      const { id } = await pay();
      await minutes(1);
      await w.chain.fault({ kind: 'no_history', times: 0, slot: (await w.chain.call<{ slot: number }>('local_time')).slot });
      return id;
    };

    it('paid sessions do not fail, new payments are found, and the cursor advances once history is back', async () => {
      const id = await restart();
      const before = await passedAt();
      const fresh = await pay();
      await minutes(25);
      await w.sweepEach(PAYMENT_SWEEPS);
      await w.sweepEach(PAYMENT_SWEEPS);
      expect(await passedAt()).toBe(before);
      expect(await readStatus(id)).toBe('PENDING_SIGNATURE');
      expect(await w.eventTypes(fresh.id)).toEqual(CONFIRMED);
      await w.chain.call('local_clearFaults');
      await w.sweepEach(PAYMENT_SWEEPS);
      expect(await w.eventTypes(id)).toEqual(CONFIRMED);
      expect(await passedAt()).toBeGreaterThan(before!);
    });

    it('permanently lost history is accepted after a day, and sessions expire again', async () => {
      await restart();
      const before = await passedAt();
      await minutes(24 * 60);
      await w.sweepEach(PAYMENT_SWEEPS);
      await w.sweepEach(PAYMENT_SWEEPS);
      expect(await passedAt()).toBeGreaterThan(before! + 23 * 60 * MINUTE);
      const payment = await w.connect(product);
      await minutes(25);
      await w.sweepEach(PAYMENT_SWEEPS);
      expect(await readStatus(payment.payment_id)).toBe('FAILED');
    });

    it('a walk that lost its cursor costs at most two list calls, and the next sweep tries again', async () => {
      await restart();
      const { until } = (await readCursor('service-reference'))!;
      await w.env.DB.prepare('INSERT INTO cursors (name, walk_before, until, passed_at, version) VALUES (?2, ?1, ?1, 0, 1)')
        .bind(until, `service-reference-backlog ${w.env.SERVICE_REFERENCE}`)
        .run();
      await w.chain.call('local_resetCalls');
      await w.sweepEach(PAYMENT_SWEEPS);
      expect((await w.chain.call<Record<string, number>>('local_calls')).getSignaturesForAddress).toBeLessThanOrEqual(2);
      expect((await readCursor('service-reference-backlog'))!.walk_before).toBe(until);
    });
  });

  describe('reference list full of spam', () => {
    const walk = (env = w.env, pageSize = 2) => sweepReference(ctxOf(env), 0, pageSize);
    const spam = async (count: number) => {
      const spammer = await w.chain.wallet();
      const bill = { recipient: merchant.wallet.address, price: { base_units: '1' }, references: [w.env.SERVICE_REFERENCE as string] };
      for (let i = 0; i < count; i++) await w.chain.pay(spammer, { ...bill, memo: `noise ${i}` }, { units: 1n });
    };
    const stopAfter = async (pages: number) => {
      let steps = 0;
      const { env } = withFaults(w.env, { before: ({ kind }) => kind === 'batch' && ++steps > pages });
      await walk(env).catch(() => undefined);
    };
    const countFound = (id: string) =>
      w.env.DB.prepare("SELECT count(*) AS n FROM payment_candidates WHERE payment_id = ? AND origin = 'found'").bind(id).first('n');

    it('each walk begins with the newest page, and older pages are read after it', async () => {
      const old = await pay();
      await spam(12);
      await stopAfter(3);
      const recent = await pay();
      await stopAfter(2);
      expect(await countFound(recent.id)).toBe(1);
      expect(await countFound(old.id)).toBe(0);
      const before = await passedAt();
      await walk();
      expect(await countFound(old.id)).toBe(1);
      // Sessions may expire only after the older pages have been read.
      expect(before).toBe(0);
      await walk();
      expect(await passedAt()).toBeGreaterThan(0);
    });

    it('payments between several interrupted walks are all found', async () => {
      const ids: string[] = [];
      for (let round = 0; round < 4; round++) {
        ids.push((await pay()).id);
        await spam(6);
        ids.push((await pay()).id);
        await stopAfter(1 + round);
      }
      expect(await passedAt()).toBe(0);
      for (let i = 0; i < 3; i++) await walk();
      for (const id of ids) expect(await countFound(id)).toBe(1);
      expect(await passedAt()).toBeGreaterThan(0);
    });

    it('concurrent walks read every remaining page at least once', async () => {
      const ids = [(await pay()).id];
      await spam(8);
      await stopAfter(2);
      ids.push((await pay()).id);
      await Promise.all([walk(), walk(), walk()]);
      await walk();
      await walk();
      for (const id of ids) expect(await countFound(id)).toBe(1);
    });
  });
});
