import { z } from '@hono/zod-openapi';
import { createMiddleware } from 'hono/factory';
import { raise } from '#core/errors.ts';
import type { AppEnv } from '#platform/http/openapi.ts';
import { isPlatform, requireConnector } from '#platform/providers/messaging/platforms.ts';
import { IDENTITY_PROVIDERS, type IdentityProvider } from '#rules/payment-terms.ts';

export const connectorOf = (name: string): IdentityProvider => (isPlatform(name) ? name : raise('not_found'));

export const connectorParams = z.object({
  provider: z.string().openapi({ param: { name: 'provider', in: 'path' }, enum: [...IDENTITY_PROVIDERS] }),
});

// Runs before body validation: a caller without the secret learns nothing about the route.
const connectorOnly = createMiddleware<AppEnv>(async (c, next) => {
  requireConnector(c.var.ctx, connectorOf(c.req.param('provider') ?? ''), c.req.header('X-Svc-Connector-Secret'));
  c.set('isConnector', true);
  await next();
});

export const connectorRoute = {
  security: [{ connectorSecret: [] }] as Record<string, string[]>[],
  bucket: 'connector' as const,
  guards: [connectorOnly],
};

export const connectorErrors = ['connector_secret_invalid', 'handoff_secret_mismatch', 'not_found', 'handoff_not_configured'] as const;
