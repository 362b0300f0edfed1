import { createRoute, z } from '@hono/zod-openapi';
import type { IdentitySessionId } from '#core/ids.ts';
import { iso } from '#core/time.ts';
import { connectorErrors, connectorOf, connectorParams, connectorRoute } from '#features/communities/connector.ts';
import { slugParam } from '#features/products/resource.ts';
import { hasSlug } from '#features/products/store.ts';
import type { StoreAnswer } from '#platform/db/once.ts';
import type { IdentitySession } from '#platform/db/tables/checkout.ts';
import { publicBodyErrors } from '#platform/http/callers.ts';
import {
  answerOnce,
  checkIdempotencyKey,
  OptionalIdempotencyHeader,
  optionalKeyErrors,
  sendStored,
} from '#platform/http/idempotency-key.ts';
import { created, given, idOf, jsonBody, ok, router, Timestamp } from '#platform/http/openapi.ts';
import { publicBucket } from '#platform/http/rate-limit.ts';
import { enterShard } from '#platform/http/shard.ts';
import { IDENTITY_PROVIDERS } from '#rules/payment-terms.ts';
import { findIdentitySession } from '../sessions/store.ts';
import { completeIdentity, type OpenedIdentity, openIdentitySession } from './identity.ts';

const openIdentity = createRoute({
  method: 'post',
  path: '/products/p/{slug}/identity',
  operationId: 'openIdentitySession',
  tags: ['Checkout'],
  summary: 'Begin a buyer’s identity',
  description: 'Send a buyer to the messaging platform to show who they are.',
  middleware: [publicBucket('identity', (c) => c.req.param('slug') ?? ''), checkIdempotencyKey] as const,
  request: {
    headers: OptionalIdempotencyHeader,
    params: slugParam,
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

const complete = createRoute({
  method: 'post',
  path: '/integrations/connectors/{provider}/identity',
  operationId: 'completeIdentity',
  tags: ['Integrations'],
  summary: 'Complete a buyer’s identity',
  description: 'For our connectors: who came to show who they are.',
  ...connectorRoute,
  request: {
    headers: OptionalIdempotencyHeader,
    params: connectorParams,
    ...jsonBody(
      z
        .object({
          identity_session_id: idOf<IdentitySessionId>(),
          // The platform's API has this in its paths.
          provider_user_id: z.string().regex(/^[0-9]{1,20}$/, 'Expected 1 to 20 digits'),
          username: z.string().min(1).max(64).optional(),
          grant: z
            .object({
              access_token: z
                .string()
                .regex(/^[\x21-\x7e]{1,512}$/, 'Expected 1 to 512 visible characters')
                .openapi({ description: 'Of the buyer at the platform: used once to let them in, then erased.' }),
              expires_at: Timestamp,
            })
            .optional()
            .openapi({ description: 'By which Discord lets the buyer be added to a guild. Kept sealed, used once, then erased.' }),
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
    ...publicBodyErrors(...connectorErrors, 'state_conflict', 'identity_expired'),
  },
});

export const identityRoutes = router()
  .openapi(openIdentity, async (c) => {
    const { slug } = c.req.valid('param');
    const shard = await enterShard(c, ({ db }) => hasSlug(db, slug));
    const run = (storeAnswer: StoreAnswer<OpenedIdentity>) => openIdentitySession(shard, slug, storeAnswer);
    const present = ({ session: { id, provider, expiresAt }, deepLink }: OpenedIdentity) => ({
      status: 201,
      body: { identity_session_id: id, provider, deep_link: deepLink, expires_at: iso(expiresAt) },
    });
    return sendStored(c, await answerOnce(c, run, present));
  })
  .openapi(complete, async (c) => {
    const { identity_session_id: identitySessionId, provider_user_id, username, grant } = c.req.valid('json');
    const proven = {
      identitySessionId,
      provider: connectorOf(c.req.valid('param').provider),
      providerUserId: provider_user_id,
      username: username ?? null,
      ...(grant ? { grant: { accessToken: grant.access_token, expiresAt: Date.parse(grant.expires_at) } } : {}),
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
    return sendStored(c, await answerOnce<IdentitySession>(c, (storeAnswer) => completeIdentity(shard, proven, storeAnswer), present));
  });
