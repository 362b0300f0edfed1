/**
 * Upper bounds of the validator's work, from the sizes of schema and value. Pure, loaded on demand.
 * @module
 */

import { isObject, type JsonObject, SUBSCHEMAS, subschemasOf } from './keywords.ts';
import { type StepBudget, spend } from './pattern.ts';

/** A step is about 100 nanoseconds at most. */
const EVALUATION_STEPS = 10;
const FAULT_STEPS = 10;
const PART_STEPS = 4;
const CHARS_PER_STEP = 8;
const NAMES_PER_STEP = 4;

const BRANCHES = ['allOf', 'anyOf', 'oneOf', 'if'];
const LOOPS = ['patternProperties', 'additionalProperties', 'unevaluatedProperties', 'unevaluatedItems'];

interface Sizes {
  /** Most children of one part, longer names counting more. */
  breadth: number;
  /** Most names of one part. */
  names: number;
  /** Longest text. */
  chars: number;
  /** Schemas that a chain of evaluations of one part can pass through. */
  chain: number;
}

/**
 * Charges each evaluation of a schema by the validator, which reads `$recursiveRef` of a schema once per evaluation. The keyword itself is
 * refused by `checkSchema`. Booleans are paid by the schema above them.
 */
export function chargeEvaluations(root: JsonObject, value: unknown, budget: StepBudget): void {
  const schemas = schemasIn(root);
  const chain = schemas.reduce((sum, schema) => sum + branchesOf(schema).length + ('$ref' in schema ? 1 : 0), 0);
  const sizes: Sizes = { ...sizesOf(value), chain };
  for (const schema of schemas) {
    const steps = stepsOf(schema, sizes);
    Object.defineProperty(schema, '$recursiveRef', { get: () => spend(budget, steps) });
  }
}

const schemasIn = (schema: JsonObject): JsonObject[] => [schema, ...below(schema).flatMap(schemasIn)];
const below = (schema: JsonObject): JsonObject[] => subschemasOf(schema).flatMap((part) => (isObject(part.schema) ? [part.schema] : []));

const branchesOf = (schema: JsonObject): JsonObject[] =>
  subschemasOf(schema).flatMap((part) => (BRANCHES.includes(part.path[0]!) ? [part.schema as JsonObject] : []));

function sizesOf(value: unknown): Omit<Sizes, 'chain'> {
  if (typeof value === 'string') return { breadth: 0, names: 0, chars: value.length };
  if (typeof value !== 'object' || value === null) return { breadth: 0, names: 0, chars: 0 };
  const names = Array.isArray(value) ? [] : Object.keys(value);
  const parts = Object.values(value).map(sizesOf);
  const most = (size: keyof Omit<Sizes, 'chain'>, own: number) => parts.reduce((max, part) => Math.max(max, part[size]), own);
  return {
    breadth: most('breadth', parts.length + names.join('').length / CHARS_PER_STEP),
    names: most('names', names.length),
    chars: most('chars', Math.max(0, ...names.map((name) => name.length))),
  };
}

/** Steps of one evaluation, without those of the subschemas. A failure copies the faults of a chain, and writes out what was expected. */
function stepsOf(schema: JsonObject, { breadth, names, chars, chain }: Sizes): number {
  const own = Object.entries(schema).map(([name, part]) => ownSteps(name, SUBSCHEMAS.has(name) ? namesOf(part) : part));
  const loops = LOOPS.filter((name) => name in schema).length;
  const patterns = Object.keys((schema.patternProperties as object | undefined) ?? {});
  return (
    EVALUATION_STEPS +
    chain +
    own.reduce((sum, steps) => sum + steps, 0) +
    names / NAMES_PER_STEP +
    loops * breadth * (1 + chain) +
    branchesOf(schema).filter(annotates).length * breadth +
    patterns.reduce((sum, pattern) => sum + breadth * (1 + pattern.length / CHARS_PER_STEP), 0) +
    ('minLength' in schema || 'maxLength' in schema ? chars / CHARS_PER_STEP : 0)
  );
}

function ownSteps(keyword: string, part: unknown): number {
  const steps = keyword === 'required' || keyword === 'dependentRequired' ? FAULT_STEPS : PART_STEPS;
  return typeof part === 'object' ? countParts(part) * steps + JSON.stringify(part).length / CHARS_PER_STEP : 0;
}

/** Values inside of a value, and the value. */
export const countParts = (part: unknown): number =>
  typeof part === 'object' && part !== null ? Object.values(part).reduce((sum: number, one) => sum + countParts(one), 1) : 1;

const namesOf = (part: unknown): unknown => (isObject(part) ? Object.keys(part) : 0);

/** True if an evaluation may list children as evaluated, which each schema above copies. */
const annotates = (schema: JsonObject): boolean =>
  Object.keys(schema).some((name) => name === '$ref' || (name !== 'not' && SUBSCHEMAS.has(name)));
