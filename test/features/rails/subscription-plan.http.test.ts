import { beforeAll, describe, expect, it } from 'vitest';
import { base58 } from '#core/encoding.ts';
import { newKey } from '../../support/people/agent.ts';
import { pullerOf, SubscriptionShop, subscriptionWorld } from '../../support/people/subscription-shop.ts';

const w = subscriptionWorld();
const SIGNATURE = base58.encode(new Uint8Array(64).fill(9));
let shop: SubscriptionShop;
beforeAll(async () => {
  shop = await SubscriptionShop.open(w);
});
// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;
const readiness = async ({ product, merchant }: SubscriptionShop) => {
  const { body } = await w.call('GET', `/v1/access/setup/readiness?product_id=${product.product_id}`, { key: merchant.key });
  return { body, check: body.checks.find(({ code }: Body) => code === 'subscription_plan_published') };
};
const readRail = async ({ product, merchant }: SubscriptionShop) => {
  const { body } = await w.call('GET', `/v1/access/products/${product.product_id}/available-rails`, { key: merchant.key });
  return body.items.find(({ rail_id }: Body) => rail_id === 'solana_usdc_subscription');
};

describe('subscription plan routes', () => {
  it('plan, readiness and rails change together when the payout wallet publishes the plan', async () => {
    expect((await shop.readPlan()).body).toMatchObject({
      status: 'unpublished',
      terms: { amount: { asset: 'USDC', amount: '5' }, period_hours: 720, destination: shop.wallet.address, puller: pullerOf(w) },
    });
    const before = await readiness(shop);
    expect([before.body.ready, before.body.blocking]).toEqual([false, ['subscription_plan_published']]);
    expect(before.check.fix).toMatchObject({ method: 'POST', path: shop.planPath });
    expect(await readRail(shop)).toMatchObject({ status: 'unavailable', reason: 'subscription_plan_published' });
    const address = await shop.publish();
    const { body } = await shop.readPlan();
    expect(body).toMatchObject({ status: 'published', plan_address: address, plan_id: expect.stringMatching(/^\d+$/) });
    expect('transaction' in body).toBe(false);
    expect((await readiness(shop)).check.status).toBe('pass');
    expect((await readiness(shop)).body).toMatchObject({ ready: true, blocking: [] });
    expect(await readRail(shop)).toMatchObject({ status: 'available' });
  });

  it('prepare and confirm are replayed byte for byte under their Idempotency-Key', async () => {
    const other = await SubscriptionShop.open(w);
    const key = newKey();
    const [first, again] = [await other.preparePlan(key), await other.preparePlan(key)];
    expect([first.status, again.body, again.headers.get('Idempotent-Replayed')]).toEqual([200, first.body, 'true']);
    expect(first.body).toMatchObject({ status: 'unpublished', transaction: expect.any(String), expires_at: expect.any(String) });
    const early = await other.confirmPlan(SIGNATURE);
    expect([early.status, early.body.code, early.body.meta.reason]).toEqual([422, 'payment_mismatch', 'not_published']);
    const wire = await w.chain.sign(other.wallet, first.body.transaction);
    const signature = await w.chain.call<string>('sendTransaction', wire, { encoding: 'base64' });
    const confirmKey = newKey();
    const confirmed = await other.confirmPlan(signature, confirmKey);
    expect([confirmed.status, confirmed.body.status]).toEqual([200, 'published']);
    expect((await other.confirmPlan(signature, confirmKey)).headers.get('Idempotent-Replayed')).toBe('true');
    expect((await other.preparePlan()).body).toEqual(confirmed.body);
  });

  it('a new price makes the plan outdated and blocks sales until it is published', async () => {
    const other = await SubscriptionShop.openPublished(w);
    expect((await other.change({ price: { asset: 'USDC', amount: '6' } })).status).toBe(200);
    expect((await other.readPlan()).body.status).toBe('outdated');
    expect((await readiness(other)).body.blocking).toEqual(['subscription_plan_published']);
    await other.publish();
    expect((await other.readPlan()).body).toMatchObject({ status: 'published', terms: { amount: { amount: '6' } } });
  });

  it('the plan is 404 for others and needs a valid key and an Idempotency-Key', async () => {
    const stranger = await w.merchant();
    for (const key of [stranger.key, shop.merchant.sandboxKey]) expect((await shop.readPlan(key)).status).toBe(404);
    expect((await shop.readPlan('svc_live_nothing')).status).toBe(401);
    const bare = await w.call('POST', shop.planPath, { key: shop.merchant.key });
    expect([bare.status, bare.body.code]).toEqual([400, 'idempotency_key_required']);
  });
});
