import { z } from '@hono/zod-openapi';
import { PLATFORMS } from '#platform/providers/messaging/registry.ts';
import { type DeliveryPlace, IDENTITY_PROVIDERS, type IdentityProvider } from '#rules/payment-terms.ts';

/** What is sold: access to an API or a link, or to a chat or guild on a platform. */
export const PRODUCT_TYPES: ['api', 'link', ...IdentityProvider[]] = ['api', 'link', ...IDENTITY_PROVIDERS];

type PlaceSchema = (typeof PLATFORMS)['telegram']['place'];
/** A chat or guild, as its platform names things. */
export const PlaceBody = z
  .discriminatedUnion('provider', IDENTITY_PROVIDERS.map((provider) => PLATFORMS[provider].place) as [PlaceSchema, ...PlaceSchema[]])
  .openapi('DeliveryPlace', {
    description: 'Chat or guild that gives access, claimed by the account. The platform must match the `product_type`.',
  }) as unknown as z.ZodType<DeliveryPlace>;
