/**
 * Evaluation of a value with a schema that `checkSchema` accepted. Ends after a bounded amount of work, whatever both say. Pure, loaded on
 * demand.
 * @module
 */

import { dereference, type Schema, validate } from '@cfworker/json-schema';
import { isObject, type JsonObject, type JsonSchema, mapSubschemas } from './keywords.ts';
import { BudgetExceeded, compilePattern, matchesPattern, type StepBudget, spend } from './pattern.ts';

const STEPS_MAX = 200_000;
/** Each reference may lead to all of a schema again, so few of them can multiply the work. */
const REFERENCE_STEPS = 100;

/** True if the value satisfies the schema. False also if the evaluation is too much work. */
export function satisfies(schema: JsonObject, value: unknown): boolean {
  const budget: StepBudget = { left: STEPS_MAX };
  const texts = [...textsIn(value)];
  try {
    const plain = withoutPatterns(schema, { texts, numbers: [...numbersIn(value)], budget }) as Schema;
    const known = dereference(plain);
    const counted = new Proxy(known, {
      get(target, name: string) {
        spend(budget, REFERENCE_STEPS);
        return target[name];
      },
    });
    return validate(value, plain, '2020-12', counted).valid;
  } catch (error) {
    if (error instanceof BudgetExceeded) return false;
    throw error;
  }
}

interface Facts {
  texts: readonly string[];
  numbers: readonly number[];
  budget: StepBudget;
}

/** Texts of a value, names included. */
function textsIn(value: unknown): Set<string> {
  if (typeof value === 'string') return new Set([value]);
  if (typeof value !== 'object' || value === null) return new Set();
  const names = Array.isArray(value) ? [] : Object.keys(value);
  return new Set([...names, ...Object.values(value).flatMap((part) => [...textsIn(part)])]);
}

function numbersIn(value: unknown): Set<number> {
  if (typeof value === 'number') return new Set([value]);
  if (typeof value !== 'object' || value === null) return new Set();
  return new Set(Object.values(value).flatMap((part) => [...numbersIn(part)]));
}

/**
 * Rewrites a schema for one value: each pattern becomes the list of the value's texts that match it, so the validator never runs a foreign
 * expression. `multipleOf` is decided as the reference does, by division. `format` says nothing in this dialect.
 */
function withoutPatterns(schema: JsonSchema, facts: Facts): JsonSchema {
  if (!isObject(schema)) return schema;
  const { pattern, multipleOf, format: _, $id: __, patternProperties, ...rest } = schema;
  const plain = mapSubschemas(rest, (part) => withoutPatterns(part, facts));
  if (typeof pattern === 'string') plain.pattern = literals(pattern, facts);
  if (isObject(patternProperties)) plain.patternProperties = literalProperties(patternProperties, facts);
  if (typeof multipleOf === 'number') {
    const multiples = facts.numbers.filter((number) => Number.isInteger(number / multipleOf));
    plain.allOf = [...((plain.allOf as JsonSchema[] | undefined) ?? []), { anyOf: [{ not: { type: 'number' } }, { enum: multiples }] }];
  }
  return plain;
}

/** Two patterns may match the same texts, so a number makes each name unique. */
const literalProperties = (properties: JsonObject, facts: Facts): JsonObject =>
  Object.fromEntries(
    Object.entries(properties).map(([pattern, part], index) => [
      `${literals(pattern, facts)}(?:){${index + 1}}`,
      withoutPatterns(part as JsonSchema, facts),
    ]),
  );

function literals(pattern: string, { texts, budget }: Facts): string {
  const steps = compilePattern(pattern);
  const matching = steps ? texts.filter((text) => matchesPattern(steps, text, budget)) : [];
  return matching.length === 0 ? '(?!)' : `^(?:${matching.map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|')})$`;
}
