import { beforeAll, describe, expect, it } from 'vitest';
import type { PriceHabit } from '../../../local/service/price-source.ts';
import { priceClock } from '../../support/chain/price-clock.ts';
import { type Merchant, World } from '../../support/world.ts';

describe('SOL price source', () => {
  const w = new World();
  const { prices, passTime } = priceClock(w);
  let merchant: Merchant;
  let product: { slug: string; product_id: string };
  beforeAll(async () => {
    merchant = await w.merchant();
    product = await w.product(merchant, { accepted_assets: ['SOL', 'USDC'], access_period_days: 30 });
  });
  const connect = (body: unknown = { asset: 'SOL' }, slug = product.slug) => w.call('POST', `/v1/products/p/${slug}/connect`, { body });

  it.each<[string, Partial<PriceHabit>]>([
    ['is down', { answer: 'down' }],
    ['hangs up', { answer: 'reset' }],
    ['does not answer in time', { answer: 'hang' }],
    ['talks of something else', { answer: 'garbage' }],
    ['knows no price', { answer: 'nothing' }],
    ['tells two prices', { answer: 'two' }],
    ['is a minute old', { ageSeconds: 62 }],
    ['is from the future', { ageSeconds: -30 }],
    ['says nothing is worth nothing', { price: '0' }],
    ['says less than nothing', { price: '-15000000000' }],
    ['writes a price as a number of its own', { price: '1.5e10' }],
    ['doubts itself', { price: '15000000000', conf: '150000001' }],
    ['has an exponent beyond reason', { expo: 3 }],
    ['has three digits too many', { expo: -5 }],
    ['has lost ten of them', { price: '1', expo: -18 }],
    ['talks of another feed', { id: 'e62df6c8b4a85fe1a67db44dc12de5db330f7ac66b72dc658afedf0f4a415b43' }],
    ['does not say of which', { id: null }],
    ['is far above its own average', { ema: '12499999999' }],
    ['is far below it', { ema: '18750000001' }],
    ['has an average of nothing', { ema: '0' }],
  ])('connect is 503 while the source %s, also for the next caller', async (_, habit) => {
    await prices(habit);
    const { status, body, headers } = await connect();
    expect([status, body.code, body.retryable]).toEqual([503, 'price_unavailable', true]);
    expect(Number(headers.get('Retry-After'))).toBeGreaterThanOrEqual(1);
    await prices({});
    expect((await connect()).body.code).toBe('price_unavailable');
    passTime(2);
    expect((await connect()).status).toBe(200);
  });

  it.each<[string, Partial<PriceHabit>]>([
    ['at the edge of its average', { ema: '12500000000' }],
    ['at the other edge of it', { ema: '18750000000' }],
    ['that knows no average', { ema: null }],
    ['that tells of others besides', { answer: 'more' }],
    ['that writes the name of the feed in its own way', { id: '0xSOL-USD' }],
  ])('the price of a source %s is accepted', async (_, habit) => {
    await prices(habit);
    expect((await connect()).body.price_quote.rate).toBe('150');
  });

  it('a source without a feed id is accepted only if PRICE_URL names none', async () => {
    await prices({ id: null });
    const unnamed = { ...w.env, PRICE_URL: String(w.env.PRICE_URL).replace(/\?.*$/, '') };
    const { status } = await w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: { asset: 'SOL' }, env: unnamed });
    expect(status).toBe(200);
    expect((await connect()).status).toBe(503);
  });

  it('a price at the limits of age and confidence is accepted', async () => {
    await prices({ ageSeconds: 58, price: '15000000000', conf: '150000000' });
    expect((await connect()).status).toBe(200);
  });

  it('a price is cached for a few seconds', async () => {
    const { body: first } = await connect();
    await prices({ price: '16000000000' });
    expect((await connect()).body.price).toEqual(first.price);
    passTime(4);
    expect((await connect()).body.price_quote.rate).toBe('160');
  });

  it('health shows the state of the source, and an unconfigured source refuses SOL quotes without a retry', async () => {
    expect((await w.call('GET', '/health')).body).toMatchObject({ status: 'ok', checks: { price_source: 'ok' } });
    await prices({ answer: 'down' });
    passTime(16);
    expect((await w.call('GET', '/health')).body).toMatchObject({ status: 'degraded', checks: { price_source: 'failing' } });
    const without = new World({ PRICE_URL: '' });
    expect((await without.call('GET', '/health')).body).toMatchObject({ status: 'ok', checks: { price_source: 'not_configured' } });
    const refused = await without.call('POST', '/v1/products', {
      key: (await without.merchant()).key,
      body: { name: 'x', price: { asset: 'USDC', amount: '1' }, accepted_assets: ['USDC', 'SOL'] },
    });
    expect([refused.status, refused.body.code, refused.body.meta.reason]).toEqual([409, 'setup_not_ready', 'price_source_missing']);
    const asked = { body: { asset: 'SOL' }, env: without.env };
    const { status, body, headers } = await w.call('POST', `/v1/products/p/${product.slug}/connect`, asked);
    // A retry would not help.
    expect([status, body.code, body.meta.missing, headers.get('Retry-After')]).toEqual([503, 'price_unavailable', ['PRICE_URL'], null]);
  });
});
