import { describe, expect, it } from 'vitest';
import { ANNOUNCED_MAX, RESERVED_MAX } from '#rules/metered/vouchers.ts';
import { ADDRESS_CEILINGS } from '#rules/plans.ts';
import { MeteredShop } from '../../support/clients/metered.ts';
import { newKey } from '../../support/people/agent.ts';
import { World } from '../../support/world.ts';

const w = new World();

/** Announcements of a stranger, who knows the channel's address from the chain. */
const strangerAt =
  (shop: MeteredShop, address: string, newId = newKey) =>
  (env?: typeof w.env) =>
    w.call('POST', '/__402/session/deliveries', {
      body: { amount: '1', deliveryId: `stranger-${newId()}`, sessionId: shop.buyer.channelId },
      headers: { 'CF-Connecting-IP': address },
      ...(env ? { env } : {}),
    });

describe('session flooded with announcements of a stranger', () => {
  it('the buyer commits every delivery, even after others replaced its announcement', async () => {
    const shop = await MeteredShop.open(w);
    const announceMuch = strangerAt(shop, '203.0.113.21');
    let cumulative = 0n;
    for (let use = 0; use < 20; use++) {
      const { body: directive } = await shop.announce('5');
      await Promise.all(Array.from({ length: ANNOUNCED_MAX + 2 }, () => announceMuch()));
      cumulative += 5n;
      const body = { deliveryId: directive.deliveryId, voucher: shop.buyer.voucher(cumulative) };
      expect((await shop.commit(body)).body).toMatchObject({ status: 'committed', cumulative: cumulative.toString() });
      expect((await shop.commit(body)).body.status).toBe('replayed');
    }
    expect(await shop.read()).toMatchObject({ cumulative: { base_units: cumulative.toString() }, reserved: { base_units: '0' } });
  });

  it('reservations of the merchant are always accepted and stay reserved', async () => {
    const shop = await MeteredShop.open(w);
    const announceMuch = strangerAt(shop, '203.0.113.22');
    await Promise.all(Array.from({ length: 40 }, () => announceMuch()));
    const reserved = await shop.deliver({ delivery_id: 'all-of-it', amount: { asset: 'USDC', amount: '1' } });
    expect(reserved.status).toBe(201);
    const refused = await announceMuch();
    expect([refused.status, refused.body.meta.reason]).toEqual([409, 'exceeds-deposit']);
    expect((await shop.commit({ deliveryId: 'all-of-it', voucher: shop.buyer.voucher(1_000_000n) })).status).toBe(200);
  });

  it.each([
    ['ever new ones', newKey, '203.0.113.23'],
    ['the same one', () => 'again', '203.0.113.25'],
  ])('only the stranger’s address is rate limited: %s', async (_what, newId, address) => {
    const shop = await MeteredShop.open(w);
    const env = { ...w.env, RATE_MULTIPLIER: '1' };
    const announceMuch = strangerAt(shop, address, newId);
    const statuses = new Map<number, number>();
    for (let left = ADDRESS_CEILINGS.all.max + 60; left > 0; left -= 33)
      for (const { status } of await Promise.all(Array.from({ length: 33 }, () => announceMuch(env))))
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
    expect([...statuses.keys()].sort()).toEqual([201, 429]);
    expect(statuses.get(201)).toBeLessThanOrEqual(ADDRESS_CEILINGS.all.max + ANNOUNCED_MAX);
    const other = strangerAt(shop, '203.0.113.24');
    const { status, body } = await other(env);
    expect(status).toBe(201);
    // Refused announcements are not stored: the sequence counts only those answered with 201.
    if (address === '203.0.113.23') expect(body.sequence).toBe(statuses.get(201)! + 1);
  });
});

describe('delivery', () => {
  it('a partly paid delivery is announced again with the same answer', async () => {
    const shop = await MeteredShop.open(w);
    const { body: directive } = await shop.announce('10', 'page-1');
    expect((await shop.commit({ deliveryId: 'page-1', voucher: shop.buyer.voucher(4n) })).body.amount).toBe('4');
    const again = await shop.announce('10', 'page-1');
    expect([again.status, again.body]).toEqual([201, directive]);
    expect((await shop.announce('4', 'page-1')).body.meta.reason).toBe('delivery-conflict');
  });

  it('a delivery beyond a hundred pending ones is refused until one is paid', async () => {
    const shop = await MeteredShop.open(w);
    const amount = { asset: 'USDC', amount: '0.000001' };
    for (let next = 0; next < RESERVED_MAX; next += 20)
      await Promise.all(Array.from({ length: 20 }, (_, i) => shop.deliver({ delivery_id: `page-${next + i}`, amount })));
    const refused = await shop.deliver({ amount });
    expect([refused.status, refused.body.code, refused.body.meta.reason]).toEqual([409, 'state_conflict', 'too-many-reservations']);
    expect((await shop.commit({ deliveryId: 'page-7', voucher: shop.buyer.voucher(1n) })).status).toBe(200);
    expect((await shop.deliver({ amount })).status).toBe(201);
  });
});
