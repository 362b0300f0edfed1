import type { PriceSource } from '#platform/providers/price-source.ts';

/** Source with the response format of Pyth Hermes that uses the average of the last hour, without a confidence check. */
export const toyAverage: PriceSource = {
  read: (_url, answer) => {
    const { parsed } = answer as { parsed: { ema_price: { price: string; expo: number; publish_time: number } }[] };
    const [{ ema_price: average } = { ema_price: null }] = parsed;
    return (
      average && { rate: { price: BigInt(average.price), expo: average.expo }, doubt: 0n, average: null, asOf: average.publish_time * 1000 }
    );
  },
};
