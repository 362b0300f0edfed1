import { beforeAll, describe, expect, it } from 'vitest';
import { type Merchant, World } from '../../support/world.ts';

describe('list filters', () => {
  const w = new World();
  let ada: Merchant;
  const get = (path: string) => w.call('GET', path, { key: ada.key });
  const idsOf = (body: { items: { product_id: string }[] }) => body.items.map(({ product_id: id }) => id);
  beforeAll(async () => {
    ada = await w.merchant();
  });

  it('the status filter selects products', async () => {
    const active = await w.product(ada);
    const archived = await w.product(ada);
    await w.call('POST', `/v1/products/${archived.product_id}/archive`, { key: ada.key });
    expect(idsOf((await get('/v1/products?status=active')).body)).toEqual([active.product_id]);
    expect(idsOf((await get('/v1/products?status=archived')).body)).toEqual([archived.product_id]);
    expect((await get('/v1/products')).body.total).toBe(2);
    expect((await get('/v1/products?status=gone')).status).toBe(422);
  });

  it('status, product and wallet filters select memberships', async () => {
    const product = await w.product(ada, { access_period_days: 30, usage_units: null });
    const [buyer, other] = [await w.chain.wallet(), await w.chain.wallet()];
    await w.purchase(product, buyer);
    await w.purchase(product, other);
    const totals = async (...queries: string[]) =>
      Promise.all(queries.map(async (query) => (await get(`/v1/memberships?${query}`)).body.total));
    expect(await totals('status=active', 'status=expired', 'status=pending', 'status=grace', 'status=cancelled')).toEqual([2, 0, 0, 0, 0]);
    expect(await totals(`product_id=${product.product_id}`, `product_id=${crypto.randomUUID()}`)).toEqual([2, 0]);
    expect(await totals(`wallet_address=${buyer.address}&status=active`, `wallet_address=${buyer.address}&status=expired`)).toEqual([1, 0]);
    expect((await get('/v1/memberships?status=gone')).body.detail[0].loc).toEqual(['query', 'status']);
  });

  it.each([
    ['created_from=2026-11-23&created_to=2026-11-22', 'created_to'],
    ['created_from=2026-11-23T12:00:00Z&created_to=2026-11-23T12:00:00%2B01:00', 'created_to'],
    ['min_amount=5&max_amount=4.999', 'max_amount'],
    ['min_amount=10&max_amount=9', 'max_amount'],
  ])('a reversed range is 422: %s', async (query, field) => {
    const { status, body } = await get(`/v1/payments?${query}`);
    expect([status, body.code, body.detail]).toEqual([
      422,
      'validation_error',
      [expect.objectContaining({ loc: ['query', field], type: 'reversed_range' })],
    ]);
  });

  it('a range of one moment or one amount is accepted', async () => {
    expect((await get('/v1/payments?created_from=2026-11-23&created_to=2026-11-23&min_amount=5&max_amount=5.0')).status).toBe(200);
  });

  it('recover with since after until is 422', async () => {
    const endpoint = await w.call('POST', '/v1/webhooks/endpoints', { key: ada.key, body: { url: 'https://shop.example.com/hooks' } });
    const body = { since: '2026-11-23T00:00:00Z', until: '2026-11-22T00:00:00Z' };
    const refused = await w.call('POST', `/v1/webhooks/endpoints/${endpoint.body.endpoint_id}/recover`, { key: ada.key, body });
    expect([refused.status, refused.body.detail[0].loc]).toEqual([422, ['body', 'until']]);
  });
});
