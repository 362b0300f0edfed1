import { z } from '@hono/zod-openapi';
import { SANDBOX_WALLET } from '#platform/chain/simulated-config.ts';
import type { Scope } from '#platform/context.ts';
import type { Product } from '#platform/db/tables/products.ts';
import { isConfigured, SELLING_RAILS, settingOf } from '#rules/product-rails.ts';
import { type RailId, SUBSCRIPTION_RAIL } from '#rules/rails.ts';
import { type CreateProductRequest, ProductBody, toProductResource } from '../resource.ts';
import { getRailDefaults } from '../store.ts';
import { FixBody, fixOf } from './fixes.ts';
import { isAllowed, type Prospect, payoutOf } from './obstacles.ts';

const WARNINGS = {
  payout_wallet_missing: 'The product has no payout wallet and cannot be sold. It is a draft and does not count toward the plan’s limit.',
  rail_disabled: 'All rails of the product are disabled, so it cannot be sold. It is a draft and does not count toward the plan’s limit.',
  plan_unpublished:
    'The plan of the product is not published, so it cannot be sold. It is a draft and does not count toward the plan’s limit.',
  one_use_by_default: 'One payment buys one call, the default of usage_units.',
} as const;
type WarningCode = keyof typeof WARNINGS;
const CODES = Object.keys(WARNINGS) as [WarningCode, ...WarningCode[]];

export const CreatedProductBody = ProductBody.extend({
  warnings: z
    .array(
      z
        .object({
          code: z.enum(CODES),
          message: z.string(),
          fix: FixBody.describe('Call that resolves the problem.'),
        })
        .openapi('ProductWarning'),
    )
    .describe('Missing requirements for a sale, and defaults that were chosen. Empty if none.'),
}).openapi('CreatedProduct');

export async function toCreatedProduct(
  ctx: Scope,
  product: Product,
  input: Pick<z.infer<typeof CreateProductRequest>, 'usage_units'>,
): Promise<z.infer<typeof CreatedProductBody>> {
  const rails = await listSellingRails(ctx, product);
  const enabled = rails.filter(({ prospect }) => prospect.setting?.enabled !== false);
  const isDisabled = enabled.length === 0;
  const named = isDisabled ? rails : enabled;
  const codes: [WarningCode, boolean][] = [
    ['payout_wallet_missing', named.every(({ prospect }) => payoutOf(prospect) === null)],
    ['rail_disabled', isDisabled],
    ['plan_unpublished', product.renewalMode === 'AUTOMATIC'],
    ['one_use_by_default', product.usageUnits === 1 && input.usage_units === undefined],
  ];
  const warnings = codes
    .filter(([, holds]) => holds)
    .map(([code]) => ({ code, message: WARNINGS[code], fix: fixOfWarning(code, product, named[0]!) }));
  return { ...toProductResource(ctx, product), warnings };
}

interface SellingRail {
  railId: RailId;
  prospect: Prospect;
}

/** Lists the rails of a product with the merchant's settings: those that this service supports, or all if it supports none. */
async function listSellingRails(ctx: Scope, product: Product): Promise<SellingRail[]> {
  const { livemode } = product;
  const { settings, accountWallet } = await getRailDefaults(ctx);
  const payee = accountWallet ?? (livemode ? null : SANDBOX_WALLET);
  const all = SELLING_RAILS.map((railId) => ({
    railId,
    prospect: { livemode, product, setting: settingOf(settings, railId), accountWallet: payee } as Prospect,
  }));
  const rails = all.filter(({ railId, prospect }) => isAllowed(prospect, railId));
  const served = rails.filter(({ railId }) => isConfigured(ctx.config, railId));
  return served.length > 0 ? served : rails.length > 0 ? rails : all;
}

function fixOfWarning(code: WarningCode, product: Product, { railId, prospect }: SellingRail): z.infer<typeof FixBody> {
  switch (code) {
    case 'payout_wallet_missing':
      return fixOf('payout_wallet_set', railId, prospect);
    case 'rail_disabled':
      return fixOf('rail_enabled', railId, prospect);
    case 'plan_unpublished':
      return fixOf('subscription_plan_published', SUBSCRIPTION_RAIL, prospect);
    case 'one_use_by_default':
      return {
        detail: 'Set the number of calls that one payment buys.',
        method: 'PATCH',
        path: `/v1/products/${product.id}`,
        body: { usage_units: '<calls that one payment buys>' },
      };
  }
}
