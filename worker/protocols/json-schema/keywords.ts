/**
 * Positions of subschemas in a JSON Schema 2020-12. Pure.
 * @module
 */

export type JsonObject = Record<string, unknown>;
export type JsonSchema = JsonObject | boolean;

export const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

const ONE_SCHEMA = [
  'additionalProperties',
  'propertyNames',
  'unevaluatedProperties',
  'items',
  'contains',
  'unevaluatedItems',
  'not',
  'if',
  'then',
  'else',
  'contentSchema',
];
const SCHEMA_LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const SCHEMA_MAPS = ['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'];

/** Keywords that apply to the value itself and not to a part of it. */
export const APPLICATORS = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas'];

export type Shape = 'one' | 'list' | 'map';
export const SUBSCHEMAS: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  ...ONE_SCHEMA.map((keyword) => [keyword, 'one'] as const),
  ...SCHEMA_LISTS.map((keyword) => [keyword, 'list'] as const),
  ...SCHEMA_MAPS.map((keyword) => [keyword, 'map'] as const),
]);

export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);
export const isSchema = (value: unknown): value is JsonSchema => typeof value === 'boolean' || isObject(value);

/** Direct subschemas with the path to each. Skips values that are no schemas. */
export function subschemasOf(schema: JsonObject): { path: string[]; schema: JsonSchema }[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const shape = SUBSCHEMAS.get(keyword);
    if (shape === 'one') return isSchema(value) ? [{ path: [keyword], schema: value }] : [];
    const isGroup = shape === 'list' ? Array.isArray(value) : shape === 'map' && isObject(value);
    if (!isGroup) return [];
    return Object.entries(value as JsonObject).flatMap(([name, part]) => (isSchema(part) ? [{ path: [keyword, name], schema: part }] : []));
  });
}

/** Copies a schema with each direct subschema replaced. */
export function mapSubschemas(schema: JsonObject, change: (part: JsonSchema) => JsonSchema): JsonObject {
  const changed = (part: unknown) => (isSchema(part) ? change(part) : part);
  const entries = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    const shape = SUBSCHEMAS.get(keyword);
    if (shape === 'one') return [keyword, changed(value)];
    if (shape === 'list' && Array.isArray(value)) return [keyword, value.map(changed)];
    if (shape !== 'map' || !isObject(value)) return [keyword, value];
    return [keyword, Object.fromEntries(Object.entries(value).map(([name, part]) => [name, changed(part)]))];
  });
  return Object.fromEntries(entries);
}

/** Tokens of a JSON Pointer in a fragment (`#/a/b`). Null if the reference is anything else. */
export function pointerTokens(ref: string): string[] | null {
  if (ref === '#') return [];
  if (!ref.startsWith('#/')) return null;
  try {
    const tokens = decodeURIComponent(ref.slice(2)).split('/');
    return tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
  } catch {
    return null;
  }
}

/** Inverse of `pointerTokens`. A fragment may contain `$`, and some readers do not decode. */
export const toPointer = (tokens: readonly string[]): string => ['#', ...tokens.map(toToken)].join('/');

const toToken = (text: string): string => encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1')).replaceAll('%24', '$');

/** Embeds a schema at a position of a document. References are relative to the document. */
export function embedSchema(schema: JsonSchema, position: readonly string[]): JsonSchema {
  if (!isObject(schema)) return schema;
  const { $id: _, ...rest } = mapSubschemas(schema, (part) => embedSchema(part, position));
  const tokens = typeof rest.$ref === 'string' ? pointerTokens(rest.$ref) : null;
  return tokens ? { ...rest, $ref: toPointer([...position, ...tokens]) } : rest;
}
