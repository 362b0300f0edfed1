import { z } from 'zod';
import type { Rate } from '#core/money.ts';
import { SECOND } from '#core/time.ts';
import type { PriceSource } from './price-source.ts';

const Price = z.object({ price: z.string().regex(/^[1-9]\d{0,18}$/), expo: z.int().min(-18).max(0) });
const Update = z.object({
  parsed: z.array(
    z.object({
      id: z.string().optional(),
      price: Price.extend({ conf: z.string().regex(/^\d{1,19}$/), publish_time: z.int().positive() }),
      ema_price: Price.optional(),
    }),
  ),
});
type Feed = z.infer<typeof Update>['parsed'][number];

/** Pyth Hermes: `GET /v2/updates/price/latest`, with the feed in `ids[]`. */
export const pythHermes: PriceSource = {
  read: (url, answer) => {
    const update = Update.safeParse(answer);
    const feed = update.success ? feedOf(url, update.data.parsed) : null;
    if (!feed) return null;
    const { price, ema_price: average } = feed;
    return {
      rate: rateOf(price),
      doubt: BigInt(price.conf),
      average: average ? rateOf(average) : null,
      asOf: price.publish_time * SECOND,
    };
  },
};

function feedOf(url: string, feeds: Feed[]): Feed | null {
  const plain = (id: string): string => id.toLowerCase().replace(/^0x/, '');
  const wanted = [...new URL(url).searchParams].filter(([name]) => /^ids(?:\[\d*\])?$/.test(name)).map(([, id]) => plain(id));
  const [feed, ...more] = wanted.length === 0 ? feeds : feeds.filter(({ id }) => id !== undefined && wanted.includes(plain(id)));
  return more.length === 0 ? (feed ?? null) : null;
}

const rateOf = ({ price, expo }: z.infer<typeof Price>): Rate => ({ price: BigInt(price), expo });
