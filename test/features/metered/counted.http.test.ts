import { describe, expect, it } from 'vitest';
import { ChannelBuyer, MeteredShop } from '../../support/clients/metered.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { newKey } from '../../support/people/agent.ts';
import { World } from '../../support/world.ts';

const w = new World();

function counting() {
  const calls: string[] = [];
  const counted = <T extends object>(name: string, namespace: T): T =>
    new Proxy(namespace, {
      get: (target, key) => {
        if (key !== 'getByName') return Reflect.get(target, key);
        return (id: string) =>
          new Proxy((target as unknown as DurableObjectNamespace).getByName(id), {
            get:
              (stub, method: string) =>
              (...args: unknown[]) => {
                calls.push(`${name}.${method}`);
                return (stub as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>)[method]!(...args);
              },
          });
      },
    });
  const { env, trips } = withFaults(w.env);
  const objects = { ADMISSION: counted('ADMISSION', env.ADMISSION), METERED_SESSION: counted('METERED_SESSION', env.METERED_SESSION) };
  return { env: { ...env, ...objects }, calls, trips };
}

const announced = (shop: MeteredShop, deliveryId: string, env = w.env) =>
  w.call('POST', '/__402/session/deliveries', { body: { amount: '5', deliveryId, sessionId: shop.buyer.channelId }, env });
const committed = (shop: MeteredShop, deliveryId: string, voucher: object, env = w.env) =>
  w.call('POST', `${shop.path}/commits`, { body: { deliveryId, voucher }, env });

describe('cost and rate of a metered use', () => {
  it('a use costs one admission call, the session calls and no database call', async () => {
    const shop = await MeteredShop.open(w);
    await shop.announce('5', 'first');
    await shop.commit({ deliveryId: 'first', voucher: shop.buyer.voucher(5n) });
    const { env, calls, trips } = counting();
    expect((await announced(shop, 'page', env)).status).toBe(201);
    // In the sandbox each request first checks whether a live session claims the channel address.
    const lookups = ['METERED_SESSION.findSession', 'METERED_SESSION.findSession'];
    expect(calls.splice(0).sort()).toEqual(['ADMISSION.count', ...lookups, 'METERED_SESSION.reserve']);
    expect((await committed(shop, 'page', shop.buyer.voucher(10n), env)).status).toBe(200);
    expect(calls.splice(0)).toEqual(['ADMISSION.count', 'METERED_SESSION.commit']);
    const headers = { 'Idempotency-Key': newKey() };
    const body = { amount: { asset: 'USDC', amount: '0.000005' } };
    expect((await w.call('POST', `${shop.path}/deliveries`, { key: shop.key, headers, body, env })).status).toBe(201);
    expect(calls.filter((call) => call !== 'ADMISSION.record')).toEqual(['ADMISSION.admit', 'METERED_SESSION.reserve']);
    expect(trips).toEqual([]);
  });

  /** Sandbox rate of a free account: one use a second. */
  const strict = { ...w.env, RATE_MULTIPLIER: '1' };
  const second = () => new Promise((resolve) => setTimeout(resolve, 1_050));

  it('a use above the plan’s rate is refused with 429, moves nothing, and passes a second later', async () => {
    const shop = await MeteredShop.open(w, { merchant: await w.merchant('free') });
    for (const page of ['one', 'two']) await shop.announce('5', page);
    await second();
    expect((await committed(shop, 'one', shop.buyer.voucher(5n), strict)).status).toBe(200);
    const refused = await committed(shop, 'two', shop.buyer.voucher(10n), strict);
    expect([refused.status, refused.body.code, refused.headers.get('Retry-After')]).toEqual([429, 'rate_limited', '1']);
    expect((await shop.read()).cumulative.base_units).toBe('5');
    await second();
    expect((await committed(shop, 'two', shop.buyer.voucher(10n), strict)).body.status).toBe('committed');
  });

  it('session creations above the rate are refused and do not use up the rate of paid uses', async () => {
    const shop = await MeteredShop.open(w, { merchant: await w.merchant('free') });
    await shop.announce('5', 'one');
    await second();
    const body = { product_id: shop.session.product_id, cap: { asset: 'USDC', amount: '1' } };
    const begin = () =>
      w.call('POST', '/v1/access/metered-sessions', { key: shop.key, headers: { 'Idempotency-Key': newKey() }, body, env: strict });
    expect([(await begin()).status, (await begin()).status, (await begin()).status]).toEqual([201, 429, 429]);
    expect((await committed(shop, 'one', shop.buyer.voucher(5n), strict)).status).toBe(200);
  });

  it('a forged or repeated voucher does not count against the merchant’s rate', async () => {
    const shop = await MeteredShop.open(w, { merchant: await w.merchant('free') });
    for (const page of ['one', 'two']) await shop.announce('5', page);
    const old = shop.buyer.voucher(5n);
    await shop.commit({ deliveryId: 'one', voucher: old });
    await second();
    const forged = new ChannelBuyer().voucher(10n, { channelId: shop.buyer.channelId });
    for (const voucher of [forged, old, forged, old]) expect((await committed(shop, 'two', voucher, strict)).status).toBe(422);
    expect((await committed(shop, 'one', old, strict)).body.status).toBe('replayed');
    expect((await committed(shop, 'two', shop.buyer.voucher(10n), strict)).status).toBe(200);
  });
});
