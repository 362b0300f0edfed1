import { describe, expect, it } from 'vitest';
import { openApi } from '../support/clients/call.ts';

interface Node {
  $ref?: string;
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

/** A field may be described by the schema that it refers to. */
const isDescribed = ({ description, $ref }: Node): boolean =>
  description !== undefined || ($ref !== undefined && schemas[$ref.slice($ref.lastIndexOf('/') + 1)]?.description !== undefined);

function silent(node: Node, path: string): string[] {
  const inner = [node.items, node.additionalProperties, ...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])];
  return [
    ...Object.entries(node.properties ?? {}).flatMap(([name, field]) => [
      ...(isDescribed(field) ? [] : [`${path}.${name}`]),
      ...silent(field, `${path}.${name}`),
    ]),
    ...inner.flatMap((one) => (typeof one === 'object' ? silent(one, path) : [])),
  ];
}

const document = openApi as unknown as {
  tags: { name: string; description: string }[];
  'x-tagGroups': { name: string; tags: string[] }[];
  webhooks: Record<string, Record<string, Described>>;
};
const schemas = openApi.components.schemas as Record<string, Node>;
const operations = [...Object.values(openApi.paths), ...Object.values(document.webhooks)].flatMap((methods) =>
  Object.values(methods as unknown as Record<string, Described>),
);

describe('API reference', () => {
  it('every field of every schema has a description', () => {
    expect(Object.keys(schemas).length).toBeGreaterThan(100);
    expect(Object.entries(schemas).flatMap(([name, schema]) => silent(schema, name))).toEqual([]);
    const bodies = operations.flatMap((operation) => {
      const { requestBody, responses, operationId } = operation as unknown as {
        operationId: string;
        requestBody?: { content: Record<string, { schema: Node }> };
        responses: Record<string, { content?: Record<string, { schema: Node }> }>;
      };
      // A response of an error narrows the code of a described component.
      const successes = Object.entries(responses).flatMap(([status, response]) => (status < '400' ? [response] : []));
      return [requestBody, ...successes].flatMap((body) =>
        Object.values(body?.content ?? {}).flatMap(({ schema }) => silent(schema, operationId)),
      );
    });
    expect(bodies).toEqual([]);
  });

  it('every parameter and operation has a description, and every summary has at most 32 characters', () => {
    expect(
      operations.flatMap(({ operationId, parameters = [] }) =>
        parameters.filter(({ description }) => !description).map(({ name }) => `${operationId} ${name}`),
      ),
    ).toEqual([]);
    expect(operations.filter(({ description }) => !description).map(({ operationId }) => operationId)).toEqual([]);
    expect(operations.filter(({ summary }) => summary.length > 32 || /[.?,;:]$/.test(summary)).map(({ summary }) => summary)).toEqual([]);
  });

  it('every operation has one tag, every tag has a description and one group', () => {
    const used = [...new Set(operations.flatMap(({ tags }) => tags))].toSorted();
    expect(operations.filter(({ tags }) => tags.length !== 1)).toEqual([]);
    expect(document.tags.map(({ name }) => name).toSorted()).toEqual(used);
    expect(document.tags.filter(({ description }) => !description)).toEqual([]);
    expect(document['x-tagGroups'].flatMap(({ tags }) => tags).toSorted()).toEqual(used);
    expect(document['x-tagGroups'][0]!.tags[0]).toBe('Authentication');
  });
});
