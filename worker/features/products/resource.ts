import { z } from '@hono/zod-openapi';
import type { AppId } from '#core/ids.ts';
import { ASSETS, toMoneyResource } from '#core/money.ts';
import { iso } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import type { Product } from '#platform/db/tables/products.ts';
import { DiscoveryBody, DiscoveryInput } from '#platform/http/bodies/discovery.ts';
import { DecimalAmount, HttpsUrl, Metadata, MetadataPatch, OwnName, ShownName } from '#platform/http/bodies/own-fields.ts';
import { AssetName, given, idOf, Livemode, MoneyBody, orNull, ProductSlug, ProductUuid, Timestamp } from '#platform/http/openapi.ts';
import { IDENTITY_PROVIDERS, RENEWAL_MODES } from '#rules/payment-terms.ts';
import { acceptedAssetsOf, allowedRailsOf, firstRailOf, SELLING_RAILS } from '#rules/product-rails.ts';
import { PRODUCT } from '#rules/states.ts';
import { DeliveryTargetBody, PRODUCT_TYPES } from './product-types.ts';

const MoneyInput = z
  .object({
    asset: AssetName,
    amount: DecimalAmount,
  })
  .openapi('MoneyInput', { example: { asset: 'USDC', amount: '12.5' } });
export const slugParam = z.object({
  slug: z
    .string()
    .max(80)
    .openapi({ param: { name: 'slug', in: 'path' } })
    .describe('Last part of the checkout page’s URL: lower-case letters, digits and hyphens. Derived from the name by default.'),
});
const integer = (min: number, max: number) => z.number().int().min(min).max(max);

const SellingRail = z.enum(SELLING_RAILS);

/** Fields that can be updated. The slug is fixed, so that checkout links continue to work. */
const terms = {
  external_product_id: OwnName.optional().describe('Your own name for the product, up to 180 characters. Send this or `product_id`.'),
  description: z.string().max(5000).optional().describe('Description of the product, as buyers see it.'),
  // Checked in the verb, because an unsupported type has its own error code.
  product_type: z
    .string()
    .optional()
    .openapi({ enum: PRODUCT_TYPES, default: 'api' })
    .describe(
      'Type of the product. `api` is sold by use; `link`, `telegram` and `discord` are sold by time. Sets the defaults of `usage_units` and `access_period_days`.',
    ),
  accepted_assets: z
    .array(z.enum(ASSETS))
    .min(1)
    .max(2)
    .optional()
    .describe('Assets that buyers may pay in. An asset other than that of the price is converted when the checkout begins.'),
  billing_model: z
    .enum(['one_off', 'recurring'])
    .optional()
    .describe('Billing model: `one_off` is bought once, `recurring` is bought again for each period.'),
  renewal_mode: orNull(z.enum([...RENEWAL_MODES, 'solana_native_subscription']))
    .optional()
    .describe(
      'Renewal mode: `ONE_OFF` is renewed by the buyer, `AUTOMATIC` renews on the chain and requires a price in USDC and a period of 1 to 365 days. `solana_native_subscription` is an alias of `AUTOMATIC`.',
    ),
  access_period_days: orNull(integer(1, 3660))
    .optional()
    .describe('Days of access per purchase; null: no time limit. Defaults to 30, or to null for `api` products without automatic renewal.'),
  usage_units: orNull(integer(1, 1_000_000_000))
    .optional()
    .describe(
      'Units per purchase; null: no limit. Defaults to 1 for `api` products and null for all others. Send null to sell an API by time.',
    ),
  unit_name: z.string().min(1).max(40).optional().describe('Name of the units on the checkout page, such as `requests`.'),
  payout_wallet: z
    .string()
    .max(64)
    .optional()
    .describe(
      'Solana wallet that receives the payments. Defaults to the wallet of the rail, then of the account. A product without any cannot be sold. Needs `payouts:write`.',
    ),
  grace_hours: integer(0, 8760).optional().describe('Hours of delivered access after the paid time, for late renewals.'),
  session_seconds: integer(300, 3600).optional().describe('Duration of a checkout session, 300 to 3600 seconds; 900 by default.'),
  requires_identity: orNull(z.enum(IDENTITY_PROVIDERS))
    .optional()
    .describe(
      'Messaging platform on which buyers prove their identity before payment; null: no proof. Applies to open payments as well: without that identity they are not confirmed.',
    ),
  default_rail: SellingRail.optional().describe('Rail that the checkout shows first.'),
  allowed_rails: z
    .array(SellingRail)
    .min(1)
    .max(5)
    .optional()
    .describe('Rails that may pay for this product. Defaults to all compatible rails.'),
  access_app_id: idOf<AppId>().optional().describe('Application of your account in the same mode.'),
  delivery: DeliveryTargetBody.optional().describe('Chat or guild that gives access, and the role of its members.'),
  success_url: HttpsUrl.optional().describe(
    'https URL for buyers after payment; `payment_id` and `status` are added. A hint only: verify the payment from your server.',
  ),
  cancel_url: HttpsUrl.optional().describe('https URL for buyers who leave without payment.'),
  discovery: orNull(DiscoveryInput)
    .optional()
    .describe('Routes that the product sells, shown to agents and catalogues. An update replaces all of it; null clears it.'),
  metadata: Metadata.optional().describe(
    'Your own key-value pairs, never shown to buyers: up to 50 keys of 40 characters, values of 500. An update merges; null removes a key.',
  ),
  max_per_payer_per_day: orNull(MoneyInput)
    .optional()
    .describe(
      'Most USDC that one payer may pay for this product by x402 in one day (UTC), at least the price; null: no limit. Beyond it settle answers 429 `payer_limit_reached`.',
    ),
  live_mode_confirmed: z
    .boolean()
    .optional()
    .describe('Confirmation that the product may be sold for real money over rails that require it. Plain checkout does not.'),
  trusted_customer_ref: z
    .boolean()
    .optional()
    .openapi({ default: false })
    .describe(
      'True to accept `customer_ref` only from your server, by payment session or hand-off. Otherwise buyers may name one at connect, unverified.',
    ),
};

export const CreateProductRequest = z
  .object({
    name: ShownName(160).describe('Name of the product, as buyers see it.'),
    price: MoneyInput,
    slug: z
      .string()
      .regex(/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/, 'Expected lower-case letters, digits and inner hyphens')
      .optional()
      .describe('Last part of the checkout page’s URL: lower-case letters, digits and hyphens. Derived from the name by default.'),
    ...terms,
  })
  .openapi('CreateProductRequest', {
    example: { name: 'Weather API, 1,000 calls', price: { asset: 'USDC', amount: '5' }, usage_units: 1000 },
  });

export const UpdateProductRequest = z
  .object({
    name: ShownName(160).optional().describe('Name of the product, as buyers see it.'),
    price: MoneyInput.optional(),
    ...terms,
    external_product_id: orNull(terms.external_product_id)
      .optional()
      .describe('Your own name for the product, up to 180 characters. Send this or `product_id`.'),
    access_app_id: orNull(idOf<AppId>()).optional().describe('Identifier of the application that the product belongs to.'),
    payout_wallet: orNull(terms.payout_wallet).optional().describe('Solana wallet that receives the payments. Needs `payouts:write`.'),
    description: orNull(terms.description).optional().describe('Description of the product, as buyers see it.'),
    unit_name: orNull(terms.unit_name).optional().describe('Name of the units on the checkout page, such as `requests`.'),
    metadata: MetadataPatch.optional().describe(
      'Your own key-value pairs, never shown to buyers: up to 50 keys of 40 characters, values of 500. An update merges; null removes a key.',
    ),
    session_seconds: orNull(terms.session_seconds)
      .optional()
      .describe('Duration of a checkout session, 300 to 3600 seconds; 900 by default.'),
    success_url: orNull(terms.success_url)
      .optional()
      .describe(
        'https URL for buyers after payment; `payment_id` and `status` are added. A hint only: verify the payment from your server.',
      ),
    cancel_url: orNull(terms.cancel_url).optional().describe('https URL for buyers who leave without payment.'),
  })
  .openapi('UpdateProductRequest', { example: { price: { asset: 'USDC', amount: '6' } } });

export const ProductBody = z
  .object({
    product_id: ProductUuid,
    slug: ProductSlug,
    external_product_id: z.string().optional().describe('Your own name for the product, up to 180 characters. Send this or `product_id`.'),
    access_app_id: z.uuid().optional().describe('Identifier of the application that the product belongs to.'),
    name: z.string().describe('Name of the product, as buyers see it.'),
    description: z.string().optional().describe('Description of the product, as buyers see it.'),
    product_type: z
      .enum(PRODUCT_TYPES)
      .describe(
        'Type of the product. `api` is sold by use; `link`, `telegram` and `discord` are sold by time. Sets the defaults of `usage_units` and `access_period_days`.',
      ),
    status: z.enum(PRODUCT.states),
    price: MoneyBody,
    accepted_assets: z
      .array(z.enum(ASSETS))
      .describe('Assets that buyers may pay in. An asset other than that of the price is converted when the checkout begins.'),
    billing_model: z
      .enum(['one_off', 'recurring'])
      .describe('Billing model: `one_off` is bought once, `recurring` is bought again for each period.'),
    renewal_mode: z
      .enum(RENEWAL_MODES)
      .describe(
        'Renewal mode: `ONE_OFF` is renewed by the buyer, `AUTOMATIC` renews on the chain and requires a price in USDC and a period of 1 to 365 days. `solana_native_subscription` is an alias of `AUTOMATIC`.',
      ),
    access_period_days: orNull(z.int()).describe('Days of access per purchase; null: no time limit.'),
    usage_units: orNull(z.int()).describe('Units per purchase; null: no limit.'),
    unit_name: z.string().optional().describe('Name of the units on the checkout page, such as `requests`.'),
    payout_wallet: z.string().optional().describe('Solana wallet that receives the payments.'),
    default_rail: z.string().describe('Rail that the checkout shows first.'),
    allowed_rails: z.array(z.string()).describe('Rails that may pay for this product. Defaults to all compatible rails.'),
    grace_hours: z.int().describe('Hours of delivered access after the paid time, for late renewals.'),
    session_seconds: z.int().optional().describe('Duration of a checkout session, 300 to 3600 seconds; 900 by default.'),
    requires_identity: orNull(z.enum(IDENTITY_PROVIDERS)).describe(
      'Messaging platform on which buyers must prove their identity; null: no proof.',
    ),
    delivery: DeliveryTargetBody.optional().describe('Chat or guild that gives access, and the role of its members.'),
    success_url: z
      .string()
      .optional()
      .describe(
        'https URL for buyers after payment; `payment_id` and `status` are added. A hint only: verify the payment from your server.',
      ),
    cancel_url: z.string().optional().describe('https URL for buyers who leave without payment.'),
    discovery: orNull(DiscoveryBody).describe('Routes that the product sells, shown to agents and catalogues; null: none.'),
    max_per_payer_per_day: orNull(MoneyBody).describe(
      'Most USDC that one payer may pay for this product by x402 in one day (UTC); null: no limit.',
    ),
    metadata: z
      .record(z.string(), z.string())
      .describe(
        'Your own key-value pairs, never shown to buyers: up to 50 keys of 40 characters, values of 500. An update merges; null removes a key.',
      ),
    live_mode_confirmed: z
      .boolean()
      .describe('Confirmation that the product may be sold for real money over rails that require it. Plain checkout does not.'),
    trusted_customer_ref: z
      .boolean()
      .describe('True if a `customer_ref` is accepted only from your own server, never from the public checkout.'),
    livemode: Livemode,
    checkout_url: z.string(),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .openapi('Product');

export const toProductResource = ({ baseUrl, config }: Ctx, product: Product): z.infer<typeof ProductBody> => ({
  product_id: product.id,
  slug: product.slug,
  ...given('external_product_id', product.externalProductId),
  ...given('access_app_id', product.accessAppId),
  name: product.name,
  ...given('description', product.description),
  product_type: product.productType,
  status: product.status,
  price: toMoneyResource({ asset: product.asset, units: product.priceAmount }),
  accepted_assets: acceptedAssetsOf(product),
  billing_model: product.billingModel,
  renewal_mode: product.renewalMode,
  access_period_days: product.accessPeriodDays,
  usage_units: product.usageUnits,
  ...given('unit_name', product.unitName),
  ...given('payout_wallet', product.payoutWallet),
  default_rail: product.defaultRail ?? firstRailOf(product, config),
  allowed_rails: allowedRailsOf(product, config),
  grace_hours: product.graceHours,
  ...given('session_seconds', product.sessionSeconds),
  requires_identity: product.requiresIdentity,
  ...given('delivery', product.delivery),
  ...given('success_url', product.successUrl),
  ...given('cancel_url', product.cancelUrl),
  discovery: product.discovery,
  max_per_payer_per_day: product.maxPerPayerPerDay === null ? null : toMoneyResource({ asset: 'USDC', units: product.maxPerPayerPerDay }),
  metadata: product.metadata,
  live_mode_confirmed: product.liveModeConfirmed,
  trusted_customer_ref: product.trustedCustomerRef,
  livemode: product.livemode,
  checkout_url: `${baseUrl}/p/${product.slug}`,
  created_at: iso(product.createdAt),
  updated_at: iso(product.updatedAt),
});
