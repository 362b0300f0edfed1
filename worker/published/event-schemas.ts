import { etag } from 'hono/etag';
import { raise } from '#core/errors.ts';
import { Memory } from '#core/isolate/memory.ts';
import { router } from '#platform/http/openapi.ts';
import { EVENT_TYPES, type EventType } from '#rules/events.ts';
import { EVENT_CATALOG, exampleOf, pascalOf } from './event-catalog.ts';

interface Schema {
  properties: Record<string, object>;
  required?: string[];
  allOf?: Schema[];
}
export interface Document {
  components?: { schemas?: object };
}

const COMPONENT = /"#\/components\/schemas\/(\w+)"/g;

/** Drops that a request body allows no other fields, because an event may have new ones. */
const openObjects = (key: string, value: unknown): unknown => (key === 'additionalProperties' && value === false ? undefined : value);

/** Components that a text refers to, with those that they refer to, as JSON text. */
function definitionsOf(text: string, components: Record<string, object>, found: Record<string, string> = {}): Record<string, string> {
  for (const [, name] of text.matchAll(COMPONENT)) {
    if (found[name!] !== undefined) continue;
    found[name!] = JSON.stringify(components[name!], openObjects);
    definitionsOf(found[name!]!, components, found);
  }
  return found;
}

const schemaUrl = (baseUrl: string, type: EventType): string => `${baseUrl}/schemas/events/${type}.json`;

/**
 * Writes the self-contained JSON Schema (2020-12) of an event: the component of the document with what it refers to in `$defs`. Unknown fields are
 * allowed, so that new ones break no receiver.
 */
function writeSchema({ components }: Document, baseUrl: string, type: EventType): string {
  const schemas = components!.schemas as Record<string, Schema>;
  const [base, own] = [schemas.Event!, schemas[`${pascalOf(type)}Event`]!.allOf![1]!];
  const { description } = EVENT_CATALOG[type];
  const properties = { ...base.properties, ...own.properties, type: { const: type } };
  const envelope = JSON.stringify({ type: 'object', properties, required: base.required });
  const definitions = Object.entries(definitionsOf(envelope, schemas)).map(([name, text]) => `"${name}":${text}`);
  const head = { $schema: 'https://json-schema.org/draft/2020-12/schema', $id: schemaUrl(baseUrl, type), title: type, description };
  const parts = [head, JSON.parse(envelope), { $defs: JSON.parse(`{${definitions.join()}}`) }, { examples: [exampleOf(type)] }];
  return JSON.stringify(Object.assign({}, ...parts)).replace(COMPONENT, '"#/$$defs/$1"');
}

const TYPES_REMEMBERED = 2 * EVENT_TYPES.length;
const written = new Memory<string, string>(TYPES_REMEMBERED);

/** JSON Schema of an event, as text. */
export function eventSchema(document: Document, baseUrl: string, type: EventType): string {
  const url = schemaUrl(baseUrl, type);
  const text = written.get(url) ?? writeSchema(document, baseUrl, type);
  written.set(url, text);
  return text;
}

const PUBLIC_CACHE = { 'Cache-Control': 'public, max-age=3600' };

/** `/schemas`: the events for programs that have no account here. `document`: the published one. */
export function eventSchemaRoutes(document: () => Document) {
  const app = router();
  app.use('/schemas/*', etag());
  app.get('/schemas/events.json', (c) => {
    const { baseUrl } = c.var.ctx;
    const items = EVENT_TYPES.map((type) => {
      return { type, description: EVENT_CATALOG[type].description, schema_url: schemaUrl(baseUrl, type) };
    });
    return c.json({ items }, 200, PUBLIC_CACHE);
  });
  app.get('/schemas/events/:file{.+\\.json}', (c) => {
    const name = c.req.param('file').slice(0, -'.json'.length);
    const type = EVENT_TYPES.find((one) => one === name) ?? raise('not_found');
    const headers = { ...PUBLIC_CACHE, 'Content-Type': 'application/schema+json' };
    return c.body(eventSchema(document(), c.var.ctx.baseUrl, type), 200, headers);
  });
  return app;
}
