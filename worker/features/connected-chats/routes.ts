import { z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import { LIFE } from '#core/limits.ts';
import { iso } from '#core/time.ts';
import { connectorErrors, connectorOf, connectorParams, connectorRoute } from '#features/connected-chats/connector.ts';
import type { Ctx } from '#platform/context.ts';
import { globalOf } from '#platform/db/directory.ts';
import type { Community } from '#platform/db/tables/office/placements.ts';
import { created, Detail, given, Timestamp } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { missingForDelivery } from '#platform/providers/messaging/platforms.ts';
import { PLATFORMS } from '#platform/providers/messaging/registry.ts';
import { IDENTITY_PROVIDERS, type IdentityProvider, PLATFORM_FIELDS } from '#rules/payment-terms.ts';
import { checkPlatform } from './check.ts';
import { beginClaim, completeClaim, giveBack } from './community.ts';
import { listCommunities, listPlatformChecks } from './store.ts';

const Provider = z.enum(IDENTITY_PROVIDERS);
const NAMES = IDENTITY_PROVIDERS.map((provider) => PLATFORM_FIELDS[provider][0]);
const COMMUNITY_IDS = { chat_id: 'Telegram chat id, as text.', guild_id: 'Discord guild id, as text.' } satisfies Record<
  (typeof NAMES)[number],
  string
>;

const PlatformReadiness = z
  .object({
    configured: z.boolean(),
    missing: z.array(z.string()),
    bot_username: z.string().optional(),
    ok: z.boolean().describe('Result of the last test of the platform.'),
    last_test_at: Timestamp.optional(),
  })
  .openapi('PlatformReadiness');

const ClaimBody = z
  .object({
    claim_id: z.uuid(),
    provider: Provider,
    ...Object.fromEntries(NAMES.map((name) => [name, z.string().optional().describe(COMMUNITY_IDS[name])])),
    claimed_at: Timestamp.describe('Time at which the administrator posted the code.'),
  })
  .openapi('CommunityClaim', { description: 'Chat or guild that belongs to the account.' });

const toClaimResource = ({ id, provider, nativeId, claimedAt }: Community) => ({
  claim_id: id,
  provider,
  [PLATFORM_FIELDS[provider][0]]: nativeId!,
  claimed_at: iso(claimedAt!),
});

const named = Object.fromEntries(
  NAMES.map((name) => [
    name,
    z
      .string()
      .regex(/^-?\d{1,25}$/, 'Expected the id that the platform assigned, as text')
      .optional()
      .describe(COMMUNITY_IDS[name]),
  ]),
);
const ConnectorClaim = z.object({ code: z.string().min(8).max(64), ...named }).openapi('ConnectorClaim', {
  example: { code: 'claim-3HqXbYk0m2LrT8vWz5NcPd7F', chat_id: '-1001234567890' },
});

function nativeIdIn(provider: IdentityProvider, body: Record<string, string | undefined>): string {
  const name = PLATFORM_FIELDS[provider][0];
  const foreign = NAMES.find((other) => other !== name && body[other] !== undefined);
  const problem = foreign ? { loc: ['body', foreign], msg: 'Of another platform', type: 'invalid_value' } : null;
  const missing = { loc: ['body', name], msg: 'Required', type: 'missing' };
  if (problem || body[name] === undefined) throw new ApiError('validation_error', { problems: [problem ?? missing] });
  return body[name];
}

async function loadReadiness(ctx: Ctx) {
  const checks = await listPlatformChecks(globalOf(ctx).db);
  return Object.fromEntries(
    IDENTITY_PROVIDERS.map((provider) => {
      const missing = missingForDelivery(ctx.config, provider);
      const check = missing.length === 0 ? checks.find((one) => one.provider === provider) : undefined;
      const seen = check ? { ...given('bot_username', check.botUsername), last_test_at: iso(check.checkedAt) } : {};
      return [provider, { configured: missing.length === 0, missing, ok: check?.ok ?? false, ...seen }];
    }),
  ) as Record<IdentityProvider, z.infer<typeof PlatformReadiness>>;
}

export const communityRoutes = routes('Account', 'webhooks')
  .read({
    path: 'GET /account/delivery/readiness',
    id: 'getDeliveryReadiness',
    sdk: 'delivery.getReadiness',
    summary: 'Check delivery readiness',
    description: 'Returns the configuration of each messaging platform, the missing variables and the result of the last test.',
    returns: z
      .object(
        Object.fromEntries(
          IDENTITY_PROVIDERS.map((name) => [
            name,
            PlatformReadiness.describe(`${PLATFORMS[name].title} configuration of this deployment.`),
          ]),
        ) as Record<IdentityProvider, typeof PlatformReadiness>,
      )
      .openapi('DeliveryReadiness'),
    answer: ({ scope }) => loadReadiness(scope),
  })
  .write({
    path: 'POST /account/delivery/test',
    id: 'testDelivery',
    sdk: 'delivery.test',
    summary: 'Test a messaging platform',
    description: 'Checks that the platform recognizes the bot. Called at most once in ten seconds. The sandbox calls no platform.',
    body: z.object({ provider: Provider }).openapi('DeliveryTestRequest'),
    returns: z
      .object({
        provider: Provider,
        ok: z.boolean().describe('True if the platform recognizes the bot.'),
        detail: Detail,
        latency_ms: z.int().describe('Response time of the platform in milliseconds.'),
      })
      .openapi('DeliveryTest'),
    leased: ({ scope, body: { provider } }) =>
      scope.livemode ? checkPlatform(scope, provider) : Promise.resolve({ ok: true, detail: 'simulated', latencyMs: 0 }),
    // Calls the platform and changes nothing of the account.
    audit: false,
    present: ({ ok, detail, latencyMs }, { body: { provider } }) => ({ provider, ok, detail, latency_ms: latencyMs }),
  })
  .write({
    path: 'POST /account/delivery/claims',
    id: 'beginCommunityClaim',
    sdk: 'delivery.beginClaim',
    summary: 'Claim a chat or guild',
    description: `Creates a code that an administrator posts in the chat or guild within ${LIFE.claimMinutes} minutes. Products can name only claimed chats and guilds.`,
    mode: 'live',
    body: z.object({ provider: Provider }).openapi('BeginClaimRequest'),
    returns: created(
      z.object({ code: z.string().describe('Code to post in the chat or guild.'), expires_at: Timestamp }).openapi('BegunClaim'),
    ),
    codes: ['plan_limit_reached'],
    leased: ({ scope, body }) => beginClaim(scope, body.provider),
    audit: ['chat.claim_started'],
    present: ({ code, expiresAt }) => ({ code, expires_at: iso(expiresAt) }),
    isSecret: true,
  })
  .read({
    path: 'GET /account/delivery/claims',
    id: 'listCommunityClaims',
    sdk: 'delivery.listClaims',
    summary: 'List claimed chats and guilds',
    description: 'Lists the chats and guilds of the account, oldest first.',
    mode: 'live',
    returns: z.object({ items: z.array(ClaimBody) }).openapi('CommunityClaims'),
    answer: async ({ scope }) => ({ items: (await listCommunities(globalOf(scope).db, scope.merchantId)).map(toClaimResource) }),
  })
  .write({
    path: 'DELETE /account/delivery/claims/{claim_id}',
    id: 'deleteCommunityClaim',
    sdk: 'delivery.deleteClaim',
    summary: 'Release a chat or guild',
    description: 'Releases a chat or guild and revokes its open invitations. Existing members stay. Another account may then claim it.',
    mode: 'live',
    returns: { 204: { description: 'Released' } },
    codes: ['not_found'],
    leased: ({ scope, params }) => giveBack(scope, params.claim_id),
    audit: ['chat.released'],
    present: () => undefined,
  })
  .public({
    path: 'POST /integrations/connectors/{provider}/claims',
    id: 'completeCommunityClaim',
    sdk: 'connectors.completeClaim',
    tag: 'Integrations',
    summary: 'Complete a claim',
    description: 'Completes a claim with the code that an administrator posted. For this service’s connectors.',
    ...connectorRoute,
    params: connectorParams,
    body: ConnectorClaim,
    returns: ClaimBody,
    codes: [...connectorErrors, 'state_conflict'],
    check: ({ params, body }) => {
      const provider = connectorOf(params.provider);
      return { provider, nativeId: nativeIdIn(provider, body) };
    },
    shard: ({ ctx }) => globalOf(ctx),
    leased: ({ ctx, body, checked: { provider, nativeId } }) => completeClaim(ctx, provider, body.code, nativeId),
    present: toClaimResource,
  });
