import { beforeAll, describe, expect, it } from 'vitest';
import { type Merchant, World } from '../../support/world.ts';

describe('validation problems', () => {
  const w = new World();
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });
  const PRICE = { asset: 'USDC', amount: '5' };
  const CASES: [string, string, unknown, (string | number)[], string][] = [
    ['POST', '/v1/products', { price: PRICE }, ['body', 'name'], 'Required'],
    ['POST', '/v1/products', { name: 5, price: PRICE }, ['body', 'name'], 'Expected a string'],
    ['POST', '/v1/products', { name: '', price: PRICE }, ['body', 'name'], 'Expected at least 1 character'],
    ['POST', '/v1/products', { name: 'X', price: '2' }, ['body', 'price'], 'Expected an object with asset, amount'],
    ['POST', '/v1/products', { name: 'X', price: { ...PRICE, asset: 'EUR' } }, ['body', 'price', 'asset'], 'Expected USDC or SOL'],
    ['POST', '/v1/products', { name: 'X', price: PRICE, grace_hours: 9000 }, ['body', 'grace_hours'], 'Expected at most 8760'],
    ['POST', '/v1/products', { name: 'X', price: PRICE, usage_units: '5' }, ['body', 'usage_units'], 'Expected a number, or null'],
    ['POST', '/v1/products', { name: 'X', price: PRICE, success_url: 'nowhere' }, ['body', 'success_url'], 'Expected an https URL'],
    [
      'POST',
      '/v1/access/entitlements/consume',
      { product_id: crypto.randomUUID(), customer: 'u' },
      ['body', 'customer'],
      'Expected an object with wallet_address, customer_ref',
    ],
    ['GET', '/v1/products?per_page=500', undefined, ['query', 'per_page'], 'Expected at most 100'],
    ['GET', '/v1/products?status=gone', undefined, ['query', 'status'], 'Expected active or archived'],
    ['GET', '/v1/products/nothing', undefined, ['path', 'product_id'], 'Expected a UUID'],
    [
      'GET',
      '/v1/payments?created_from=yesterday',
      undefined,
      ['query', 'created_from'],
      'Expected a date and time with a time zone, such as 2026-11-21T09:00:00Z, or a date such as 2026-11-21',
    ],
  ];
  it.each(CASES)('a problem states once what %s %s expects: %j', async (method, path, body, loc, msg) => {
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const answer = await w.call(method, path, { key: ada.key, headers, ...(body === undefined ? {} : { body }) });
    expect(answer.status).toBe(422);
    expect(answer.body.detail.filter((problem: { loc: unknown }) => JSON.stringify(problem.loc) === JSON.stringify(loc))).toEqual([
      expect.objectContaining({ loc, msg }),
    ]);
  });
});
