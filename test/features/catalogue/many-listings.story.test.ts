// @module-tag volume
import { afterEach, describe, expect, it, vi } from 'vitest';
import { catalogueOf, ORIGIN, openListedShop, openServers, protectedBy } from '../../support/people/listed-shop.ts';
import { World } from '../../support/world.ts';

const MANY = 10_000;

describe('catalogue with 10,000 listings', () => {
  const w = new World();
  const { list, search } = catalogueOf(w);
  afterEach(() => vi.restoreAllMocks());

  it('every page, search and filter stays within the limits of an invocation', async () => {
    const shop = await openListedShop(w);
    openServers({ [ORIGIN]: protectedBy(shop) });
    await w.sweepAlone('listings');
    await w.env.DB.prepare(
      `INSERT INTO listings (id, merchant_id, product_id, call, target, resource, origin, shown, good_at, next_probe_at, created_at, updated_at)
        SELECT unhex(substr(hex(l.id), 1, 20) || printf('%012d', j.value)), l.merchant_id, l.product_id, 'GET', '/x/' || j.value, l.origin || '/x/' || j.value,
          l.origin, l.shown, l.good_at, l.next_probe_at, l.created_at, l.updated_at - j.value / 3 FROM listings l, json_each(?) j`,
    )
      .bind(JSON.stringify(Array.from({ length: MANY - 1 }, (_, index) => index)))
      .run();
    await w.env.DB.prepare(
      `INSERT INTO listing_words (word, weight, listing_id) SELECT j.value ->> 0, j.value ->> 1, l.id FROM listings l,
        json_each(json_array(json_array('report', 4), json_array('weather', 5), json_array('x' || substr(l.target, 4), 2))) j
        WHERE l.target LIKE '/x/%'`,
    ).run();
    const [first, deep] = [await list('?limit=100'), await list('?limit=100&offset=9900')];
    expect([first.pagination.total, first.items.length, deep.items.length]).toEqual([MANY, 100, 100]);
    expect(new Set([...first.items, ...deep.items].map(({ resource }) => resource)).size).toBe(200);
    expect((await list(`?payTo=${shop.merchant.wallet.address}&offset=9990`)).items).toHaveLength(10);
    const everywhere = await search('weather');
    expect([everywhere.resources.length, everywhere.partialResults]).toEqual([20, true]);
    const one = await search('weather x4711');
    expect(one.resources[0].resource).toBe(`${ORIGIN}/x/4711`);
    const next = await search('weather', `&cursor=${everywhere.pagination.cursor}`);
    expect(new Set([...everywhere.resources, ...next.resources].map(({ resource }) => resource)).size).toBe(40);
  });
});
