import { ApiError } from '#core/errors.ts';
import { type Asset, convert, formatRate, type Money, toMoneyResource } from '#core/money.ts';
import { MINUTE, SECOND } from '#core/time.ts';
import { type Ctx, hasPriceSource } from '#platform/context.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import { priceBetween } from '#platform/providers/price.ts';
import type { PriceQuote } from '#rules/payment-terms.ts';

const QUOTE_MS = 5 * MINUTE;

/** Amount due and its deadline. `quote` is set if the price was converted into the paid asset. */
export interface Due {
  price: Money;
  quote: PriceQuote | null;
  expiresAt: number;
}

export type Outage = 'price_unavailable' | 'rpc_unavailable';

const RETRY_AFTER_SECONDS = { price_unavailable: 5, rpc_unavailable: 2 };

export const newOutageError = (code: Outage): ApiError => new ApiError(code, { retryAfterSeconds: RETRY_AFTER_SECONDS[code] });

/**
 * Converts a price into the buyer's asset. The price's own asset needs no source. Another asset is quoted for five minutes, or the rest of
 * the session if shorter. Throws 503 price_unavailable, 422 for more than the chain can count.
 */
export async function quotePrice(ctx: Ctx, price: Money, asset: Asset, expiresAt: number): Promise<Due> {
  if (price.asset !== asset && !hasPriceSource(ctx.config)) {
    const detail = `This deployment has no SOL price source. Pay in ${price.asset}.`;
    throw new ApiError('price_unavailable', { detail, meta: { missing: ['PRICE_URL'] } });
  }
  const due = await dueIn(ctx, price, asset, expiresAt);
  if (due.kind === 'unavailable') throw newOutageError('price_unavailable');
  if (due.kind === 'due') return due;
  const problem = { loc: ['body', 'asset'], msg: `Expected a smaller price in ${asset}`, type: 'out_of_range' };
  throw new ApiError('validation_error', { problems: [problem] });
}

/** Quotes a price and returns an outage instead of an error, for forecasts that refuse nothing. */
export async function dueIn(
  ctx: Ctx,
  price: Money,
  asset: Asset,
  expiresAt: number,
): Promise<({ kind: 'due' } & Due) | { kind: 'unavailable' | 'uncountable' }> {
  if (price.asset === asset) return { kind: 'due', price, quote: null, expiresAt };
  const { config, now } = ctx;
  if (!hasPriceSource(config)) return { kind: 'unavailable' };
  const answer = await priceBetween(config, [price.asset, asset], ctx.wallNow, ctx.leftMs());
  if (answer.kind === 'unavailable') {
    ctx.note(`price: ${answer.reason}`);
    return { kind: 'unavailable' };
  }
  const { rate, source, asOf } = answer.price;
  const due = convert(price, asset, rate);
  if (!due) return { kind: 'uncountable' };
  const quote = { price: toMoneyResource(price), rate: formatRate(rate), source, asOf };
  return { kind: 'due', price: due, quote, expiresAt: Math.min(expiresAt, now + QUOTE_MS) };
}

/**
 * Returns the time (epoch ms) until which the service sends the payment. A quote is never sent after its end. Block time decides whether a
 * transaction was in time, and late grace is equal for every session.
 */
export const sendableUntil = ({ terms, expiresAt, lateGraceSeconds }: Pick<Payment, 'terms' | 'expiresAt' | 'lateGraceSeconds'>): number =>
  terms.quote ? expiresAt : expiresAt + lateGraceSeconds * SECOND;
