import { Memory } from '#core/isolate/memory.ts';
import type { Asset, Rate } from '#core/money.ts';
import { SECOND } from '#core/time.ts';
import type { Config } from '#platform/context.ts';
import type { Reading } from './price-source.ts';
import { getPriceSource } from './price-sources.ts';

export interface Price {
  rate: Rate;
  source: string;
  asOf: number;
}

export type PriceAnswer = { kind: 'price'; price: Price } | { kind: 'unavailable'; reason: string };

const AGE_MAX_MS = 60 * SECOND;
/** Tolerance for clock skew. A price from further ahead is refused. */
const AHEAD_MAX_MS = 10 * SECOND;
/** A price with a confidence interval above this fraction is refused. */
const DOUBT_DIVISOR = 100n;
/** A price further than this fraction from its one-hour average is refused: a faulty feed or a manipulated market. */
const DRIFT_DIVISOR = 5n;
interface Pair {
  of: Asset;
  in: Asset;
  sane: { least: Rate; most: Rate };
}
/**
 * SOL has cost between half a dollar and three hundred. A price far beyond has a wrong exponent or is of another feed. The bounds detect an
 * error of three digits.
 */
const SOL_IN_USDC: Pair = { of: 'SOL', in: 'USDC', sane: { least: { price: 1n, expo: -1 }, most: { price: 10_000n, expo: 0 } } };
const PAIRS: readonly Pair[] = [SOL_IN_USDC];

const TIMEOUT_MS = 3000;
const PRICE_CACHE_MS = 3 * SECOND;
/** Pause after a failed call, in which callers get the failure at once. */
const FAILED_CACHE_MS = 1.5 * SECOND;
const HEALTH_CACHE_MS = 15 * SECOND;

const priceCache = new Memory<string, { answer: PriceAnswer; until: number }>(100);
const health = new Memory<string, { isHealthy: boolean; at: number }>(100);

/** Source of sandboxes: a constant fresh price, without a server call. */
export const SIMULATED_PRICE_URL = 'sandbox:price';
const SIMULATED_RATE: Rate = { price: 150n, expo: 0 };

type PriceConfig = Pick<Config, 'PRICE_SOURCE'> & { PRICE_URL: string };

/**
 * Returns a price at `now` that is fresh, confident and near its own average, else none. Cached for seconds by source and pair. Promises
 * are not cached, because a request must not await I/O of another request.
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
  const known = priceCache.get(source);
  if (known && now < known.until) return refuseStale(known.answer, now);
  const answer = refuseStale(await askSource(config, pair, Math.min(TIMEOUT_MS, leftMs)), now);
  // A later call may have answered sooner.
  const other = priceCache.get(source);
  const isOutdone = answer.kind === 'unavailable' && other?.answer.kind === 'price' && now < other.until;
  // A timeout caused by the caller's short deadline proves nothing about the source.
  const isCutShort = answer.kind === 'unavailable' && leftMs < TIMEOUT_MS;
  if (!isOutdone && !isCutShort) priceCache.set(source, { answer, until: now + cacheMsFor(answer) });
  return answer;
}

/** True if the source answers. Mostly cached, because the health check is public. */
export async function isPriceHealthy(config: PriceConfig, now: number): Promise<boolean> {
  const source = keyOf(config);
  const known = health.get(source);
  if (known && now - known.at < HEALTH_CACHE_MS) return known.isHealthy;
  const answers = await Promise.all(PAIRS.map((pair) => priceBetween(config, [pair.of, pair.in], now)));
  const isHealthy = answers.every(({ kind }) => kind === 'price');
  health.set(source, { isHealthy, at: now });
  return isHealthy;
}

const keyOf = ({ PRICE_SOURCE, PRICE_URL }: PriceConfig): string => `${PRICE_SOURCE} ${PRICE_URL}`;

const unavailable = (reason: string): PriceAnswer => ({ kind: 'unavailable', reason });

function cacheMsFor(answer: PriceAnswer): number {
  if (answer.kind === 'price') return PRICE_CACHE_MS;
  // After a timeout, `now` is outdated by the timeout.
  return FAILED_CACHE_MS + (answer.reason === 'TimeoutError' ? TIMEOUT_MS : 0);
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

const leveled = ({ price, expo }: Rate): bigint => price * 10n ** BigInt(18 + expo);
const isAbove = (one: Rate, other: Rate): boolean => leveled(one) > leveled(other);

function isAdrift(rate: Rate, average: Rate): boolean {
  const distance = leveled(rate) - leveled(average);
  return (distance < 0n ? -distance : distance) * DRIFT_DIVISOR > leveled(average);
}
