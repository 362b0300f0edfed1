import type { z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import { findCommunity } from '#features/communities/store.ts';
import type { Scope } from '#platform/context.ts';
import { globalOf } from '#platform/db/directory.ts';
import type { Product } from '#platform/db/tables/products.ts';
import { deskOf, isPlatform, missingForDelivery, paceOf } from '#platform/providers/messaging/platforms.ts';
import { PLATFORMS } from '#platform/providers/messaging/registry.ts';
import { communityOf, type DeliveryPlace } from '#rules/payment-terms.ts';
import type { UpdateProductRequest } from './resource.ts';
import { invalid } from './terms.ts';

type DeliveryTerms = Pick<Product, 'requiresIdentity' | 'delivery'>;

/**
 * Who its buyers have to be and where they get access. What a platform delivers asks who the buyer is there, whether or not that is said;
 * what any other type is sold as delivers nowhere. `before`: of the product that changes. 422 for what contradicts that.
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
  const place = delivery ?? (before?.productType === productType ? before.delivery : null);
  // Without a place the merchant's own bot lets buyers in, told by the events of memberships.
  if (place && place.provider !== productType) throw invalid('delivery.provider', `Expected ${productType}, the type of the product`);
  return { requiresIdentity: productType, delivery: place };
}

/**
 * 409 setup_not_ready where this service cannot deliver there, or the account has not claimed the chat or guild and all that is named of
 * it: one bot serves all merchants, so entry to it could be sold by another. A sandbox asks no platform, and its places are no account’s.
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

/** The same of all else that a place names, as its platform says. 503 temporarily_unavailable where that says nothing now. */
async function requireOneCommunity(ctx: Scope, place: DeliveryPlace): Promise<void> {
  const answer = await PLATFORMS[place.provider].checkPlace?.(deskOf(ctx, paceOf(place.provider)), place);
  if (answer === undefined || answer.kind === 'done') return;
  if (answer.kind !== 'refused') throw new ApiError('temporarily_unavailable', { retryAfterSeconds: 10 });
  const detail = `The bot cannot see the whole destination at ${place.provider}: ${answer.reason}`;
  throw new ApiError('setup_not_ready', { detail, meta: { reason: 'unclaimed' } });
}
