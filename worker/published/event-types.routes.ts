import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { merchantErrors, merchantRoute } from '#platform/http/callers.ts';
import { type AppEnv, ModeQuery, ok, router } from '#platform/http/openapi.ts';
import { EVENT_TYPES } from '#rules/events.ts';
import { EVENT_CATALOG, envelopeOf, eventTypes, exampleOf } from './event-catalog.ts';

const EventType = z
  .object({
    type: z.enum(EVENT_TYPES),
    description: z.string(),
    schema: z.record(z.string(), z.unknown()),
    example: z.record(z.string(), z.unknown()),
  })
  .openapi('EventType');
const route = createRoute({
  method: 'get',
  path: '/webhooks/event-types',
  operationId: 'listEventTypes',
  tags: ['Webhooks'],
  summary: 'List event types',
  description: 'Every event that can be emitted, with its JSON Schema and an example.',
  ...merchantRoute('read'),
  request: { query: z.object(ModeQuery) },
  responses: { ...ok(z.array(EventType)), ...merchantErrors() },
});

/** Built once per isolate: seventeen schemas are not free, and do not change. */
let catalog: ReturnType<typeof eventTypes> | null = null;
export const eventTypeRoutes = router().openapi(route, (c) => {
  catalog ??= eventTypes();
  return c.json(catalog, 200);
});

/** The `webhooks` section of the published document: what we send, not what we answer. */
export function registerEvents(app: OpenAPIHono<AppEnv>): void {
  for (const type of EVENT_TYPES) {
    app.openAPIRegistry.registerWebhook({
      method: 'post',
      path: type,
      summary: EVENT_CATALOG[type].description,
      tags: ['Events'],
      request: { body: { content: { 'application/json': { schema: envelopeOf(type), example: exampleOf(type) } } } },
      responses: { 200: { description: 'Received. Any 2xx counts; be idempotent on `id`.' } },
    });
  }
}
