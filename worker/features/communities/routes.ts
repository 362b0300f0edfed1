import { z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import { LIFE } from '#core/limits.ts';
import { iso } from '#core/time.ts';
import { connectorErrors, connectorOf, connectorParams, connectorRoute } from '#features/communities/connector.ts';
import type { Ctx } from '#platform/context.ts';
import { globalOf } from '#platform/db/directory.ts';
import type { Community } from '#platform/db/tables/office/placements.ts';
import { created, given, Timestamp } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { missingForDelivery } from '#platform/providers/messaging/platforms.ts';
import { IDENTITY_PROVIDERS, type IdentityProvider, PLATFORM_FIELDS } from '#rules/payment-terms.ts';
import { beginClaim, completeClaim, giveBack } from './community.ts';
import { lookAt } from './look.ts';
import { listCommunities, listLooks } from './store.ts';

const Provider = z.enum(IDENTITY_PROVIDERS);
/** What each platform calls a chat or guild. */
const NAMES = IDENTITY_PROVIDERS.map((provider) => PLATFORM_FIELDS[provider][0]);

const PlatformReadiness = z
  .object({
    configured: z.boolean(),
    missing: z.array(z.string()),
    bot_username: z.string().optional(),
    ok: z.boolean().openapi({ description: 'What the last look at the platform showed.' }),
    last_test_at: Timestamp.optional(),
  })
  .openapi('PlatformReadiness');

const ClaimBody = z
  .object({
    claim_id: z.uuid(),
    provider: Provider,
    ...Object.fromEntries(NAMES.map((name) => [name, z.string().optional()])),
    claimed_at: Timestamp,
  })
  .openapi('CommunityClaim', { description: 'A chat or guild that belongs to the account.' });

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
      .regex(/^-?\d{1,25}$/, 'The number that the platform gives it, as text')
      .optional(),
  ]),
);
const ConnectorClaim = z.object({ code: z.string().min(8).max(64), ...named }).openapi('ConnectorClaim', {
  example: { code: 'claim-3HqXbYk0m2LrT8vWz5NcPd7F', chat_id: '-1001234567890' },
});

/** The chat or guild that a connector names, by what its own platform calls it. 422. */
function nativeIdIn(provider: IdentityProvider, body: Record<string, string | undefined>): string {
  const name = PLATFORM_FIELDS[provider][0];
  const foreign = NAMES.find((other) => other !== name && body[other] !== undefined);
  const problem = foreign ? { loc: ['body', foreign], msg: 'Of another platform', type: 'invalid_value' } : null;
  const missing = { loc: ['body', name], msg: 'Required', type: 'missing' };
  if (problem || body[name] === undefined) throw new ApiError('validation_error', { problems: [problem ?? missing] });
  return body[name];
}

async function readinessOf(ctx: Ctx) {
  const looks = await listLooks(globalOf(ctx).db);
  return Object.fromEntries(
    IDENTITY_PROVIDERS.map((provider) => {
      const missing = missingForDelivery(ctx.config, provider);
      const look = missing.length === 0 ? looks.find((one) => one.provider === provider) : undefined;
      const seen = look ? { ...given('bot_username', look.botUsername), last_test_at: iso(look.lookedAt) } : {};
      return [provider, { configured: missing.length === 0, missing, ok: look?.ok ?? false, ...seen }];
    }),
  ) as Record<IdentityProvider, z.infer<typeof PlatformReadiness>>;
}

export const communityRoutes = routes('Account')
  .read({
    path: 'GET /account/delivery/readiness',
    id: 'getDeliveryReadiness',
    summary: 'Whether members can be let in',
    description: 'What this service has for each messaging platform, what is missing, and what the last look at it showed.',
    returns: z
      .object(
        Object.fromEntries(IDENTITY_PROVIDERS.map((name) => [name, PlatformReadiness])) as Record<
          IdentityProvider,
          typeof PlatformReadiness
        >,
      )
      .openapi('DeliveryReadiness'),
    answer: ({ scope }) => readinessOf(scope),
  })
  .write({
    path: 'POST /account/delivery/test',
    id: 'testDelivery',
    summary: 'Test a messaging platform',
    description:
      'Whether it knows the bot. A platform is asked at most once in ten seconds; in between the last answer is shown again. A sandbox key asks nobody.',
    body: z.object({ provider: Provider }).openapi('DeliveryTestRequest'),
    returns: z.object({ provider: Provider, ok: z.boolean(), detail: z.string(), latency_ms: z.int() }).openapi('DeliveryTest'),
    leased: ({ scope, body: { provider } }) =>
      scope.livemode ? lookAt(scope, provider) : Promise.resolve({ ok: true, detail: 'simulated', latencyMs: 0 }),
    present: ({ ok, detail, latencyMs }, { body: { provider } }) => ({ provider, ok, detail, latency_ms: latencyMs }),
  })
  .write({
    path: 'POST /account/delivery/claims',
    id: 'beginCommunityClaim',
    summary: 'Claim a chat or guild',
    description: `A code that its administrator posts there. It is good for ${LIFE.claimMinutes} minutes. A product names only what its account has claimed, and nobody else can claim it until it is given back.`,
    mode: 'live',
    body: z.object({ provider: Provider }).openapi('BeginClaimRequest'),
    returns: created(z.object({ code: z.string(), expires_at: Timestamp }).openapi('BegunClaim')),
    codes: ['plan_limit_reached'],
    leased: ({ scope, body }) => beginClaim(scope, body.provider),
    present: ({ code, expiresAt }) => ({ code, expires_at: iso(expiresAt) }),
    isSecret: true,
  })
  .read({
    path: 'GET /account/delivery/claims',
    id: 'listCommunityClaims',
    summary: 'List claimed chats and guilds',
    description: 'Those that belong to the account, oldest first.',
    mode: 'live',
    returns: z.object({ items: z.array(ClaimBody) }).openapi('CommunityClaims'),
    answer: async ({ scope }) => ({ items: (await listCommunities(globalOf(scope).db, scope.merchantId)).map(toClaimResource) }),
  })
  .write({
    path: 'DELETE /account/delivery/claims/{claim_id}',
    id: 'deleteCommunityClaim',
    summary: 'Give a chat or guild back',
    description:
      'Invitations that nobody used are taken back. Else nothing is given or taken away there any more, and another account may claim it.',
    mode: 'live',
    returns: { 204: { description: 'Given back' } },
    codes: ['not_found'],
    leased: ({ scope, params }) => giveBack(scope, params.claim_id),
    present: () => undefined,
  })
  .public({
    path: 'POST /integrations/connectors/{provider}/claims',
    id: 'completeCommunityClaim',
    tag: 'Integrations',
    summary: 'Complete a claim',
    description: 'For our connectors: where an administrator posted a code.',
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
