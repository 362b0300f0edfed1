import { expect, it } from 'vitest';
import { EVENT_TYPES } from '#rules/events.ts';
import { openApi, validate } from '../../support/clients/call.ts';
import { type Merchant, World } from '../../support/world.ts';

interface EventType {
  type: string;
  description: string;
  schema: object;
  example: { type: string; subject: { id: string; version: number }; data: { object: Record<string, unknown> } };
}
const w = new World();
const readTypes = async (m: Merchant): Promise<EventType[]> => (await w.call('GET', '/v1/webhooks/event-types', { key: m.key })).body;

it('GET /v1/webhooks/event-types publishes every type with a schema and a valid example', async () => {
  const types = await readTypes(await w.merchant());
  expect(types.map(({ type }) => type)).toEqual([...EVENT_TYPES]);
  for (const { type, description, schema, example } of types) {
    expect([description.length > 10, validate(schema, example)], type).toEqual([true, []]);
    expect(validate(schema, { ...example, type: 'payment.exploded' }), type).not.toEqual([]);
    expect(validate(schema, { ...example, data: { object: {} } }), type).not.toEqual([]);
    const { subject, data } = example;
    expect(Object.values(data.object), type).toContain(subject.id);
    if ('version' in data.object) expect(subject.version, type).toBe(data.object.version);
  }
});

it('the OpenAPI document lists every event type as a webhook with the same example', async () => {
  const types = await readTypes(await w.merchant());
  const { webhooks } = openApi as unknown as {
    webhooks: Record<string, { post: { requestBody: { content: Record<string, { schema: object; example: unknown }> } } }>;
  };
  expect(Object.keys(webhooks).sort()).toEqual([...EVENT_TYPES].sort());
  for (const { type, example } of types) {
    const content = webhooks[type]!.post.requestBody.content['application/json']!;
    expect(content.example, type).toEqual(example);
    expect(validate(content.schema, example), type).toEqual([]);
  }
});
