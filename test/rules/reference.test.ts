import { describe, expect, it } from 'vitest';
import { openApi } from '../support/clients/call.ts';

interface Node {
  description?: string;
  properties?: Record<string, Node>;
  items?: Node;
  anyOf?: Node[];
  oneOf?: Node[];
  allOf?: Node[];
  additionalProperties?: Node;
}
interface Described {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  parameters?: (Node & { name: string })[];
}

/** The fields below a schema that nothing is said of. */
function silent(node: Node, place: string): string[] {
  const inner = [node.items, node.additionalProperties, ...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])];
  return [
    ...Object.entries(node.properties ?? {}).flatMap(([name, field]) => [
      ...(field.description ? [] : [`${place}.${name}`]),
      ...silent(field, `${place}.${name}`),
    ]),
    ...inner.flatMap((one) => (typeof one === 'object' ? silent(one, place) : [])),
  ];
}

const document = openApi as unknown as {
  tags: { name: string; description: string }[];
  'x-tagGroups': { name: string; tags: string[] }[];
  webhooks: Record<string, Record<string, Described>>;
};
const operations = [...Object.values(openApi.paths), ...Object.values(document.webhooks)].flatMap((methods) =>
  Object.values(methods as unknown as Record<string, Described>),
);

describe('the reference', () => {
  it('says of every field of every schema what it is', () => {
    const schemas = Object.entries(openApi.components.schemas as Record<string, Node>);
    expect(schemas.length).toBeGreaterThan(100);
    expect(schemas.flatMap(([name, schema]) => silent(schema, name))).toEqual([]);
    const bodies = operations.flatMap((operation) => {
      const { requestBody, responses, operationId } = operation as unknown as {
        operationId: string;
        requestBody?: { content: Record<string, { schema: Node }> };
        responses: Record<string, { content?: Record<string, { schema: Node }> }>;
      };
      return [requestBody, ...Object.values(responses)].flatMap((body) =>
        Object.values(body?.content ?? {}).flatMap(({ schema }) => silent(schema, operationId)),
      );
    });
    expect(bodies).toEqual([]);
  });

  it('says of every parameter what it is, and of every operation what it does, under a name as short as a menu’s', () => {
    expect(
      operations.flatMap(({ operationId, parameters = [] }) =>
        parameters.filter(({ description }) => !description).map(({ name }) => `${operationId} ${name}`),
      ),
    ).toEqual([]);
    expect(operations.filter(({ description }) => !description).map(({ operationId }) => operationId)).toEqual([]);
    expect(operations.filter(({ summary }) => summary.length > 32 || /[.?,;:]$/.test(summary)).map(({ summary }) => summary)).toEqual([]);
  });

  it('puts every operation under one tag, every tag into one group, and says of each tag what it is for', () => {
    const used = [...new Set(operations.flatMap(({ tags }) => tags))].toSorted();
    expect(operations.filter(({ tags }) => tags.length !== 1)).toEqual([]);
    expect(document.tags.map(({ name }) => name).toSorted()).toEqual(used);
    expect(document.tags.filter(({ description }) => !description)).toEqual([]);
    expect(document['x-tagGroups'].flatMap(({ tags }) => tags).toSorted()).toEqual(used);
    expect(document['x-tagGroups'][0]!.tags[0]).toBe('Authentication');
  });
});
