import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startReceiver } from '../support/servers/receiver.ts';
import { findViolations } from './axe.ts';
import { register, signIn } from './merchant.ts';
import { follow, type Product, press, reloadUntil, Shop, seeHeading, type Visit } from './shop.ts';

const USDC = 1_000_000n;
const shop = new Shop();
const receiver = startReceiver();
beforeAll(() => shop.open(), 60_000);
afterAll(async () => {
  await shop.close();
  await (await receiver).close();
});

const seeDone = (page: Page, text: string): Promise<void> => page.getByRole('status').filter({ hasText: text }).waitFor();
const seeFact = (page: Page, text: string): Promise<void> => page.locator('dd', { hasText: text }).first().waitFor();

/** Browser of a merchant, with the wallet that is paid. */
async function visitAs(email: string): Promise<Visit> {
  const visit = await shop.visit('desktop', [{ signer: shop.seller, features: ['solana:signAndSendTransaction'] }]);
  await signIn(shop, visit.page, email);
  return visit;
}

/** Signs at the signing page, and returns to the page that led there. */
async function signAndReturn(page: Page): Promise<void> {
  await seeHeading(page, 'This transaction does the following');
  await press(page, 'Sign with Test wallet');
  await seeHeading(page, 'Signed and sent');
  await follow(page, 'Continue where you were');
}

async function pay(product: Product): Promise<Visit> {
  const buyer = await shop.visit('desktop', [{ signer: await shop.chain.newBuyer(100n * USDC) }]);
  await buyer.page.goto(shop.urlOf(product));
  await press(buyer.page, 'Pay with Test wallet');
  await seeHeading(buyer.page, 'Paid');
  return buyer;
}

describe('chores of a merchant, by clicks alone', () => {
  it('an underpayment shows on Home, is accepted, and the page of its buyer says Paid', async () => {
    const product = await shop.sell();
    const signer = await shop.chain.newBuyer(100n * USDC);
    const buyer = await shop.visit('phone', [{ signer }], { userAgent: 'Mozilla/5.0 (X11; Linux x86_64)' });
    await shop.sendByHand(buyer, product, signer, 10n * USDC);
    await seeHeading(buyer.page, '10.00\u00a0USDC of 12.50\u00a0USDC arrived');
    const { page, offences, shoot, close } = await visitAs(shop.email);
    await seeHeading(page, 'Needs you');
    expect(await findViolations(page)).toEqual([]);
    await shoot('64-home-needs');
    await follow(page, 'Money that paid no checkout: 1');
    expect(await findViolations(page)).toEqual([]);
    await shoot('64-unmatched');
    await press(page, 'Accept as paid');
    await seeDone(page, 'The money is accepted as paid.');
    await seeHeading(buyer.page, 'Paid');
    await follow(page, 'Home');
    await seeHeading(page, 'Home');
    expect(await page.getByText('Needs you').count()).toBe(0);
    expect(offences).toEqual([]);
    await close();
    await buyer.close();
  });

  it('a key is rolled, and the new one opens the API', async () => {
    const { email } = await register(shop);
    const { page, offences, shoot, close } = await visitAs(email);
    await follow(page, 'API keys');
    await follow(page, 'Create key');
    await page.getByLabel('Name', { exact: true }).fill('weather server');
    await press(page, 'Create key');
    const first = await page.locator('.once code').innerText();
    await follow(page, 'API keys');
    await follow(page, 'weather server');
    await seeHeading(page, 'API key');
    expect(await findViolations(page)).toEqual([]);
    await shoot('65-key');
    await page.getByLabel('The present key works on').selectOption('not at all');
    await press(page, 'Roll');
    await seeHeading(page, 'Copy it now: it is shown once');
    expect(await findViolations(page)).toEqual([]);
    await shoot('65-key-rolled');
    const second = await page.locator('.once code').innerText();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await press(page, 'Copy');
    await page.getByRole('button', { name: /^(Copied|Copy the marked text)$/ }).waitFor();
    expect(await page.evaluate('String(getSelection()) || navigator.clipboard.readText()')).toBe(second);
    const statusWith = async (key: string) =>
      (await fetch(`${shop.baseUrl}/v1/products`, { headers: { Authorization: `Bearer ${key}` } })).status;
    expect([await statusWith(first), await statusWith(second)]).toEqual([401, 200]);
    expect(offences).toEqual([]);
    await close();
  });

  it('an endpoint that failed is repaired: its delivery is replayed and arrives', async () => {
    const { url } = await receiver;
    const { email } = await register(shop);
    const { page, offences, shoot, close } = await visitAs(email);
    await follow(page, 'Webhooks');
    await page.getByLabel('URL').fill(`${url}/flip/repaired`);
    await press(page, 'Add endpoint');
    await seeHeading(page, 'Copy it now: it is shown once');
    await follow(page, `${url}/flip/repaired`);
    await press(page, 'Send test');
    await seeDone(page, 'The test failed: the endpoint answered 500.');
    expect(await findViolations(page)).toEqual([]);
    await shoot('66-endpoint-failing');
    await page.locator('tbody th a').first().click();
    await seeHeading(page, 'Delivery');
    expect(await findViolations(page)).toEqual([]);
    await shoot('66-delivery');
    await fetch(`${url}/_flip/repaired/200`);
    await press(page, 'Replay');
    await seeDone(page, 'This new delivery sends the event again.');
    await follow(page, `${url}/flip/repaired`);
    await seeHeading(page, 'Webhook endpoint');
    await reloadUntil(page, 'succeeded');
    await seeFact(page, 'no event was delivered yet');
    expect(offences).toEqual([]);
    await close();
  });

  it('a refund is signed by the wallet that was paid, and its payment and the page of its buyer show it', async () => {
    const product = await shop.sell();
    const buyer = await pay(product);
    const { page, offences, shoot, close } = await visitAs(shop.email);
    await follow(page, 'Payments');
    await page.locator('tbody th a').first().click();
    await seeHeading(page, 'Payment');
    await page.getByLabel('Amount in USDC').fill('2.5');
    await press(page, 'Refund');
    await signAndReturn(page);
    await seeHeading(page, 'Payment');
    expect(await findViolations(page)).toEqual([]);
    await shoot('67-refund-signed');
    await press(page, 'Confirm refund');
    await seeDone(page, 'The payment shows the refund');
    await reloadUntil(page, '2.5 USDC');
    await shoot('67-refunded');
    await buyer.page.reload();
    await buyer.page.getByText('2.50 USDC came back to your wallet.').waitFor();
    expect(await findViolations(buyer.page)).toEqual([]);
    await buyer.close();
    expect(offences).toEqual([]);
    await close();
  });

  it('a subscription template is published by the wallet, repriced and published again', async () => {
    const { email } = await register(shop);
    const { page, offences, shoot, close } = await visitAs(email);
    await follow(page, 'Templates');
    await follow(page, 'Create template');
    await page.getByLabel('Name', { exact: true }).fill('Forecasts by the month');
    await page.getByLabel('Price', { exact: true }).fill('5');
    await page.getByLabel('Days of access').fill('30');
    await page.getByLabel('Renewal').selectOption({ value: 'AUTOMATIC' });
    await page.getByLabel('By subscription and to agents').selectOption('for real money');
    await page.getByLabel('Uses of one payment').fill('');
    await page.getByLabel('Payout wallet').fill(shop.wallet);
    await press(page, 'Create template');
    await seeHeading(page, 'Template');
    const publish = async () => {
      await seeFact(page, 'Plan to publish');
      expect(await findViolations(page)).toEqual([]);
      await press(page, 'Publish with wallet');
      await signAndReturn(page);
      await seeHeading(page, 'Publish the plan');
      await shoot('68-plan-signed');
      await press(page, 'Confirm');
      await seeDone(page, 'The plan is published.');
      await seeFact(page, 'On sale');
    };
    await publish();
    await page.getByLabel('Price', { exact: true }).fill('7.5');
    await press(page, 'Save');
    await publish();
    const buyer = await shop.visit('desktop', [{ signer: await shop.chain.newBuyer(100n * USDC) }]);
    await buyer.page.goto(await page.locator('dd a[href*="/p/"]').first().innerText());
    await buyer.page.getByText(/^7\.50\u00a0USDC now, then every 30 days\./).waitFor();
    await buyer.close();
    expect(offences).toEqual([]);
    await close();
  });
});
