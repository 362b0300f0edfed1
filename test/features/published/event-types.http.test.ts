import { Validator } from '@cfworker/json-schema';
import { expect, it } from 'vitest';
import { EVENT_TYPES } from '#rules/events.ts';
import { publishedDocument, validate } from '../../support/clients/call.ts';
import { World } from '../../support/world.ts';

interface EventType {
  type: string;
  description: string;
  schema: object;
  example: { type: string; subject: { id: string; version: number }; data: { object: Record<string, unknown> } };
}
const w = new World();
const readTypes = async (): Promise<EventType[]> => (await w.call('GET', '/v1/webhooks/event-types')).body;

it('GET /v1/webhooks/event-types gives anyone every type with a schema and a valid example', async () => {
  const types = await readTypes();
  expect(types.map(({ type }) => type)).toEqual([...EVENT_TYPES]);
  for (const { type, description, schema, example } of types) {
    const accepts = (value: object) => new Validator(schema, '2020-12', false).validate(value).valid;
    expect([type, description.length > 10, accepts(example)]).toEqual([type, true, true]);
    const wrong = [
      { ...example, type: 'payment.exploded' },
      { ...example, data: { object: {} } },
    ];
    expect([type, ...wrong.map(accepts)]).toEqual([type, false, false]);
    const { subject, data } = example;
    expect(Object.values(data.object), type).toContain(subject.id);
    if ('version' in data.object) expect(subject.version, type).toBe(data.object.version);
  }
});

it('each webhook of the document receives a component that accepts its example, and SvcEvent is one of all', async () => {
  const { webhooks, components } = publishedDocument as unknown as {
    webhooks: Record<string, { post: { operationId: string; requestBody: { content: Record<string, { schema: { $ref: string } }> } } }>;
    components: { schemas: Record<string, { oneOf?: { $ref: string }[]; discriminator?: { mapping: object } }> };
  };
  expect(Object.keys(webhooks).sort()).toEqual([...EVENT_TYPES].sort());
  const refs: Record<string, string> = {};
  for (const { type, example } of await readTypes()) {
    const { operationId, requestBody } = webhooks[type]!.post;
    const { schema } = requestBody.content['application/json']!;
    expect(schema.$ref).toBe(`#/components/schemas/${operationId.replace(/^on/, '')}Event`);
    expect(validate(schema, example), type).toEqual([]);
    refs[type] = schema.$ref;
  }
  expect(components.schemas.SvcEvent!.oneOf!.map(({ $ref }) => $ref)).toEqual(Object.values(refs));
  expect(components.schemas.SvcEvent!.discriminator!.mapping).toEqual(refs);
});

it('/schemas/events.json lists every type, and each schema is self-contained and accepts its example and unknown fields', async () => {
  const { body, headers } = await w.call('GET', '/schemas/events.json', { headers: { Origin: 'https://shop.example.com' } });
  expect([headers.get('Access-Control-Allow-Origin'), headers.get('Cache-Control')]).toEqual(['*', 'public, max-age=3600']);
  const items = body.items as { type: string; description: string; schema_url: string }[];
  expect(items.map(({ type }) => type)).toEqual([...EVENT_TYPES]);
  for (const { type, description, schema_url } of items) {
    const { pathname } = new URL(schema_url);
    const answer = await w.call('GET', pathname);
    expect([pathname, answer.headers.get('Content-Type')]).toEqual([`/schemas/events/${type}.json`, 'application/schema+json']);
    const schema = answer.body;
    expect([schema.$schema, schema.$id, schema.title, schema.description, schema.properties.type.const]).toEqual([
      'https://json-schema.org/draft/2020-12/schema',
      schema_url,
      type,
      description,
      type,
    ]);
    expect(JSON.stringify(schema)).not.toMatch(/#\/components|"additionalProperties":false/);
    expect(schema.examples).toHaveLength(1);
    const [example] = schema.examples;
    const accepts = (value: object) => new Validator(schema, '2020-12', false).validate(value).valid;
    const later = { ...example, later: 1, data: { ...example.data, object: { ...example.data.object, later: 1 } } };
    expect([type, accepts(example), accepts(later)]).toEqual([type, true, true]);
    const wrong = [
      { ...example, livemode: 'yes' },
      { ...example, data: { object: {} } },
      { ...example, type: 'payment.exploded' },
    ];
    expect([type, ...wrong.map(accepts)]).toEqual([type, false, false, false]);
  }
});

it('a schema is sent once per ETag, and an unknown type is 404', async () => {
  for (const path of ['/schemas/events.json', '/schemas/events/payment.confirmed.json', '/v1/openapi.json']) {
    const etag = (await w.call('GET', path)).headers.get('ETag')!;
    const again = await w.call('GET', path, { headers: { 'If-None-Match': etag } });
    expect([path, again.status, again.body]).toEqual([path, 304, null]);
  }
  const { status, body } = await w.call('GET', '/schemas/events/payment.exploded.json');
  expect([status, body.code]).toEqual([404, 'not_found']);
});
