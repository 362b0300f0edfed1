import { createRoute, z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import type { CommunityId } from '#core/ids.ts';
import { LIFE } from '#core/limits.ts';
import { iso } from '#core/time.ts';
import { connectorErrors, connectorOf, connectorParams, connectorRoute } from '#features/communities/connector.ts';
import type { Ctx } from '#platform/context.ts';
import { globalOf } from '#platform/db/directory.ts';
import type { Community } from '#platform/db/tables/office/placements.ts';
import { liveRoute, merchantErrors, merchantRoute, merchantWriteErrors, publicBodyErrors, writeRoute } from '#platform/http/callers.ts';
import { answerLeased, OptionalIdempotencyHeader, sendStored } from '#platform/http/idempotency-key.ts';
import { created, given, idOf, idParam, jsonBody, ModeQuery, ok, router, Timestamp } from '#platform/http/openapi.ts';
import { missingForDelivery } from '#platform/providers/messaging/platforms.ts';
import { IDENTITY_PROVIDERS, type IdentityProvider, PLATFORM_FIELDS } from '#rules/payment-terms.ts';
import { beginClaim, completeClaim, giveBack } from './community.ts';
import { lookAt } from './look.ts';
import { listCommunities, listLooks } from './store.ts';

const Provider = z.enum(IDENTITY_PROVIDERS);
/** What each platform calls a chat or guild. */
const NAMES = IDENTITY_PROVIDERS.map((provider) => PLATFORM_FIELDS[provider][0]);
const query = z.object(ModeQuery);

const PlatformReadiness = z
  .object({
    configured: z.boolean(),
    missing: z.array(z.string()),
    bot_username: z.string().optional(),
    ok: z.boolean().openapi({ description: 'What the last look at the platform showed.' }),
    last_test_at: Timestamp.optional(),
  })
  .openapi('PlatformReadiness');

const readiness = createRoute({
  method: 'get',
  path: '/account/delivery/readiness',
  operationId: 'getDeliveryReadiness',
  tags: ['Account'],
  summary: 'Whether members can be let in',
  description: 'What this service has for each messaging platform, what is missing, and what the last look at it showed.',
  ...merchantRoute('read'),
  request: { query },
  responses: {
    ...ok(
      z
        .object(
          Object.fromEntries(IDENTITY_PROVIDERS.map((name) => [name, PlatformReadiness])) as Record<
            IdentityProvider,
            typeof PlatformReadiness
          >,
        )
        .openapi('DeliveryReadiness'),
    ),
    ...merchantErrors(),
  },
});

const test = createRoute({
  method: 'post',
  path: '/account/delivery/test',
  operationId: 'testDelivery',
  tags: ['Account'],
  summary: 'Test a messaging platform',
  description:
    'Whether it knows the bot. A platform is asked at most once in ten seconds; in between the last answer is shown again. A sandbox key asks nobody.',
  ...writeRoute,
  request: { headers: OptionalIdempotencyHeader, query, ...jsonBody(z.object({ provider: Provider }).openapi('DeliveryTestRequest')) },
  responses: {
    ...ok(z.object({ provider: Provider, ok: z.boolean(), detail: z.string(), latency_ms: z.int() }).openapi('DeliveryTest')),
    ...merchantWriteErrors(),
  },
});

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

const begin = createRoute({
  method: 'post',
  path: '/account/delivery/claims',
  operationId: 'beginCommunityClaim',
  tags: ['Account'],
  summary: 'Claim a chat or guild',
  description: `A code that its administrator posts there. It is good for ${LIFE.claimMinutes} minutes. A product names only what its account has claimed, and nobody else can claim it until it is given back.`,
  ...liveRoute.write,
  request: { headers: OptionalIdempotencyHeader, ...jsonBody(z.object({ provider: Provider }).openapi('BeginClaimRequest')) },
  responses: {
    ...created(z.object({ code: z.string(), expires_at: Timestamp }).openapi('BegunClaim')),
    ...merchantWriteErrors('plan_limit_reached'),
  },
});

const list = createRoute({
  method: 'get',
  path: '/account/delivery/claims',
  operationId: 'listCommunityClaims',
  tags: ['Account'],
  summary: 'List claimed chats and guilds',
  description: 'Those that belong to the account, oldest first.',
  ...liveRoute.read,
  responses: { ...ok(z.object({ items: z.array(ClaimBody) }).openapi('CommunityClaims')), ...merchantErrors() },
});

const giveBackRoute = createRoute({
  method: 'delete',
  path: '/account/delivery/claims/{claim_id}',
  operationId: 'deleteCommunityClaim',
  tags: ['Account'],
  summary: 'Give a chat or guild back',
  description:
    'Invitations that nobody used are taken back. Else nothing is given or taken away there any more, and another account may claim it.',
  ...liveRoute.write,
  request: { headers: OptionalIdempotencyHeader, params: idParam('claim_id', idOf<CommunityId>()) },
  responses: { 204: { description: 'Given back' }, ...merchantWriteErrors('not_found') },
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

const complete = createRoute({
  method: 'post',
  path: '/integrations/connectors/{provider}/claims',
  operationId: 'completeCommunityClaim',
  tags: ['Integrations'],
  summary: 'Complete a claim',
  description: 'For our connectors: where an administrator posted a code.',
  ...connectorRoute,
  request: { headers: OptionalIdempotencyHeader, params: connectorParams, ...jsonBody(ConnectorClaim) },
  responses: { ...ok(ClaimBody), ...publicBodyErrors(...connectorErrors, 'state_conflict') },
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

export const communityRoutes = router()
  .openapi(readiness, async (c) => c.json(await readinessOf(c.var.scope), 200))
  .openapi(test, async (c) => {
    const { scope } = c.var;
    const { provider } = c.req.valid('json');
    const run = () => (scope.livemode ? lookAt(scope, provider) : Promise.resolve({ ok: true, detail: 'simulated', latencyMs: 0 }));
    const answer = await answerLeased(c, run, ({ ok, detail, latencyMs }) => ({
      status: 200,
      body: { provider, ok, detail, latency_ms: latencyMs },
    }));
    return sendStored(c, answer);
  })
  .openapi(begin, async (c) => {
    const run = () => beginClaim(c.var.scope, c.req.valid('json').provider);
    const present = ({ code, expiresAt }: { code: string; expiresAt: number }) => ({
      status: 201,
      body: { code, expires_at: iso(expiresAt) },
    });
    return sendStored(c, await answerLeased(c, run, present, { isSecret: true }));
  })
  .openapi(list, async (c) => {
    const { scope } = c.var;
    const claimed = await listCommunities(globalOf(scope).db, scope.merchantId);
    return c.json({ items: claimed.map(toClaimResource) }, 200);
  })
  .openapi(giveBackRoute, async (c) => {
    const run = () => giveBack(c.var.scope, c.req.valid('param').claim_id);
    return sendStored(c, await answerLeased(c, run, () => ({ status: 204 })));
  })
  .openapi(complete, async (c) => {
    const { ctx } = c.var;
    const provider = connectorOf(c.req.valid('param').provider);
    const body: { code: string } & Record<string, string | undefined> = c.req.valid('json');
    const nativeId = nativeIdIn(provider, body);
    c.set('shard', globalOf(ctx));
    const run = () => completeClaim(ctx, provider, body.code, nativeId);
    return sendStored(c, await answerLeased(c, run, (claimed) => ({ status: 200, body: toClaimResource(claimed) })));
  });
