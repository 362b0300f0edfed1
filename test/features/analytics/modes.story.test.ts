import { expect, it } from 'vitest';
import { World } from '../../support/world.ts';

const w = new World();

/** What of a merchant is in the metrics already; null: nothing. */
const foldedOf = async (merchantId: string, livemode: boolean) =>
  w.env.DB.prepare('SELECT counts FROM analytics_totals WHERE merchant_id = ? AND livemode = ?')
    .bind(merchantId, livemode ? 1 : 0)
    .first<string>('counts');

it('live metrics are folded though nothing of a sandbox can be, and the sandbox goes on once it can', async () => {
  const [ada, eve] = [await w.merchant(), await w.merchant()];
  await w.sweepAlone('analytics');
  const payment = await w.connect(await w.product({ ...eve, key: eve.sandboxKey }));
  // An event that no metric can be made of stands in the way of all behind it.
  await w.env.DB.prepare(`UPDATE events SET data = '{}' WHERE subject_id = ?`).bind(payment.payment_id).run();
  await w.purchase(await w.product(ada), await w.chain.wallet());
  await w.sweepAlone('analytics');
  expect(JSON.parse((await foldedOf(ada.userId, true))!)).toMatchObject({ sessions: '1', confirmed: '1', receipts: '1' });
  expect(await foldedOf(eve.userId, false)).toBeNull();
  const { body } = await w.call('GET', `/v1/payments/${payment.payment_id}`, { key: eve.sandboxKey });
  await w.env.DB.prepare('UPDATE events SET data = ? WHERE subject_id = ?')
    .bind(JSON.stringify({ object: body }), payment.payment_id)
    .run();
  await w.sweepAlone('analytics');
  expect(JSON.parse((await foldedOf(eve.userId, false))!)).toEqual({ sessions: '1' });
});

it('deliveries that ended are folded with those of their mode', async () => {
  const ada = await w.merchant();
  const counted = (livemode: number, count: number) =>
    w.env.DB.prepare(
      'INSERT INTO ended_deliveries (merchant_id, livemode, quarter, has_succeeded, answer_class, count) VALUES (?, ?, 0, 1, 3, ?)',
    )
      .bind(ada.userId, livemode, count)
      .run();
  await counted(1, 2);
  await counted(0, 5);
  await w.sweepAlone('analytics');
  expect(JSON.parse((await foldedOf(ada.userId, true))!).deliveries).toBe('2');
  expect(JSON.parse((await foldedOf(ada.userId, false))!).deliveries).toBe('5');
});
