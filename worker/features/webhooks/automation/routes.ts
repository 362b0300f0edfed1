import { z } from '@hono/zod-openapi';
import { ApiError, raise } from '#core/errors.ts';
import { COUNTED_FILTERED_MAX, PER_PAGE } from '#core/limits.ts';
import { DAY, isoOrNull, SECOND } from '#core/time.ts';
import { pageRequest } from '#platform/db/page.ts';
import type { Endpoint } from '#platform/db/tables/webhooks.ts';
import { created, given, PageQuery, positiveInteger, Timestamp } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { isTypePattern } from '#rules/events.ts';
import { loadIntegrationHealth } from '../deliveries/breaker.store.ts';
import { createEndpoint, disableEndpoint, recordedEndpoint } from '../endpoints/endpoint.ts';
import { listEvents } from '../events.store.ts';
import { CreateEndpointRequest, EndpointBody, EventPage, EventQuery, toEndpointResource, toEventPage } from '../resource.ts';
import { getEndpoint } from '../store.ts';

export const HookBody = EndpointBody.extend({
  id: z.uuid().describe('Same as `endpoint_id`, for automation platforms that expect `id`.'),
}).openapi('AutomationHook');
const url = z.string().max(2048);
const SubscribeRequest = z
  .object({
    target_url: url.optional().describe('URL that receives the events.'),
    hookUrl: url.optional().describe('Alias of `target_url`, as some automation platforms send it.'),
    event_type: z.string().max(80).optional().describe('Type of the event, such as `payment.confirmed`.'),
    event: z.string().max(80).optional().describe('Alias of `event_type`, as some automation platforms send it.'),
    product_ids: CreateEndpointRequest.shape.product_ids.describe('Products to send events of; empty: all products.'),
  })
  .openapi('SubscribeHookRequest', { example: { target_url: 'https://hooks.example.com/abc', event_type: 'payment.confirmed' } });

/** Accepts either spelling of a field, because automation platforms differ. Errors name the spelling that the request used. */
function oneOf<K extends string>(body: Partial<Record<K, string>>, a: K, b: K): { field: K; value: string } {
  const [field, other] = body[a] === undefined && body[b] !== undefined ? [b, a] : [a, b];
  const value = body[field] ?? refuse(field, 'Required', 'missing');
  if (body[other] !== undefined && body[other] !== value) refuse(field, `Differs from ${other}`, 'conflict');
  return { field, value };
}

const refuse = (field: string, msg: string, type: string): never =>
  raise('validation_error', { problems: [{ loc: ['body', field], msg, type }] });

export const toHookResource = (endpoint: Endpoint) => ({ ...toEndpointResource(endpoint), id: endpoint.id });

export const integrationRoutes = routes('Integrations', 'webhooks')
  .read({
    path: 'GET /integrations/health',
    id: 'getIntegrationHealth',
    sdk: 'integrations.getHealth',
    summary: 'Get delivery health',
    description: 'Delivery health of your webhook endpoints.',
    returns: z
      .object({
        status: z.enum(['ok', 'degraded']),
        endpoints: z
          .object({
            enabled: z.int(),
            disabled: z.int(),
            failing: z.int(),
          })
          .describe('Webhook endpoints.'),
        last_delivery_at: Timestamp.optional(),
        success_rate_24h: z.number().optional().describe('Share of deliveries that succeeded within 24 hours. Absent if none ended.'),
        oldest_pending_seconds: z.int().optional().describe('Age of the oldest pending delivery in seconds. Absent if none is pending.'),
        hooks: z.int(),
      })
      .openapi('IntegrationHealth'),
    answer: async ({ scope }) => {
      const { enabled, disabled, ...found } = await loadIntegrationHealth(scope, scope.wallNow - DAY);
      const lastAt = enabled.reduce<number | null>((last, { lastSuccessAt: at }) => (at !== null && at > (last ?? 0) ? at : last), null);
      const failing = enabled.filter(({ failureStreak }) => failureStreak > 0).length;
      return {
        status: failing > 0 ? ('degraded' as const) : ('ok' as const),
        endpoints: { enabled: enabled.length, disabled, failing },
        ...given('last_delivery_at', isoOrNull(lastAt)),
        ...given('success_rate_24h', found.ended === 0 ? null : found.succeeded / found.ended),
        ...given(
          'oldest_pending_seconds',
          found.oldestAt === null ? null : Math.max(0, Math.floor((scope.wallNow - found.oldestAt) / SECOND)),
        ),
        hooks: enabled.filter(({ kind }) => kind === 'automation').length,
      };
    },
  })
  .read({
    path: 'GET /integrations/events',
    id: 'listIntegrationEvents',
    sdk: 'integrations.listEvents',
    summary: 'List events for integrations',
    description:
      'Lists the same events as `GET /v1/webhooks/events`, for platforms that send `limit`, an alias of `per_page`. Both together return 422.',
    query: {
      page: PageQuery.page.describe('Page number, from 1.'),
      per_page: positiveInteger(PER_PAGE.max)
        .optional()
        .openapi({ type: 'integer', minimum: 1, maximum: PER_PAGE.max, default: PER_PAGE.default })
        .describe('Number of entries per page.'),
      limit: positiveInteger(PER_PAGE.max)
        .optional()
        .openapi({ type: 'integer', minimum: 1, maximum: PER_PAGE.max })
        .describe('Maximum number of entries.'),
      ...EventQuery,
    },
    returns: EventPage,
    answer: async ({ scope, query: { event_type: eventType, after, limit, per_page: perPage, page: number } }) => {
      if (limit !== undefined && perPage !== undefined) {
        throw new ApiError('validation_error', {
          problems: [{ loc: ['query', 'limit'], msg: 'Expected limit or per_page, not both', type: 'conflict' }],
        });
      }
      const size = { page: number, per_page: limit ?? perPage ?? PER_PAGE.default };
      const page = pageRequest(size, eventType === undefined ? undefined : COUNTED_FILTERED_MAX);
      return toEventPage(page, await listEvents(scope, { eventType, after }, page));
    },
  })
  .write({
    path: 'POST /integrations/automation/hooks',
    id: 'subscribeHook',
    sdk: 'integrations.subscribeHook',
    summary: 'Subscribe a REST hook',
    description: 'Creates a REST hook of an automation platform.',
    body: SubscribeRequest,
    returns: created(
      HookBody.extend({ secret: z.string().describe('Signing secret. Shown only in this response.') }).openapi('AutomationHookWithSecret'),
    ),
    codes: ['plan_limit_reached'],
    check: ({ body }) => {
      const target = oneOf(body, 'target_url', 'hookUrl');
      const type = oneOf(body, 'event_type', 'event');
      if (!isTypePattern(type.value)) refuse(type.field, 'Expected an event type of GET /v1/webhooks/event-types', 'unknown_event_type');
      const wanted = { url: target.value, event_types: [type.value], product_ids: body.product_ids };
      return { ...wanted, kind: 'automation' as const, urlField: target.field };
    },
    once: ({ scope, actor, checked }, storeAnswer) => createEndpoint(scope, actor, checked, storeAnswer),
    audit: { action: 'endpoint.created', subject: 'endpoint', fields: ({ endpoint }) => recordedEndpoint(endpoint) },
    present: ({ endpoint, rawSecret }) => ({ ...toHookResource(endpoint), secret: rawSecret }),
    isSecret: true,
  })
  .write({
    path: 'DELETE /integrations/automation/hooks/{endpoint_id}',
    id: 'unsubscribeHook',
    sdk: 'integrations.unsubscribeHook',
    summary: 'Unsubscribe a REST hook',
    description: 'Removes a REST hook of an automation platform.',
    returns: HookBody,
    codes: ['not_found', 'state_conflict'],
    check: async ({ scope, params }) => {
      const { kind } = await getEndpoint(scope, params.endpoint_id);
      if (kind !== 'automation') throw new ApiError('not_found');
    },
    once: ({ scope, actor, params }, storeAnswer) => disableEndpoint(scope, actor, params.endpoint_id, storeAnswer),
    audit: { action: 'endpoint.disabled', subject: 'endpoint', fields: recordedEndpoint },
    present: toHookResource,
  });
