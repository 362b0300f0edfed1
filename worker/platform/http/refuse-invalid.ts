import { z } from '@hono/zod-openapi';
import { ApiError, type ValidationProblem } from '#core/errors.ts';
import { nearestOf } from '#core/text/nearest.ts';
import { validationText } from './bodies/validation-texts.ts';

/** Unknown body field: its path, and the field that was probably meant. */
interface UnknownField {
  path: (string | number)[];
  nearest?: string;
}

/** Each unknown field is compared with every known one, so the number is limited. */
const PROBLEMS_MAX = 20;

/**
 * Lists body fields that the schema does not name, also in nested objects and lists. Records and loose objects accept any field, such as
 * metadata and protocol bodies. A field known to one alternative of a union is known. Lists at most 20.
 */
export function unknownFields(schema: z.ZodType, body: unknown): UnknownField[] {
  const found: UnknownField[] = [];
  collect(bareOf(schema), body, [], found);
  return found;
}

type Schema = z.core.$ZodTypes;

/** Unwraps a schema: alternatives of a union, input and output of a pipe. */
function bareOf(schema: z.core.$ZodType): Schema[] {
  const { def } = (schema as Schema)._zod;
  switch (def.type) {
    case 'union':
      return def.options.flatMap(bareOf);
    case 'intersection':
      return [def.left, def.right].flatMap(bareOf);
    case 'pipe':
      return [def.in, def.out].flatMap(bareOf);
    case 'lazy':
      return bareOf(def.getter());
    default:
      return 'innerType' in def ? bareOf(def.innerType) : [schema as Schema];
  }
}

function collect(schemas: Schema[], value: unknown, path: UnknownField['path'], found: UnknownField[]): void {
  // Stops where the schema ends, because bodies may nest deeper than the stack, and schemas do not.
  if (schemas.length === 0 || typeof value !== 'object' || value === null || found.length >= PROBLEMS_MAX) return;
  if (Array.isArray(value)) {
    const items = schemas.flatMap(({ _zod: { def } }) => (def.type === 'array' ? bareOf(def.element) : []));
    for (const [index, item] of value.entries()) if (typeof item === 'object') collect(items, item, [...path, index], found);
    return;
  }
  const shapes = closedShapes(schemas);
  if (shapes === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (found.length >= PROBLEMS_MAX) return;
    const known = shapes.flatMap((shape) => (Object.hasOwn(shape, name) ? bareOf(shape[name]!) : []));
    if (known.length > 0) collect(known, member, [...path, name], found);
    else found.push({ path: [...path, name], ...nearest(name, shapes.flatMap(Object.keys)) });
  }
}

/** Fields of the possible objects, null if none is possible or one accepts any field. */
function closedShapes(schemas: Schema[]): z.core.$ZodShape[] | null {
  const shapes: z.core.$ZodShape[] = [];
  for (const { _zod } of schemas) {
    const { def } = _zod;
    if (def.type === 'record' || def.type === 'unknown' || def.type === 'any') return null;
    if (def.type !== 'object') continue;
    if (def.catchall && def.catchall._zod.def.type !== 'never') return null;
    shapes.push(def.shape);
  }
  return shapes.length > 0 ? shapes : null;
}

const nearest = (name: string, known: string[]): Pick<UnknownField, 'nearest'> => {
  const found = nearestOf(name, known);
  return found === null ? {} : { nearest: found };
};

// A schema's own text wins.
z.config({ customError: validationText });

const OUTSIDE_V1 = /^\/(?:health|p|\.well-known|__402)(?:\/|$)/;

/** `mode` is accepted on every route, even if no credential has one. */
const KNOWN_EVERYWHERE = z.object({ mode: z.unknown() });

interface Declared {
  path: string;
  security?: Record<string, string[]>[];
  responses: Record<string, unknown>;
}

/**
 * True for a /v1 route that answers JSON or an empty body. False for pages, files, redirects and signed provider webhooks, because
 * providers and browsers add parameters.
 */
export function hasClosedQuery({ path, security = [], responses }: Declared): boolean {
  if (OUTSIDE_V1.test(path) || security.some((scheme) => Object.keys(scheme).some((name) => name.endsWith('Signature')))) return false;
  const success = Object.entries(responses).find(([status]) => /^2/.test(status))?.[1] as { content?: object } | undefined;
  return success !== undefined && Object.keys(success.content ?? {}).every((type) => type === 'application/json');
}

type Checked = { target: string } & ({ success: true } | { success: false; error: z.core.$ZodError });

/** Throws 422 if a request does not match its route's schemas or has unknown names. Without a schema, names are not checked. */
export const refuseInvalid =
  (schemas: { json: z.ZodType | undefined; query: z.ZodType | undefined }) =>
  (result: Checked, c: { req: { url: string }; var: { body: unknown } }): undefined => {
    const source = { json: 'body', param: 'path' }[result.target] ?? result.target;
    const unknown =
      result.target === 'json' && schemas.json
        ? unknownFields(schemas.json, c.var.body)
        : result.target === 'query' && schemas.query
          ? unknownFields(z.intersection(schemas.query, KNOWN_EVERYWHERE), Object.fromEntries(new URL(c.req.url).searchParams))
          : [];
    const problems = onceEach([...(result.success ? [] : result.error.issues.flatMap(problemsOf)), ...unknown.map(unknownProblem)]);
    if (problems.length === 0) return undefined;
    const code = unknown.length === problems.length ? 'unknown_field' : 'validation_error';
    throw new ApiError(code, { problems: problems.map(({ loc, ...problem }) => ({ loc: [source, ...loc], ...problem })) });
  };

const onceEach = (problems: ValidationProblem[]): ValidationProblem[] => [
  ...new Map(problems.map((problem) => [JSON.stringify([problem.loc, problem.msg]), problem])).values(),
];

/** Faults inside the only alternative of a union that fits, such as an object that may also be null, have their own paths. */
function problemsOf(issue: z.core.$ZodIssue): ValidationProblem[] {
  const inside = issue.code === 'invalid_union' ? issue.errors.filter((issues) => issues.every(({ path }) => path.length > 0)) : [];
  if (inside.length !== 1) return [problemOf(issue)];
  return inside[0]!.flatMap((inner) => problemsOf({ ...inner, path: [...issue.path, ...inner.path] }));
}

const problemOf = (issue: z.core.$ZodIssue): ValidationProblem => ({
  loc: issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part)),
  msg: issue.message,
  type: 'params' in issue && typeof issue.params?.type === 'string' ? issue.params.type : issue.code,
});

function unknownProblem({ path, nearest }: UnknownField): ValidationProblem {
  const msg = nearest === undefined ? 'The field is unknown. Check its spelling.' : `The field is unknown. Did you mean ${nearest}?`;
  return { loc: path, msg, type: 'unknown_field', ctx: nearest === undefined ? {} : { nearest } };
}
