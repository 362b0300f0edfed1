import { afterAll, describe, expect, it } from 'vitest';
import { customerIdOf } from '#core/ids.ts';
import { MeteredShop, projectSession } from '../../support/clients/metered.ts';
import { collectingWorld, SubscriptionSeller } from '../../support/models/subscription-life.ts';
import { newKey } from '../../support/people/agent.ts';
import { endSkips } from '../../support/runner/clock.ts';
import type { Merchant } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

describe('refusals and races of a merge', () => {
  const w = collectingWorld();
  afterAll(endSkips);

  const createCustomers = async (ada: Merchant, refs: string[], key = ada.key) => {
    for (const customer_ref of refs) await w.call('POST', '/v1/customers', { key, body: { customer_ref } });
    return refs.map((customerRef) => customerIdOf(ada.userId, key === ada.key, { customerRef }));
  };
  const merge = async (key: string, into: string, from: string) => {
    const { status, body } = await w.call('POST', `/v1/customers/${into}/merge`, { key, body: { from } });
    return { status, reason: body.meta?.reason };
  };

  it('a native subscription of `from`, and one of the survivor that would use up time of `from`, are refused', async () => {
    const seller = await SubscriptionSeller.open(w);
    const ada = seller.merchant;
    const [subscriber, holder, other] = await createCustomers(ada, ['subscriber', 'holder', 'other']);
    await seller.subscribe({ customerRef: 'subscriber' });
    const grant = (customer_ref: string) =>
      w.call('POST', '/v1/access/entitlements/grant', {
        key: ada.key,
        headers: { 'Idempotency-Key': newKey() },
        body: { product_id: seller.productId, customer: { customer_ref }, days: 10, reason: 'test' },
      });
    expect((await grant('holder')).status).toBe(200);
    await w.env.DB.prepare(
      `INSERT INTO entitlements (id, merchant_id, livemode, product_id, customer_ref, status, used_units, paid_through, unlimited, version, updated_at)
       SELECT randomblob(16), merchant_id, 1, id, 'holder', 'active', 0, ?, 0, 1, 1 FROM products WHERE slug = ?`,
    )
      .bind(Date.now() + 864_000_000, seller.slug)
      .run();
    expect(await merge(ada.key, other!, subscriber!)).toEqual({ status: 409, reason: 'subscription' });
    expect(await merge(ada.key, subscriber!, holder!)).toEqual({ status: 409, reason: 'subscription' });
    expect(await merge(ada.key, subscriber!, other!)).toMatchObject({ status: 200 });
  });

  it('an open metered session of `from` is refused', async () => {
    const shop = await MeteredShop.open(w, { body: { customer: { customer_ref: 'reader' } } });
    await projectSession(w, shop.session.session_id);
    const [into, from] = await createCustomers(shop.merchant, ['stays', 'reader'], shop.merchant.sandboxKey);
    expect(await merge(shop.merchant.sandboxKey, into!, from!)).toEqual({ status: 409, reason: 'metered_session' });
  });

  it('more entitlements than a merge moves are refused', async () => {
    const ada = await w.merchant();
    const { slug } = await w.product(ada, { access_period_days: 30 });
    const [into, from] = await createCustomers(ada, ['stays', 'goes']);
    await w.env.DB.prepare(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 201)
       INSERT INTO entitlements (id, merchant_id, livemode, product_id, customer_ref, status, used_units, unlimited, version, updated_at)
       SELECT randomblob(16), merchant_id, 1, randomblob(16), 'goes', 'expired', 0, 0, 1, 1 FROM products, n WHERE slug = ?`,
    )
      .bind(slug)
      .run();
    expect(await merge(ada.key, into!, from!)).toEqual({ status: 409, reason: 'too_many' });
  });

  it('one of two concurrent merges of a customer into two others succeeds and moves its time', async () => {
    const ada = await w.merchant();
    const product = await w.product(ada, { access_period_days: 30 });
    await w.purchase(product, await w.chain.wallet(), { customer_ref: 'goes' });
    while (w.queue.sent.length > 0) await w.deliver();
    await w.sweepAlone('analytics');
    const [one, two, from] = await createCustomers(ada, ['one', 'two', 'goes']);
    const answers = await Promise.all([merge(ada.key, one!, from!), merge(ada.key, two!, from!)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(answers.find(({ status }) => status === 409)!.reason).toBe('merged');
    while (w.queue.sent.length > 0) await w.deliver();
    const survivor = answers[0]!.status === 200 ? 'one' : 'two';
    const { items } = (await w.call('GET', '/v1/memberships', { key: ada.key })).body;
    expect(items.map(({ customer, status }: Body) => [customer.customer_ref, status])).toEqual([[survivor, 'active']]);
  });

  it('the same merge twice at once happens once', async () => {
    const ada = await w.merchant();
    const [into, from] = await createCustomers(ada, ['stays', 'goes']);
    const answers = await Promise.all([merge(ada.key, into!, from!), merge(ada.key, into!, from!)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const { items } = (await w.call('GET', '/v1/webhooks/events?event_type=customer.merged', { key: ada.key })).body;
    expect(items).toHaveLength(1);
  });

  it('two customers merged into each other at once leave one', async () => {
    const ada = await w.merchant();
    const [one, two] = await createCustomers(ada, ['one', 'two']);
    const answers = await Promise.all([merge(ada.key, one!, two!), merge(ada.key, two!, one!)]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await w.call('GET', '/v1/customers', { key: ada.key })).body.items).toHaveLength(1);
  });
});
