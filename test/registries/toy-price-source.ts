import type { PriceSource } from '#platform/providers/price-source.ts';

/** A source of the same bodies as Pyth Hermes that goes by the average of the last hour, and doubts nothing. */
export const toyAverage: PriceSource = {
  read: (_url, answer) => {
    const { parsed } = answer as { parsed: { ema_price: { price: string; expo: number; publish_time: number } }[] };
    const [{ ema_price: average } = { ema_price: null }] = parsed;
    return (
      average && { rate: { price: BigInt(average.price), expo: average.expo }, doubt: 0n, average: null, asOf: average.publish_time * 1000 }
    );
  },
};
