import { afterEach, describe, expect, it, vi } from 'vitest';
import { catalogueOf, ORIGIN, openListedShop, openServers, protectedBy } from '../../support/people/listed-shop.ts';
import { World } from '../../support/world.ts';

describe('speed', () => {
  const w = new World();
  afterEach(() => vi.restoreAllMocks());
  it('10,000', async () => {
    const shop = await openListedShop(w);
    openServers({ [ORIGIN]: protectedBy(shop) });
    await w.sweepAlone('listings');
    await w.env.DB.prepare(`INSERT INTO products SELECT * FROM products WHERE 0`).run();
    await w.env.DB.prepare(
      `INSERT INTO listings (id, merchant_id, product_id, call, target, resource, origin, shown, good_at, next_look_at, created_at, updated_at)
       SELECT 'l' || value, l.merchant_id, l.product_id, 'GET', '/x/' || value, l.origin || '/x/' || value, l.origin, l.shown, l.good_at, l.next_look_at, l.created_at, l.updated_at - value / 3
       FROM listings l, json_each(?) WHERE l.product_id = ?`,
    )
      .bind(JSON.stringify(Array.from({ length: 10_000 }, (_, i) => i)), shop.product.product_id)
      .run();
    await w.env.DB.prepare(
      `UPDATE listings SET words = json_object('weather', 5, 'forecast', 4, 'x' || substr(id, 2), 2) WHERE id LIKE 'l%'`,
    ).run();
    const { list, search } = catalogueOf(w);
    for (const [name, run] of [
      ['list', () => list()],
      ['list deep', () => list('?offset=9000')],
      ['search', () => search('weather')],
      ['search two', () => search('weather forecast x12')],
      ['payTo', () => list(`?payTo=${shop.merchant.wallet.address}`)],
    ] as const) {
      const times = [];
      for (let i = 0; i < 20; i++) {
        const at = performance.now();
        await run();
        times.push(performance.now() - at);
      }
      times.sort((a, b) => a - b);
      console.log(name, 'p50', times[10]!.toFixed(1), 'p95', times[18]!.toFixed(1));
    }
    expect((await list()).pagination.total).toBe(10_001);
  });
});
