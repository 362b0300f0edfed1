import fc from 'fast-check';
import { base58 } from '#core/encoding.ts';
import { resolve, type Schema } from '../clients/document.ts';

export type Known = (name: string) => fc.Arbitrary<string> | undefined;

/** Values allowed by the schema, boundaries first, so that the code behind validation is exercised. */
export function valuesOf(given: Schema, known: Known, name = ''): fc.Arbitrary<unknown> {
  const schema = resolve(given);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => valuesOf(one, known, name)));
  switch (schema.type) {
    case 'object':
      return objects(schema, known);
    case 'array': {
      const { minItems = 0, maxItems = 4 } = schema;
      return fc.array(valuesOf(schema.items ?? {}, known, name.replace(/s$/, '')), {
        minLength: minItems,
        maxLength: Math.min(4, maxItems),
      });
    }
    case 'string':
      return texts(schema, known, name);
    case 'integer':
    case 'number':
      return numbers(schema, name, known);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function objects(schema: Schema, known: Known): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties, example } = schema;
  const values = Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, valuesOf(one, known, name)]));
  const made = fc.record(values, { requiredKeys: required });
  if (Object.keys(properties).length === 0 && typeof additionalProperties === 'object')
    return fc.dictionary(fc.string({ maxLength: 20 }), valuesOf(additionalProperties, known), { maxKeys: 3 });
  const least = fc.record(Object.fromEntries(required.map((name) => [name, values[name]!])));
  const asShown = Object.keys((example ?? {}) as object).filter((name) => name in values);
  const shown = fc.record(Object.fromEntries(asShown.map((name) => [name, shownOr(example, name, values, known)])));
  return example === undefined ? fc.oneof(made, least) : fc.oneof({ weight: 2, arbitrary: shown }, made, least);
}

const shownOr = (example: unknown, name: string, values: Record<string, fc.Arbitrary<unknown>>, known: Known): fc.Arbitrary<unknown> =>
  known(name) ? values[name]! : fc.constant((example as Record<string, unknown>)[name]);

const FORMATS: Record<string, fc.Arbitrary<string>> = {
  uuid: fc.uuid({ version: 7 }),
  email: fc.constantFrom('ada@example.com', 'Ada.Lovelace+tag@sub.example.co.uk'),
  uri: fc.constantFrom(
    'https://shop.example.com/thanks?a=b',
    'https://shop.example.com:8443/x',
    'http://127.0.0.1:9/x',
    'ftp://x',
    'javascript:alert(1)',
  ),
  'date-time': fc.oneof(
    fc.constantFrom('2026-01-01T00:00:00Z', '1970-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z'),
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  ),
};

export const addresses = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => base58.encode(bytes));
export const signatures = fc.uint8Array({ minLength: 64, maxLength: 64 }).map((bytes) => base58.encode(bytes));

function texts({ format, pattern, minLength = 0, maxLength = 200, example }: Schema, known: Known, name: string): fc.Arbitrary<string> {
  const own = known(name);
  if (own) return own;
  if (format && FORMATS[format]) return FORMATS[format];
  if (pattern) return fc.stringMatching(new RegExp(pattern));
  const longest = Math.min(maxLength, 300);
  const free = fc.string({ unit: 'grapheme', minLength, maxLength: longest }).map((text) => text.slice(0, maxLength));
  const asShown = typeof example === 'string' ? [fc.constant(example)] : [];
  return fc.oneof(free, fc.constant('x'.repeat(maxLength)), fc.constant('x'.repeat(Math.max(1, minLength))), ...asShown);
}

function numbers({ type, minimum = -1000, maximum = 1000 }: Schema, name: string, known: Known): fc.Arbitrary<unknown> {
  const own = known(name);
  if (own) return own.map(Number);
  const integers = fc.integer({ min: Math.ceil(minimum), max: Math.floor(maximum) });
  return fc.oneof(fc.constantFrom(minimum, maximum), integers, ...(type === 'number' ? [fc.double({ noNaN: true })] : []));
}

/** Token with another character before its last one: never the token itself, and never a spelling of the same bytes. */
export const forgedToken = (token: string): string => `${token.slice(0, -2)}${token.at(-2) === 'A' ? 'B' : 'A'}${token.at(-1)}`;
