// @module-tag quick
import { beforeAll, describe, expect, it } from 'vitest';
import { type Merchant, World } from '../../support/world.ts';

describe('memberships API', () => {
  const w = new World();
  let ada: Merchant;
  let wallet: string;
  const bought: { membership_id: string; product_id: string; payment_id: string; customer_ref: string }[] = [];

  const lookup = (query: string, credential = ada.key) => w.call('GET', `/v1/memberships/lookup?${query}`, { key: credential });

  beforeAll(async () => {
    ada = await w.merchant();
    const buyer = await w.chain.wallet();
    wallet = buyer.address;
    const short = await w.product(ada, { access_period_days: 7 });
    const long = await w.product(ada, { access_period_days: 30 });
    for (const [product, customer_ref] of [
      [long, 'customer-a'],
      [short, 'customer-a'],
      [short, 'customer-b'],
    ] as const) {
      const { payment, confirmed } = await w.purchase(product, buyer, { customer_ref, email: 'Buyer@Example.com' });
      bought.push({ membership_id: confirmed.membership_id, product_id: product.product_id, payment_id: payment.payment_id, customer_ref });
    }
  });

  it('the list is newest first and paginated', async () => {
    const { status, body } = await w.call('GET', '/v1/memberships?per_page=2', { key: ada.key });
    expect(status).toBe(200);
    expect(body).toMatchObject({ page: 1, per_page: 2, total: 3, total_pages: 2, has_more: true });
    const next = await w.call('GET', '/v1/memberships?per_page=2&page=2', { key: ada.token });
    expect(next.body).toMatchObject({ page: 2, total: 3, has_more: false });
    const ids = [...body.items, ...next.body.items].map(({ membership_id }: { membership_id: string }) => membership_id);
    expect(ids).toEqual(bought.map(({ membership_id }) => membership_id).reverse());
    const past = await w.call('GET', '/v1/memberships?page=9', { key: ada.key });
    expect([past.status, past.body.items, past.body.total]).toEqual([200, [], 3]);
  });

  it('live and sandbox memberships are separate', async () => {
    for (const answer of [
      await w.call('GET', '/v1/memberships', { key: ada.sandboxKey }),
      await w.call('GET', '/v1/memberships?mode=sandbox', { key: ada.token }),
    ])
      expect([answer.status, answer.body.total, answer.body.items]).toEqual([200, 0, []]);
  });

  it('lookup finds a membership by each identifier, with and without the product', async () => {
    const [first, , third] = bought;
    for (const [query, expected] of [
      [`customer_ref=customer-b`, third],
      [`payment_id=${first!.payment_id}`, first],
      [`customer_ref=customer-a&product_id=${first!.product_id}`, first],
      [`email=buyer@example.com&product_id=${first!.product_id}`, first],
      [`email=BUYER@example.com&customer_ref=customer-b`, third],
      [`wallet_address=${wallet}&product_id=${first!.product_id}`, first],
    ] as const) {
      const { status, body } = await lookup(query);
      expect([query, status, body.membership_id]).toEqual([query, 200, expected!.membership_id]);
    }
  });

  it('lookup returns the longest of several memberships', async () => {
    const { body } = await lookup('customer_ref=customer-a');
    expect(body.membership_id).toBe(bought[0]!.membership_id);
    expect(Date.parse(body.paid_through) - Date.parse(body.created_at)).toBe(30 * 86_400_000);
    expect((await lookup(`wallet_address=${wallet}`)).body.membership_id).toBe(bought[0]!.membership_id);
  });

  it('a membership shows customer, end and last payment', async () => {
    const { body } = await lookup('customer_ref=customer-b');
    expect(body).toMatchObject({
      product_id: bought[2]!.product_id,
      customer: { wallet_address: wallet, customer_ref: 'customer-b', email: 'buyer@example.com' },
      status: 'active',
      cancel_at_period_end: false,
      delivery: { status: 'not_required', attempts: 0 },
      last_payment_id: bought[2]!.payment_id,
      livemode: true,
      version: 1,
    });
  });

  it.each([
    ['no name at all', '', 422, 'validation_error'],
    ['a product alone', 'product_id=01900000-0000-7000-8000-000000000000', 422, 'validation_error'],
    ['a payment id that is none', 'payment_id=5', 422, 'validation_error'],
    ['an unknown customer', 'customer_ref=customer-z', 404, 'not_found'],
    ['two names of different people', 'customer_ref=customer-b&email=other@example.com', 404, 'not_found'],
    ['a wildcard', 'customer_ref=customer-%25', 404, 'not_found'],
    ['SQL', "customer_ref=' OR '1'='1", 404, 'not_found'],
    ['a customer reference of 181 characters', `customer_ref=${'x'.repeat(181)}`, 422, 'validation_error'],
  ])('a lookup by %s is refused', async (_what, query, status, code) => {
    const answer = await lookup(query);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  it('another tenant finds nothing', async () => {
    const stranger = await w.merchant();
    for (const query of [`payment_id=${bought[0]!.payment_id}`, `wallet_address=${wallet}`, 'customer_ref=customer-a'])
      expect((await lookup(query, stranger.key)).status).toBe(404);
    expect((await lookup(`payment_id=${bought[0]!.payment_id}`, ada.sandboxKey)).status).toBe(404);
  });
});
