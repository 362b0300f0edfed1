/** Supported kinds of price sources, by the names in PRICE_SOURCE. */
export const PRICE_SOURCES = ['pyth_hermes'] as const;
export type PriceSourceName = (typeof PRICE_SOURCES)[number];
