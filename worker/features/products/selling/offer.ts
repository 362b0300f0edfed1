import { z } from '@hono/zod-openapi';
import { ASSETS, toMoneyResource } from '#core/money.ts';
import type { Ctx } from '#platform/context.ts';
import { given, Livemode, MoneyBody, orNull, ProductSlug, ProductUuid } from '#platform/http/openapi.ts';
import { IDENTITY_PROVIDERS } from '#rules/payment-terms.ts';
import { RAILS } from '#rules/rails.ts';
import type { Listing } from '../store.ts';
import { openRails } from './checkout-rails.ts';

export const ListingBody = z
  .object({
    product_id: ProductUuid,
    slug: ProductSlug,
    name: z.string(),
    description: z.string().optional(),
    price: MoneyBody,
    accepted_assets: z
      .array(z.enum(ASSETS))
      .describe('Assets that can currently be paid. Connect without an asset uses the first. Empty if nothing can be paid.'),
    billing_model: z
      .enum(['one_off', 'recurring'])
      .describe('Billing model: `one_off` is bought once, `recurring` is bought again for each period.'),
    access_period_days: orNull(z.int()).describe('Days of access per purchase; null: no time limit.'),
    usage_units: orNull(z.int()).describe('Units per purchase; null: no limit.'),
    unit_name: z.string().optional().describe('Name of the units on the checkout page, such as `requests`.'),
    requires_identity: orNull(z.enum(IDENTITY_PROVIDERS)).describe(
      'Messaging platform on which buyers must prove their identity; null: no proof.',
    ),
    network: z.string().describe('Network: `mainnet` or `devnet`.'),
    livemode: Livemode,
    checkout_url: z.string(),
    merchant: z.object({
      display_name: z.string().describe('Name of the account, as buyers see it.'),
      brand_name: z.string().optional(),
      logo_url: z.string().optional(),
      hero_image_url: z.string().optional().describe('URL of a wide image above the product.'),
      accent_hex: z.string().optional().describe('Color of the seller’s buttons, such as `#1a2b3c`.'),
      success_button_label: z.string().optional(),
      support_url: z.string().optional(),
    }),
  })
  .openapi('Offer');

export function toListingResource(ctx: Ctx, listing: Listing): z.infer<typeof ListingBody> {
  const { product, merchant } = listing;
  const settings = merchant.merchantSettings;
  return {
    product_id: product.id,
    slug: product.slug,
    name: product.name,
    ...given('description', product.description),
    price: toMoneyResource({ asset: product.asset, units: product.priceAmount }),
    accepted_assets: openRails(ctx.config, listing).map((railId) => RAILS[railId].asset),
    billing_model: product.billingModel,
    access_period_days: product.accessPeriodDays,
    usage_units: product.usageUnits,
    ...given('unit_name', product.unitName),
    requires_identity: product.requiresIdentity,
    network: ctx.config.network.caip2,
    livemode: product.livemode,
    checkout_url: `${ctx.baseUrl}/p/${product.slug}`,
    merchant: {
      display_name: merchant.displayName,
      ...given('brand_name', settings.checkout_brand_name ?? null),
      ...given('logo_url', settings.checkout_logo_url ?? null),
      ...given('hero_image_url', settings.checkout_hero_image_url ?? null),
      ...given('accent_hex', settings.checkout_accent_hex ?? null),
      ...given('success_button_label', settings.checkout_success_button_label ?? null),
      ...given('support_url', settings.default_support_url ?? null),
    },
  };
}
