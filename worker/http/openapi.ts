import { OpenAPIHono, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { Permission } from '../admission.ts';
import type { Actor, Ctx, Env } from '../context.ts';
import { ApiError, ERRORS, type ErrorCode, type ErrorStatus } from '../core/errors.ts';
import type { SetupIntentId } from '../core/ids.ts';
import { PER_PAGE } from '../core/limits.ts';
import type { CallBucket } from '../plans.ts';

export interface AppEnv {
  Bindings: Env;
  Variables: {
    requestId: string;
    ctx: Ctx;
    actor: Actor;
    /** Where a setup secret was shown instead of a key or token: whose spend limits bind what is bought. */
    setupIntentId: SetupIntentId | null;
    /** On public routes: the owner who also showed a credential, or null. */
    viewer: Actor | null;
    /** Set once in app.ts, so that guards can admit a caller without knowing how accounts are stored. */
    authenticate(c: Context<AppEnv>, permission: Permission | null, bucket?: CallBucket): Promise<Actor>;
    errorCode: ErrorCode;
    /** Units of entitlements this request consumed, for the usage of its key. */
    unitsConsumed: number;
  };
}

/** A router whose every validation failure ends as our 422. */
export const router = () =>
  new OpenAPIHono<AppEnv>({
    defaultHook: (result) => {
      if (result.success) return;
      const source = result.target === 'json' ? 'body' : result.target === 'param' ? 'path' : result.target;
      const problems = result.error.issues.map((issue) => ({
        loc: [source, ...issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part))],
        msg: issue.message,
        type: 'params' in issue && typeof issue.params?.type === 'string' ? issue.params.type : issue.code,
      }));
      throw new ApiError('validation_error', { problems });
    },
  });

/** The only way to declare a JSON body: without `required` the framework would skip validation for a missing one. */
export const jsonBody = <S extends z.ZodType>(schema: S) => ({
  body: { required: true as const, content: { 'application/json': { schema } } },
});

const content = <S extends z.ZodType>(schema: S) => ({ 'application/json': { schema } });
export const ok = <S extends z.ZodType>(schema: S, description = 'Done') => ({ 200: { description, content: content(schema) } });
export const created = <S extends z.ZodType>(schema: S, description = 'Created') => ({ 201: { description, content: content(schema) } });

const Problem = z.object({ loc: z.array(z.union([z.string(), z.number()])), msg: z.string(), type: z.string() });
const errorFields = {
  code: z.enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]),
  request_id: z.string(),
  docs_url: z.string(),
  retryable: z.boolean(),
  meta: z.record(z.string(), z.unknown()),
};
export const ErrorBody = z.object({ detail: z.string(), ...errorFields }).openapi('Error');
export const HTTPValidationError = z.object({ detail: z.array(Problem), ...errorFields }).openapi('HTTPValidationError');

type Failure = ErrorCode | { code: ErrorCode; status: ErrorStatus };

/** What weather and bugs may answer on any route. */
const ANYWHERE = ['temporarily_unavailable', 'misconfigured', 'internal_error'] as const satisfies ErrorCode[];

/** Error responses of a route, from the catalog: grouped by status, one example per code. */
export function errors(...failures: Failure[]) {
  const byStatus: Record<number, ErrorCode[]> = {};
  for (const failure of [...failures, ...ANYWHERE]) {
    const { code, status } = typeof failure === 'string' ? { code: failure, status: ERRORS[failure].status } : failure;
    byStatus[status] = [...(byStatus[status] ?? []), code];
  }
  return Object.fromEntries(Object.entries(byStatus).map(([status, codes]) => [status, failureResponse(codes)]));
}

function failureResponse(codes: ErrorCode[]) {
  const schema = codes.includes('validation_error')
    ? codes.length > 1
      ? z.union([HTTPValidationError, ErrorBody])
      : HTTPValidationError
    : ErrorBody;
  const examples = Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code) }]));
  return { description: codes.map((code) => `\`${code}\``).join(', '), content: { 'application/json': { schema, examples } } };
}

const exampleOf = (code: ErrorCode) => ({
  detail:
    code === 'validation_error'
      ? [{ loc: ['body', 'name'], msg: 'Invalid input: expected string', type: 'invalid_type' }]
      : ERRORS[code].message,
  code,
  request_id: '0199f0c2b5a87c3e9d1f',
  docs_url: docsUrl('', code),
  retryable: ERRORS[code].retryable,
  meta: {},
});

/** Every code is described in the published document itself, so the link always resolves. */
export const docsUrl = (baseUrl: string, code: ErrorCode): string => `${baseUrl}/v1/openapi.json#/x-error-codes/${code}`;

/** What any route with a JSON body may refuse before its own rules. */
export const bodyErrors = ['validation_error', 'payload_too_large', 'unsupported_media_type'] as const satisfies ErrorCode[];

export const positiveInteger = (max: number) =>
  z
    .string()
    .regex(/^[0-9]{1,15}$/, 'Expected a whole number')
    .transform(Number)
    .pipe(z.number().min(1).max(max));

export const PageQuery = {
  page: positiveInteger(999_999_999).default(1).openapi({ type: 'integer', minimum: 1, default: 1 }),
  per_page: positiveInteger(PER_PAGE.max)
    .default(PER_PAGE.default)
    .openapi({ type: 'integer', minimum: 1, maximum: PER_PAGE.max, default: PER_PAGE.default }),
};

/** A token acts on live rows unless it asks for the sandbox; a key must not contradict its own mode. (contract D6) */
export const ModeQuery = {
  mode: z.enum(['live', 'sandbox']).optional().openapi({ description: 'The mode a token acts in; default live.' }),
};

export const pageOf = <S extends z.ZodType>(item: S, name: string) =>
  z
    .object({
      items: z.array(item),
      page: z.int(),
      per_page: z.int(),
      total: z.int(),
      total_pages: z.int(),
      has_more: z.boolean(),
      total_exact: z.literal(false).optional(),
    })
    .openapi(name);

export const uuidParam = <N extends string>(name: N) =>
  z.object({ [name]: z.uuid().openapi({ param: { name, in: 'path' } }) } as Record<N, z.ZodUUID>);

export const MoneyBody = z
  .object({ asset: z.enum(['USDC', 'SOL']), amount: z.string(), base_units: z.string() })
  .openapi('Money', { example: { asset: 'USDC', amount: '12.5', base_units: '12500000' } });

export const Timestamp = z.string().openapi({ format: 'date-time', example: '2026-11-21T09:00:00.000Z' });
export const DetailResponse = z.object({ detail: z.string() }).openapi('DetailResponse');

/** In 3.1 a nullable component must be a union; `.nullable()` on a named schema loses its null. */
export const orNull = <S extends z.ZodType>(schema: S) => z.union([schema, z.null()]);

/** Absent stays absent: an optional field of the wire is omitted, never null. */
export const given = <K extends string, V>(name: K, value: V | null) => (value === null ? {} : ({ [name]: value } as Record<K, V>));
