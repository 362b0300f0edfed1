import { type OpenAPIHono, z } from '@hono/zod-openapi';
import type { AppEnv } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { EVENT_TYPES } from '#rules/events.ts';
import { EVENT_CATALOG, envelopeOf, exampleOf, pascalOf } from './event-catalog.ts';
import { type Document, eventSchema } from './event-schemas.ts';

const EventType = z
  .object({
    type: z.enum(EVENT_TYPES),
    description: z.string(),
    schema: z.record(z.string(), z.unknown()),
    example: z.record(z.string(), z.unknown()),
  })
  .openapi('EventTypeInfo');

/** Takes the published document, because its components are the schemas. */
export const eventTypeRoutes = (document: () => Document) =>
  routes('Webhooks').public({
    path: 'GET /webhooks/event-types',
    id: 'listEventTypes',
    sdk: 'events.listTypes',
    summary: 'List event types',
    description: 'Lists all event types, each with its JSON Schema and an example.',
    returns: z.array(EventType),
    answer: ({ ctx }) =>
      EVENT_TYPES.map((type) => ({
        type,
        description: EVENT_CATALOG[type].description,
        schema: JSON.parse(eventSchema(document(), ctx.baseUrl, type)) as Record<string, unknown>,
        example: exampleOf(type) as Record<string, unknown>,
      })),
  });

/** Every event as a component, `SvcEvent` as one of them, and what an endpoint receives. */
export function registerEvents({ openAPIRegistry: registry }: OpenAPIHono<AppEnv>): void {
  const envelopes = EVENT_TYPES.map((type) => envelopeOf(type).openapi(`${pascalOf(type)}Event`));
  registry.register('SvcEvent', z.discriminatedUnion('type', envelopes as [(typeof envelopes)[0]]));
  const received = registry.registerComponent('responses', 'EventReceived', {
    description: 'Received. Any 2xx counts. Process each `id` once.',
  });
  EVENT_TYPES.forEach((type, n) => {
    registry.registerWebhook({
      method: 'post',
      path: type,
      operationId: `on${pascalOf(type)}`,
      summary: type,
      description: EVENT_CATALOG[type].description,
      tags: ['Events'],
      request: { body: { content: { 'application/json': { schema: envelopes[n]! } } } },
      responses: { 200: received.ref },
    });
  });
}

/** Event lists hold the events that endpoints receive. Mutates and returns the document. */
export function withTypedEvents<D extends { components?: { schemas?: object } }>(document: D): D {
  const { EventPage } = document.components!.schemas as { EventPage: { properties: { items: { items: object } } } };
  EventPage.properties.items.items = { $ref: '#/components/schemas/SvcEvent' };
  return document;
}
