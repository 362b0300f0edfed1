import { createRoute, z } from '@hono/zod-openapi';
import { ApiError, raise } from '#core/errors.ts';
import type { EndpointId } from '#core/ids.ts';
import { COUNTED_FILTERED_MAX, PER_PAGE } from '#core/limits.ts';
import { DAY, isoOrNull, SECOND } from '#core/time.ts';
import type { StoreAnswer } from '#platform/db/once.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import type { Endpoint } from '#platform/db/tables/webhooks.ts';
import { merchantErrors, merchantRoute, merchantWriteErrors, writeRoute } from '#platform/http/callers.ts';
import { answerOnce, OptionalIdempotencyHeader, sendStored } from '#platform/http/idempotency-key.ts';
import {
  created,
  given,
  idOf,
  idParam,
  jsonBody,
  ModeQuery,
  ok,
  PageQuery,
  pageOf,
  positiveInteger,
  router,
  Timestamp,
} from '#platform/http/openapi.ts';
import { isTypePattern } from '#rules/events.ts';
import { loadIntegrationHealth } from '../deliveries/breaker.store.ts';
import { createEndpoint, disableEndpoint, type EndpointWithSecret } from '../endpoints/endpoint.ts';
import { listEvents } from '../events.store.ts';
import { CreateEndpointRequest, EndpointBody, EventBody, EventQuery, toEndpointResource, toEventResource } from '../resource.ts';
import { getEndpoint } from '../store.ts';

const tags = ['Integrations'];
const health = createRoute({
  method: 'get',
  path: '/integrations/health',
  operationId: 'getIntegrationHealth',
  tags,
  summary: 'Get delivery health',
  description: 'How well events leave the house.',
  ...merchantRoute('read'),
  request: { query: z.object(ModeQuery) },
  responses: {
    ...ok(
      z
        .object({
          status: z.enum(['ok', 'degraded']),
          endpoints: z.object({ enabled: z.int(), disabled: z.int(), failing: z.int() }),
          last_delivery_at: Timestamp.optional(),
          success_rate_24h: z.number().optional().openapi({ description: 'Absent where nothing was delivered or given up in a day.' }),
          oldest_pending_seconds: z.int().optional().openapi({ description: 'Absent where nothing waits.' }),
          hooks: z.int(),
        })
        .openapi('IntegrationHealth'),
    ),
    ...merchantErrors(),
  },
});

const events = createRoute({
  method: 'get',
  path: '/integrations/events',
  operationId: 'listIntegrationEvents',
  tags,
  summary: 'List events for integrations',
  description:
    'The same events as those of `GET /v1/webhooks/events`, for platforms that ask with `limit`: another name for `per_page`; both at once is 422.',
  ...merchantRoute('read'),
  request: {
    query: z.object({
      page: PageQuery.page,
      per_page: positiveInteger(PER_PAGE.max)
        .optional()
        .openapi({ type: 'integer', minimum: 1, maximum: PER_PAGE.max, default: PER_PAGE.default }),
      limit: positiveInteger(PER_PAGE.max).optional().openapi({ type: 'integer', minimum: 1, maximum: PER_PAGE.max }),
      ...EventQuery,
      ...ModeQuery,
    }),
  },
  responses: { ...ok(pageOf(EventBody, 'EventPage')), ...merchantErrors() },
});

export const HookBody = EndpointBody.extend({
  id: z.uuid().openapi({ description: 'The endpoint_id again, where automation platforms look for it.' }),
}).openapi('AutomationHook');
const url = z.string().max(2048);
const SubscribeRequest = z
  .object({
    target_url: url.optional(),
    hookUrl: url.optional(),
    event_type: z.string().max(80).optional(),
    event: z.string().max(80).optional(),
    product_ids: CreateEndpointRequest.shape.product_ids,
  })
  .openapi('SubscribeHookRequest', { example: { target_url: 'https://hooks.example.com/abc', event_type: 'payment.confirmed' } });
const subscribe = createRoute({
  method: 'post',
  path: '/integrations/automation/hooks',
  operationId: 'subscribeHook',
  tags,
  summary: 'Subscribe a REST hook',
  description: 'REST hook: subscribe.',
  ...writeRoute,
  request: { headers: OptionalIdempotencyHeader, query: z.object(ModeQuery), ...jsonBody(SubscribeRequest) },
  responses: {
    ...created(HookBody.extend({ secret: z.string() }).openapi('AutomationHookWithSecret')),
    ...merchantWriteErrors('plan_limit_reached'),
  },
});
const unsubscribe = createRoute({
  method: 'delete',
  path: '/integrations/automation/hooks/{endpoint_id}',
  operationId: 'unsubscribeHook',
  tags,
  summary: 'Unsubscribe a REST hook',
  description: 'REST hook: unsubscribe.',
  ...writeRoute,
  request: { headers: OptionalIdempotencyHeader, params: idParam('endpoint_id', idOf<EndpointId>()), query: z.object(ModeQuery) },
  responses: { ...ok(HookBody), ...merchantWriteErrors('not_found', 'state_conflict') },
});

/** Two spellings, one meaning: automation platforms do not agree on theirs. Complaints name the one that was used. */
function oneOf<K extends string>(body: Partial<Record<K, string>>, a: K, b: K): { field: K; value: string } {
  const [field, other] = body[a] === undefined && body[b] !== undefined ? [b, a] : [a, b];
  const value = body[field] ?? refuse(field, 'Required', 'missing');
  if (body[other] !== undefined && body[other] !== value) refuse(field, `Differs from ${other}`, 'conflict');
  return { field, value };
}

const refuse = (field: string, msg: string, type: string): never =>
  raise('validation_error', { problems: [{ loc: ['body', field], msg, type }] });

export const toHookResource = (endpoint: Endpoint) => ({ ...toEndpointResource(endpoint), id: endpoint.id });

export const integrationRoutes = router()
  .openapi(health, async (c) => {
    const { scope: ctx } = c.var;
    const { enabled, disabled, ...found } = await loadIntegrationHealth(ctx, ctx.wallNow - DAY);
    const lastAt = enabled.reduce<number | null>((last, { lastSuccessAt: at }) => (at !== null && at > (last ?? 0) ? at : last), null);
    const failing = enabled.filter(({ failureStreak }) => failureStreak > 0).length;
    return c.json(
      {
        status: failing > 0 ? ('degraded' as const) : ('ok' as const),
        endpoints: { enabled: enabled.length, disabled, failing },
        ...given('last_delivery_at', isoOrNull(lastAt)),
        ...given('success_rate_24h', found.ended === 0 ? null : found.succeeded / found.ended),
        ...given(
          'oldest_pending_seconds',
          found.oldestAt === null ? null : Math.max(0, Math.floor((ctx.wallNow - found.oldestAt) / SECOND)),
        ),
        hooks: enabled.filter(({ kind }) => kind === 'automation').length,
      },
      200,
    );
  })
  .openapi(events, async (c) => {
    const { scope: ctx } = c.var;
    const { event_type: eventType, after, limit, per_page: perPage, page: number } = c.req.valid('query');
    if (limit !== undefined && perPage !== undefined) {
      throw new ApiError('validation_error', {
        problems: [{ loc: ['query', 'limit'], msg: 'limit and per_page are the same; give one', type: 'conflict' }],
      });
    }
    const size = { page: number, per_page: limit ?? perPage ?? PER_PAGE.default };
    const page = pageRequest(size, eventType === undefined ? undefined : COUNTED_FILTERED_MAX);
    return c.json(toPage(page, await listEvents(ctx, { eventType, after }, page), toEventResource), 200);
  })
  .openapi(subscribe, async (c) => {
    const body = c.req.valid('json');
    const target = oneOf(body, 'target_url', 'hookUrl');
    const type = oneOf(body, 'event_type', 'event');
    if (!isTypePattern(type.value)) refuse(type.field, 'Not an event type. GET /v1/webhooks/event-types lists them', 'unknown_event_type');
    const wanted = { url: target.value, event_types: [type.value], product_ids: body.product_ids };
    const input = { ...wanted, kind: 'automation' as const, urlField: target.field };
    const answer = await answerOnce<EndpointWithSecret>(
      c,
      (storeAnswer) => createEndpoint(c.var.scope, c.var.actor, input, storeAnswer),
      ({ endpoint, rawSecret }) => ({ status: 201, body: { ...toHookResource(endpoint), secret: rawSecret } }),
      { isSecret: true },
    );
    return sendStored(c, answer);
  })
  .openapi(unsubscribe, async (c) => {
    const { actor, scope: ctx } = c.var;
    const endpointId = c.req.valid('param').endpoint_id;
    const { kind } = await getEndpoint(ctx, endpointId);
    if (kind !== 'automation') throw new ApiError('not_found');
    const run = (storeAnswer: StoreAnswer<Endpoint>) => disableEndpoint(ctx, actor, endpointId, storeAnswer);
    return sendStored(c, await answerOnce(c, run, (endpoint) => ({ status: 200, body: toHookResource(endpoint) })));
  });
