import { beforeAll, describe, expect, it, vi } from 'vitest';
import { priceClock } from '../support/chain/price-clock.ts';
import { World } from '../support/world.ts';

// Loads the service again with the added row, because it was loaded before this file.
const TOY = vi.hoisted(() => {
  vi.resetModules();
  return 'toy_average';
});
// Two additions that a second source needs apart from its file: its name and its registry line.
vi.mock('#rules/price-sources.ts', async (original) => {
  const { PRICE_SOURCES } = await original<typeof import('#rules/price-sources.ts')>();
  return { PRICE_SOURCES: [...PRICE_SOURCES, TOY] };
});
vi.mock('#platform/providers/price-sources.ts', async (original) => {
  const [{ getPriceSource }, { toyAverage }] = await Promise.all([
    original<typeof import('#platform/providers/price-sources.ts')>(),
    import('./toy-price-source.ts'),
  ]);
  return { getPriceSource: (name: string) => (name === TOY ? toyAverage : getPriceSource(name as Parameters<typeof getPriceSource>[0])) };
});

describe('second price source: one name, one file and one registry line', () => {
  const w = new World();
  const { prices, passTime } = priceClock(w);
  let slug: string;
  beforeAll(async () => {
    ({ slug } = await w.product(await w.merchant(), { accepted_assets: ['USDC', 'SOL'] }));
  });
  const quoted = async (PRICE_SOURCE: string) => {
    const env = { ...w.env, PRICE_SOURCE };
    return (await w.call('POST', `/v1/products/p/${slug}/connect`, { body: { asset: 'SOL' }, env })).body;
  };

  it('the configured source is called, and quotes use its price', async () => {
    await prices({ price: '16000000000', ema: '15000000000' });
    expect((await quoted('pyth_hermes')).price_quote.rate).toBe('160');
    expect((await quoted(TOY)).price_quote.rate).toBe('150');
  });

  it('a stale or out-of-range price of the source is refused like any other', async () => {
    for (const habit of [{ ageSeconds: 62 }, { expo: -5 }, { answer: 'garbage' as const }, { answer: 'nothing' as const }]) {
      await prices(habit);
      expect((await quoted(TOY)).code).toBe('price_unavailable');
      passTime(5);
    }
  });
});
