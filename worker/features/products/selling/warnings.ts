import { z } from '@hono/zod-openapi';
import type { Scope } from '#platform/context.ts';
import type { Product } from '#platform/db/tables/products.ts';
import { SELLING_RAILS } from '#rules/product-rails.ts';
import { SUBSCRIPTION_RAIL } from '#rules/rails.ts';
import { type CreateProductRequest, ProductBody, toProductResource } from '../resource.ts';
import { hasDefaultWallet } from '../store.ts';
import { FixBody, fixOf } from './fixes.ts';
import { isAllowed } from './obstacles.ts';

const WARNINGS = {
  payout_wallet_missing: 'Nobody can pay for this product yet: it has no payout wallet. Until then it is a draft, which no plan counts.',
  plan_unpublished: 'Nobody can subscribe to this product yet: its plan is not published. Until then it is a draft, which no plan counts.',
  one_use_by_default: 'One payment buys one call, because usage_units was left out.',
} as const;
type WarningCode = keyof typeof WARNINGS;
const CODES = Object.keys(WARNINGS) as [WarningCode, ...WarningCode[]];

export const CreatedProductBody = ProductBody.extend({
  warnings: z
    .array(z.object({ code: z.enum(CODES), message: z.string(), fix: FixBody }).openapi('ProductWarning'))
    .openapi({ description: 'What the product lacks to be sold, and what was chosen for it. Empty where nothing is to be said.' }),
}).openapi('CreatedProduct');

/** A new product, with what its maker may not have meant. */
export async function toCreatedProduct(
  ctx: Scope,
  product: Product,
  input: Pick<z.infer<typeof CreateProductRequest>, 'usage_units'>,
): Promise<z.infer<typeof CreatedProductBody>> {
  const isWithoutWallet = product.payoutWallet === null && !(await hasDefaultWallet(ctx));
  const codes: [WarningCode, boolean][] = [
    ['payout_wallet_missing', isWithoutWallet],
    ['plan_unpublished', product.renewalMode === 'AUTOMATIC'],
    ['one_use_by_default', product.usageUnits === 1 && input.usage_units === undefined],
  ];
  const warnings = codes
    .filter(([, holds]) => holds)
    .map(([code]) => ({ code, message: WARNINGS[code], fix: fixOfWarning(code, product) }));
  return { ...toProductResource(ctx, product), warnings };
}

function fixOfWarning(code: WarningCode, product: Product): z.infer<typeof FixBody> {
  const sale = { product, setting: null, accountWallet: null };
  const railId = SELLING_RAILS.find((railId) => isAllowed(sale, railId)) ?? SELLING_RAILS[0];
  switch (code) {
    case 'payout_wallet_missing':
      return fixOf('payout_wallet_set', railId, sale);
    case 'plan_unpublished':
      return fixOf('subscription_plan_published', SUBSCRIPTION_RAIL, sale);
    case 'one_use_by_default':
      return {
        detail: 'Say how many calls one payment buys.',
        method: 'PATCH',
        path: `/v1/products/${product.id}`,
        body: { usage_units: '<calls that one payment buys>' },
      };
  }
}
