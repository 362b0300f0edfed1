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

const FILLERS = new Set('a an the of in to for by with that this its and or is are at on as has'.split(' '));
const stemsIn = (text: string): string[] =>
  (
    text
      .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .match(/[a-z]+/g) ?? []
  ).map((word) => word.replace(/(ed|s|ing|e|d|er|ion)$/, ''));
const FILLER_STEMS = new Set([...FILLERS].flatMap(stemsIn));

/** Fields described by no other words than those of their names. */
function repeated(node: Node, path: string): string[] {
  const inner = [node.items, node.additionalProperties, ...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])];
  return [
    ...Object.entries(node.properties ?? {}).flatMap(([name, field]) => {
      const known = new Set(stemsIn(`${path}.${name}`));
      const words = stemsIn(field.description ?? '').filter((word) => !FILLER_STEMS.has(word));
      const repeats = field.description !== undefined && words.every((word) => known.has(word));
      return [...(repeats ? [`${path}.${name}: ${field.description}`] : []), ...repeated(field, `${path}.${name}`)];
    }),
    ...inner.flatMap((one) => (typeof one === 'object' ? repeated(one, path) : [])),
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
  it('the description of a field says more than its name', () => {
    expect(Object.keys(schemas).length).toBeGreaterThan(100);
    expect(Object.entries(schemas).flatMap(([name, schema]) => repeated(schema, name))).toEqual([]);
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
