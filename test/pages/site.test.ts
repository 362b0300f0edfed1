import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findViolations } from './axe.ts';
import { Shop } from './shop.ts';

const PATHS = [
  '/',
  '/docs',
  '/docs/pay-per-request',
  '/docs/reference/errors',
  '/docs/webhoks',
  '/docs/search?q=webhook',
  '/docs/errors',
  '/docs/errors?q=wallet',
  '/docs/errors/setup_not_ready',
  '/docs/checkout',
  '/docs/quickstart',
  '/docs/without-an-sdk',
  '/nowhere',
  '/dev/telegram',
  '/dev/mail',
];

describe('public pages', () => {
  const shop = new Shop();
  beforeAll(() => shop.open(), 60_000);
  afterAll(() => shop.close());

  it.each(PATHS)('%s fits every screen size in both colour schemes, runs no foreign script and passes axe', async (path) => {
    const { page, offences, close } = await shop.visit('phone', []);
    await page.goto(shop.baseUrl + path);
    expect(await page.locator('h1').count()).toBe(1);
    expect(await findViolations(page)).toEqual([]);
    expect(offences).toEqual([]);
    await close();
  });

  it('an example shows curl or the SDK by mouse and keyboard without a script, for all examples with one, and both in print', async () => {
    const blockOf = (page: Page, name: string) => page.locator(`.tab[data-name="${name}"]`);
    for (const javaScriptEnabled of [false, true]) {
      const { page, close } = await shop.visit('phone', [], { javaScriptEnabled });
      await page.goto(`${shop.baseUrl}/docs/pay-per-request`);
      const shown = async () => [
        await blockOf(page, 'curl').filter({ visible: true }).count(),
        await blockOf(page, 'SDK').filter({ visible: true }).count(),
      ];
      expect(await shown()).toEqual([2, 0]);
      await page.getByText('SDK', { exact: true }).first().click();
      expect(await shown()).toEqual(javaScriptEnabled ? [0, 2] : [1, 1]);
      await page.keyboard.press('ArrowLeft');
      expect(await shown()).toEqual([2, 0]);
      await page.emulateMedia({ media: 'print' });
      expect(await shown()).toEqual([2, 2]);
      await close();
    }
  });

  it.each(['/v1/docs', '/v1/redoc'])('%s links the guide of a tag', async (path) => {
    const { page, offences, close } = await shop.visit('desktop', []);
    await page.goto(`${shop.baseUrl}${path}`);
    await page.locator('a[href$="/docs/secure-your-account"]', { hasText: 'Guide' }).waitFor();
    expect(offences).toEqual([]);
    await close();
  });

  it('a link of a guide opens its operation in the reference', async () => {
    const { page, close } = await shop.visit('desktop', []);
    await page.goto(`${shop.baseUrl}/docs/webhooks`);
    await page.locator('a[href="/v1/redoc#operation/createWebhookEndpoint"]').click();
    const heading = page.locator('[id="operation/createWebhookEndpoint"]');
    await heading.waitFor();
    await expect.poll(async () => Math.abs((await heading.boundingBox())?.y ?? Number.NaN), { timeout: 20_000 }).toBeLessThan(800);
    await close();
  });
});
