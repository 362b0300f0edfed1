import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findViolations } from './axe.ts';
import { press, Shop, seeHeading } from './shop.ts';

const USDC = 1_000_000n;
const shop = new Shop();
beforeAll(() => shop.open(), 60_000);
afterAll(() => shop.close());

describe('payment begun elsewhere', () => {
  it('a wallet’s browser offers the payment begun elsewhere, and a hand-off link starts a purchase of its own', async () => {
    const [product, other] = [await shop.sell(), await shop.sell()];
    const safari = await shop.visit('phone');
    await safari.page.goto(shop.urlOf(product));
    await press(safari.page, 'Pay with a wallet app');
    await safari.page.getByRole('timer').waitFor();
    const href = (await safari.page.getByRole('link', { name: 'Open this page in Phantom' }).getAttribute('href'))!;
    const inWallet = decodeURIComponent(/browse\/([^?]+)/.exec(href)![1]!);
    const [payment] = await shop.readPayments(product);
    expect(inWallet).toBe(shop.urlOf(product, `#payment=${payment!.payment_id}`));
    await safari.page.goto(await shop.handOff(product));
    await safari.page.locator('.recognised').waitFor();
    await safari.page.getByRole('button', { name: 'Pay with a wallet app' }).waitFor();
    expect(await shop.readPayments(product)).toHaveLength(1);

    const phantom = await shop.visit('phone', [{ signer: await shop.chain.newBuyer(100n * USDC) }]);
    for (const wrong of [shop.urlOf(other, `#payment=${payment!.payment_id}`), shop.urlOf(product, '#payment=../../evil')]) {
      await phantom.page.goto(wrong);
      await phantom.page.getByRole('button', { name: 'Pay with Test wallet' }).waitFor();
    }
    await phantom.page.goto('about:blank');
    await phantom.page.goto(inWallet);
    await phantom.page.getByText('Whoever began it gets what you pay for.').waitFor();
    expect(await phantom.page.locator('.panel .button').allInnerTexts()).toEqual(['Begin my own payment']);
    expect(await findViolations(phantom.page)).toEqual([]);
    await phantom.shoot('32-underway');
    await press(phantom.page, 'Go on with that payment');
    await press(phantom.page, 'Pay with Test wallet');
    await seeHeading(phantom.page, 'Paid');
    expect((await shop.readPayments(product)).map(({ status }) => status)).toEqual(['CONFIRMED']);
    await safari.close();
    await phantom.close();
  });

  it('no payment begins while the status of an earlier one is unknown, even if the address names another', async () => {
    const product = await shop.sell();
    const { page, close } = await shop.visit('desktop', [{ signer: await shop.chain.newBuyer(100n * USDC) }]);
    await page.goto(await shop.handOff(product));
    await press(page, 'Show a QR code');
    await page.getByRole('timer').waitFor();
    const ended = crypto.randomUUID();
    const hash = `#payment=${ended}`;
    await page.route('**/v1/payments/*', (route) =>
      route.request().url().endsWith(ended)
        ? route.fulfill({ json: { payment_id: ended, slug: product.slug, status: 'FAILED', poll_after_ms: null } })
        : route.fulfill({ status: 429, json: { code: 'rate_limited', detail: 'slow down', meta: {} } }),
    );
    await page.goto(shop.urlOf(product, hash));
    for (const _ of ['at once', 'when pressed']) {
      await page.locator('.problem', { hasText: 'Too many tries at once.' }).waitFor();
      await press(page, 'Pay with Test wallet');
    }
    await page.locator('.problem', { hasText: 'Too many tries at once.' }).waitFor();
    expect(await page.getByRole('link', { name: 'Deutsch' }).getAttribute('href')).toMatch(new RegExp(`locale=de${hash}$`));
    await page.unroute('**/v1/payments/*');
    await press(page, 'Pay with Test wallet');
    await seeHeading(page, 'You may be paying for this already');
    expect(await page.locator('.panel .button').allInnerTexts()).toEqual(['Go on with that payment']);
    expect(await shop.readPayments(product)).toHaveLength(1);
    await close();
  });

  it('a late answer about one payment does not change the next, and a payment that now needs identity is not offered', async () => {
    const product = await shop.sell();
    const { page, shoot, close } = await shop.visit('desktop', [{ signer: await shop.chain.newBuyer(100n * USDC) }]);
    await page.goto(shop.urlOf(product));
    await press(page, 'Show a QR code');
    await page.getByRole('timer').waitFor();
    const [first] = await shop.readPayments(product);
    const next = crypto.randomUUID();
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let isHeld = false;
    await page.route('**/v1/payments/*', async (route) => {
      const response = await route.fetch({ url: `${shop.baseUrl}/v1/payments/${first!.payment_id}` });
      const answer = { ...((await response.json()) as object), poll_after_ms: 300 };
      if (route.request().url().endsWith(next)) return route.fulfill({ json: { ...answer, payment_id: next } });
      isHeld = true;
      await released;
      return route.fulfill({ json: { ...answer, status: 'CONFIRMED' } });
    });
    await expect.poll(() => isHeld, { timeout: 15_000 }).toBe(true);
    const tab = await page.context().newPage();
    await tab.goto(`${shop.baseUrl}/p/nothing`);
    const key = `svc:payment:${product.slug}:`;
    await tab.evaluate(`localStorage.setItem('${key}', localStorage.getItem('${key}').replaceAll('${first!.payment_id}', '${next}'))`);
    await page.waitForTimeout(300);
    release();
    await page.waitForTimeout(1000);
    expect(await page.getByRole('heading', { name: 'Paid', exact: true }).count()).toBe(0);
    await page.route('**/solana-pay', (route) =>
      route.fulfill({
        status: 422,
        json: { code: 'identity_verification_required', detail: 'asked by now', meta: { provider: 'telegram' } },
      }),
    );
    await press(page, 'Pay with Test wallet');
    await page.locator('.notice', { hasText: 'The seller now wants to know who you are' }).waitFor();
    expect(await page.locator('#pay').getByRole('button').count()).toBe(0);
    await shoot('35-identity-now');
    await close();
  });
});
