import { expect, it } from 'vitest';
import { changeActs, isLedBy } from '../../support/fixtures/acts.ts';
import { World } from '../../support/world.ts';

const w = new World();

const readFolded = async (merchantId: string, livemode: boolean) =>
  w.env.DB.prepare('SELECT counts FROM analytics_totals WHERE merchant_id = ? AND livemode = ?')
    .bind(merchantId, livemode ? 1 : 0)
    .first<string>('counts');

it('live metrics are folded while a sandbox event cannot be, and the sandbox continues once it can', async () => {
  const [ada, eve] = [await w.merchant(), await w.merchant()];
  await w.sweepAlone('analytics');
  const payment = await w.connect(await w.product({ ...eve, key: eve.sandboxKey }));
  // An event that cannot be folded blocks all later ones of its mode.
  const setData = (data: object) => changeActs(w.env.DB, isLedBy(payment.payment_id), [], ([event]) => Object.assign(event!, { data }));
  await setData({});
  await w.purchase(await w.product(ada), await w.chain.wallet());
  await w.sweepAlone('analytics');
  expect(JSON.parse((await readFolded(ada.userId, true))!)).toMatchObject({ sessions: '1', confirmed: '1', receipts: '1' });
  expect(await readFolded(eve.userId, false)).toBeNull();
  const { body } = await w.call('GET', `/v1/payments/${payment.payment_id}`, { key: eve.sandboxKey });
  const { now: _, ...object } = body;
  await setData({ object });
  await w.sweepAlone('analytics');
  expect(JSON.parse((await readFolded(eve.userId, false))!)).toEqual({ sessions: '1' });
});

it('ended deliveries are folded in their own mode', async () => {
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
  expect(JSON.parse((await readFolded(ada.userId, true))!).deliveries).toBe('2');
  expect(JSON.parse((await readFolded(ada.userId, false))!).deliveries).toBe('5');
});
