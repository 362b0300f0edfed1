/** The forms in which a source of prices can answer, by the names that PRICE_SOURCE knows. */
export const PRICE_SOURCES = ['pyth_hermes'] as const;
export type PriceSourceName = (typeof PRICE_SOURCES)[number];
