import type { z } from '@hono/zod-openapi';

type Issue = z.core.$ZodRawIssue;

const KINDS: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

const FORMATS: Record<string, string> = {
  email: 'an e-mail address',
  url: 'a URL',
  uuid: 'a UUID',
  datetime: 'a date and time with a time zone, such as 2026-11-21T09:00:00Z',
  date: 'a date such as 2026-11-21',
};

const VALUES_MAX = 20;
const plural = (count: number | bigint, one: string): string => `${count} ${one}${Number(count) === 1 ? '' : 's'}`;

const sizeOf = (origin: string, bound: number | bigint): string =>
  origin === 'string'
    ? plural(bound, 'character')
    : origin === 'array'
      ? plural(bound, 'item')
      : origin === 'record' || origin === 'object'
        ? plural(bound, 'key')
        : String(bound);

function shapeOf({ inst, expected }: Issue & { code: 'invalid_type' }): string {
  const kind = KINDS[expected] ?? String(expected);
  const { shape } = (inst as { _zod?: { def: { shape?: object } } } | undefined)?._zod?.def ?? {};
  return shape === undefined ? kind : `${kind} with ${Object.keys(shape).join(', ')}`;
}

function alternativesOf(errors: readonly (readonly z.core.$ZodIssue[])[]): string {
  const texts = errors.flatMap((issues) =>
    issues.filter(({ path }) => path.length === 0).map(({ message }) => message.replace(/^Expected /, '')),
  );
  const distinct = [...new Set(texts)];
  return distinct.length === 0 ? 'another value' : distinct.join(', or ');
}

export function validationText(issue: Issue): string {
  if (issue.input === undefined && (issue.code === 'invalid_type' || issue.code === 'invalid_value' || issue.code === 'invalid_union'))
    return 'Required';
  switch (issue.code) {
    case 'invalid_type':
      return `Expected ${shapeOf(issue)}`;
    case 'invalid_value':
      return issue.values.length > VALUES_MAX
        ? 'Expected one of the documented values'
        : `Expected ${issue.values.map(String).join(', ')}`.replace(/, ([^,]*)$/, ' or $1');
    case 'too_small':
      return `Expected ${issue.inclusive ? 'at least' : 'more than'} ${sizeOf(issue.origin, issue.minimum)}`;
    case 'too_big':
      return `Expected ${issue.inclusive ? 'at most' : 'less than'} ${sizeOf(issue.origin, issue.maximum)}`;
    case 'invalid_format':
      return FORMATS[issue.format] === undefined && issue.pattern
        ? `Expected text that matches ${issue.pattern}`
        : `Expected ${FORMATS[issue.format] ?? issue.format}`;
    case 'not_multiple_of':
      return `Expected a multiple of ${issue.divisor}`;
    case 'invalid_union':
      return `Expected ${alternativesOf(issue.errors)}`;
    case 'invalid_key':
      return issue.issues[0]!.message;
    default:
      return 'The value is not valid';
  }
}
