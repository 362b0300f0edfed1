import { z } from '@hono/zod-openapi';
import { ApiError, type ValidationProblem } from '#core/errors.ts';
import { type UnknownField, unknownFields } from './bodies/unknown-fields.ts';
import { validationText } from './bodies/validation-texts.ts';

// A schema's own text wins.
z.config({ customError: validationText });

/** Paths of routes with a schema that lie outside /v1. */
const OUTSIDE_V1 = /^\/(?:health|p|\.well-known|__402)(?:\/|$)/;

/** The mode is known on every route, also where no credential has one. */
const KNOWN_EVERYWHERE = z.object({ mode: z.unknown() });

interface Declared {
  path: string;
  security?: Record<string, string[]>[];
  responses: Record<string, unknown>;
}

/**
 * True for a route under /v1 that answers JSON or an empty body. False for pages, files, redirects, and what a provider calls with a signature of its own:
 * providers and browsers add parameters.
 */
export function hasClosedQuery({ path, security = [], responses }: Declared): boolean {
  if (OUTSIDE_V1.test(path) || security.some((scheme) => Object.keys(scheme).some((name) => name.endsWith('Signature')))) return false;
  const success = Object.entries(responses).find(([status]) => /^2/.test(status))?.[1] as { content?: object } | undefined;
  return success !== undefined && Object.keys(success.content ?? {}).every((type) => type === 'application/json');
}

/** A part of a request, held against its schema. */
type Checked = { target: string } & ({ success: true } | { success: false; error: z.core.$ZodError });

/** Throws 422 if a request does not fit its route's schemas, or has names that they do not know. Without a schema names are not looked at. */
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
    const problems = onceEach([...(result.success ? [] : result.error.issues.map(problemOf)), ...unknown.map(unknownProblem)]);
    if (problems.length === 0) return undefined;
    const code = unknown.length === problems.length ? 'unknown_field' : 'validation_error';
    throw new ApiError(code, { problems: problems.map(({ loc, ...problem }) => ({ loc: [source, ...loc], ...problem })) });
  };

/** Two checks of one field that fail with the same text are one problem. */
const onceEach = (problems: ValidationProblem[]): ValidationProblem[] => [
  ...new Map(problems.map((problem) => [JSON.stringify([problem.loc, problem.msg]), problem])).values(),
];

const problemOf = (issue: z.core.$ZodIssue): ValidationProblem => ({
  loc: issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part)),
  msg: issue.message,
  type: 'params' in issue && typeof issue.params?.type === 'string' ? issue.params.type : issue.code,
});

function unknownProblem({ path, nearest }: UnknownField): ValidationProblem {
  const msg = nearest === undefined ? 'This field is unknown. Check its spelling.' : `This field is unknown. Did you mean ${nearest}?`;
  return { loc: path, msg, type: 'unknown_field', ctx: nearest === undefined ? {} : { nearest } };
}
