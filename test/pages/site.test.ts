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
});
