import { z } from 'zod';
import type { Rate } from '../core/money.ts';
import { SECOND } from '../core/time.ts';

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
const TIMEOUT_MS = 3000;
/** Asked at most so often by one isolate. */
const KEPT_MS = 3 * SECOND;
const HEALTH_KEPT_MS = 15 * SECOND;

const Update = z.object({
  parsed: z
    .array(
      z.object({
        price: z.object({
          price: z.string().regex(/^[1-9]\d{0,18}$/),
          conf: z.string().regex(/^\d{1,19}$/),
          expo: z.int().min(-18).max(0),
          publish_time: z.int().positive(),
        }),
      }),
    )
    .length(1),
});

const kept = new Map<string, { price: SolPrice; at: number }>();
const health = new Map<string, { isHealthy: boolean; at: number }>();

/** The price at `now`: fresh, sure of itself, or none at all. */
export async function solPrice(url: string, now: number): Promise<PriceAnswer> {
  const known = kept.get(url);
  const answer: PriceAnswer = known && now - known.at < KEPT_MS ? { kind: 'price', price: known.price } : await ask(url);
  if (answer.kind === 'unavailable') return answer;
  const { price } = answer;
  if (now - price.asOf > AGE_MAX_MS) return { kind: 'unavailable', reason: 'stale' };
  if (price.asOf - now > AHEAD_MAX_MS) return { kind: 'unavailable', reason: 'from the future' };
  if (price !== known?.price) kept.set(url, { price, at: now });
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

async function ask(url: string): Promise<PriceAnswer> {
  try {
    const response = await fetch(url, { headers: { accept: 'application/json' }, signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (!response.ok) {
      await response.body?.cancel();
      return { kind: 'unavailable', reason: `HTTP ${response.status}` };
    }
    const update = Update.safeParse(await response.json());
    if (!update.success) return { kind: 'unavailable', reason: 'not an update of one price' };
    const { price, conf, expo, publish_time } = update.data.parsed[0]!.price;
    const rate = { price: BigInt(price), expo };
    if (BigInt(conf) * DOUBT_DIVISOR > rate.price) return { kind: 'unavailable', reason: 'unsure of itself' };
    return { kind: 'price', price: { rate, source: new URL(url).host, asOf: publish_time * SECOND } };
  } catch (error) {
    return { kind: 'unavailable', reason: error instanceof Error ? error.name : 'unknown' };
  }
}
