import type { z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import { ASSETS, type Asset, type Money, parseAmount } from '#core/money.ts';
import type { Product } from '#platform/db/tables/products.ts';
import type { UpdateProductRequest } from './resource.ts';

/** 422 for a term of a product that contradicts another, or itself. */
export function invalid(field: string, msg: string, type = 'invalid_value'): ApiError {
  return new ApiError('validation_error', { problems: [{ loc: ['body', ...field.split('.')], msg, type }] });
}

/** However it is written: each asset once, in one order; null for the asset of the price alone. */
export function narrowed(assets: Asset[], priced: Asset): Asset[] | null {
  const accepted = ASSETS.filter((asset) => assets.includes(asset));
  return accepted.length === 1 && accepted[0] === priced ? null : accepted;
}

export function requirePrice(input: { asset: Asset; amount: string }): Money {
  const price = parseAmount(input.asset, input.amount);
  if (!price.ok) throw invalid('price.amount', `Not an amount of ${input.asset}`, price.reason);
  if (price.value.units === 0n) throw invalid('price.amount', 'A price is more than zero', 'too_small');
  return price.value;
}

/**
 * A product without units and without days is sold for ever, and only a request that sends both as null means that: one null alone
 * would mean it by accident. 422.
 */
export function requireMeant(
  input: Pick<z.infer<typeof UpdateProductRequest>, 'usage_units' | 'access_period_days'>,
  { usageUnits, accessPeriodDays }: Pick<Product, 'usageUnits' | 'accessPeriodDays'>,
): void {
  if (usageUnits !== null || accessPeriodDays !== null || (input.usage_units === null && input.access_period_days === null)) return;
  throw invalid('usage_units', 'Without units and without days it is sold for ever: send both as null to mean that', 'ambiguous');
}
