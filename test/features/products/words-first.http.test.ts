import { beforeAll, describe, expect, it } from 'vitest';
import { type Merchant, World } from '../../support/world.ts';

describe('order of checks in PATCH /v1/products/{product_id}', () => {
  const w = new World();
  let ada: Merchant;
  const patch = (id: string, body: unknown) => w.call('PATCH', `/v1/products/${id}`, { key: ada.key, body });
  beforeAll(async () => {
    ada = await w.merchant();
  });

  it('the body is validated before the product is loaded', async () => {
    for (const [body, status, code] of [
      [{ product_type: 'course' }, 400, 'invalid_product_type'],
      [{ price: { asset: 'USDC', amount: '0.0000001' } }, 422, 'validation_error'],
      [{ name: 'Sold elsewhere' }, 404, 'not_found'],
    ] as const) {
      const answer = await patch('00000000-0000-4000-8000-000000000000', body);
      expect([body, answer.status, answer.body.code]).toEqual([body, status, code]);
    }
  });

  it('a product can change to type telegram without a delivery target, and then requires an identity', async () => {
    const { product_id } = await w.product(ada, { usage_units: null, access_period_days: 30 });
    const { status, body } = await patch(product_id, { product_type: 'telegram' });
    expect([status, body.product_type, body.requires_identity, body.delivery]).toEqual([200, 'telegram', 'telegram', undefined]);
  });
});
