import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findViolations } from './axe.ts';
import { press, Shop, seeHeading } from './shop.ts';

const USDC = 1_000_000n;
const shop = new Shop();
beforeAll(() => shop.open(), 60_000);
afterAll(() => shop.close());

const seeShort = async (page: Page) => {
  await seeHeading(page, '10.00\u00a0USDC of 12.50\u00a0USDC arrived');
  await page.getByText('2.50\u00a0USDC is missing, so nothing was bought.').waitFor();
  await page.getByText('Do not pay again. Ask the seller first.').waitFor();
};

describe('checkout page: underpaid', () => {
  it('the page names the amount, the missing rest and the seller, survives a reload, and is paid once accepted', async () => {
    const product = await shop.sell();
    const signer = await shop.chain.newBuyer(100n * USDC);
    const visit = await shop.visit('desktop', [{ signer }]);
    const { page, offences, shoot, close } = visit;
    const { paymentId, signature } = await shop.sendByHand(visit, product, signer, 10n * USDC);
    await seeShort(page);
    expect(await findViolations(page)).toEqual([]);
    await shoot('81-short');
    expect(await page.getByRole('button', { name: /Pay with|QR code/ }).count()).toBe(0);
    await press(page, 'Copy this for the seller');
    await page
      .getByRole('button', { name: 'Copied' })
      .or(page.getByRole('button', { name: 'Selected' }))
      .waitFor();
    const note = await page.locator('.copy-receipt .hidden').textContent();
    for (const fact of [paymentId, signature, '10.00', '12.50']) expect(note).toContain(fact);
    await page.reload();
    await seeShort(page);
    await shop.callAs(product, 'POST', `/v1/payments/${paymentId}/accept-unmatched`, { tx_signature: signature });
    await seeHeading(page, 'Paid');
    expect(offences).toEqual([]);
    await close();
  });

  it('the full price can be paid again only after the buyer insists', async () => {
    const product = await shop.sell();
    const signer = await shop.chain.newBuyer(100n * USDC);
    const visit = await shop.visit('phone', [{ signer }], { userAgent: 'Mozilla/5.0 (X11; Linux x86_64)' });
    const { page, offences, shoot, close } = visit;
    await shop.sendByHand(visit, product, signer, 10n * USDC);
    await seeShort(page);
    await page.getByText('Pay the whole price all the same?').click();
    await page.getByText('You then pay 12.50\u00a0USDC on top of 10.00\u00a0USDC.').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await shoot('82-short-again');
    await press(page, 'Start again');
    await press(page, 'Pay with Test wallet');
    await seeHeading(page, 'Paid');
    expect(offences).toEqual([]);
    await close();
  });
});
