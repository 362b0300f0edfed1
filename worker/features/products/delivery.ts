import type { z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import { findCommunity } from '#features/connected-chats/store.ts';
import type { Scope } from '#platform/context.ts';
import { globalOf } from '#platform/db/directory.ts';
import type { Product } from '#platform/db/tables/products.ts';
import { deskOf, isPlatform, missingForDelivery, paceOf } from '#platform/providers/messaging/platforms.ts';
import { PLATFORMS } from '#platform/providers/messaging/registry.ts';
import { communityOf, type DeliveryTarget } from '#rules/payment-terms.ts';
import type { UpdateProductRequest } from './resource.ts';
import { invalid } from './terms.ts';

type DeliveryTerms = Pick<Product, 'requiresIdentity' | 'delivery'>;

/**
 * Returns the product's required identity and delivery target. A platform type always requires the identity, and other types deliver
 * nowhere. `before`: the product before the change. Throws 422 for contradictions.
 */
export function deliveryTerms(
  productType: Product['productType'],
  input: Pick<z.infer<typeof UpdateProductRequest>, 'requires_identity' | 'delivery'>,
  before: (DeliveryTerms & Pick<Product, 'productType'>) | null = null,
): DeliveryTerms {
  const { requires_identity, delivery } = input;
  if (!isPlatform(productType)) {
    if (delivery !== undefined) throw invalid('delivery', `Not allowed for a product of type ${productType}`, 'not_taken');
    return { requiresIdentity: requires_identity === undefined ? (before?.requiresIdentity ?? null) : requires_identity, delivery: null };
  }
  if (requires_identity !== undefined && requires_identity !== productType)
    throw invalid('requires_identity', `Expected ${productType}, to identify buyers for delivery`);
  const target = delivery ?? (before?.productType === productType ? before.delivery : null);
  // Without a target the merchant's own bot admits buyers, driven by membership events.
  if (target && target.provider !== productType) throw invalid('delivery.provider', `Expected ${productType}, the type of the product`);
  return { requiresIdentity: productType, delivery: target };
}

/**
 * Throws 409 setup_not_ready if this service cannot deliver there, or if the account has not claimed the chat or guild, because one bot
 * serves all merchants. A sandbox calls no platform and needs no claim.
 */
export async function requireDeliverable(ctx: Scope, { livemode, delivery, merchantId }: Product): Promise<void> {
  if (!delivery || !livemode) return;
  const { provider } = delivery;
  const missing = missingForDelivery(ctx.config, provider);
  if (missing.length > 0) {
    const detail = `Delivery to ${provider} is not configured on this deployment. Contact the operator.`;
    throw new ApiError('setup_not_ready', { detail, meta: { reason: 'delivery_not_configured', missing } });
  }
  const community = await findCommunity(globalOf(ctx).db, provider, communityOf(delivery));
  if (community?.accountId === merchantId) return requireOneCommunity(ctx, delivery);
  const detail = 'The chat or guild is not claimed. Create a claim, and have an administrator post its code.';
  const fix = { detail, method: 'POST', path: '/v1/account/delivery/claims', body: { provider } };
  throw new ApiError('setup_not_ready', { detail, meta: { reason: 'unclaimed', next: `${fix.method} ${fix.path}`, fix } });
}

/** Checks that the platform knows all parts of the target. Throws 503 temporarily_unavailable if the platform does not answer. */
async function requireOneCommunity(ctx: Scope, target: DeliveryTarget): Promise<void> {
  const answer = await PLATFORMS[target.provider].checkTarget?.(deskOf(ctx, paceOf(target.provider)), target);
  if (answer === undefined || answer.kind === 'done') return;
  if (answer.kind !== 'refused') throw new ApiError('temporarily_unavailable', { retryAfterSeconds: 10 });
  const detail = `The bot cannot see the whole destination at ${target.provider}: ${answer.reason}`;
  throw new ApiError('setup_not_ready', { detail, meta: { reason: 'unclaimed' } });
}
