/**
 * Limit of what one payer pays for a product in a UTC day, `max_per_payer_per_day`: an agent in a loop is refused and pays nothing more. A
 * request reads the sum before it asks the chain, and the batch of the claim decides.
 * @module
 */

import { z } from '@hono/zod-openapi';
import { utcDayOf } from '#core/days.ts';
import { ApiError, formatErrorChain } from '#core/errors.ts';
import { toMoneyResource } from '#core/money.ts';
import { DAY, iso, SECOND } from '#core/time.ts';
import { claimOnce } from '#features/settlements/follow-through.ts';
import type { Shard } from '#platform/context.ts';
import { commitOnce } from '#platform/db/commit.ts';
import type { Product } from '#platform/db/tables/products.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import { MoneyBody, ProductUuid } from '#platform/http/openapi.ts';
import { abortIfOverPayerLimit, readPaidInDay } from './payer-limit.store.ts';

export const PayerLimitBody = z
  .object({
    product_id: ProductUuid,
    payer_wallet: z.string(),
    limit: MoneyBody.describe('`max_per_payer_per_day` of the product.'),
    paid: MoneyBody.describe('Sum of the payments of this payer for the product on that day, pending ones included.'),
    day: z.string().openapi({ format: 'date' }),
  })
  .openapi('PayerLimit');

const usdc = (units: bigint) => toMoneyResource({ asset: 'USDC', units });

interface Purchase {
  payerWallet: string;
  amount: bigint;
}

/** True if the payer has paid to the limit already. Counts at most one price of `amount`, because the challenge is not verified yet. */
export async function isAtPayerLimit(ctx: Shard, product: Product, { payerWallet, amount }: Purchase): Promise<boolean> {
  const { maxPerPayerPerDay: limit, priceAmount: price } = product;
  if (limit === null) return false;
  const paid = await readPaidInDay(ctx, product, { payerWallet, at: ctx.now });
  return paid + (amount < price ? amount : price) > limit;
}

/** Claims like `claimOnce`, and throws 429 payer_limit_reached if the payer's payments of the day would exceed the product's limit. */
export async function claimWithinPayerLimit(ctx: Shard, product: Product, settlement: Settlement): ReturnType<typeof claimOnce> {
  const { maxPerPayerPerDay: limit } = product;
  if (limit === null) return claimOnce(ctx, settlement);
  const { payerWallet, amount, createdAt: at } = settlement;
  try {
    return await claimOnce(ctx, settlement, [abortIfOverPayerLimit(ctx, product, { payerWallet, at }, amount, limit)]);
  } catch (error) {
    // An aborted claim does not say which of the payer's limits aborted it.
    const isAborted = error instanceof ApiError && error.options.meta?.reason === 'payer_busy';
    const paid = isAborted ? await readPaidInDay(ctx, product, { payerWallet, at }) : 0n;
    throw isAborted && paid + amount > limit ? await refuse(ctx, product, { payerWallet, paid, at, limit }) : error;
  }
}

/** Returns 429 payer_limit_reached. Call it for a payer at the limit. */
export async function newPayerLimitError(ctx: Shard, product: Product, payerWallet: string): Promise<ApiError> {
  const paid = await readPaidInDay(ctx, product, { payerWallet, at: ctx.now });
  return refuse(ctx, product, { payerWallet, paid, at: ctx.now, limit: product.maxPerPayerPerDay! });
}

interface Refusal {
  payerWallet: string;
  paid: bigint;
  at: number;
  limit: bigint;
}

/** Notes the event once per payer, product and day, unless the payer could still buy one piece: strangers cause no events. */
async function refuse(ctx: Shard, product: Product, { payerWallet, paid, at, limit }: Refusal): Promise<ApiError> {
  const { id: productId, merchantId, livemode, version } = product;
  const day = iso(at).slice(0, 10);
  const resetsAt = utcDayOf(at) + DAY;
  const amounts = { limit: usdc(limit), paid: usdc(paid) };
  if (paid + product.priceAmount > limit) {
    const object = { product_id: productId, payer_wallet: payerWallet, ...amounts, day } satisfies z.infer<typeof PayerLimitBody>;
    const subject = { type: 'product', id: productId, version } as const;
    const event = { merchantId, livemode, type: 'payer.limit_reached', subject, object, productId } as const;
    // The buyer needs the refusal. Its next one notes the event.
    await commitOnce(ctx, event, `${productId}:${payerWallet}:${day}`).catch((error) =>
      ctx.note(`payer.limit_reached: ${formatErrorChain(error)}`),
    );
  }
  return new ApiError('payer_limit_reached', {
    retryAfterSeconds: (resetsAt - ctx.now) / SECOND,
    meta: { ...amounts, resets_at: iso(resetsAt) },
  });
}
