import { beforeAll, describe, expect, it, vi } from 'vitest';
import { priceClock } from '../support/chain/price-clock.ts';
import { World } from '../support/world.ts';

// The service was loaded before this file: it is loaded once more, with the row.
const TOY = vi.hoisted(() => {
  vi.resetModules();
  return 'toy_average';
});
// What a second source takes beside its own file: its name, and its line in the registry.
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

describe('a second price source of one name, one file and one line in the registry', () => {
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

  it('is asked where the configuration names it, and quotes by what it reads', async () => {
    await prices({ price: '16000000000', ema: '15000000000' });
    expect((await quoted('pyth_hermes')).price_quote.rate).toBe('160');
    expect((await quoted(TOY)).price_quote.rate).toBe('150');
  });

  it('is believed no more than any other: what is stale or out of bounds is no price', async () => {
    for (const habit of [{ ageSeconds: 62 }, { expo: -5 }, { answer: 'garbage' as const }, { answer: 'nothing' as const }]) {
      await prices(habit);
      expect((await quoted(TOY)).code).toBe('price_unavailable');
      passTime(5);
    }
  });
});
