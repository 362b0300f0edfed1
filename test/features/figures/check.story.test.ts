import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { dateAt } from '#core/days.ts';
import { DAY } from '#core/time.ts';
import { sweepFigureCheck } from '#features/figures/check/check.ts';
import { newCtx } from '#platform/context.ts';
import { testEnv } from '../../world/env.ts';
import { multiply } from '../../world/multiply.ts';
import { type Merchant, World } from '../../world/world.ts';

const { DB } = testEnv;

describe('the nightly recomputation of figures', () => {
  const w = new World();
  let ada: Merchant;
  let product: { slug: string };
  const today = dateAt(Date.now(), 'UTC');

  beforeAll(async () => {
    ada = await w.merchant();
    product = await w.product(ada, { access_period_days: 30 });
    await w.purchase(product, await w.chain.wallet());
    await w.purchase(product, await w.chain.wallet());
    await w.connect(product);
    await w.sweepAlone('figures');
  });

  /** The check as it runs on the day after, and the lines of the log that tell of a difference. */
  async function check(env = w.env) {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    try {
      const ctx = newCtx(env, { requestId: 'req_figures', wallNow: Date.now() + DAY, defer: () => {} });
      const taken = await sweepFigureCheck(ctx);
      const lines = log.mock.calls.map(([line]) => JSON.parse(String(line))).filter(({ audit }) => audit === 'figures');
      return { taken, lines };
    } finally {
      log.mockRestore();
    }
  }
  const anew = () => DB.prepare('UPDATE figure_cursors SET checked_day = NULL').run();
  /** Changes the sums of the day as a lost or doubled step of the fold would. */
  async function tamper(change: (counts: Record<string, string>) => void) {
    const row = await DB.prepare('SELECT quarters FROM figure_days WHERE merchant_id = ? AND livemode = 1')
      .bind(ada.userId)
      .first<{ quarters: string }>();
    const quarters = JSON.parse(row!.quarters) as Record<string, Record<string, string>>;
    change(Object.values(quarters).find((counts) => counts.usdc_gross !== undefined)!);
    const write = DB.prepare('UPDATE figure_days SET quarters = ? WHERE merchant_id = ? AND livemode = 1');
    await write.bind(JSON.stringify(quarters), ada.userId).run();
    return () => write.bind(row!.quarters, ada.userId).run();
  }

  it('finds nothing where the figures are what the payments add up to, and looks once a day', async () => {
    expect(await check()).toEqual({ taken: 1, lines: [] });
    expect((await check()).taken).toBe(0);
  });

  it.each([
    ['usdc_gross', (counts: Record<string, string>) => Object.assign(counts, { usdc_gross: String(BigInt(counts.usdc_gross!) + 1n) })],
    ['confirmed', (counts: Record<string, string>) => Object.assign(counts, { confirmed: '7' })],
    ['sessions', (counts: Record<string, string>) => void delete counts.sessions],
  ])('reports that %s differs, by its name and nobody’s amounts', async (name, change) => {
    const restore = await tamper(change as (counts: Record<string, string>) => void);
    await anew();
    const { lines } = await check();
    expect(lines).toEqual([{ request_id: 'req_figures', audit: 'figures', account_id: ada.userId, subject_id: today, code: name }]);
    await restore();
    await anew();
    expect((await check()).lines).toEqual([]);
  });

  it('changes nothing of what it finds', async () => {
    const restore = await tamper((counts) => void Object.assign(counts, { confirmed: '9' }));
    await anew();
    await check();
    const stored = await DB.prepare('SELECT quarters FROM figure_days WHERE merchant_id = ? AND livemode = 1')
      .bind(ada.userId)
      .first('quarters');
    expect(String(stored)).toContain('"9"');
    await restore();
  });

  describe('of a merchant with more payments than are read at once', () => {
    const MANY = 4500;
    let paymentId: string;
    beforeAll(async () => {
      paymentId = (await DB.prepare("SELECT id FROM payments WHERE merchant_id = ? AND status = 'CONFIRMED' LIMIT 1")
        .bind(ada.userId)
        .first<string>('id'))!;
      const own = {
        id: "'many-' || i",
        nonce: "'many-' || i",
        reference: "'many-' || i",
        tx_signature: "'many-' || i",
        created_at: 'payments.created_at - (i % 3)',
      };
      await multiply(DB, 'payments', 'id', paymentId, MANY, own);
    });
    afterAll(() => DB.prepare("DELETE FROM payments WHERE id LIKE 'many-%'").run());

    it('reports the figures that lack them, and finds nothing once they tell of all', async () => {
      await anew();
      const codes = (await check()).lines.map(({ code }) => code);
      expect(codes).toEqual(['confirmed', 'receipts', 'sessions', 'usdc_count', 'usdc_gross']);
      const restore = await tamper((counts) => {
        for (const [name, each] of Object.entries({ confirmed: 1, receipts: 1, sessions: 1, usdc_count: 1, usdc_gross: 5_000_000 }))
          counts[name] = String(Number(counts[name]) + MANY * each);
      });
      await anew();
      expect(await check()).toEqual({ taken: 1, lines: [] });
      await restore();
    });

    it('counts what happens to its payments while they are read once', async () => {
      const restore = await tamper((counts) => {
        for (const [name, each] of Object.entries({ confirmed: 1, receipts: 1, sessions: 1, usdc_count: 1, usdc_gross: 5_000_000 }))
          counts[name] = String(Number(counts[name]) + MANY * each);
      });
      const open = await Promise.all([w.connect(product), w.connect(product), w.connect(product)]);
      let pages = 0;
      // Between two pages one session is paid, and another begins.
      const between = async () => {
        const bill = open[pages++];
        if (!bill) return;
        await w.confirm(bill.payment_id, await w.chain.pay(await w.chain.wallet(), bill));
        await w.connect(product);
      };
      const db = new Proxy(w.env.DB, {
        get: (target, name) =>
          name === 'batch'
            ? async (statements: D1PreparedStatement[]) => {
                const answer = await target.batch(statements);
                await between();
                return answer;
              }
            : Reflect.get(target, name),
      });
      await anew();
      const { lines } = await check({ ...w.env, DB: db });
      expect([pages > 2, lines]).toEqual([true, []]);
      await restore();
      await w.sweepAlone('figures');
    });
  });

  it('comes to every merchant sooner or later, where there are more than one night looks at', async () => {
    const day = Math.floor(Date.now() / DAY) * DAY;
    const others = Array.from({ length: 60 }, (_, i) => `${ada.userId.slice(0, 9)}${(0x1000 + i).toString(16)}-7000-8000-000000000000`);
    await DB.prepare(
      "INSERT INTO figure_days (merchant_id, livemode, day, quarters, products) SELECT value, 1, ?, ?, '{}' FROM json_each(?)",
    )
      .bind(day, JSON.stringify({ 0: { confirmed: '1' } }), JSON.stringify(others))
      .run();
    const told = new Set<string>();
    for (let night = 0; night < 40 && told.size < others.length; night++) {
      await anew();
      const { taken, lines } = await check();
      expect(taken).toBe(40);
      for (const { account_id } of lines) told.add(account_id);
    }
    expect(told.size).toBe(others.length);
    await DB.prepare('DELETE FROM figure_days WHERE merchant_id IN (SELECT value FROM json_each(?))').bind(JSON.stringify(others)).run();
  });
});
