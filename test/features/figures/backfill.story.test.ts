import { beforeAll, describe, expect, it } from 'vitest';
import { openShop } from '../../world/agent.ts';
import { expireNow } from '../../world/expire-now.ts';
import { withFaults } from '../../world/faults.ts';
import { type Merchant, World } from '../../world/world.ts';

const TABLES = ['figure_days', 'figure_quarters', 'figure_totals'];

describe('figures of before there were figures', () => {
  const w = new World();
  let ada: Merchant;
  let product: { slug: string };
  const forget = () => w.env.DB.batch([...TABLES, 'figure_cursors'].map((table) => w.env.DB.prepare(`DELETE FROM ${table}`)));
  /** All that is stored, as text. */
  const stored = async (): Promise<string[][]> =>
    Promise.all(
      TABLES.map(async (table) =>
        (await w.env.DB.prepare(`SELECT * FROM ${table}`).all<Record<string, unknown>>()).results.map((row) => canonical(row)).sort(),
      ),
    );

  beforeAll(async () => {
    ada = await w.merchant();
    product = await w.product(ada, { access_period_days: 30 });
    const buyer = await w.chain.wallet();
    await w.purchase(product, buyer);
    await w.purchase(product, buyer);
    await w.connect(product);
    await expireNow(w, (await w.connect(product)).payment_id);
    const short = await w.connect(product);
    const pennies = await w.chain.pay(buyer, short, { units: 1n });
    await w.confirm(short.payment_id, pennies);
    await w.call('POST', `/v1/payments/${short.payment_id}/accept-unmatched`, { key: ada.key, body: { tx_signature: pennies } });
    const shop = await openShop(w);
    await shop.settle(await shop.pay());
  });

  it('are what the events had added up to, of payments wherever they are kept', async () => {
    await w.env.DB.prepare('DELETE FROM figure_cursors').run();
    // From the first event on: as if figures had always been.
    await w.env.DB.prepare("INSERT INTO figure_cursors VALUES ('events', 0, 0, 0, NULL, '', NULL, 1)").run();
    await w.sweepAlone('figures');
    const folded = await stored();
    expect(folded.map((rows) => rows.length > 0)).toEqual([true, true, true]);
    await forget();
    await w.sweepAlone('figures');
    expect(await stored()).toEqual(folded);
  });

  it('count each thing once that happens while they are made, wherever the making is cut', async () => {
    await forget();
    const openBefore = await w.connect(product);
    for (let failsAt = 1; failsAt <= 14; failsAt++) {
      const { env } = withFaults(w.env, { after: ({ number }) => number === failsAt });
      await w.env.DB.prepare("UPDATE sweeps SET due_at = 0, lease_until = 0 WHERE name = 'figures'").run();
      await w.runSweep({ sweep: 'figures', round: 1, requestId: 'cron_cut' }, env).catch(() => null);
      if (failsAt === 4) await w.confirm(openBefore.payment_id, await w.chain.pay(await w.chain.wallet(), openBefore));
      if (failsAt === 8) await w.purchase(product, await w.chain.wallet());
    }
    await w.sweepAlone('figures');
    const cut = await stored();
    await forget();
    await w.sweepAlone('figures');
    expect(await stored()).toEqual(cut);
    const { body } = await w.call('GET', '/v1/account/summary', { key: ada.key });
    expect([body.confirmed_payments, body.paying_members]).toEqual([5, 3]);
  });
});

/** A row with what is in its JSON in one order, whoever wrote it. */
function canonical(row: Record<string, unknown>): string {
  const ordered = (value: unknown): unknown =>
    typeof value === 'object' && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([name, inner]) => [name, ordered(inner)]),
        )
      : value;
  const parsed = Object.entries(row).map(([name, value]) => [
    name,
    typeof value === 'string' && value.startsWith('{') ? ordered(JSON.parse(value)) : value,
  ]);
  return JSON.stringify(parsed);
}
