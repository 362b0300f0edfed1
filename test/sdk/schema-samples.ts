import { openApi } from '../support/clients/call.ts';

interface Sampled {
  $ref?: string;
  type?: string | string[];
  format?: string;
  pattern?: string;
  minLength?: number;
  minimum?: number;
  minItems?: number;
  enum?: unknown[];
  example?: unknown;
  properties?: Record<string, Sampled>;
  additionalProperties?: boolean | Sampled;
  items?: Sampled;
  allOf?: Sampled[];
  anyOf?: Sampled[];
  oneOf?: Sampled[];
}

const FORMATS: Record<string, string> = {
  uuid: '01a1fc21-d414-7315-8bae-d95e4ff00293',
  uri: 'https://shop.example.com/path',
  email: 'ada@example.com',
  date: '2026-11-21',
  'date-time': '2026-11-21T09:00:00.000Z',
};
const TEXTS = ['a text', 'text', '1', '12345', '123456', '#a1b2c3', 'text/plain'];

/** Returns a value of a schema, with every optional field. */
export function sampleOf(schema: object): unknown {
  const one = schema as Sampled;
  if (one.$ref) return sampleOf(openApi.components.schemas[one.$ref.split('/').at(-1)!]!);
  if (one.enum) return one.enum[0];
  const choice = one.anyOf?.[0] ?? one.oneOf?.[0];
  if (choice) return sampleOf(choice);
  if (one.allOf) return Object.assign({}, ...one.allOf.map(sampleOf));
  const [type] = [one.type].flat();
  if (type === 'string') return textOf(one);
  if (type === 'integer' || type === 'number') return one.minimum ?? 1;
  if (type === 'boolean') return true;
  if (type === 'array') return [sampleOf(one.items ?? {})];
  if (type !== 'object') return null;
  return Object.fromEntries(Object.entries(one.properties ?? {}).map(([name, field]) => [name, sampleOf(field)]));
}

function textOf({ format, pattern, minLength = 0, example }: Sampled): string {
  if (format && FORMATS[format]) return FORMATS[format];
  if (pattern === undefined) return typeof example === 'string' ? example : 'a text'.padEnd(minLength, '.');
  const found = TEXTS.find((text) => new RegExp(pattern).test(text) && text.length >= minLength);
  if (found === undefined) throw new Error(`No sample matches ${pattern}`);
  return found;
}
