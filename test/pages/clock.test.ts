import type { BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { press, seeHeading } from './shop.ts';
import { SubscriptionShop, subscribe } from './subscription-shop.ts';

const USDC = 1_000_000n;
const HOUR_MS = 3_600_000;
const shop = new SubscriptionShop();
beforeAll(() => shop.open(), 60_000);
afterAll(() => shop.close());

async function shiftClock(context: BrowserContext, ms: number): Promise<void> {
  await context.addInitScript(`
    const Real = Date;
    globalThis.Date = class extends Real {
      constructor(...given) { given.length > 0 ? super(...given) : super(Real.now() + ${ms}); }
      static now() { return Real.now() + ${ms}; }
    };
  `);
}

describe.each([
  ['an hour fast', HOUR_MS],
  ['an hour slow', -HOUR_MS],
])('pages on a device %s', (_name, ms) => {
  it('the checkout counts down on the service’s time at every step, and the payment succeeds', async () => {
    const product = await shop.sell();
    const signer = await shop.chain.newBuyer(100n * USDC);
    const { page, offences, close } = await shop.visit('desktop', [{ signer }]);
    await shiftClock(page.context(), ms);
    // Removes the Date header, because a proxy may drop the header.
    await page.route('**/v1/**', async (route) => {
      const response = await route.fetch();
      const { date: _, ...headers } = response.headers();
      return route.fulfill({ response, headers });
    });
    const secondsLeft = async () => {
      const [minutes, seconds] = (await page.getByRole('timer').first().innerText()).split(':').map(Number);
      return minutes! * 60 + seconds!;
    };
    await page.goto(shop.urlOf(product));
    await press(page, 'Show a QR code');
    await page.getByRole('timer').waitFor();
    for (const _visit of ['first', 'again']) {
      const left = await secondsLeft();
      expect(left).toBeGreaterThan(800);
      expect(left).toBeLessThanOrEqual(901);
      await page.reload();
      await page.getByRole('timer').waitFor();
    }
    await press(page, 'Pay with Test wallet');
    await seeHeading(page, 'Paid');
    await page.reload();
    await seeHeading(page, 'Paid');
    expect(offences).toEqual([]);
    await close();
  });

  it('a buyer subscribes and cancels', async () => {
    const product = await shop.sellByPeriod();
    const { page, offences, close } = await shop.visit('phone', [{ signer: await shop.chain.newBuyer(100n * USDC) }]);
    await shiftClock(page.context(), ms);
    await page.goto(shop.urlOf(product));
    await subscribe(page);
    await page.getByRole('link', { name: 'See or cancel the subscription' }).click();
    await press(page, 'Cancel with Test wallet');
    await press(page, 'Continue in Test wallet');
    await seeHeading(page, 'It is cancelled');
    expect(offences).toEqual([]);
    await close();
  });
});
