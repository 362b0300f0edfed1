import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findViolations } from './axe.ts';
import { type Product, press, Shop, seeHeading } from './shop.ts';

const shop = new Shop();
beforeAll(() => shop.open(), 60_000);
afterAll(() => shop.close());

const sellEntry = (): Promise<Product> =>
  shop.sellInSandbox({ name: 'The club', product_type: 'telegram', delivery: { provider: 'telegram', chat_id: '-1001234567890' } });

/** Verifies the buyer's identity at the platform, and pays. */
async function buyAs(page: Page, product: Product, name: string): Promise<void> {
  await page.goto(shop.urlOf(product));
  await press(page, 'Pay with Test wallet');
  const href = (await page.getByRole('link', { name: 'Open Telegram' }).getAttribute('href'))!;
  const [identity_session_id] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(href)!;
  await shop.callAs(product, 'POST', '/v1/testing/identity', { identity_session_id, provider_user_id: name });
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
  await page.getByRole('timer').waitFor();
  await press(page, 'Pay with Test wallet');
  await press(page, 'Approve');
  await seeHeading(page, 'Paid');
}

const readMembership = (product: Product) =>
  shop
    .callAs<{ items: { membership_id: string; delivery: { status: string; invite_url: string } }[] }>(
      product,
      'GET',
      `/v1/memberships?product_id=${product.product_id}`,
    )
    .then(({ items }) => items[0]!);

describe('checkout page of a product with chat access', () => {
  it('the invitation is shown to its buyer, also after a reload, and to no other visitor', async () => {
    const product = await sellEntry();
    const { page, offences, shoot, close } = await shop.visit('phone');
    await buyAs(page, product, 'buyer-4711');
    await page.getByText('You are invited. The invitation is for you alone.').waitFor();
    const link = page.getByRole('link', { name: 'Open the invitation (sandbox.invalid)' });
    expect(await link.getAttribute('href')).toBe((await readMembership(product)).delivery.invite_url);
    expect([await link.getAttribute('rel'), await link.getAttribute('target')]).toEqual(['noreferrer', '_blank']);
    expect(await findViolations(page)).toEqual([]);
    await shoot('60-entry-invited');
    await page.reload();
    await link.waitFor();
    const stranger = await shop.visit('desktop');
    await stranger.page.goto(shop.urlOf(product));
    await stranger.page.getByRole('button', { name: 'Pay with Test wallet' }).waitFor();
    expect(await stranger.page.content()).not.toContain('sandbox.invalid');
    await stranger.close();
    expect(offences).toEqual([]);
    await close();
  });

  it('the page says what to do if the invitation was not delivered, and shows it after the seller’s retry', async () => {
    const product = await sellEntry();
    const { page, offences, shoot, close } = await shop.visit('phone');
    await buyAs(page, product, 'refuses-first-1');
    await page.getByText('Your payment is complete, but you could not be told how to get in.').waitFor();
    await page.getByRole('link', { name: 'Open the invitation (sandbox.invalid)' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await shoot('61-entry-failed');
    const { membership_id, delivery } = await readMembership(product);
    expect(delivery.status).toBe('failed');
    await shop.callAs(product, 'POST', `/v1/memberships/${membership_id}/retry-delivery`);
    await page.reload();
    await page.getByText('You are invited. The invitation is for you alone.').waitFor();
    expect(offences).toEqual([]);
    await close();
  });
});
