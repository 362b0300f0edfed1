/**
 * Evaluation of a value with a schema that `checkSchema` accepted. Ends after a bounded amount of work, whatever both say. Pure, loaded on
 * demand.
 * @module
 */

import { dereference, type Schema, validate } from '@cfworker/json-schema';
import { KEYWORDS } from './check.ts';
import { chargeEvaluations, countParts } from './cost.ts';
import { isObject, type JsonObject, type JsonSchema, mapSubschemas } from './keywords.ts';
import { BudgetExceeded, compilePattern, matchesPattern, type StepBudget, spend } from './pattern.ts';

const STEPS_MAX = 100_000;

/** True if the value satisfies the schema. False also if the evaluation is too much work, or too deep for the stack. */
export function satisfies(schema: JsonObject, value: unknown): boolean {
  const budget: StepBudget = { left: STEPS_MAX };
  try {
    const plain = rewrite(schema, factsOf(value, budget)) as JsonObject;
    const known = dereference(plain as Schema);
    chargeEvaluations(plain, value, budget);
    return validate(value, plain as Schema, '2020-12', known).valid;
  } catch (error) {
    if (error instanceof BudgetExceeded || error instanceof RangeError) return false;
    throw error;
  }
}

interface Facts {
  /** Texts of the value, names included. */
  texts: readonly string[];
  numbers: readonly number[];
  /** Lists with two equal items. */
  repetitive: () => readonly unknown[];
  budget: StepBudget;
}

function factsOf(value: unknown, budget: StepBudget): Facts {
  const parts = partsOf(value);
  let repetitive: unknown[] | null = null;
  return {
    texts: [...new Set(parts.filter((part) => typeof part === 'string'))],
    numbers: [...new Set(parts.filter((part) => typeof part === 'number'))],
    repetitive: () => {
      repetitive ??= repetitiveIn(value);
      return repetitive;
    },
    budget,
  };
}

/** Lists with two equal items. Equal parts share a number, so each part is compared once. */
function repetitiveIn(value: unknown): unknown[] {
  const numbers = new Map<string, number>();
  const lists: unknown[] = [];
  const numberOf = (part: unknown): number => {
    const key = keyOf(part);
    const number = numbers.get(key) ?? numbers.size;
    numbers.set(key, number);
    return number;
  };
  const keyOf = (part: unknown): string => {
    if (typeof part !== 'object' || part === null) return JSON.stringify(part);
    if (!Array.isArray(part))
      return `{${Object.entries(part)
        .map(([name, below]) => `${JSON.stringify(name)}:${numberOf(below)}`)
        .sort()}}`;
    const items = part.map(numberOf);
    if (new Set(items).size < items.length) lists.push(part);
    return `[${items}]`;
  };
  numberOf(value);
  return lists;
}

function partsOf(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [value];
  return [value, ...(Array.isArray(value) ? [] : Object.keys(value)), ...Object.values(value).flatMap(partsOf)];
}

/**
 * Rewrites a schema for one value: `pattern`, `multipleOf` and `uniqueItems` become the list of the value's parts that break them. So the
 * validator never runs a foreign expression and never compares items with each other. `format` says nothing in this dialect.
 */
function rewrite(schema: JsonSchema, facts: Facts): JsonSchema {
  if (!isObject(schema)) return schema;
  const { pattern, multipleOf, uniqueItems, patternProperties, format: _, $id: __, ...rest } = schema;
  const plain = mapSubschemas(Object.fromEntries(Object.entries(rest).filter(([name]) => KEYWORDS.has(name))), (part) =>
    rewrite(part, facts),
  );
  if (isObject(patternProperties)) plain.patternProperties = literalProperties(patternProperties, facts);
  const broken = [
    ...(typeof pattern === 'string' ? facts.texts.filter(not(matcherOf(pattern, facts))) : []),
    ...(typeof multipleOf === 'number' ? brokenNumbers(multipleOf, facts) : []),
    ...(uniqueItems === true ? facts.repetitive() : []),
  ];
  if (broken.length === 0) return plain;
  spend(facts.budget, countParts(broken));
  return { ...plain, allOf: [...((plain.allOf as JsonSchema[] | undefined) ?? []), { not: { enum: broken } }] };
}

const not =
  (is: (text: string) => boolean) =>
  (text: string): boolean =>
    !is(text);

/** From 1e21 on, the reference reads a quotient in its exponential form, and takes it for broken. */
const QUOTIENT_BELOW = 1e21;

function brokenNumbers(multipleOf: number, { numbers, budget }: Facts): number[] {
  spend(budget, numbers.length);
  return numbers.filter((number) => !Number.isInteger(number / multipleOf) || Math.abs(number / multipleOf) >= QUOTIENT_BELOW);
}

function matcherOf(pattern: string, { budget }: Facts): (text: string) => boolean {
  const steps = compilePattern(pattern);
  spend(budget, steps?.length ?? 0);
  return (text) => steps !== null && matchesPattern(steps, text, budget);
}

/** Two patterns may match the same texts, so a number makes each name unique. */
const literalProperties = (properties: JsonObject, facts: Facts): JsonObject =>
  Object.fromEntries(
    Object.entries(properties).map(([pattern, part], index) => [
      `${literals(facts.texts.filter(matcherOf(pattern, facts)))}(?:){${index + 1}}`,
      rewrite(part as JsonSchema, facts),
    ]),
  );

const literals = (texts: readonly string[]): string =>
  texts.length === 0 ? '(?!)' : `^(?:${texts.map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|')})$`;
