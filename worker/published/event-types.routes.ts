import { type OpenAPIHono, z } from '@hono/zod-openapi';
import type { AppEnv } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { EVENT_TYPES } from '#rules/events.ts';
import { EVENT_CATALOG, envelopeOf, eventTypes, pascalOf } from './event-catalog.ts';

const EventType = z
  .object({
    type: z.enum(EVENT_TYPES).describe('Type of the event.'),
    description: z.string().describe('Description of the event type.'),
    schema: z.record(z.string(), z.unknown()).describe('JSON Schema of the event.'),
    example: z.record(z.string(), z.unknown()).describe('Example of an event of this type.'),
  })
  .openapi('EventTypeInfo');

/** Built once per isolate, because the schemas are expensive and never change. */
let catalog: ReturnType<typeof eventTypes> | null = null;
export const eventTypeRoutes = routes('Webhooks').public({
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

/** Every event as a component, `SvcEvent` as one of them, and what an endpoint receives. */
export function registerEvents({ openAPIRegistry: registry }: OpenAPIHono<AppEnv>): void {
  const envelopes = EVENT_TYPES.map((type) => envelopeOf(type).openapi(`${pascalOf(type)}Event`));
  registry.register('SvcEvent', z.discriminatedUnion('type', envelopes as [(typeof envelopes)[0]]));
  EVENT_TYPES.forEach((type, n) => {
    registry.registerWebhook({
      method: 'post',
      path: type,
      operationId: `on${pascalOf(type)}`,
      summary: type,
      description: EVENT_CATALOG[type].description,
      tags: ['Events'],
      request: { body: { content: { 'application/json': { schema: envelopes[n]! } } } },
      responses: { 200: { description: 'Received. Any 2xx counts. Process each `id` once.' } },
    });
  });
}

/** Event lists hold the events that endpoints receive. Mutates and returns the document. */
export function withTypedEvents<D extends { components?: { schemas?: object } }>(document: D): D {
  const { EventPage } = document.components!.schemas as { EventPage: { properties: { items: { items: object } } } };
  EventPage.properties.items.items = { $ref: '#/components/schemas/SvcEvent' };
  return document;
}
