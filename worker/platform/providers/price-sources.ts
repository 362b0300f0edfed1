import type { PriceSourceName } from '#rules/price-sources.ts';
import type { PriceSource } from './price-source.ts';
import { pythHermes } from './pyth-hermes.ts';

const SOURCES: Record<PriceSourceName, PriceSource> = { pyth_hermes: pythHermes };

export const getPriceSource = (name: PriceSourceName): PriceSource => SOURCES[name];
