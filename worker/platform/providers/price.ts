import { z } from 'zod';
import type { Rate } from '#core/money.ts';
import { SECOND } from '#core/time.ts';

/** What a SOL costs in dollars, from a source that speaks like Pyth Hermes (`GET /v2/updates/price/latest`). */
export interface SolPrice {
  rate: Rate;
  source: string;
  /** When the source says it was true, in milliseconds. */
  asOf: number;
}

export type PriceAnswer = { kind: 'price'; price: SolPrice } | { kind: 'unavailable'; reason: string };

/** Older than this nobody sells by it. (contract section 3 "SOL price") */
const AGE_MAX_MS = 60 * SECOND;
/** Clocks differ; a price from further ahead is no price. */
const AHEAD_MAX_MS = 10 * SECOND;
/** A source that doubts its own price by more than one part in so many. */
const DOUBT_DIVISOR = 100n;
/** Further from its own average of the last hour than one part in so many, a price is an accident, or somebody's work. */
const DRIFT_DIVISOR = 5n;
/**
 * A SOL has cost between half a dollar and three hundred. Far beyond, in dollars, a source does not tell the price of SOL: its
 * exponent is wrong, or it is another feed. Tight enough to notice three digits too many.
 */
const SANE = { least: { price: 1n, expo: -1 }, most: { price: 10_000n, expo: 0 } } as const satisfies Record<string, Rate>;
const TIMEOUT_MS = 3000;
/** Asked at most so often by one isolate. */
const KEPT_MS = 3 * SECOND;
/** A source that failed is left alone so long: whoever comes next is told at once. */
const FAILED_KEPT_MS = 1.5 * SECOND;
const HEALTH_KEPT_MS = 15 * SECOND;

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

const kept = new Map<string, { answer: PriceAnswer; until: number }>();
const health = new Map<string, { isHealthy: boolean; at: number }>();

/**
 * The price at `now`, in milliseconds: of the feed that `url` names, fresh, sure of itself and near its own average, or none at
 * all. Kept for seconds, by URL; a promise is not, because one request may not wait for what another one asks.
 */
export async function solPrice(url: string, now: number, leftMs = TIMEOUT_MS): Promise<PriceAnswer> {
  const known = kept.get(url);
  if (known && now < known.until) return timely(known.answer, now);
  const answer = timely(await ask(url, Math.min(TIMEOUT_MS, leftMs)), now);
  // Who was asked later may have answered sooner.
  const other = kept.get(url);
  const isOutdone = answer.kind === 'unavailable' && other?.answer.kind === 'price' && now < other.until;
  // A caller with little time left tells nothing about the source.
  const isCutShort = answer.kind === 'unavailable' && leftMs < TIMEOUT_MS;
  if (!isOutdone && !isCutShort) kept.set(url, { answer, until: now + keepFor(answer) });
  return answer;
}

/** Asked by everybody, so answered from memory most of the time. */
export async function isPriceHealthy(url: string, now: number): Promise<boolean> {
  const known = health.get(url);
  if (known && now - known.at < HEALTH_KEPT_MS) return known.isHealthy;
  const isHealthy = (await solPrice(url, now)).kind === 'price';
  health.set(url, { isHealthy, at: now });
  return isHealthy;
}

const unavailable = (reason: string): PriceAnswer => ({ kind: 'unavailable', reason });

function keepFor(answer: PriceAnswer): number {
  if (answer.kind === 'price') return KEPT_MS;
  // Of a source that hung, `now` is long gone.
  return FAILED_KEPT_MS + (answer.reason === 'TimeoutError' ? TIMEOUT_MS : 0);
}

function timely(answer: PriceAnswer, now: number): PriceAnswer {
  if (answer.kind === 'unavailable') return answer;
  const { asOf } = answer.price;
  if (now - asOf > AGE_MAX_MS) return unavailable('stale');
  return asOf - now > AHEAD_MAX_MS ? unavailable('from the future') : answer;
}

async function ask(url: string, timeoutMs: number): Promise<PriceAnswer> {
  try {
    const response = await fetch(url, { headers: { accept: 'application/json' }, signal: AbortSignal.timeout(timeoutMs) });
    if (!response.ok) {
      await response.body?.cancel();
      return unavailable(`HTTP ${response.status}`);
    }
    const update = Update.safeParse(await response.json());
    const feed = update.success ? feedOf(url, update.data.parsed) : null;
    return feed ? believed(feed, new URL(url).host) : unavailable('not an update of the one price');
  } catch (error) {
    return unavailable(error instanceof Error ? error.name : 'unknown');
  }
}

/** The one feed that was asked for; any, where the URL leaves it to the source. */
function feedOf(url: string, feeds: Feed[]): Feed | null {
  const plain = (id: string): string => id.toLowerCase().replace(/^0x/, '');
  const wanted = [...new URL(url).searchParams].filter(([name]) => /^ids(?:\[\d*\])?$/.test(name)).map(([, id]) => plain(id));
  const [feed, ...more] = wanted.length === 0 ? feeds : feeds.filter(({ id }) => id !== undefined && wanted.includes(plain(id)));
  return more.length === 0 ? (feed ?? null) : null;
}

function believed({ price: { conf, publish_time, ...price }, ema_price }: Feed, source: string): PriceAnswer {
  const rate = rateOf(price);
  if (BigInt(conf) * DOUBT_DIVISOR > rate.price) return unavailable('unsure of itself');
  if (isAbove(SANE.least, rate) || isAbove(rate, SANE.most)) return unavailable('out of bounds');
  if (ema_price && isAdrift(rate, rateOf(ema_price))) return unavailable('far from its own average');
  return { kind: 'price', price: { rate, source, asOf: publish_time * SECOND } };
}

const rateOf = ({ price, expo }: z.infer<typeof Price>): Rate => ({ price: BigInt(price), expo });
/** Both in units of the smallest exponent there is, so that they compare. */
const leveled = ({ price, expo }: Rate): bigint => price * 10n ** BigInt(18 + expo);
const isAbove = (one: Rate, other: Rate): boolean => leveled(one) > leveled(other);

function isAdrift(rate: Rate, average: Rate): boolean {
  const distance = leveled(rate) - leveled(average);
  return (distance < 0n ? -distance : distance) * DRIFT_DIVISOR > leveled(average);
}
