import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findViolations } from './axe.ts';
import { emailTo, newEmail } from './merchant.ts';
import { press, Shop, type Size, seeHeading } from './shop.ts';

const USDC = 1_000_000n;
const shop = new Shop();
beforeAll(() => shop.open({ default_support_url: 'https://help.shop.example/' }), 60_000);
afterAll(() => shop.close());

describe('checkout page: buyer without a wallet', () => {
  it.each<Size>(['phone', 'desktop'])(
    'three steps are shown on a %s: wallet makers, buying USDC with a card, and back to this page',
    async (size) => {
      const product = await shop.sell();
      const { page, offences, shoot, close } = await shop.visit(size);
      await page.goto(shop.urlOf(product));
      await page.getByText('New to this? Three steps, about five minutes').click();
      for (const [name, host] of Object.entries({ Phantom: 'phantom.com', Solflare: 'www.solflare.com', Backpack: 'backpack.app' })) {
        const link = page.getByRole('link', { name, exact: true });
        expect(new URL((await link.getAttribute('href'))!).host).toBe(host);
        expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
      }
      const ramp = await page.getByRole('link', { name: 'Buy USDC with a card' }).getAttribute('href');
      expect(ramp).toBe('https://ramp.example/buy?to=&asset=USDC&amount=12.5');
      await page
        .locator('.newcomer')
        .getByRole('link', { name: /Help from the seller/ })
        .waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(page.viewportSize()!.width);
      expect(await findViolations(page)).toEqual([]);
      await shoot('83-newcomer');
      expect(offences).toEqual([]);
      await close();
    },
  );
});

describe('checkout page: receipt by email', () => {
  it('the address is entered once, receives the receipt, and an incomplete address does not block a purchase', async () => {
    const [first, second] = [await shop.sell(), await shop.sell()];
    const signer = await shop.chain.newBuyer(100n * USDC);
    const { page, offences, shoot, close } = await shop.visit('phone', [{ signer }]);
    const email = newEmail();
    const field = page.getByLabel('E-mail for the receipt (optional)');
    const pay = async (product: typeof first) => {
      await press(page, 'Pay with Test wallet');
      await seeHeading(page, 'Paid');
      return (await shop.readPayments(product))[0]!;
    };
    await page.goto(shop.urlOf(first));
    await field.fill(email);
    expect(await findViolations(page)).toEqual([]);
    await shoot('84-email');
    await pay(first);
    const sentEmail = await emailTo(shop, email, 'buyer_receipt');
    expect(sentEmail.text).toContain(`${shop.baseUrl}/r/`);
    await page.goto(shop.urlOf(second));
    await field.waitFor();
    expect(await field.inputValue()).toBe(email);
    await field.fill('ada@');
    expect((await pay(second)).status).toBe('CONFIRMED');
    expect(offences).toEqual([]);
    await close();
  });
});
