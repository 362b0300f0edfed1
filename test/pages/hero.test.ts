import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Shop } from './shop.ts';

const PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="1600" height="700"><rect width="1600" height="700" fill="#123"/></svg>';

describe('hero image', () => {
  const shop = new Shop();
  beforeAll(() => shop.open({ checkout_hero_image_url: 'https://cdn.shop.example/hero.svg' }), 60_000);
  afterAll(() => shop.close());

  it.each(['phone', 'desktop'] as const)('name and price stay visible below the hero image on a %s', async (size) => {
    const product = await shop.sell();
    const { page, close } = await shop.visit(size, []);
    await page.route('https://cdn.shop.example/**', (route) => route.fulfill({ contentType: 'image/svg+xml', body: PICTURE }));
    await page.goto(shop.urlOf(product));
    const hero = (await page.locator('.hero').boundingBox())!;
    expect(hero.height / hero.width).toBeCloseTo(7 / 16, 1);
    const name = (await page.locator('h1').first().boundingBox())!;
    expect(name.y + name.height).toBeLessThan(page.viewportSize()!.height);
    await close();
  });
});
