import { beforeAll, describe, expect, it } from 'vitest';
import { withTwoNodes } from '../../support/chain/two-nodes.ts';
import { letDoubtsAge, mayServe, ONE, openShop, payAs, type Shop, sellToAgents, stall, sweepAll } from '../../support/people/agent.ts';
import { REPEATED } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

const IDENTIFIER = 'order_of_the_same_buyer';

/** A landed payment must not be failed because a node does not show it. */
describe('landed payment hidden by the node', REPEATED, () => {
  const w = new World();
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop(w);
  });
  /** Lands a payment that the node hides from these methods, with an expired blockhash. */
  const landedUnseen = async (...hidden: string[]) => {
    await w.chain.call('local_clearFaults');
    const own = stall(w, shop.merchant, await sellToAgents(w, shop.merchant), shop.agent);
    const payment = await payAs(own.agent, await own.challenge(), IDENTIFIER);
    for (const method of hidden) await w.chain.fault({ kind: 'null_first', method, times: 0 });
    expect((await own.settle(payment)).status).toBe(202);
    await w.chain.call('local_warp', 400);
    return { own, payment };
  };
  const readRow = (own: Shop) =>
    w.env.DB.prepare('SELECT status, failure_reason, doubted_at, next_check_at, created_at FROM settlements WHERE product_id = ?')
      .bind(own.product.product_id)
      .first<Record<string, string | number | null>>();
  const giveUp = async (own: Shop) => {
    await sweepAll(w);
    expect(await readRow(own)).toMatchObject({ status: 'pending', doubted_at: expect.any(Number) });
    await letDoubtsAge(w);
    await sweepAll(w);
    expect(await readRow(own)).toMatchObject({ status: 'failed', failure_reason: 'blockhash_expired' });
  };

  it.each(['getSignatureStatuses', 'getTransaction'])(
    'a payment hidden by %s alone stays pending, because two different views prove nothing',
    async (method) => {
      const { own, payment } = await landedUnseen(method);
      for (let round = 0; round < 3; round++) {
        expect((await own.settle(payment)).status).toBe(202);
        await sweepAll(w);
        await letDoubtsAge(w);
        expect(await readRow(own)).toMatchObject({ status: 'pending', doubted_at: null });
      }
      await w.chain.call('local_clearFaults');
      expect(mayServe(await own.settle(payment))).toBe(true);
      expect(await own.books()).toEqual(ONE);
    },
  );

  it('a payment hidden once loses its doubt at the next sight', async () => {
    const { own } = await landedUnseen('getSignatureStatuses', 'getTransaction');
    await sweepAll(w);
    expect((await readRow(own))!.doubted_at).not.toBeNull();
    await w.chain.call('local_clearFaults');
    await w.chain.fault({ kind: 'null_first', method: 'getTransaction', times: 0 });
    await letDoubtsAge(w);
    await sweepAll(w);
    expect(await readRow(own)).toMatchObject({ status: 'pending', doubted_at: null });
  });

  it('a payment hidden completely twice fails, and a check ten minutes later settles and credits it', async () => {
    const { own, payment } = await landedUnseen('getSignatureStatuses', 'getTransaction');
    await giveUp(own);
    const { next_check_at } = (await readRow(own))!;
    expect(Math.abs(Number(next_check_at) - Date.now() - 600_000)).toBeLessThan(30_000);
    const refused = await own.settle(payment);
    expect([refused.status, refused.body.meta.reason]).toEqual([422, 'invalid_exact_svm_transaction_failed']);
    await w.chain.call('local_clearFaults');
    await w.sweepAlone('settlements');
    expect(await readRow(own)).toMatchObject({ status: 'failed' });
    await sweepAll(w);
    expect(await readRow(own)).toBeNull();
    expect(await own.books()).toEqual(ONE);
    expect(await own.entitlement()).toMatchObject({ granted_units: 1, used_units: 0 });
    expect(mayServe(await own.settle(payment))).toBe(true);
    expect(mayServe(await own.settle(payment))).toBe(false);
  });

  it('a failed payment frees its identifier, and takes it again once it lands after all', async () => {
    const { own } = await landedUnseen('getSignatureStatuses', 'getTransaction');
    const another = async () => own.settle(await payAs(own.agent, await own.challenge({ units: 10 }), IDENTIFIER));
    const claims = () =>
      w.env.DB.prepare('SELECT count(identifier) AS n FROM tx_claims WHERE identifier LIKE ?')
        .bind(`%:${own.product.product_id}`)
        .first('n');
    expect([await claims(), (await another()).status]).toEqual([1, 409]);
    await giveUp(own);
    expect(await claims()).toBe(0);
    await w.chain.call('local_clearFaults');
    await sweepAll(w);
    expect(await own.books()).toEqual(ONE);
    const refused = await another();
    expect([await claims(), refused.status, refused.body.meta.reason]).toEqual([1, 409, 'payment_identifier']);
  });

  it('a payment that lands after all leaves its identifier to the payment that took it', async () => {
    const { own } = await landedUnseen('getSignatureStatuses', 'getTransaction');
    await giveUp(own);
    await w.chain.call('local_clearFaults');
    const second = await own.settle(await payAs(own.agent, await own.challenge(), IDENTIFIER));
    expect(second.status).toBe(200);
    await sweepAll(w);
    expect(await own.books()).toEqual({ ...ONE, claims: 2, payments: 2, receipts: 2 });
    expect(await own.entitlement()).toMatchObject({ granted_units: 2, used_units: 1 });
  });

  it('a payment hidden for a day is checked after ten minutes, two hours and a day, then no longer', async () => {
    const { own } = await landedUnseen('getSignatureStatuses', 'getTransaction');
    await giveUp(own);
    const older = (ms: number) =>
      w.env.DB.prepare('UPDATE settlements SET created_at = created_at - ? WHERE product_id = ?').bind(ms, own.product.product_id).run();
    for (const [hours, sooner] of [
      [2, 0],
      [24, 2],
    ] as const) {
      await older(sooner * 3_600_000);
      await sweepAll(w);
      const { created_at, next_check_at } = (await readRow(own))!;
      expect(Number(next_check_at) - Number(created_at)).toBe(hours * 3_600_000);
    }
    await older(22 * 3_600_000);
    await w.chain.fault({ kind: 'http_503', method: 'getEpochInfo', times: 2 });
    await sweepAll(w);
    expect((await readRow(own))!.next_check_at).toBeGreaterThan(Date.now());
    await w.chain.call('local_clearFaults');
    for (const method of ['getSignatureStatuses', 'getTransaction']) await w.chain.fault({ kind: 'null_first', method, times: 0 });
    await sweepAll(w);
    expect(await readRow(own)).toMatchObject({ status: 'failed', next_check_at: null });
  });
});

describe('payment missing at one node while the other is gone', REPEATED, () => {
  const { w, first, second } = withTwoNodes();
  const MINUTE = 60_000;

  it('checks slow down to one per hour, never give up, and settle the payment once it is visible', async () => {
    const shop = await openShop(w);
    const payment = await shop.pay();
    for (const method of ['getSignatureStatuses', 'getTransaction']) await first.fault({ kind: 'null_first', method, times: 0 });
    expect((await shop.settle(payment)).status).toBe(202);
    await second.fault({ kind: 'http_503', times: 0 });
    await first.call('local_warp', 400);
    const read = () =>
      w.env.DB.prepare('SELECT status, next_check_at FROM settlements WHERE product_id = ?')
        .bind(shop.product.product_id)
        .first<{ status: string; next_check_at: number }>();
    const pauses: number[] = [];
    for (const minutes of [3, 77, 30 * 24 * 60]) {
      await w.env.DB.prepare('UPDATE settlements SET created_at = created_at - ?')
        .bind(minutes * MINUTE)
        .run();
      await letDoubtsAge(w);
      await sweepAll(w);
      const { status, next_check_at } = (await read())!;
      expect(status).toBe('pending');
      pauses.push(Math.round((next_check_at - Date.now()) / MINUTE));
    }
    expect(pauses).toEqual([1, 10, 60]);
    await first.call('local_clearFaults');
    await sweepAll(w);
    expect(await read()).toBeNull();
    expect(await shop.books()).toEqual(ONE);
  });
});
