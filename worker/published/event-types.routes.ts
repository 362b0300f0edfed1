import { type OpenAPIHono, z } from '@hono/zod-openapi';
import type { AppEnv } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { EVENT_TYPES } from '#rules/events.ts';
import { EVENT_CATALOG, envelopeOf, eventTypes, exampleOf } from './event-catalog.ts';

const EventType = z
  .object({
    type: z.enum(EVENT_TYPES).describe('Type of the event.'),
    description: z.string().describe('Description of the event type.'),
    schema: z.record(z.string(), z.unknown()).describe('JSON Schema of the event.'),
    example: z.record(z.string(), z.unknown()).describe('Example of an event of this type.'),
  })
  .openapi('EventType');

/** Built once per isolate, because the schemas are expensive and never change. */
let catalog: ReturnType<typeof eventTypes> | null = null;
export const eventTypeRoutes = routes('Webhooks').read({
  path: 'GET /webhooks/event-types',
  id: 'listEventTypes',
  sdk: 'events.listTypes',
  summary: 'List event types',
  description: 'Lists all event types, each with its JSON Schema and an example.',
  returns: z.array(EventType),
  answer: () => {
    catalog ??= eventTypes();
    return catalog;
  },
});

export function registerEvents(app: OpenAPIHono<AppEnv>): void {
  for (const type of EVENT_TYPES) {
    app.openAPIRegistry.registerWebhook({
      method: 'post',
      path: type,
      summary: EVENT_CATALOG[type].description,
      tags: ['Events'],
      request: { body: { content: { 'application/json': { schema: envelopeOf(type), example: exampleOf(type) } } } },
      responses: { 200: { description: 'Received. Any 2xx counts. Process each `id` once.' } },
    });
  }
}
