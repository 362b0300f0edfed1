import { z } from '@hono/zod-openapi';
import type { IdentitySessionId } from '#core/ids.ts';
import { iso } from '#core/time.ts';
import { connectorErrors, connectorOf, connectorParams, connectorRoute } from '#features/connected-chats/connector.ts';
import { slugParam } from '#features/products/resource.ts';
import { homeOfSlug } from '#platform/db/names/names.ts';
import { created, given, IdentitySessionUuid, idOf, Timestamp } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { IDENTITY_PROVIDERS } from '#rules/payment-terms.ts';
import { completeIdentity, homeOfIdentity, openIdentitySession } from './identity.ts';

export const identityRoutes = routes('Checkout')
  .public({
    path: 'POST /products/p/{slug}/identity',
    id: 'openIdentitySession',
    sdk: 'checkout.openIdentitySession',
    summary: 'Start an identity check',
    description: 'Starts an identity check: send the buyer to the messaging platform.',
    bucket: 'identity',
    by: 'slug',
    params: slugParam,
    returns: created(
      z
        .object({
          identity_session_id: IdentitySessionUuid,
          provider: z.enum(IDENTITY_PROVIDERS),
          deep_link: z.string(),
          expires_at: Timestamp,
        })
        .openapi('IdentitySession'),
    ),
    codes: ['not_found', 'setup_not_ready', 'handoff_not_configured'],
    shard: ({ ctx, params }) => homeOfSlug(ctx, params.slug),
    once: ({ shard, params }, storeAnswer) => openIdentitySession(shard, params.slug, storeAnswer),
    present: ({ session: { id, provider, expiresAt }, deepLink }) => ({
      identity_session_id: id,
      provider,
      deep_link: deepLink,
      expires_at: iso(expiresAt),
    }),
  })
  .public({
    path: 'POST /integrations/connectors/{provider}/identity',
    id: 'completeIdentity',
    sdk: 'connectors.completeIdentity',
    tag: 'Integrations',
    summary: 'Complete an identity check',
    description: 'Completes an identity check. For this service’s connectors.',
    ...connectorRoute,
    params: connectorParams,
    body: z
      .object({
        identity_session_id: idOf<IdentitySessionId>().describe('Identifier of the session in which a buyer proves their identity.'),
        // The platform's API has this id in its paths.
        provider_user_id: z
          .string()
          .regex(/^[0-9]{1,20}$/, 'Expected 1 to 20 digits')
          .describe('Buyer’s user id on the messaging platform.'),
        username: z.string().min(1).max(64).optional().describe('Buyer’s user name on the messaging platform.'),
        grant: z
          .object({
            access_token: z
              .string()
              .regex(/^[\x21-\x7e]{1,512}$/, 'Expected 1 to 512 visible characters')
              .describe('Access token of the buyer at the platform. Used once to admit the buyer, then erased.'),
            expires_at: Timestamp,
          })
          .optional()
          .describe('Grant by which Discord lets the service add the buyer to a guild. Stored encrypted, used once, then erased.'),
      })
      .openapi('ConnectorIdentity'),
    returns: z
      .object({
        identity_session_id: IdentitySessionUuid,
        provider: z.enum(IDENTITY_PROVIDERS),
        provider_user_id: z.string().describe('Buyer’s user id on the messaging platform.'),
        username: z.string().optional().describe('Buyer’s user name on the messaging platform.'),
        status: z.literal('completed'),
        completed_at: Timestamp.describe('Time at which the buyer proved their identity.'),
        expires_at: Timestamp,
      })
      .openapi('CompletedIdentity'),
    codes: [...connectorErrors, 'state_conflict', 'identity_expired'],
    shard: ({ ctx, body }) => homeOfIdentity(ctx, body.identity_session_id),
    once: ({ shard, params, body: { identity_session_id: identitySessionId, provider_user_id, username, grant } }, storeAnswer) => {
      const proven = {
        identitySessionId,
        provider: connectorOf(params.provider),
        providerUserId: provider_user_id,
        username: username ?? null,
        ...(grant ? { grant: { accessToken: grant.access_token, expiresAt: Date.parse(grant.expires_at) } } : {}),
      };
      return completeIdentity(shard, proven, storeAnswer);
    },
    present: (session) => ({
      identity_session_id: session.id,
      provider: session.provider,
      provider_user_id: session.providerUserId!,
      ...given('username', session.username),
      status: 'completed' as const,
      completed_at: iso(session.completedAt!),
      expires_at: iso(session.expiresAt),
    }),
  });
