import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sign } from '../../local/demo/wallet.ts';
import { findViolations } from './axe.ts';
import { Shop, type Size } from './shop.ts';

const USDC = 1_000_000n;
const shop = new Shop();
beforeAll(() => shop.open({ checkout_brand_name: 'Ada’s Weather', checkout_accent_hex: '#0f766e' }), 60_000);
afterAll(() => shop.close());

/** Holds the shop's own page closed until the test opens the gate, so that the checkout page can be checked first. */
async function holdShop(page: Page): Promise<{ arrived: Promise<string>; letOpen: () => void }> {
  let letOpen = () => {};
  const isOpen = new Promise<void>((resolve) => {
    letOpen = resolve;
  });
  const arrived = new Promise<string>((resolve) => {
    void page.route('https://shop.example.com/**', async (route) => {
      resolve(route.request().url());
      await isOpen;
      return route.fulfill({ body: 'thanks' });
    });
  });
  return { arrived, letOpen };
}

describe.each<Size>(['phone', 'desktop'])('checkout on a %s', (size) => {
  it('a purchase from the offer to the receipt passes axe and requests no other origin at every step', async () => {
    const product = await shop.sell({ description: 'Hourly forecasts for every place on earth.\nUpdated every ten minutes.' });
    const signer = await shop.chain.newBuyer(100n * USDC);
    let approve: (() => void) | undefined;
    const asked = new Promise<void>((resolve) => {
      approve = resolve;
    });
    const onAct = async (transaction: string) => {
      await asked;
      return sign(signer, transaction);
    };
    const { page, offences, shoot, close } = await shop.visit(size, [{ signer, onAct }]);
    await page.goto(shop.urlOf(product));
    expect(await page.locator('.offer .amount').innerText()).toContain('12.50');
    expect(await page.locator('.about').innerText()).toContain(shop.wallet);
    await page.getByRole('button', { name: 'Pay with Test wallet' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await shoot('1-choosing');

    await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
    await page.getByRole('heading', { name: 'Approve the payment in Test wallet' }).waitFor();
    await page.locator('#panel-title:focus').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await shoot('2-waiting');

    // Delays the confirmation so that the state after the signature can be checked.
    let isHeld = true;
    await page.route('**/v1/pay/confirm', (route) => (isHeld ? route.abort() : route.continue()));
    approve!();
    await page.getByRole('heading', { name: 'Payment seen' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await shoot('3-seen');
    isHeld = false;
    await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor({ timeout: 30_000 });
    expect(await page.locator('#announcement').textContent()).toBe('Paid');
    expect(await findViolations(page)).toEqual([]);
    await shoot('4-confirmed');
    expect((await shop.readPayments(product)).map(({ status }) => status)).toEqual(['CONFIRMED']);

    await page.getByRole('link', { name: 'Open the receipt' }).click();
    await page.getByRole('heading', { name: 'This receipt is genuine' }).waitFor();
    await page.getByText('How do I know?').click();
    await page.getByText('Your own browser checked the signature too.').waitFor();
    expect(await page.locator('main').innerText()).toContain(signer.address);
    expect(await findViolations(page)).toEqual([]);
    await shoot('5-receipt');
    expect(offences).toEqual([]);
    await close();
  });
});

describe('one purchase, one payment', () => {
  it('a reload, a second tab and a second way of paying use the same payment', async () => {
    const product = await shop.sell();
    const signer = await shop.chain.newBuyer(100n * USDC);
    const { page, close, shoot } = await shop.visit('desktop', [{ signer }]);
    await page.goto(shop.urlOf(product));
    await page.getByRole('button', { name: 'Show a QR code' }).click();
    await page.getByRole('img', { name: /QR code/ }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await shoot('6-qr');
    await page.reload();
    await page.getByRole('timer').waitFor();
    await page.getByRole('button', { name: 'Show a QR code' }).click();
    await page.getByRole('img', { name: /QR code/ }).waitFor();
    const tab = await page.context().newPage();
    await tab.goto(shop.urlOf(product));
    await tab.getByRole('timer').waitFor();
    await tab.getByRole('button', { name: 'Show a QR code' }).click();
    await tab.getByRole('img', { name: /QR code/ }).waitFor();
    expect(await shop.readPayments(product)).toHaveLength(1);

    await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
    await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor({ timeout: 30_000 });
    await tab.getByRole('heading', { name: 'Paid', exact: true }).waitFor({ timeout: 30_000 });
    await page.reload();
    await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor();
    expect((await shop.readPayments(product)).map(({ status }) => status)).toEqual(['CONFIRMED']);

    const again = page.getByRole('button', { name: 'Buy once more' });
    expect(await again.isVisible()).toBe(false);
    await page.getByText('Buy again').click();
    await again.click();
    await page.getByRole('heading', { name: 'Choose how to pay' }).waitFor();
    expect(await shop.readPayments(product)).toHaveLength(1);
    await close();
  });

  it('a buyer who leaves right after signing finds the payment again, and is never redirected over http', async () => {
    const product = await shop.sell();
    const signer = await shop.chain.newBuyer(100n * USDC);
    const { page, close } = await shop.visit('phone', [{ signer }]);
    await page.goto(shop.urlOf(product));
    await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
    await page.getByRole('heading', { name: /^(Payment seen|Paid)$/ }).waitFor();
    await page.goto('about:blank');
    await page.goBack();
    await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor({ timeout: 30_000 });
    // A redirect over http is never followed, whatever the answer says.
    await page.route('**/v1/pay/confirm', async (route) =>
      route.fulfill({ json: { ...((await (await route.fetch()).json()) as object), redirect_url: 'http://shop.example.com/' } }),
    );
    const asked = page.waitForResponse('**/v1/pay/confirm');
    await page.reload();
    await asked;
    await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor();
    expect(await page.getByRole('link', { name: /Continue to/ }).count()).toBe(0);
    await close();
  });

  it('a wallet that sends by itself pays, and the announced redirect stops if the page comes back from the cache', async () => {
    const product = await shop.sell({ success_url: 'https://shop.example.com/thanks' });
    const signer = await shop.chain.newBuyer(100n * USDC);
    const { page, offences, close } = await shop.visit('desktop', [{ signer, features: ['solana:signAndSendTransaction'] }]);
    await holdShop(page);
    await page.goto(shop.urlOf(product));
    await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
    await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor({ timeout: 30_000 });
    await page.getByText('You are being taken to shop.example.com').waitFor();
    // Simulates a restore from the back-forward cache.
    await page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))");
    await page.getByText('You are being taken to shop.example.com').waitFor({ state: 'detached' });
    expect(offences.filter((offence) => !offence.startsWith('asked https://shop.example.com/'))).toEqual([]);
    await close();
  });

  it('the buyer is redirected once, to the success_url of the product, and to no address from the query', async () => {
    const product = await shop.sell({ success_url: 'https://shop.example.com/thanks?order=7' });
    const signer = await shop.chain.newBuyer(100n * USDC);
    const { page, close, shoot } = await shop.visit('desktop', [{ signer }]);
    const { arrived, letOpen } = await holdShop(page);
    await page.goto(shop.urlOf(product, '?success_url=https://evil.example/&redirect_url=https://evil.example/'));
    await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
    await page.getByRole('link', { name: 'Continue to shop.example.com' }).waitFor({ timeout: 30_000 });
    expect(await findViolations(page)).toEqual([]);
    await shoot('7-leaving');
    const [payment] = await shop.readPayments(product);
    expect(await arrived).toBe(`https://shop.example.com/thanks?order=7&payment_id=${payment!.payment_id}&status=CONFIRMED`);
    letOpen();
    await page.waitForURL('https://shop.example.com/**');
    // A returning buyer is not redirected again.
    await page.goto(shop.urlOf(product));
    await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor();
    await page.waitForTimeout(6000);
    expect(page.url()).toBe(shop.urlOf(product));
    await close();
  });
});
