import { createRoute, z } from '@hono/zod-openapi';
import { createMiddleware } from 'hono/factory';
import { raise } from '#core/errors.ts';
import type { IdentitySessionId } from '#core/ids.ts';
import { iso } from '#core/time.ts';
import { findActiveListing } from '#features/products/store.ts';
import type { Keep } from '#platform/db/once.ts';
import type { IdentitySession } from '#platform/db/tables/checkout.ts';
import { publicBodyErrors } from '#platform/http/callers.ts';
import {
  answerOnce,
  checkIdempotencyKey,
  OptionalIdempotencyHeader,
  optionalKeyErrors,
  sendStored,
} from '#platform/http/idempotency-key.ts';
import { type AppEnv, created, given, idOf, jsonBody, ok, router, Timestamp } from '#platform/http/openapi.ts';
import { publicBucket } from '#platform/http/rate-limit.ts';
import { enterShard } from '#platform/http/shard.ts';
import { IDENTITY_PROVIDERS, type IdentityProvider } from '#rules/payment-terms.ts';
import { completeIdentity, isIdentityProvider, type OpenedIdentity, openIdentitySession, requireConnector } from './identity.ts';
import { findIdentitySession } from './store.ts';

const openIdentity = createRoute({
  method: 'post',
  path: '/products/p/{slug}/identity',
  operationId: 'openIdentitySession',
  tags: ['Checkout'],
  summary: 'Send a buyer to the messaging platform to show who they are',
  middleware: [publicBucket('identity', (c) => c.req.param('slug') ?? ''), checkIdempotencyKey] as const,
  request: {
    headers: OptionalIdempotencyHeader,
    params: z.object({
      slug: z
        .string()
        .max(80)
        .openapi({ param: { name: 'slug', in: 'path' } }),
    }),
  },
  responses: {
    ...created(
      z
        .object({ identity_session_id: z.uuid(), provider: z.enum(IDENTITY_PROVIDERS), deep_link: z.string(), expires_at: Timestamp })
        .openapi('IdentitySession'),
    ),
    ...publicBodyErrors(...optionalKeyErrors, 'not_found', 'setup_not_ready', 'rate_limited', 'handoff_not_configured'),
  },
});

// Before the fields of the body are judged: who does not know the secret learns nothing of what this expects.
const connectorOnly = createMiddleware<AppEnv>(async (c, next) => {
  requireConnector(c.var.ctx, providerOf(c.req.param('provider') ?? ''), c.req.header('X-Svc-Connector-Secret'));
  await next();
});

const providerOf = (name: string): IdentityProvider => (isIdentityProvider(name) ? name : raise('not_found'));

const complete = createRoute({
  method: 'post',
  path: '/integrations/connectors/{provider}/identity',
  operationId: 'completeIdentity',
  tags: ['Integrations'],
  summary: 'For our connectors: who came to show who they are',
  security: [{ connectorSecret: [] }] as Record<string, string[]>[],
  middleware: [publicBucket('connector'), connectorOnly, checkIdempotencyKey] as const,
  request: {
    headers: OptionalIdempotencyHeader,
    params: z.object({ provider: z.string().openapi({ param: { name: 'provider', in: 'path' }, enum: [...IDENTITY_PROVIDERS] }) }),
    ...jsonBody(
      z
        .object({
          identity_session_id: idOf<IdentitySessionId>(),
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
      ...optionalKeyErrors,
      'connector_secret_invalid',
      'handoff_secret_mismatch',
      'not_found',
      'state_conflict',
      'identity_expired',
      'rate_limited',
      'handoff_not_configured',
    ),
  },
});

export const identityRoutes = router()
  .openapi(openIdentity, async (c) => {
    const { slug } = c.req.valid('param');
    const shard = await enterShard(c, ({ db }) => findActiveListing(db, slug));
    const run = (keep: Keep<OpenedIdentity>) => openIdentitySession(shard, slug, keep);
    const present = ({ session: { id, provider, expiresAt }, deepLink }: OpenedIdentity) => ({
      status: 201,
      body: { identity_session_id: id, provider, deep_link: deepLink, expires_at: iso(expiresAt) },
    });
    return sendStored(c, await answerOnce(c, run, present));
  })
  .openapi(complete, async (c) => {
    const { identity_session_id: identitySessionId, provider_user_id, username } = c.req.valid('json');
    const proven = {
      identitySessionId,
      provider: providerOf(c.req.valid('param').provider),
      providerUserId: provider_user_id,
      username: username ?? null,
    };
    const present = (session: IdentitySession) => ({
      status: 200,
      body: {
        identity_session_id: session.id,
        provider: session.provider,
        provider_user_id: session.providerUserId!,
        ...given('username', session.username),
        status: 'completed',
        completed_at: iso(session.completedAt!),
        expires_at: iso(session.expiresAt),
      },
    });
    const shard = await enterShard(c, ({ db }) => findIdentitySession(db, proven.identitySessionId));
    return sendStored(c, await answerOnce<IdentitySession>(c, (keep) => completeIdentity(shard, proven, keep), present));
  });
