import { describe, expect, it } from 'vitest';
import { DAY, HOUR } from '#core/time.ts';
import { newCtx } from '#platform/context.ts';
import { joinEntitlement } from '../../support/clients/sandbox.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { write } from '../../support/people/agent.ts';
import { World } from '../../support/world.ts';

describe('service time moved by a local chain', () => {
  const w = new World();
  w.env.LOCAL_CLOCK_URL = w.chain.url;

  it('a membership ends after the month, while session tokens and stored answers stay valid', async () => {
    const merchant = await w.merchant();
    const product = await w.product(merchant, { access_period_days: 30, grace_hours: 0 });
    const buyer = await w.chain.wallet();
    const { confirmed } = await w.purchase(product, buyer);
    const app = () =>
      w.call('POST', '/v1/products', {
        key: merchant.key,
        headers: { 'Idempotency-Key': 'made-before-the-month' },
        body: { name: 'Tides', price: { asset: 'USDC', amount: '2' } },
      });
    const made = await app();
    expect(made.status).toBe(201);
    const consume = async (key: string) => {
      const body = { product_id: product.product_id, customer: { wallet_address: buyer.address } };
      const { status } = await write(w, merchant, 'entitlements/consume', body, { idempotencyKey: key });
      return status;
    };
    expect(await consume('use-before-the-month')).toBe(200);

    await w.chain.call('local_warp', 31 * (DAY / 1000));
    await w.sweep();

    const lookup = `/v1/memberships/lookup?wallet_address=${buyer.address}&product_id=${product.product_id}`;
    expect((await w.call('GET', lookup, { key: merchant.key })).body).toMatchObject({
      membership_id: confirmed.membership_id,
      status: 'expired',
    });
    expect((await w.call('GET', '/v1/products', { key: merchant.token })).status).toBe(200);
    const again = await app();
    expect(again.headers.get('Idempotent-Replayed')).toBe('true');
    expect(again.body).toEqual(made.body);
    expect([await consume('use-after-the-month'), await consume('use-before-the-month')]).toEqual([403, 200]);
  });

  it.each(['live', 'sandbox'])('a %s entitlement expires in the list and by its event without a call', async (mode) => {
    const merchant = await w.merchant();
    const key = mode === 'live' ? merchant.key : merchant.sandboxKey;
    const product = await w.product({ ...merchant, key }, { usage_units: null, access_period_days: 10 });
    const grant = { product_id: product.product_id, customer: { customer_ref: 'ada' }, days: 10, reason: 'trial' };
    const { body: granted } = await write(w, merchant, 'entitlements/grant', grant, { key });
    const { entitlement_id: id } = granted.entitlement ?? granted;
    const object = await joinEntitlement(w, merchant.userId, mode === 'live', id);
    await object.waitForProjection();
    const listed = async (status: string) =>
      (await w.call('GET', `/v1/access/entitlements?customer_ref=ada&status=${status}`, { key })).body.total;
    expect([await listed('active'), await listed('expired')]).toEqual([1, 0]);
    await w.chain.call('local_warp', 11 * (DAY / 1000));
    await w.sweep();
    await object.waitForProjection();
    expect([await listed('active'), await listed('expired')]).toEqual([0, 1]);
    const { results } = await prepareOnEvents(w.env.DB, 'SELECT type FROM events WHERE subject_id = ? ORDER BY seq').bind(id).all();
    expect(results).toEqual([{ type: 'entitlement.granted' }, { type: 'entitlement.expired' }]);
  });

  it('a purchase after the move is dated and receipted in the new time', async () => {
    const merchant = await w.merchant();
    const product = await w.product(merchant, { access_period_days: 30 });
    const aheadMs = (31 + 2 * 11) * DAY;
    const ctx = newCtx(w.env, { requestId: 'req_two_clocks', defer: () => {} });
    expect(ctx.now - ctx.wallNow).toBe(aheadMs);
    const { confirmed } = await w.purchase(product, await w.chain.wallet());
    const { body: receipt } = await w.call('GET', `/v1/receipt/${confirmed.receipt_id}`, { key: merchant.key });
    expect(Math.abs(Date.parse(receipt.document.issued_at) - (Date.now() + aheadMs))).toBeLessThan(HOUR);
    const { body: payment } = await w.call('GET', `/v1/payments/${confirmed.payment.payment_id}`);
    expect(payment.status).toBe('CONFIRMED');
  });

  it('payment answers carry the service time, and the Date header the wall clock', async () => {
    const merchant = await w.merchant();
    const product = await w.product(merchant);
    const { now: business, wallNow } = newCtx(w.env, { requestId: 'req_service_time', defer: () => {} });
    const begun = await w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: {} });
    const shown = await w.call('GET', `/v1/payments/${begun.body.payment_id}`);
    const confirmed = await w.confirm(begun.body.payment_id, await w.chain.pay(await w.chain.wallet(), begun.body));
    expect(business - wallNow).toBeGreaterThan(DAY);
    for (const { status, body, headers } of [begun, shown, confirmed]) {
      expect([status, Math.abs(Date.parse(body.now) - business) < HOUR]).toEqual([200, true]);
      expect(Math.abs(Date.parse(headers.get('Date')!) - wallNow)).toBeLessThan(HOUR);
    }
  });

  it('service time equals the wall clock without a configured local chain', async () => {
    const plain = new World();
    await plain.chain.call('local_warp', 3600);
    await plain.call('GET', '/health');
    const ctx = newCtx(plain.env, { requestId: 'req_one_clock', defer: () => {} });
    expect(ctx.now).toBe(ctx.wallNow);
  });
});
