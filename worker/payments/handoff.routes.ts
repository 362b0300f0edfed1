import { createRoute, z } from '@hono/zod-openapi';
import { createMiddleware } from 'hono/factory';
import type { IdentitySessionId, ProductId } from '../core/ids.ts';
import { iso } from '../core/time.ts';
import { IDENTITY_PROVIDERS, type IdentityProvider } from '../db/terms.ts';
import { CustomerRef } from '../entitlements/resource.ts';
import { merchantBodyErrors, merchantRoute, publicBodyErrors } from '../http/guards.ts';
import { type AppEnv, created, errors, given, jsonBody, ModeQuery, ok, router, Timestamp, uuidParam } from '../http/openapi.ts';
import { publicBucket } from '../http/rate-limit.ts';
import { getOffer } from '../products/product.ts';
import { HttpsUrl, Metadata } from '../products/resource.ts';
import { createHandoff, getHandoff, labelOf } from './handoff.ts';
import { completeIdentity, openIdentitySession, requireConnector } from './identity.ts';

const slug = z
  .string()
  .max(80)
  .openapi({ param: { name: 'slug', in: 'path' } });

const create = createRoute({
  method: 'post',
  path: '/products/{product_id}/handoffs',
  operationId: 'createHandoff',
  tags: ['Checkout'],
  summary: 'A link that brings a buyer you know to the checkout, recognised',
  description: 'It is used once, within 10 minutes. What you say of the buyer stays with us: the link only names it.',
  ...merchantRoute('execute'),
  request: {
    params: uuidParam('product_id'),
    query: z.object(ModeQuery),
    ...jsonBody(
      z
        .object({
          customer_ref: CustomerRef.optional(),
          email: z.email().max(254).optional(),
          wallet_address: z.string().max(64).optional(),
          success_url: HttpsUrl.optional(),
          metadata: Metadata.optional(),
        })
        .openapi('HandoffRequest', { example: { customer_ref: 'user-42', email: 'ada@example.com' } }),
    ),
  },
  responses: {
    ...created(z.object({ handoff_token: z.string(), url: z.string(), expires_at: Timestamp }).openapi('Handoff')),
    ...merchantBodyErrors('not_found', 'state_conflict', 'invalid_wallet_address', 'handoff_not_configured'),
  },
});

const resolve = createRoute({
  method: 'get',
  path: '/products/p/{slug}/handoff/{token}',
  operationId: 'resolveHandoff',
  tags: ['Checkout'],
  summary: 'Whom a hand-off is for, without using it',
  middleware: publicBucket('payload'),
  request: {
    params: z.object({
      slug,
      token: z
        .string()
        .max(2048)
        .openapi({ param: { name: 'token', in: 'path' } }),
    }),
  },
  responses: {
    ...ok(
      z
        .object({
          product_id: z.uuid(),
          slug: z.string(),
          customer_label: z.string().optional().openapi({ description: 'Shortened, for the buyer to recognise.', example: 'a…@e….com' }),
          expires_at: Timestamp,
        })
        .openapi('ResolvedHandoff'),
    ),
    ...errors('handoff_secret_mismatch', 'not_found', 'handoff_expired', 'validation_error', 'rate_limited', 'handoff_not_configured'),
  },
});

const openIdentity = createRoute({
  method: 'post',
  path: '/products/p/{slug}/identity',
  operationId: 'openIdentitySession',
  tags: ['Checkout'],
  summary: 'Send a buyer to the messaging platform to show who they are',
  middleware: publicBucket('connect', (c) => c.req.param('slug') ?? ''),
  request: { params: z.object({ slug }) },
  responses: {
    ...created(
      z
        .object({ identity_session_id: z.uuid(), provider: z.enum(IDENTITY_PROVIDERS), deep_link: z.string(), expires_at: Timestamp })
        .openapi('IdentitySession'),
    ),
    ...errors('not_found', 'setup_not_ready', 'validation_error', 'rate_limited', 'handoff_not_configured'),
  },
});

// Before the body is read: who does not know the secret learns nothing of what this expects.
const connectorOnly = createMiddleware<AppEnv>(async (c, next) => {
  const provider = c.req.param('provider') as IdentityProvider;
  // An unknown platform is for the route to refuse.
  if (IDENTITY_PROVIDERS.includes(provider)) requireConnector(c.var.ctx, provider, c.req.header('X-Svc-Connector-Secret'));
  await next();
});

const complete = createRoute({
  method: 'post',
  path: '/integrations/connectors/{provider}/identity',
  operationId: 'completeIdentity',
  tags: ['Integrations'],
  summary: 'For our connectors: who came to show who they are',
  security: [{ connectorSecret: [] }] as Record<string, string[]>[],
  middleware: connectorOnly,
  request: {
    params: z.object({ provider: z.enum(IDENTITY_PROVIDERS).openapi({ param: { name: 'provider', in: 'path' } }) }),
    ...jsonBody(
      z
        .object({
          identity_session_id: z.uuid(),
          provider_user_id: z.string().regex(/^[\x21-\x7e]{1,64}$/, 'Expected 1 to 64 visible characters'),
          username: z.string().min(1).max(64).optional(),
        })
        .openapi('ConnectorIdentity'),
    ),
  },
  responses: {
    ...ok(
      z
        .object({
          identity_session_id: z.uuid(),
          provider: z.enum(IDENTITY_PROVIDERS),
          provider_user_id: z.string(),
          username: z.string().optional(),
          status: z.literal('completed'),
          completed_at: Timestamp,
          expires_at: Timestamp,
        })
        .openapi('CompletedIdentity'),
    ),
    ...publicBodyErrors(
      'connector_secret_invalid',
      'handoff_secret_mismatch',
      'not_found',
      'state_conflict',
      'identity_expired',
      'handoff_not_configured',
    ),
  },
});

export const handoffRoutes = router()
  .openapi(create, async (c) => {
    const { actor, ctx } = c.var;
    const { customer_ref, email, wallet_address, success_url, metadata } = c.req.valid('json');
    const { token, product, expiresAt } = await createHandoff(ctx, actor, c.req.valid('param').product_id as ProductId, {
      customerRef: customer_ref,
      email,
      walletAddress: wallet_address,
      successUrl: success_url,
      metadata,
    });
    const url = `${ctx.baseUrl}/p/${product.slug}?handoff=${token}`;
    return c.json({ handoff_token: token, url, expires_at: iso(expiresAt) }, 201);
  })
  .openapi(resolve, async (c) => {
    const { ctx } = c.var;
    const params = c.req.valid('param');
    const { product } = await getOffer(ctx.db, params.slug);
    const handoff = await getHandoff(ctx, product.id, params.token);
    c.header('Cache-Control', 'no-store');
    return c.json(
      {
        product_id: product.id,
        slug: product.slug,
        ...given('customer_label', labelOf(handoff)),
        expires_at: iso(handoff.expiresAt),
      },
      200,
    );
  })
  .openapi(openIdentity, async (c) => {
    const { session, deepLink } = await openIdentitySession(c.var.ctx, c.req.valid('param').slug);
    return c.json(
      { identity_session_id: session.id, provider: session.provider, deep_link: deepLink, expires_at: iso(session.expiresAt) },
      201,
    );
  })
  .openapi(complete, async (c) => {
    const { identity_session_id, provider_user_id, username } = c.req.valid('json');
    const session = await completeIdentity(c.var.ctx, {
      identitySessionId: identity_session_id as IdentitySessionId,
      provider: c.req.valid('param').provider,
      providerUserId: provider_user_id,
      username: username ?? null,
    });
    return c.json(
      {
        identity_session_id: session.id,
        provider: session.provider,
        provider_user_id: session.providerUserId!,
        ...given('username', session.username),
        status: 'completed' as const,
        completed_at: iso(session.completedAt!),
        expires_at: iso(session.expiresAt),
      },
      200,
    );
  });
