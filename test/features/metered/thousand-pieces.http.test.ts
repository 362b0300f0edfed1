// @module-tag volume
import { expect, it } from 'vitest';
import { MeteredShop } from '../../support/clients/metered.ts';
import { World } from '../../support/world.ts';

const w = new World();
const units = (money: { base_units: string }) => BigInt(money.base_units);

it('a thousand commits of equal and unequal amounts pass without a refusal', async () => {
  const shop = await MeteredShop.open(w);
  let cumulative = 0n;
  for (let i = 0; i < 1_000; i++) {
    const amount = i % 2 ? 1n : BigInt(1 + ((i * 37) % 997));
    cumulative += amount;
    const { body: directive, status } = await shop.announce(amount.toString());
    const committed = await shop.commit({ deliveryId: directive.deliveryId, voucher: shop.buyer.voucher(cumulative) });
    expect([status, committed.status]).toEqual([201, 200]);
  }
  expect(units((await shop.read()).cumulative)).toBe(cumulative);
});
