import type { z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import { ASSETS, type Asset, explainAmount, formatAmount, type Money, parseAmount } from '#core/money.ts';
import type { Ctx } from '#platform/context.ts';
import type { Product } from '#platform/db/tables/products.ts';
import type { RenewalMode } from '#rules/payment-terms.ts';
import { isConfigured, takesPrice } from '#rules/product-rails.ts';
import { SUBSCRIPTION_RAIL } from '#rules/rails.ts';
import type { UpdateProductRequest } from './resource.ts';

export function invalid(field: string, msg: string, type = 'invalid_value'): ApiError {
  return new ApiError('validation_error', { problems: [{ loc: ['body', ...field.split('.')], msg, type }] });
}

/** Returns the accepted assets in canonical form: unique and in one order. Null if only the price's asset is accepted. */
export function narrowed(assets: Asset[], priced: Asset): Asset[] | null {
  const accepted = ASSETS.filter((asset) => assets.includes(asset));
  return accepted.length === 1 && accepted[0] === priced ? null : accepted;
}

export function requirePrice(input: { asset: Asset; amount: string }): Money {
  const price = parseAmount(input.asset, input.amount);
  if (!price.ok) throw invalid('price.amount', explainAmount(input.asset, price.reason), price.reason);
  if (price.value.units === 0n) throw invalid('price.amount', 'Expected more than zero', 'too_small');
  return price.value;
}

/** Returns the limit of one payer in base units of USDC. Null: no limit. Undefined: not given. */
export function payerLimitOf(input: z.infer<typeof UpdateProductRequest>['max_per_payer_per_day']): bigint | null | undefined {
  if (!input) return input;
  if (input.asset !== 'USDC') throw invalid('max_per_payer_per_day.asset', 'Expected USDC');
  const limit = parseAmount('USDC', input.amount);
  if (limit.ok) return limit.value.units;
  throw invalid('max_per_payer_per_day.amount', explainAmount('USDC', limit.reason), limit.reason);
}

/** Throws 422 if the limit of one payer allows no purchase, whichever of limit and price changed. */
export function requirePurchasable(input: Partial<z.infer<typeof UpdateProductRequest>>, product: Product): void {
  const { maxPerPayerPerDay: limit, asset, priceAmount } = product;
  if (limit === null) return;
  const isLimitGiven = Boolean(input.max_per_payer_per_day);
  if (asset !== 'USDC')
    throw invalid(isLimitGiven ? 'max_per_payer_per_day' : 'price.asset', 'Expected a price in USDC for a limit per payer');
  if (limit >= priceAmount) return;
  if (!isLimitGiven) throw invalid('price.amount', `Expected at most ${usdc(limit)} USDC, max_per_payer_per_day of the product`, 'too_big');
  throw invalid('max_per_payer_per_day.amount', `Expected at least ${usdc(priceAmount)} USDC, the price of one purchase`, 'too_small');
}

const usdc = (units: bigint): string => formatAmount({ asset: 'USDC', units });

/**
 * Throws 422 for unlimited access by accident: a product without units and days is sold for ever only if the request sends both as null.
 */
export function requireMeant(
  input: Pick<z.infer<typeof UpdateProductRequest>, 'usage_units' | 'access_period_days'>,
  { usageUnits, accessPeriodDays }: Pick<Product, 'usageUnits' | 'accessPeriodDays'>,
): void {
  if (usageUnits !== null || accessPeriodDays !== null || (input.usage_units === null && input.access_period_days === null)) return;
  throw invalid('usage_units', 'Expected units or days: send both as null to sell without any limit', 'ambiguous');
}

/** Accepts both spellings. Null means that the buyer renews. Undefined: not given. */
export const renewalOf = (asked: z.infer<typeof UpdateProductRequest>['renewal_mode']): RenewalMode | undefined =>
  asked === undefined ? undefined : asked === 'AUTOMATIC' || asked === 'solana_native_subscription' ? 'AUTOMATIC' : 'ONE_OFF';

/** The program supports full hours, at most a year. */
const PERIOD_DAYS_MAX = 365;

/**
 * Throws 422 for a product that cannot renew automatically, 409 setup_not_ready if renewal is switched on at a service that collects
 * nothing.
 */
export function requireRenewable({ config }: Ctx, product: Product, before: Product | null): void {
  if (product.renewalMode !== 'AUTOMATIC') return;
  const { accessPeriodDays: days, acceptedAssets, billingModel } = product;
  if (billingModel === 'one_off') throw invalid('renewal_mode', 'Not allowed for a one_off product');
  if (!takesPrice(product, SUBSCRIPTION_RAIL)) throw invalid('price.asset', 'Expected a price in USDC for automatic renewal');
  if (acceptedAssets !== null) throw invalid('accepted_assets', 'Expected USDC only for automatic renewal');
  if (days === null || days > PERIOD_DAYS_MAX)
    throw invalid('access_period_days', `Expected a period of 1 to ${PERIOD_DAYS_MAX} days for automatic renewal`, 'out_of_range');
  if (before?.renewalMode === 'AUTOMATIC' || isConfigured(config, SUBSCRIPTION_RAIL)) return;
  throw new ApiError('setup_not_ready', {
    detail: 'Automatic renewal is not configured on this deployment. Set renewal_mode to ONE_OFF.',
    meta: { reason: 'not_available' },
  });
}
