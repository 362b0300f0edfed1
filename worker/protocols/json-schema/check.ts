/**
 * Structure of a JSON Schema 2020-12 that comes from outside. Accepts what every reader takes alike, so it refuses references to other
 * documents and keywords with several meanings. Pure.
 * @module
 */

import {
  APPLICATORS,
  DIALECT,
  isObject,
  isSchema,
  type JsonObject,
  type JsonSchema,
  pointerTokens,
  SUBSCHEMAS,
  subschemasOf,
} from './keywords.ts';
import { compilePattern } from './pattern.ts';

export interface Fault {
  path: string[];
  message: string;
}

export const SCHEMA_LEVELS_MAX = 8;
export const PATTERN_CHARS_MAX = 200;
/** A payment echoes a schema deep inside of it, and is refused beyond 32 levels. */
export const JSON_LEVELS_MAX = 20;

const TYPES = ['null', 'boolean', 'object', 'array', 'number', 'string', 'integer'];

const isText = (value: unknown): boolean => typeof value === 'string';
const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const isNumber = (value: unknown): boolean => typeof value === 'number';
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isNameList = (value: unknown): boolean => Array.isArray(value) && value.every(isText) && new Set(value).size === value.length;
const isType = (value: unknown): boolean => TYPES.includes(value as string);
const isPattern = (value: unknown): boolean =>
  typeof value === 'string' && [...value].length <= PATTERN_CHARS_MAX && compilePattern(value) !== null;

const PATTERN = `a regular expression of at most ${PATTERN_CHARS_MAX} characters without lookarounds and back references`;
const text = { is: isText, expected: 'a text' };
const flag = { is: isFlag, expected: 'true or false' };
const number = { is: isNumber, expected: 'a number' };
const count = { is: isCount, expected: 'a whole number of 0 or more' };
const names = { is: isNameList, expected: 'a list of different texts' };

const VALUES: Record<string, { is: (value: unknown) => boolean; expected: string }> = {
  $schema: { is: (value) => value === DIALECT, expected: DIALECT },
  $id: { is: (value) => value === '#', expected: '#' },
  $ref: { is: (value) => typeof value === 'string' && pointerTokens(value) !== null, expected: 'a JSON Pointer that begins with #' },
  $comment: text,
  title: text,
  description: text,
  format: text,
  contentEncoding: text,
  contentMediaType: text,
  deprecated: flag,
  readOnly: flag,
  writeOnly: flag,
  uniqueItems: flag,
  examples: { is: Array.isArray, expected: 'a list' },
  type: {
    is: (value) => isType(value) || (isNameList(value) && (value as unknown[]).length > 0 && (value as unknown[]).every(isType)),
    expected: TYPES.join(', '),
  },
  enum: { is: (value) => Array.isArray(value) && value.length > 0, expected: 'a list with a value' },
  multipleOf: { is: (value) => isNumber(value) && (value as number) > 0, expected: 'a number above 0' },
  maximum: number,
  exclusiveMaximum: number,
  minimum: number,
  exclusiveMinimum: number,
  maxLength: count,
  minLength: count,
  pattern: { is: isPattern, expected: PATTERN },
  maxItems: count,
  minItems: count,
  maxContains: count,
  minContains: count,
  maxProperties: count,
  minProperties: count,
  required: names,
  dependentRequired: { is: (value) => isObject(value) && Object.values(value).every(isNameList), expected: 'lists of different texts' },
};

/** Keywords that mean something. Readers may act on others, so a schema is evaluated without them. */
export const KEYWORDS: ReadonlySet<string> = new Set([...Object.keys(VALUES), ...SUBSCHEMAS.keys(), 'const']);

const REFUSED: Record<string, string> = {
  $dynamicRef: 'use $ref',
  $dynamicAnchor: 'use $ref with a JSON Pointer',
  $recursiveRef: 'use $ref',
  $recursiveAnchor: 'use $ref with a JSON Pointer',
  $anchor: 'use $ref with a JSON Pointer',
  $vocabulary: 'omit it',
  $async: 'omit it',
  id: 'omit it',
  nullable: 'add "null" to type',
  dependencies: 'use dependentRequired or dependentSchemas',
};

const SHAPES = {
  one: { is: isSchema, expected: 'a schema' },
  list: { is: (value: unknown) => Array.isArray(value) && value.length > 0 && value.every(isSchema), expected: 'a list of schemas' },
  map: { is: (value: unknown) => isObject(value) && Object.values(value).every(isSchema), expected: 'schemas by name' },
};

/** Returns every fault of a schema, which must be of type `object`. An empty list: it can be evaluated. */
export function checkSchema(schema: unknown, levelsMax = SCHEMA_LEVELS_MAX): Fault[] {
  if (!isObject(schema)) return [{ path: [], message: 'Expected a JSON Schema' }];
  const value = checkJson(schema);
  if (value.length > 0) return value;
  const faults = schema.type === 'object' ? [] : [{ path: ['type'], message: 'Expected object' }];
  faults.push(...checkReferenceKeys(schema));
  const known = new Map<string, JsonSchema>();
  collect(schema, [], 1);
  if (faults.length === 0) faults.push(...checkReferences(known));
  return [...new Map(faults.map((fault) => [JSON.stringify(fault.path), fault])).values()];

  function collect(part: JsonSchema, path: string[], level: number): void {
    known.set(JSON.stringify(path), part);
    if (!isObject(part)) return;
    if (level > levelsMax) {
      faults.push({ path, message: `Expected at most ${levelsMax} levels` });
      return;
    }
    faults.push(...checkKeywords(part).map((fault) => ({ ...fault, path: [...path, ...fault.path] })));
    for (const below of subschemasOf(part)) collect(below.schema, [...path, ...below.path], level + 1);
  }
}

/** Keywords that no value can break. */
const ANNOTATIONS = new Set(
  '$schema $id $comment $defs definitions title description default examples format deprecated readOnly writeOnly contentEncoding contentMediaType'.split(
    ' ',
  ),
);
/** True for a schema without conditions. The reference cannot evaluate its negation in every position. */
const allowsEverything = (schema: unknown): boolean =>
  schema === true || (isObject(schema) && Object.keys(schema).every((keyword) => ANNOTATIONS.has(keyword)));

const CHOICES = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else'];
const OF_PROPERTIES = ['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties', 'dependentSchemas', '$ref'];
/** True if another part may evaluate properties of the value. The reference cannot evaluate patternProperties then. */
const mayEvaluateProperties = (schema: JsonObject): boolean =>
  Object.hasOwn(schema, '$ref') ||
  subschemasOf(schema).some(({ path: [applicator], schema: below }) => {
    if (!isObject(below) || !CHOICES.includes(applicator!)) return false;
    return OF_PROPERTIES.some((keyword) => Object.hasOwn(below, keyword)) || mayEvaluateProperties(below);
  });

function checkKeywords(schema: JsonObject): Fault[] {
  return Object.entries(schema).flatMap(([keyword, value]): Fault[] => {
    const instead = Object.hasOwn(REFUSED, keyword) ? REFUSED[keyword] : undefined;
    if (instead !== undefined) return [{ path: [keyword], message: `Not supported: ${instead}` }];
    const shape = SUBSCHEMAS.get(keyword);
    const rule = shape ? SHAPES[shape] : Object.hasOwn(VALUES, keyword) ? VALUES[keyword] : undefined;
    if (rule && !rule.is(value)) return [{ path: [keyword], message: `Expected ${rule.expected}` }];
    if (keyword === 'not' && allowsEverything(value)) return [{ path: [keyword], message: 'Expected a schema that a value can break' }];
    if (keyword === 'if' && allowsEverything(schema.then ?? true) && allowsEverything(schema.else ?? true))
      return [{ path: [keyword], message: 'Expected then or else with a condition' }];
    if (keyword !== 'patternProperties') return [];
    if (mayEvaluateProperties(schema)) return [{ path: [keyword], message: 'Expected in a schema of allOf, apart from the others' }];
    const wrong = Object.keys(value as JsonObject).filter((pattern) => !isPattern(pattern));
    return wrong.map((pattern) => ({ path: [keyword, pattern], message: `Expected ${PATTERN}` }));
  });
}

/** Readers search all values for these keys, also where they are names of properties. */
export function checkReferenceKeys(value: unknown, path: string[] = []): Fault[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => {
    const isForeign = (key === '$ref' || key === '$id') && !(typeof part === 'string' && part.startsWith('#'));
    const at = [...path, key];
    return isForeign ? [{ path: at, message: 'Expected a reference that begins with #' }] : checkReferenceKeys(part, at);
  });
}

/** Each reference leads to a schema of this document, and none back to itself without entering a part of the value. */
function checkReferences(known: Map<string, JsonSchema>): Fault[] {
  const targetOf = (schema: JsonSchema): string | null =>
    isObject(schema) && typeof schema.$ref === 'string' ? JSON.stringify(pointerTokens(schema.$ref)) : null;
  const faults: Fault[] = [];
  const state = new Map<string, 'open' | 'done'>();
  const visit = (at: string): void => {
    const schema = known.get(at)!;
    const path = JSON.parse(at) as string[];
    const target = targetOf(schema);
    state.set(at, 'open');
    const below = isObject(schema) ? subschemasOf(schema).filter((part) => APPLICATORS.includes(part.path[0]!)) : [];
    const next = below.map((part) => JSON.stringify([...path, ...part.path]));
    for (const name of target === null ? next : [...next, target]) {
      if (!known.has(name)) faults.push({ path: [...path, '$ref'], message: 'Expected a pointer to a schema of this document' });
      else if (state.get(name) === 'open') faults.push({ path, message: 'Expected a reference that does not lead to itself' });
      else if (!state.has(name)) visit(name);
    }
    state.set(at, 'done');
  };
  for (const at of known.keys()) if (!state.has(at)) visit(at);
  return faults;
}

/** Returns the faults of a value that could not be echoed, stored and compared by every reader. */
export function checkJson(value: unknown, path: string[] = []): Fault[] {
  if (typeof value === 'number' && !Number.isFinite(value)) return [{ path, message: 'Expected a smaller number' }];
  if (typeof value === 'string' && !value.isWellFormed()) return [{ path, message: 'Expected well-formed Unicode' }];
  if (typeof value !== 'object' || value === null) return [];
  if (path.length >= JSON_LEVELS_MAX) return [{ path, message: `Expected at most ${JSON_LEVELS_MAX} levels` }];
  return Object.entries(value).flatMap(([key, part]) =>
    key in Object.prototype || !key.isWellFormed()
      ? [{ path: [...path, key], message: 'Expected another name' }]
      : checkJson(part, [...path, key]),
  );
}
