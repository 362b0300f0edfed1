import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findViolations } from './axe.ts';
import { press, Shop, seeHeading } from './shop.ts';
import { SubscriptionShop, subscribe } from './subscription-shop.ts';

const USDC = 1_000_000n;
const shop = new SubscriptionShop();
beforeAll(() => shop.open(), 60_000);
afterAll(() => shop.close());

describe('subscription page before and after payment', () => {
  it('an unpublished or outdated plan cannot be subscribed to, and the page says so', async () => {
    const unpublished = await shop.sellUnpublished();
    const outdated = await shop.sellByPeriod();
    await shop.callAs(outdated, 'PATCH', `/v1/products/${outdated.product_id}`, { price: { asset: 'USDC', amount: '6' } });
    const { page, offences, close } = await shop.visit('desktop', [{ signer: await shop.chain.newBuyer(0n) }]);
    for (const product of [unpublished, outdated]) {
      await page.goto(shop.urlOf(product));
      await seeHeading(page, 'This cannot be bought right now');
      await page.getByText('The seller has not finished setting up payments.').waitFor();
      expect(await page.locator('#pay').getByRole('button').count()).toBe(0);
    }
    expect(offences).toEqual([]);
    await close();
  });

  it('a logo or hero image that fails to load is hidden, and the initial is shown instead', async () => {
    const branded = new Shop();
    await branded.open({
      checkout_logo_url: 'https://pictures.example/logo.png',
      checkout_hero_image_url: 'https://pictures.example/hero.png',
    });
    const product = await branded.sellInSandbox({ renewal_mode: 'AUTOMATIC', price: { asset: 'USDC', amount: '5' } });
    const { page, close } = await branded.visit('phone');
    await page.route('https://pictures.example/**', (route) => route.abort());
    await page.goto(branded.urlOf(product));
    await page.locator('.logo').waitFor({ state: 'hidden' });
    await page.locator('.hero').waitFor({ state: 'hidden' });
    expect(await page.locator('.letter').innerText()).toBe('A');
    await close();
    await branded.close();
  });

  it('the cancel link stays available after a reload, on the receipt, and in another browser', async () => {
    const product = await shop.sellByPeriod();
    const signer = await shop.chain.newBuyer(100n * USDC);
    const { page, offences, shoot, close } = await shop.visit('phone', [{ signer }]);
    await page.goto(shop.urlOf(product));
    await subscribe(page);
    const way = page.getByRole('link', { name: 'See or cancel the subscription' });
    const href = (await way.getAttribute('href'))!;
    expect(href).toMatch(/^\/s\/nsa_/);
    await page.reload();
    await seeHeading(page, 'You are subscribed');
    expect(await way.getAttribute('href')).toBe(href);
    expect(await findViolations(page)).toEqual([]);
    await shoot('73-subscribed-again');
    const receipt = (await page.getByRole('link', { name: 'Open the receipt' }).getAttribute('href'))!;
    await page.goto(shop.baseUrl + receipt);
    expect((await way.getAttribute('href'))!.split('?')[0]).toBe(href);
    expect(await findViolations(page)).toEqual([]);
    expect(offences).toEqual([]);
    await close();
    const other = await shop.visit('desktop', [{ signer }]);
    await other.page.goto(shop.urlOf(product));
    await press(other.page, 'Subscribe with Test wallet');
    await seeHeading(other.page, 'This wallet is subscribed already');
    expect(await other.page.getByText('Not paid').count()).toBe(0);
    expect(await findViolations(other.page)).toEqual([]);
    await other.shoot('80-subscribed-already');
    await other.page.getByRole('link', { name: 'See or cancel the subscription' }).click();
    await seeHeading(other.page, 'Your subscription');
    expect(other.offences).toEqual([]);
    await other.close();
  });

  it('the product can be subscribed to again after the subscription was cancelled', async () => {
    const product = await shop.sellByPeriod();
    const signer = await shop.chain.newBuyer(100n * USDC);
    const { page, offences, close } = await shop.visit('desktop', [{ signer }]);
    await page.goto(shop.urlOf(product));
    await subscribe(page);
    await page.getByRole('link', { name: 'See or cancel the subscription' }).click();
    await press(page, 'Cancel with Test wallet');
    await press(page, 'Continue in Test wallet');
    await seeHeading(page, 'It is cancelled');
    await page.goto(shop.urlOf(product));
    await page.getByRole('button', { name: 'Subscribe with Test wallet' }).waitFor();
    await expect.poll(() => page.evaluate(`localStorage.length`)).toBe(0);
    await seeHeading(page, 'Choose your wallet');
    expect(offences).toEqual([]);
    await close();
  });
});
