import { beforeAll, describe, expect, it } from 'vitest';
import { dateAt, plusDays } from '#core/days.ts';
import { actIdOf } from '#core/ids.ts';
import { DAY } from '#core/time.ts';
import { expireNow } from '../../support/faults/expire-now.ts';
import { insertActs, prepareOnEvents } from '../../support/fixtures/acts.ts';
import { openShop, type Shop } from '../../support/people/agent.ts';
import { type Merchant, World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

describe('merchant analytics', () => {
  const w = new World({ FEE_BPS: '100', FEE_WALLET: 'Av7QWv6RRdrFxbb9GXWM1g8Gut59feSWcr9tRBia7xZa' });
  let ada: Merchant;
  let product: { slug: string; product_id: string };
  const today = dateAt(Date.now(), 'UTC');
  const summary = async (key = ada.key): Promise<Body> => (await w.call('GET', '/v1/account/summary', { key })).body;
  const analytics = async (query = '', key = ada.key): Promise<Body> =>
    (await w.call('GET', `/v1/account/analytics${query}`, { key })).body;
  const none = { gross: '0', net: '0', fee: '0', refunded: '0' };

  beforeAll(async () => {
    ada = await w.merchant();
    product = await w.product(ada, { access_period_days: 5 });
  });

  it('all metrics are zero before the first event', async () => {
    expect(await summary()).toMatchObject({
      active_templates: 1,
      paying_members: 0,
      renewals_due: { count: 0, window_days: 7 },
      open_support_threads: 0,
      receipts_issued: 0,
      confirmed_payments: 0,
      totals: { USDC: none, SOL: none },
    });
    const { funnel, daily, webhooks, top_products, window } = await analytics();
    expect(funnel).toEqual({ sessions: 0, pending: 0, confirmed: 0, failed: 0, expired: 0, conversion_rate: null });
    expect([daily.length, daily.at(-1).date, webhooks, top_products]).toEqual([14, today, {}, []]);
    expect(window).toEqual({ start: plusDays(today, -29), end: today, days: 30, timezone: 'UTC' });
  });

  const paid = { gross: '11', net: '10.9', fee: '0.1', refunded: '0' };
  it('a payment counts at once, and the numbers are the same after it is folded', async () => {
    const first = await w.connect(product);
    await w.confirm(first.payment_id, await w.chain.pay(await w.chain.wallet(), first, { units: 11_000_000n }));
    const ended = await w.connect(product);
    await expireNow(w, ended.payment_id);
    await w.connect(product);
    const before = await summary();
    expect(before).toMatchObject({ paying_members: 1, renewals_due: { count: 1 }, receipts_issued: 1, confirmed_payments: 1 });
    const asked = await analytics('?daily_days=3');
    await w.sweepAlone('analytics');
    expect({ ...(await summary()), as_of: '' }).toEqual({ ...before, as_of: '' });
    const folded = await analytics('?daily_days=3');
    expect({ ...folded, as_of: '' }).toEqual({ ...asked, as_of: '' });
    expect(folded.funnel).toEqual({ sessions: 3, pending: 1, confirmed: 1, failed: 0, expired: 1, conversion_rate: 0.3333 });
    expect(folded.members).toEqual({ new: 1, renewed: 0, expired: 0, active: 1 });
    // The price is 5. The excess counts, and an owed fee is not collected.
    const sums = { gross: '11', net: '11', fee: '0', refunded: '0' };
    expect(folded.totals).toEqual({ USDC: { ...sums, count: 1 }, SOL: { ...none, count: 0 } });
    expect(folded.daily.at(-1)).toEqual({ date: today, sessions: 3, confirmed: 1, failed: 0, USDC: sums, SOL: none });
    expect(folded.top_products).toEqual([{ product_id: product.product_id, name: 'Weather API', count: 1, USDC: sums, SOL: none }]);
    expect(paid.gross).toBe(sums.gross);
  });

  it('repeated sweeps fold each event once', async () => {
    const before = await analytics();
    for (let i = 0; i < 3; i++) await w.sweepAlone('analytics');
    expect({ ...(await analytics()), as_of: '' }).toEqual({ ...before, as_of: '' });
  });

  it('a dropped payment is subtracted on its own day, in money only', async () => {
    const eve = await w.merchant();
    const { payment } = await w.purchase(await w.product(eve), await w.chain.wallet());
    const { body: stored } = await w.call('GET', `/v1/payments/${payment.payment_id}`, { key: eve.key });
    await w.sweepAlone('analytics');
    expect((await summary(eve.key)).totals.USDC.gross).toBe('5');
    await storeEvent(w, stored, 'payment.orphaned', { orphaned_at: new Date().toISOString() });
    const { totals, confirmed_payments, receipts_issued } = await summary(eve.key);
    expect([totals.USDC, confirmed_payments, receipts_issued]).toEqual([none, 0, 1]);
    await w.sweepAlone('analytics');
    expect((await analytics('', eve.key)).daily.at(-1)).toMatchObject({ sessions: 1, confirmed: 1, USDC: none });
    await storeEvent(w, stored, 'payment.finalized', {}, { orphaned_at: new Date().toISOString() });
    await w.sweepAlone('analytics');
    expect((await summary(eve.key)).totals.USDC.gross).toBe('5');
  });

  it('payments of agents count as money and not as checkouts', async () => {
    const shop: Shop = await openShop(w);
    await shop.settle(await shop.pay());
    const { funnel, totals, daily } = await analytics('', shop.merchant.key);
    expect(funnel.sessions).toBe(0);
    expect(totals.USDC.count).toBe(1);
    expect([daily.at(-1).confirmed, daily.at(-1).USDC.gross]).toEqual([0, totals.USDC.gross]);
  });

  it('metrics cover one mode of one merchant', async () => {
    expect((await summary(ada.sandboxKey)).confirmed_payments).toBe(0);
    expect((await summary((await w.merchant()).key)).confirmed_payments).toBe(0);
    expect((await w.call('GET', '/v1/account/summary?mode=sandbox', { key: ada.token })).body.confirmed_payments).toBe(0);
    expect((await w.call('GET', '/v1/account/summary')).status).toBe(401);
  });

  it('analytics.csv has the same days and sums as the JSON', async () => {
    const { body, headers, status } = await w.call('GET', '/v1/account/analytics.csv?daily_days=3', { key: ada.key });
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    const { daily } = await analytics('?daily_days=3');
    const sums = (day: Body) => ['USDC', 'SOL'].flatMap((asset) => ['gross', 'net', 'fee', 'refunded'].map((name) => day[asset][name]));
    expect(body.split('\r\n')).toEqual([
      'date,sessions,confirmed,failed,usdc_gross,usdc_net,usdc_fee,usdc_refunded,sol_gross,sol_net,sol_fee,sol_refunded',
      ...daily.map((day: Body) => [day.date, day.sessions, day.confirmed, day.failed, ...sums(day)].join()),
      '',
    ]);
  });

  it.each([
    ['window_days=2', 'window_days'],
    ['window_days=91', 'window_days'],
    ['daily_days=2', 'daily_days'],
    ['daily_days=31', 'daily_days'],
    ['start_date=2026-01-01', 'end_date'],
    ['end_date=2026-01-01', 'start_date'],
    ['start_date=2026-01-02&end_date=2026-01-01', 'end_date'],
    ['start_date=2026-01-01&end_date=2026-04-01', 'start_date'],
    ['start_date=2026-02-30&end_date=2026-03-01', 'start_date'],
    ['start_date=yesterday&end_date=2026-03-01', 'start_date'],
  ])('the window %s is refused with 422', async (query, field) => {
    for (const path of ['analytics', 'analytics.csv']) {
      const { status, body } = await w.call('GET', `/v1/account/${path}?${query}`, { key: ada.key });
      expect([status, body.code, body.detail[0].loc]).toEqual([422, 'validation_error', ['query', field]]);
    }
  });

  it('start_date and end_date win over window_days, and one day is a valid window', async () => {
    const { window, daily } = await analytics(`?start_date=${today}&end_date=${today}&window_days=90`);
    expect([window, daily.length]).toEqual([{ start: today, end: today, days: 1, timezone: 'UTC' }, 1]);
    expect((await analytics('?start_date=2026-01-01&end_date=2026-03-31&daily_days=30')).window.days).toBe(90);
  });

  it('days follow the account’s time zone', async () => {
    const eve = await w.merchant();
    const shop = await w.product(eve);
    await w.purchase(shop, await w.chain.wallet());
    await w.sweepAlone('analytics');
    // Moves the payment to 23:30 UTC of the previous day, which is another date in half of the world.
    const yesterday = Date.parse(today) - DAY;
    const [row] = (
      await w.env.DB.prepare('SELECT quarters, products FROM analytics_days WHERE merchant_id = ?').bind(eve.userId).all<Body>()
    ).results;
    const counts = Object.assign({}, ...Object.values(JSON.parse(row.quarters)));
    await w.env.DB.batch([
      w.env.DB.prepare('UPDATE analytics_days SET day = ?, quarters = ? WHERE merchant_id = ?').bind(
        yesterday,
        JSON.stringify({ 94: counts }),
        eve.userId,
      ),
      w.env.DB.prepare('UPDATE analytics_quarters SET quarter = ? WHERE merchant_id = ?').bind(yesterday + 94 * 900_000, eve.userId),
    ]);
    for (const [timezone, date] of [
      ['UTC', plusDays(today, -1)],
      ['America/New_York', plusDays(today, -1)],
      ['Asia/Kolkata', today],
      ['Pacific/Auckland', today],
    ] as const) {
      await w.call('PATCH', '/v1/account/me', { key: eve.key, body: { timezone } });
      const { daily, top_products } = await analytics(`?start_date=${date}&end_date=${date}`, eve.key);
      expect([timezone, daily[0].USDC.gross, top_products[0]?.USDC.gross]).toEqual([timezone, '5', '5']);
      for (const other of [plusDays(date, -1), plusDays(date, 1)]) {
        const neighbour = await analytics(`?start_date=${other}&end_date=${other}`, eve.key);
        expect([timezone, neighbour.daily[0].USDC.gross, neighbour.top_products]).toEqual([timezone, '0', []]);
      }
    }
  });
});

/** Stores an event of a payment as the finality sweep would. */
async function storeEvent(w: World, stored: Body, type: string, change: object, previous?: object): Promise<void> {
  const { results } = await prepareOnEvents(w.env.DB, 'SELECT max(subject_version) + 1 AS version FROM events WHERE subject_id = ?')
    .bind(stored.payment_id)
    .all<{ version: number }>();
  const version = results[0]!.version;
  const row = await w.env.DB.prepare('SELECT merchant_id FROM payments WHERE id = ?')
    .bind(stored.payment_id)
    .first<{ merchant_id: string }>();
  await w.env.DB.prepare(
    insertActs(`SELECT ? AS id, ? AS merchant_id, 1 AS livemode, 'payment' AS subject_type, ? AS subject_id, ? AS subject_version, ? AS type,
      ? AS data, NULL AS product_id, ? AS payment_id, 'req' AS request_id, ? AS created_at, NULL AS fanned_out_at`),
  )
    .bind(
      actIdOf(Date.now(), row!.merchant_id, stored.payment_id, version),
      row!.merchant_id,
      stored.payment_id,
      version,
      type,
      JSON.stringify({ object: { ...stored, ...change }, ...(previous ? { previous } : {}) }),
      stored.payment_id,
      Date.now(),
    )
    .run();
}
