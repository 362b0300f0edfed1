// @module-tag volume
import { beforeAll, describe, expect, it } from 'vitest';
import { actOfEvent } from '#core/ids.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { SALES_PER_QUARTER, seedFigures } from '../../support/fixtures/many-analytics.ts';
import { multiply } from '../../support/fixtures/multiply.ts';
import { testEnv } from '../../support/runner/env.ts';
import { rowsOf, withRowCount, worstOf } from '../../support/runner/rows-read.ts';
import { type Merchant, World } from '../../support/world.ts';

const { DB } = testEnv;
/** Upper bound of rows read for any window, independent of the sales in it. */
const ROWS_MAX = 400;

describe('analytics of a merchant with a hundred thousand payments', () => {
  const w = new World();
  let ada: Merchant;

  beforeAll(async () => {
    ada = await w.merchant();
    const { payment } = await w.purchase(await w.product(ada, { access_period_days: 30 }), await w.chain.wallet());
    await w.sweepAlone('analytics');
    await seedFigures(DB, payment.payment_id);
  }, 60_000);

  it.each(['summary', 'analytics?window_days=90&daily_days=30', 'analytics?window_days=3', 'analytics.csv?window_days=90&daily_days=30'])(
    `%s reads at most ${ROWS_MAX} rows, in every time zone`,
    async (path) => {
      for (const timezone of ['UTC', 'Asia/Kolkata', 'Pacific/Auckland']) {
        await w.call('PATCH', '/v1/account/me', { key: ada.key, body: { timezone } });
        const { status } = await w.call('GET', `/v1/account/${path}`, { key: ada.key, rowsMax: ROWS_MAX });
        expect(status).toBe(200);
      }
    },
  );

  it('the sums of the window are exact', async () => {
    await w.call('PATCH', '/v1/account/me', { key: ada.key, body: { timezone: 'UTC' } });
    const { body } = await w.call('GET', '/v1/account/analytics?window_days=90&daily_days=30', { key: ada.key });
    expect(body.totals.USDC.gross).toBe(String(89 * 96 * SALES_PER_QUARTER * 5 + 5));
    expect(body.daily.at(-2)).toMatchObject({ sessions: 96 * SALES_PER_QUARTER, USDC: { gross: String(96 * SALES_PER_QUARTER * 5) } });
  });
});

describe('fold of a long history', () => {
  const SIZES = [500, 1500 * Number(testEnv.TEST_SOAK)];
  /** The last page is seldom full. */
  const SLACK = 1.1;

  it(`the fold reads and writes as much per payment for ${SIZES[1]} payments as for the first, and counts every one`, async () => {
    const w = new World();
    const ada = await w.merchant();
    const { payment } = await w.purchase(await w.product(ada, { access_period_days: 30 }), await w.chain.wallet());
    const tables = ['analytics_days', 'analytics_quarters', 'analytics_totals', 'analytics_cursors'];
    const confirmed = await prepareOnEvents(DB, "SELECT id FROM events WHERE type = 'payment.confirmed' AND subject_id = ?")
      .bind(payment.payment_id)
      .first<{ id: string }>();
    let copied = 0;
    let first: number | null = null;
    for (const size of SIZES) {
      await multiply(DB, 'acts', 'id', actOfEvent(confirmed!.id), size - copied, {
        seq: '(SELECT max(seq) FROM acts) + i',
        id: `printf('evt_%025d', ${copied} + i)`,
      });
      copied = size;
      await DB.batch(tables.map((table) => DB.prepare(`DELETE FROM ${table}`)));
      const { env, readings } = withRowCount(w.env);
      await w.sweepAlone('analytics', env);
      const rowsEach = rowsOf(readings) / (size + 1);
      first ??= rowsEach;
      expect(rowsEach, worstOf(readings)).toBeLessThan(first * SLACK);
      const { body } = await w.call('GET', '/v1/account/summary', { key: ada.key });
      expect([body.confirmed_payments, body.totals.USDC.gross]).toEqual([size + 1, String(5 * (size + 1))]);
    }
  });
});
