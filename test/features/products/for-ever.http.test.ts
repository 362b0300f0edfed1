import { beforeAll, describe, expect, it } from 'vitest';
import { type Merchant, World } from '../../support/world.ts';

interface Product {
  product_id: string;
  usage_units: number | null;
  access_period_days: number | null;
}

describe('product without units and days', () => {
  const w = new World();
  let ada: Merchant;
  const patch = (id: string, body: unknown) => w.call('PATCH', `/v1/products/${id}`, { key: ada.key, body });
  const read = async (id: string): Promise<Product> => (await w.call('GET', `/v1/products/${id}`, { key: ada.key })).body;
  beforeAll(async () => {
    ada = await w.merchant();
  });

  it('a product sells for ever only if both fields are null, and one null alone is 422 ambiguous', async () => {
    const terms = async (id: string) => {
      const { usage_units, access_period_days } = await read(id);
      return [usage_units, access_period_days];
    };
    const byUse: Product = await w.product(ada, {});
    expect(await terms(byUse.product_id)).toEqual([1, null]);
    const refused = await patch(byUse.product_id, { usage_units: null });
    expect([refused.status, refused.body.detail[0]]).toMatchObject([422, { loc: ['body', 'usage_units'], type: 'ambiguous' }]);
    const byTime: Product = await w.product(ada, { product_type: 'link', access_period_days: 7 });
    expect((await patch(byTime.product_id, { access_period_days: null })).status).toBe(422);
    expect([await terms(byUse.product_id), await terms(byTime.product_id)]).toEqual([
      [1, null],
      [null, 7],
    ]);

    const raced: Product = await w.product(ada, { usage_units: 5, access_period_days: 7 });
    const racers = await Promise.all([
      patch(raced.product_id, { usage_units: null }),
      patch(raced.product_id, { access_period_days: null }),
    ]);
    expect(racers.map(({ status }) => status).sort()).toEqual([200, 422]);

    const both = { usage_units: null, access_period_days: null };
    expect((await patch(byUse.product_id, both)).body).toMatchObject(both);
    expect((await patch(byUse.product_id, { name: 'Weather for ever' })).body).toMatchObject({ ...both, name: 'Weather for ever' });
  });
});
