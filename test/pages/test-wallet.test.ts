import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findViolations } from './axe.ts';
import { type Product, press, Shop, type Size, seeHeading } from './shop.ts';

const shop = new Shop();
beforeAll(() => shop.open(), 60_000);
afterAll(() => shop.close());

const readStatuses = async (product: Product) => (await shop.readPayments(product)).map(({ status }) => status);

async function openWallet(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await press(page, 'Pay with Test wallet');
  await page.getByRole('dialog', { name: 'Test wallet' }).waitFor();
}

describe.each<Size>(['phone', 'desktop'])('sandbox product on a %s', (size) => {
  it('the test wallet pays the product, and each page is marked as a test, passes axe and requests no other origin', async () => {
    const product = await shop.sellInSandbox();
    const { page, offences, shoot, close } = await shop.visit(size, [{ signer: await shop.chain.newBuyer(0n), name: 'Real wallet' }]);
    await page.goto(shop.urlOf(product));
    await page.getByText('This is a test.').waitFor();
    await page.getByRole('button', { name: 'Pay with Test wallet' }).waitFor();
    // No wallet of a browser or phone supports the simulated chain.
    expect(await page.locator('#pay').getByRole('button').allInnerTexts()).toHaveLength(1);
    expect(await findViolations(page)).toEqual([]);
    await shoot('40-test-choosing');
    await press(page, 'Pay with Test wallet');
    await page.getByRole('dialog', { name: 'Test wallet' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await shoot('41-test-wallet');
    await press(page, 'Approve');
    await seeHeading(page, 'Paid');
    expect(await readStatuses(product)).toEqual(['CONFIRMED']);
    await page.getByRole('link', { name: 'Open the receipt' }).click();
    await page.getByText('This receipt is of a test, not of a sale.').waitFor();
    await page.getByText('How do I know?').click();
    await page.getByText('Your own browser checked the signature too.').waitFor();
    expect(offences).toEqual([]);
    await close();
  });
});

async function sellByPeriod(): Promise<Product> {
  const product = await shop.sellInSandbox({ renewal_mode: 'AUTOMATIC', price: { asset: 'USDC', amount: '5' } });
  const path = `/v1/access/products/${product.product_id}/subscription-plan`;
  const { transaction } = await shop.callAs<{ transaction: string }>(product, 'POST', path);
  const published = await shop.callAs<{ tx_signature: string }>(product, 'POST', '/v1/testing/pay', { transaction });
  await shop.callAs(product, 'POST', `${path}/confirm`, { tx_signature: published.tx_signature });
  return product;
}

/** Cancels on the subscription page. The wallet offers no underpayment there, because nothing is paid. */
async function cancelInWallet(page: Page, deed: string): Promise<void> {
  await press(page, 'Cancel with Test wallet');
  await seeHeading(page, 'End the subscription');
  await press(page, 'Continue in Test wallet');
  const wallet = page.getByRole('dialog', { name: 'Test wallet' });
  await wallet.waitFor();
  expect(await wallet.getByRole('button').allInnerTexts()).toEqual(['Approve', 'Decline', 'Walk away']);
  await press(page, deed);
}

describe('test wallet', () => {
  it('a subscription is approved step by step and cancelled with the same wallet, all marked as a test', async () => {
    const product = await sellByPeriod();
    const { page, offences, shoot, close } = await shop.visit('desktop', [{ signer: await shop.chain.newBuyer(0n), name: 'Real wallet' }]);
    await page.goto(shop.urlOf(product));
    await page.getByText('This is a test.').waitFor();
    await page.getByText('A wallet of this test page.').waitFor();
    await press(page, 'Subscribe with Test wallet');
    for (const step of ['Allow monthly charges', 'Subscribe']) {
      await seeHeading(page, step);
      await press(page, 'Continue in Test wallet');
      await press(page, 'Approve');
    }
    await seeHeading(page, 'You are subscribed');
    expect(await findViolations(page)).toEqual([]);
    await shoot('79-test-subscribed');
    expect(await readStatuses(product)).toEqual(['CONFIRMED']);
    await page.getByRole('link', { name: 'See or cancel the subscription' }).click();
    await seeHeading(page, 'Your subscription');
    await page.getByText(/^Active\. Renews on /).waitFor();
    await page.getByText('This is a test.').waitFor();
    await page.getByRole('button', { name: 'Cancel with Test wallet' }).waitFor();
    expect(await page.locator('.subscription').getByRole('button').allInnerTexts()).toHaveLength(1);
    expect(await findViolations(page)).toEqual([]);
    await cancelInWallet(page, 'Decline');
    await page.locator('.problem', { hasText: 'You declined in your wallet.' }).waitFor();
    await cancelInWallet(page, 'Approve');
    await seeHeading(page, 'It is cancelled');
    expect(await findViolations(page)).toEqual([]);
    await shoot('80-test-cancelled');
    await page.reload();
    await page.getByText('You have cancelled it.').waitFor();
    expect(offences).toEqual([]);
    await close();
  });

  it('a buyer verifies their identity by one link, comes back and pays', async () => {
    const product = await shop.sellInSandbox({ requires_identity: 'telegram' });
    const { page, offences, close } = await shop.visit('phone');
    await page.goto(shop.urlOf(product));
    await press(page, 'Pay with Test wallet');
    const link = page.getByRole('link', { name: 'Open Telegram' });
    const [platform] = await Promise.all([page.context().waitForEvent('page'), link.click()]);
    await seeHeading(platform, 'You are known as a test buyer');
    expect(await findViolations(platform)).toEqual([]);
    await platform.close();
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.getByRole('timer').waitFor();
    await press(page, 'Pay with Test wallet');
    await press(page, 'Approve');
    await seeHeading(page, 'Paid');
    expect(await readStatuses(product)).toEqual(['CONFIRMED']);
    expect(offences).toEqual([]);
    await close();
  });

  it('a declined request pays nothing, and the next one pays', async () => {
    const product = await shop.sellInSandbox();
    const { page, close } = await shop.visit('desktop');
    await openWallet(page, shop.urlOf(product));
    await press(page, 'Decline');
    await page.locator('.problem', { hasText: 'You declined in your wallet.' }).waitFor();
    expect(await readStatuses(product)).toEqual(['PENDING_SIGNATURE']);
    await press(page, 'Pay with Test wallet');
    await page.getByRole('dialog', { name: 'Test wallet' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.problem', { hasText: 'You declined in your wallet.' }).waitFor();
    await press(page, 'Pay with Test wallet');
    await press(page, 'Approve');
    await seeHeading(page, 'Paid');
    await close();
  });

  it('an underpayment shows what is missing, and the seller sees the money on the payment', async () => {
    const product = await shop.sellInSandbox();
    const { page, close } = await shop.visit('desktop');
    await openWallet(page, shop.urlOf(product));
    await press(page, 'Pay too little');
    await seeHeading(page, '6.25\u00a0USDC of 12.50\u00a0USDC arrived');
    await page.getByText('Do not pay again. Ask the seller first.').waitFor();
    expect(await page.getByRole('button', { name: 'Pay with Test wallet' }).count()).toBe(0);
    expect(await findViolations(page)).toEqual([]);
    const [payment] = await shop.readPayments(product);
    expect(payment!.status).toBe('PENDING_SIGNATURE');
    const withUnmatched = await shop.callAs<{ unmatched: unknown[] }>(product, 'GET', `/v1/payments/${payment!.payment_id}`);
    expect(withUnmatched.unmatched).toHaveLength(1);
    await close();
  });

  it('a request that is walked away from stays open, and a reloaded page can pay', async () => {
    const product = await shop.sellInSandbox();
    const { page, close } = await shop.visit('desktop');
    await openWallet(page, shop.urlOf(product));
    await press(page, 'Walk away');
    await seeHeading(page, 'Approve the payment in Test wallet');
    expect(await readStatuses(product)).toEqual(['PENDING_SIGNATURE']);
    await page.reload();
    await press(page, 'Pay with Test wallet');
    await press(page, 'Approve');
    await seeHeading(page, 'Paid');
    expect(await readStatuses(product)).toEqual(['CONFIRMED']);
    await close();
  });

  it('a hand-off and a payment session are paid like the page itself, and a lost answer can be retried', async () => {
    const { page, close } = await shop.visit('desktop');
    const [handed, opened] = [await shop.sellInSandbox(), await shop.sellInSandbox()];
    await openWallet(page, await shop.handOff(handed));
    await press(page, 'Approve');
    await seeHeading(page, 'Paid');
    const session = await shop.callAs<{ checkout_url: string }>(opened, 'POST', '/v1/access/payment-sessions', {
      product_id: opened.product_id,
      customer_ref: 'customer-4711',
    });
    await openWallet(page, session.checkout_url);
    // The wallet stays open while the service does not answer, so the buyer can press again.
    await page.route('**/test-wallet', (route) => route.abort());
    await press(page, 'Approve');
    await page.getByRole('alert').getByText('No connection.').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.unroute('**/test-wallet');
    await press(page, 'Approve');
    await seeHeading(page, 'Paid');
    expect([await readStatuses(handed), await readStatuses(opened)]).toEqual([['CONFIRMED'], ['CONFIRMED']]);
    await close();
  });
});
