import { z } from '@hono/zod-openapi';
import type { AppId } from '#core/ids.ts';
import { ASSETS, toMoneyResource } from '#core/money.ts';
import { iso } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import type { Product } from '#platform/db/tables/products.ts';
import { HttpsUrl, Metadata, MetadataPatch, OwnName, ShownName } from '#platform/http/bodies/own-fields.ts';
import { given, idOf, MoneyBody, orNull, Timestamp } from '#platform/http/openapi.ts';
import { IDENTITY_PROVIDERS, RENEWAL_MODES } from '#rules/payment-terms.ts';
import { acceptedAssetsOf, allowedRailsOf, firstRailOf, SELLING_RAILS } from '#rules/product-rails.ts';
import { PRODUCT } from '#rules/states.ts';
import { PlaceBody, PRODUCT_TYPES } from './product-types.ts';

const MoneyInput = z
  .object({ asset: z.enum(ASSETS), amount: z.string().max(64) })
  .openapi('MoneyInput', { example: { asset: 'USDC', amount: '12.5' } });
/** The product in the path of what a buyer may call. */
export const slugParam = z.object({
  slug: z
    .string()
    .max(80)
    .openapi({ param: { name: 'slug', in: 'path' } }),
});
const wholeNumber = (min: number, max: number) => z.number().int().min(min).max(max);

/** What a product can be sold over today. */
const SellingRail = z.enum(SELLING_RAILS);

/** What may be changed later. The slug is not among them: links to a checkout keep working. */
const terms = {
  external_product_id: OwnName.optional(),
  description: z.string().max(5000).optional(),
  // Checked in the verb: an unsupported type has a code of its own.
  product_type: z.string().optional().openapi({ enum: PRODUCT_TYPES, default: 'api' }),
  accepted_assets: z.array(z.enum(ASSETS)).min(1).max(2).optional(),
  billing_model: z.enum(['one_off', 'recurring']).optional(),
  renewal_mode: orNull(z.enum([...RENEWAL_MODES, 'solana_native_subscription'])).optional(),
  access_period_days: orNull(wholeNumber(1, 3660)).optional(),
  usage_units: orNull(wholeNumber(1, 1_000_000_000)).optional(),
  unit_name: z.string().min(1).max(40).optional(),
  payout_wallet: z.string().max(64).optional(),
  grace_hours: wholeNumber(0, 8760).optional(),
  session_seconds: wholeNumber(300, 3600).optional(),
  requires_identity: orNull(z.enum(IDENTITY_PROVIDERS))
    .optional()
    .openapi({
      description:
        'Where a buyer has to show who they are before they pay. What it is now counts, also for payments already begun: without that ' +
        'identity they are not confirmed, and money that comes all the same is unmatched once they have ended.',
    }),
  default_rail: SellingRail.optional(),
  allowed_rails: z.array(SellingRail).min(1).max(5).optional(),
  access_app_id: idOf<AppId>().optional().openapi({ description: 'An app of yours, in the same mode.' }),
  delivery: PlaceBody.optional(),
  success_url: HttpsUrl.optional(),
  cancel_url: HttpsUrl.optional(),
  metadata: Metadata.optional(),
  live_mode_confirmed: z.boolean().optional(),
  trusted_customer_ref: z
    .boolean()
    .optional()
    .openapi({
      default: false,
      description:
        'Take `customer_ref` from your server alone, by payment session or hand-off. Without it a buyer may name one at connect: such a ' +
        'reference proves nothing, and a purchase under a known one extends that membership without changing its wallet or e-mail.',
    }),
};

export const CreateProductRequest = z
  .object({
    name: ShownName(160),
    price: MoneyInput,
    slug: z
      .string()
      .regex(/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/, 'Lower-case letters, digits and inner hyphens')
      .optional(),
    ...terms,
  })
  .openapi('CreateProductRequest', {
    example: { name: 'Weather API, 1,000 calls', price: { asset: 'USDC', amount: '5' }, usage_units: 1000 },
  });

/** Only what is given changes; null clears what may be absent. */
export const UpdateProductRequest = z
  .object({
    name: ShownName(160).optional(),
    price: MoneyInput.optional(),
    ...terms,
    external_product_id: orNull(terms.external_product_id).optional(),
    access_app_id: orNull(idOf<AppId>()).optional(),
    payout_wallet: orNull(terms.payout_wallet).optional(),
    description: orNull(terms.description).optional(),
    unit_name: orNull(terms.unit_name).optional(),
    metadata: MetadataPatch.optional(),
    session_seconds: orNull(terms.session_seconds).optional(),
    success_url: orNull(terms.success_url).optional(),
    cancel_url: orNull(terms.cancel_url).optional(),
  })
  .openapi('UpdateProductRequest', { example: { price: { asset: 'USDC', amount: '6' } } });

export const ProductBody = z
  .object({
    product_id: z.uuid(),
    slug: z.string(),
    external_product_id: z.string().optional(),
    access_app_id: z.uuid().optional(),
    name: z.string(),
    description: z.string().optional(),
    product_type: z.enum(PRODUCT_TYPES),
    status: z.enum(PRODUCT.states),
    price: MoneyBody,
    accepted_assets: z.array(z.enum(ASSETS)),
    billing_model: z.enum(['one_off', 'recurring']),
    renewal_mode: z.enum(RENEWAL_MODES),
    access_period_days: orNull(z.int()),
    usage_units: orNull(z.int()),
    unit_name: z.string().optional(),
    payout_wallet: z.string().optional(),
    default_rail: z.string(),
    allowed_rails: z.array(z.string()),
    grace_hours: z.int(),
    session_seconds: z.int().optional(),
    requires_identity: orNull(z.enum(IDENTITY_PROVIDERS)),
    delivery: PlaceBody.optional(),
    success_url: z.string().optional(),
    cancel_url: z.string().optional(),
    metadata: z.record(z.string(), z.string()),
    live_mode_confirmed: z.boolean(),
    trusted_customer_ref: z.boolean(),
    livemode: z.boolean(),
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
  metadata: product.metadata,
  live_mode_confirmed: product.liveModeConfirmed,
  trusted_customer_ref: product.trustedCustomerRef,
  livemode: product.livemode,
  checkout_url: `${baseUrl}/p/${product.slug}`,
  created_at: iso(product.createdAt),
  updated_at: iso(product.updatedAt),
});
