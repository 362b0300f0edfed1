import { beforeAll, describe, expect, it } from 'vitest';
import { landRefund, type Refundable, refundable } from '../../support/fixtures/refund.ts';
import { type Merchant, World } from '../../support/world.ts';

const DAY_MS = 86_400_000;

describe('unseen prepared refund', () => {
  const w = new World();
  let ada: Merchant;
  let one: Refundable;

  beforeAll(async () => {
    ada = await w.merchant();
  });

  const prepare = ({ path }: Refundable) => w.call('POST', `${path}/refund-transaction`, { key: ada.key });
  const refuses = async (payment: Refundable) => {
    const { status, body } = await prepare(payment);
    expect([status, body.meta?.reason]).toEqual([409, 'in_flight']);
  };
  /** Advances the service's clock and leaves the chain's. */
  const age = (ms: number) =>
    w.env.DB.prepare(
      'UPDATE refunds SET expires_at = expires_at - ?1, lapsed_at = lapsed_at - ?1, created_at = created_at - ?1 WHERE payment_id = ?2',
    )
      .bind(ms, one.id)
      .run();
  const lapsedAt = () =>
    w.env.DB.prepare('SELECT lapsed_at FROM refunds WHERE payment_id = ?').bind(one.id).first<number | null>('lapsed_at');

  it('a new refund can be prepared once the final chain passed the last height and was read from there', async () => {
    one = await refundable(w, ada);
    expect((await prepare(one)).status).toBe(200);
    await age(DAY_MS / 24);
    await w.sweepAlone('reference');
    // An hour of the service's clock proves nothing of a chain that made no blocks.
    await refuses(one);
    expect(await lapsedAt()).toBeNull();
    await w.chain.call('local_warp', 120);
    await w.env.DB.prepare('UPDATE cursors SET passed_at = 0').run();
    // The refund can no longer land, but may have landed already.
    await refuses(one);
    expect(await lapsedAt()).toEqual(expect.any(Number));
    await age(DAY_MS / 24);
    await refuses(one);
    await w.sweepAlone('reference');
    expect((await prepare(one)).status).toBe(200);
  });

  it('a landed refund that was not read yet is never paid twice, however late the cursor is', async () => {
    one = await refundable(w, ada);
    const signature = await landRefund(w, ada, one);
    await w.chain.call('local_warp', 120);
    await w.env.DB.prepare('UPDATE cursors SET passed_at = ?')
      .bind(Date.now() - 3 * DAY_MS)
      .run();
    await refuses(one);
    await age(2 * DAY_MS);
    await refuses(one);
    await w.sweepAlone('reference');
    await w.env.DB.prepare('UPDATE payment_candidates SET next_check_at = 0').run();
    await w.sweepAlone('candidates');
    const { status, body } = await prepare(one);
    expect([status, body.meta.reason]).toEqual([409, 'refunded']);
    const { body: payment } = await w.call('GET', one.path, { key: ada.key });
    expect(payment.refunded).toMatchObject([{ tx_signature: signature }]);
  });

  it('a refund does not lapse while no node answers', async () => {
    one = await refundable(w, ada);
    expect((await prepare(one)).status).toBe(200);
    await w.chain.call('local_warp', 120);
    await w.chain.fault({ kind: 'http_503', times: 0 });
    await refuses(one);
    expect(await lapsedAt()).toBeNull();
    await w.chain.call('local_clearFaults');
  });

  describe('deletion after eight days', () => {
    const rows = () => w.env.DB.prepare('SELECT count(*) AS n FROM refunds WHERE payment_id = ?').bind(one.id).first<number>('n');
    const forget = () => w.sweepAlone('refunds');
    const stillUntil = (at: number) => w.env.DB.prepare('UPDATE cursors SET passed_at = ?').bind(at).run();

    it('a refund is deleted only once the final chain passed its last height and was read from there', async () => {
      one = await refundable(w, ada);
      expect((await prepare(one)).status).toBe(200);
      await age(7.9 * DAY_MS);
      await w.chain.call('local_warp', 120);
      await forget();
      expect([await rows(), await lapsedAt()]).toEqual([1, null]);
      await age(0.2 * DAY_MS);
      await stillUntil(Date.now() - DAY_MS);
      await forget();
      expect([await rows(), await lapsedAt()]).toEqual([1, expect.any(Number)]);
      await age(DAY_MS / 24);
      await w.sweepAlone('reference');
      await forget();
      expect(await rows()).toBe(0);
    });

    it('a refund that landed and was not read is found instead of deleted', async () => {
      one = await refundable(w, ada);
      const signature = await landRefund(w, ada, one);
      await w.chain.call('local_warp', 120);
      await stillUntil(Date.now() - 20 * DAY_MS);
      await age(9 * DAY_MS);
      for (let time = 0; time < 3; time++) await forget();
      expect(await rows()).toBe(1);
      await w.sweepAlone('reference');
      await forget();
      expect(await rows()).toBe(1);
      await w.env.DB.prepare('UPDATE payment_candidates SET next_check_at = 0').run();
      await w.sweepAlone('candidates');
      await forget();
      expect(await rows()).toBe(1);
      expect((await w.call('GET', one.path, { key: ada.key })).body.refunded).toMatchObject([{ tx_signature: signature }]);
      expect((await prepare(one)).body.meta.reason).toBe('refunded');
    });

    it('a refund is not deleted while no node can show whether it may still land', async () => {
      one = await refundable(w, ada);
      expect((await prepare(one)).status).toBe(200);
      await age(9 * DAY_MS);
      await w.chain.fault({ kind: 'http_503', times: 0 });
      await forget();
      await w.chain.call('local_clearFaults');
      expect([await rows(), await lapsedAt()]).toEqual([1, null]);
    });
  });
});
