import { Memory } from '#core/isolate/memory.ts';
import type { Asset, Rate } from '#core/money.ts';
import { SECOND } from '#core/time.ts';
import type { Config } from '#platform/context.ts';
import type { Reading } from './price-source.ts';
import { getPriceSource } from './price-sources.ts';

/** What one asset costs in another, as a source says, and as it is believed. */
export interface Price {
  rate: Rate;
  source: string;
  /** When the source says it was true, in milliseconds. */
  asOf: number;
}

export type PriceAnswer = { kind: 'price'; price: Price } | { kind: 'unavailable'; reason: string };

/** A price older than this is refused. */
const AGE_MAX_MS = 60 * SECOND;
/** Clocks differ; a price from further ahead is no price. */
const AHEAD_MAX_MS = 10 * SECOND;
/** A source that doubts its own price by more than one part in so many. */
const DOUBT_DIVISOR = 100n;
/** Further from its own average of the last hour than one part in so many, a price is refused: a feed gone wrong, or a manipulated market. */
const DRIFT_DIVISOR = 5n;
/** Prices that can be asked for: of an asset, in another. `sane`: far beyond these a source tells the price of something else. */
interface Pair {
  of: Asset;
  in: Asset;
  sane: { least: Rate; most: Rate };
}
/**
 * A SOL has cost between half a dollar and three hundred. Far beyond, in dollars, a source does not tell the price of SOL: its
 * exponent is wrong, or it is another feed. Tight enough to notice three digits too many.
 */
const SOL_IN_USDC: Pair = { of: 'SOL', in: 'USDC', sane: { least: { price: 1n, expo: -1 }, most: { price: 10_000n, expo: 0 } } };
const PAIRS: readonly Pair[] = [SOL_IN_USDC];

const TIMEOUT_MS = 3000;
/** Asked at most so often by one isolate. */
const KEPT_MS = 3 * SECOND;
/** How long a source that failed is not asked again: callers in that time get the failure at once. */
const FAILED_KEPT_MS = 1.5 * SECOND;
const HEALTH_KEPT_MS = 15 * SECOND;

const kept = new Memory<string, { answer: PriceAnswer; until: number }>(100);
const health = new Memory<string, { isHealthy: boolean; at: number }>(100);

/** The source of sandboxes, which calls no server: the price is always the same, and fresh. */
export const SIMULATED_PRICE_URL = 'sandbox:price';
const SIMULATED_RATE: Rate = { price: 150n, expo: 0 };

/** A configuration that names a source. */
type PriceConfig = Pick<Config, 'PRICE_SOURCE'> & { PRICE_URL: string };

/**
 * The price between two assets at `now`, in milliseconds: fresh, sure of itself and near its own average, or none at all. Kept for
 * seconds, by source and pair; a promise is not, because one request may not wait for what another one asks.
 */
export async function priceBetween(
  config: PriceConfig,
  assets: readonly [Asset, Asset],
  now: number,
  leftMs = TIMEOUT_MS,
): Promise<PriceAnswer> {
  const pair = PAIRS.find((one) => assets.includes(one.of) && assets.includes(one.in));
  if (!pair) return unavailable(`no source has the price between ${assets.join(' and ')}`);
  if (config.PRICE_URL === SIMULATED_PRICE_URL) return { kind: 'price', price: { rate: SIMULATED_RATE, source: 'sandbox', asOf: now } };
  const source = `${keyOf(config)} ${pair.of}/${pair.in}`;
  const known = kept.get(source);
  if (known && now < known.until) return refuseStale(known.answer, now);
  const answer = refuseStale(await askSource(config, pair, Math.min(TIMEOUT_MS, leftMs)), now);
  // Who was asked later may have answered sooner.
  const other = kept.get(source);
  const isOutdone = answer.kind === 'unavailable' && other?.answer.kind === 'price' && now < other.until;
  // A caller with little time left tells nothing about the source.
  const isCutShort = answer.kind === 'unavailable' && leftMs < TIMEOUT_MS;
  if (!isOutdone && !isCutShort) kept.set(source, { answer, until: now + keepFor(answer) });
  return answer;
}

/** Whether the source answers. The health check is public, so the answer comes from memory most of the time. */
export async function isPriceHealthy(config: PriceConfig, now: number): Promise<boolean> {
  const source = keyOf(config);
  const known = health.get(source);
  if (known && now - known.at < HEALTH_KEPT_MS) return known.isHealthy;
  const answers = await Promise.all(PAIRS.map((pair) => priceBetween(config, [pair.of, pair.in], now)));
  const isHealthy = answers.every(({ kind }) => kind === 'price');
  health.set(source, { isHealthy, at: now });
  return isHealthy;
}

const keyOf = ({ PRICE_SOURCE, PRICE_URL }: PriceConfig): string => `${PRICE_SOURCE} ${PRICE_URL}`;

const unavailable = (reason: string): PriceAnswer => ({ kind: 'unavailable', reason });

function keepFor(answer: PriceAnswer): number {
  if (answer.kind === 'price') return KEPT_MS;
  // Of a source that hung, `now` is long gone.
  return FAILED_KEPT_MS + (answer.reason === 'TimeoutError' ? TIMEOUT_MS : 0);
}

function refuseStale(answer: PriceAnswer, now: number): PriceAnswer {
  if (answer.kind === 'unavailable') return answer;
  const { asOf } = answer.price;
  if (now - asOf > AGE_MAX_MS) return unavailable('stale');
  return asOf - now > AHEAD_MAX_MS ? unavailable('from the future') : answer;
}

async function askSource({ PRICE_SOURCE, PRICE_URL: url }: PriceConfig, pair: Pair, timeoutMs: number): Promise<PriceAnswer> {
  try {
    const response = await fetch(url, { headers: { accept: 'application/json' }, signal: AbortSignal.timeout(timeoutMs) });
    if (!response.ok) {
      await response.body?.cancel();
      return unavailable(`HTTP ${response.status}`);
    }
    const reading = getPriceSource(PRICE_SOURCE).read(url, await response.json());
    return reading ? checkReading(reading, pair, new URL(url).host) : unavailable('not an update of the one price');
  } catch (error) {
    return unavailable(error instanceof Error ? error.name : 'unknown');
  }
}

function checkReading({ rate, doubt, average, asOf }: Reading, { sane }: Pair, source: string): PriceAnswer {
  if (doubt * DOUBT_DIVISOR > rate.price) return unavailable('unsure of itself');
  if (isAbove(sane.least, rate) || isAbove(rate, sane.most)) return unavailable('out of bounds');
  if (average && isAdrift(rate, average)) return unavailable('far from its own average');
  return { kind: 'price', price: { rate, source, asOf } };
}

/** Both in units of the smallest exponent there is, so that they compare. */
const leveled = ({ price, expo }: Rate): bigint => price * 10n ** BigInt(18 + expo);
const isAbove = (one: Rate, other: Rate): boolean => leveled(one) > leveled(other);

function isAdrift(rate: Rate, average: Rate): boolean {
  const distance = leveled(rate) - leveled(average);
  return (distance < 0n ? -distance : distance) * DRIFT_DIVISOR > leveled(average);
}
