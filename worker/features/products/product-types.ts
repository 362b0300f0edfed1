import { z } from '@hono/zod-openapi';
import { PLATFORMS } from '#platform/providers/messaging/registry.ts';
import { type DeliveryTarget, IDENTITY_PROVIDERS, type IdentityProvider } from '#rules/payment-terms.ts';

export const PRODUCT_TYPES: ['api', 'link', ...IdentityProvider[]] = ['api', 'link', ...IDENTITY_PROVIDERS];

type DeliveryTargetSchema = (typeof PLATFORMS)['telegram']['targetSchema'];
export const DeliveryTargetBody = z
  .discriminatedUnion(
    'provider',
    IDENTITY_PROVIDERS.map((provider) => PLATFORMS[provider].targetSchema) as [DeliveryTargetSchema, ...DeliveryTargetSchema[]],
  )
  .openapi('DeliveryTarget', {
    description: 'Chat or guild that gives access, claimed by the account. The platform must match the `product_type`.',
  }) as unknown as z.ZodType<DeliveryTarget>;
