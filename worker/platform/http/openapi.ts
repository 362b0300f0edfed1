import { OpenAPIHono, type RouteConfig, z } from '@hono/zod-openapi';
import type { Context, MiddlewareHandler } from 'hono';
import { createMiddleware } from 'hono/factory';
import { type ApiError, ERRORS, type ErrorCode, type ErrorStatus, type ValidationProblem } from '#core/errors.ts';
import type { Id } from '#core/ids.ts';
import { COUNTED_FILTERED_MAX, PER_PAGE } from '#core/limits.ts';
import type { Actor, Ctx, Env, Scope, Shard, Tenant } from '#platform/context.ts';
import type { AdmissionAnswer, Permission } from '#rules/admission.ts';
import type { PassedOutcome } from '#rules/entitlement-rpc.ts';
import type { CallBucket } from '#rules/plans.ts';
import { hasClosedQuery, refuseInvalid } from './refuse-invalid.ts';

/**
 * The last guard of a route, once it knows who calls: says what is wrong with the body. Browsers' wrappers announce JSON even where they send
 * nothing; nothing is what an optional body may be.
 */
const readBody = ({ isOptional }: { isOptional: boolean }) =>
  createMiddleware<{ Variables: { bodyRefusal: ApiError | undefined } }>(async (c, next) => {
    if (c.var.bodyRefusal) throw c.var.bodyRefusal;
    const announces = c.req.header('Content-Type') !== undefined;
    if (isOptional && announces && (await c.req.text()).trim() === '') Object.assign(c.req.bodyCache, { text: Promise.resolve('{}') });
    await next();
  });

/** `used` is absent where the caller was not admitted, and where what became of the use is not known. */
interface Told {
  admission: AdmissionAnswer;
  used?: PassedOutcome;
}

export interface AppEnv {
  Bindings: Env;
  Variables: {
    requestId: string;
    ctx: Ctx;
    /** Who calls, once admitted: of a route for merchants, or the owner who showed a credential on a public one; else null. */
    caller: Actor | null;
    /** A connector of ours calls: it showed the secret of its platform. */
    isConnector: true | undefined;
    /** Where the request's effect is, and its kept answer beside it: of the actor, of what a public route names, else the first. */
    shard: Shard;
    /** What the account's object said of this call before its route came to ask: the route goes on from there, and asks nothing twice. */
    told: Told | undefined;
    /** The key that was shown, once it is known to be one of ours that is not revoked, whatever became of the request. */
    key: { keyId: string; admissionId: string } | undefined;
    /** Set once in app.ts, so that guards can admit a caller without knowing how accounts are stored. */
    authenticate(c: RouteContext, permission: Permission | null, bucket?: CallBucket): Promise<Actor>;
    /** The JSON body as it was received, parsed once; undefined where there is none. */
    body: unknown;
    /** What is wrong with the body of any route: said once the route knows who calls. */
    bodyRefusal: ApiError | undefined;
    errorCode: ErrorCode;
    /** Units of entitlements this request consumed, for the usage of its key. */
    unitsConsumed: number;
  };
}

/** A request and its answer, as guards and helpers of any route see them: the framework's type of one environment fits no other. */
export interface RouteContext<E extends AppEnv = AppEnv> extends Pick<Context<E>, 'env' | 'req' | 'var' | 'header' | 'body'> {
  set<Name extends keyof E['Variables']>(name: Name, value: E['Variables'][Name]): void;
}

/** What a handler finds besides behind a guard that let an actor in. */
export interface ActorEnv extends AppEnv {
  Variables: AppEnv['Variables'] & {
    actor: Actor;
    /** The rows of the actor. */
    scope: Scope;
  };
}

/** And on a public route that is fuller for the owner: `viewer` is whose credential was shown too, or null. */
export interface ViewerEnv extends AppEnv {
  Variables: AppEnv['Variables'] & { viewer: Tenant | null };
}

/**
 * A router whose every validation failure ends as our 422. A field that the route's body does not know is one of them, and so is a query
 * parameter, so that a misspelt one is never taken for one left out.
 */
export function router() {
  const app = new OpenAPIHono<AppEnv>();
  const { openapi } = app;
  const declare = ({ middleware = [], ...declared }: AnyRoute, handler: never) => {
    const route = hasClosedQuery(declared) ? withClosedQuery(declared) : declared;
    const { body } = route.request ?? {};
    const reader = readBody({ isOptional: body !== undefined && !body.required });
    const guards = Array.isArray(middleware) ? middleware : [middleware];
    const schemas = { json: body?.content['application/json'].schema, query: route === declared ? undefined : route.request?.query };
    return openapi({ ...route, middleware: [...guards, reader] }, handler, refuseInvalid(schemas));
  };
  return Object.assign(app, { openapi: declare as unknown as typeof openapi });
}

type AnyRoute = Omit<RouteConfig, 'request'> & {
  middleware?: MiddlewareHandler<AppEnv> | readonly MiddlewareHandler<AppEnv>[];
  request?: Omit<NonNullable<RouteConfig['request']>, 'body'> & Partial<JsonBody>;
};

/** Every route under /v1 that answers JSON or nothing refuses unknown query parameters, and says so in the document. */
const withClosedQuery = ({ request, responses, ...route }: AnyRoute): AnyRoute => ({
  ...route,
  request: { ...request, query: request?.query ?? z.object({}) },
  responses: { ...responses, 422: failureResponse([...codesOf(responses[422]), 'unknown_field']) },
});

interface JsonBody<S extends z.ZodType = z.ZodType, R extends boolean = boolean> {
  body: { required: R; content: { 'application/json': { schema: S } } };
}

/** The only way to declare a JSON body: without `required` the framework would skip validation for a missing one. */
export const jsonBody = <S extends z.ZodType>(schema: S): JsonBody<S, true> => ({
  body: { required: true, content: { 'application/json': { schema } } },
});

/** A body that may be left out, which is the same as an empty object; its defaults are for the handler to know. */
export const optionalJsonBody = <S extends z.ZodType>(schema: S): JsonBody<S, false> => ({
  body: { required: false, content: { 'application/json': { schema } } },
});

const content = <S extends z.ZodType>(schema: S) => ({ 'application/json': { schema } });
export const ok = <S extends z.ZodType>(schema: S, description = 'Done') => ({ 200: { description, content: content(schema) } });
export const created = <S extends z.ZodType>(schema: S, description = 'Created') => ({ 201: { description, content: content(schema) } });

const Problem = z.object({
  loc: z.array(z.union([z.string(), z.number()])),
  msg: z.string(),
  type: z.string(),
  ctx: z
    .object({ nearest: z.string().optional() })
    .optional()
    .openapi({ description: 'Of an `unknown_field`: the known field whose name is nearest, if one is near.' }),
});
const errorFields = {
  code: z.enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]),
  request_id: z.string(),
  docs_url: z.string(),
  retryable: z.boolean(),
  meta: z.record(z.string(), z.unknown()),
};
export const ErrorBody = z.object({ detail: z.string(), ...errorFields }).openapi('Error');
export const HTTPValidationError = z.object({ detail: z.array(Problem), ...errorFields }).openapi('HTTPValidationError');

export type Failure = ErrorCode | { code: ErrorCode; status: ErrorStatus };

/** Errors that any route may answer: transient failures, a broken configuration and bugs. */
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

/** The codes that a response of `errors` lists. */
const codesOf = (response: RouteConfig['responses'][string] | undefined): ErrorCode[] =>
  Object.keys(
    response && 'content' in response
      ? ((response.content?.['application/json'] as { examples?: object } | undefined)?.examples ?? {})
      : {},
  ).filter((code) => code !== 'unknown_field') as ErrorCode[];

function failureResponse(codes: ErrorCode[]) {
  const listed = codes.filter(isListed).length;
  const both = z.union([HTTPValidationError, ErrorBody]);
  const schema = listed === 0 ? ErrorBody : listed === codes.length ? HTTPValidationError : both;
  const examples = Object.fromEntries(codes.map((code) => [code, { value: errorExample(code) }]));
  return { description: codes.map((code) => `\`${code}\``).join(', '), content: { 'application/json': { schema, examples } } };
}

/** Their `detail` is a list of problems. */
const LISTED = {
  validation_error: { loc: ['body', 'name'], msg: 'Expected a string', type: 'invalid_type' },
  unknown_field: {
    loc: ['body', 'payoutWallet'],
    msg: 'This field is unknown. Did you mean payout_wallet?',
    type: 'unknown_field',
    ctx: { nearest: 'payout_wallet' },
  },
} satisfies Partial<Record<ErrorCode, ValidationProblem>>;
const isListed = (code: ErrorCode): code is keyof typeof LISTED => Object.hasOwn(LISTED, code);

/** An error with this code as it looks on the wire. */
export const errorExample = (code: ErrorCode, baseUrl = 'https://pay.example.com') => ({
  detail: isListed(code) ? [LISTED[code]] : ERRORS[code].message,
  code,
  request_id: '0199f0c2b5a87c3e9d1f',
  docs_url: docsUrl(baseUrl, code),
  retryable: ERRORS[code].retryable,
  meta: {},
});

/** The page of a code for persons. */
export const docsUrl = (baseUrl: string, code: ErrorCode): string => `${baseUrl}/docs/errors/${code}`;

export const protocolBodyErrors = ['payload_too_large', 'unsupported_media_type'] as const satisfies ErrorCode[];
/** What any route with a JSON body of ours may refuse before its own rules. */
export const bodyErrors = ['validation_error', 'unknown_field', ...protocolBodyErrors] as const satisfies ErrorCode[];

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

/** A token acts on live rows unless it asks for the sandbox; a key must not contradict its own mode. */
export const ModeQuery = {
  mode: z.enum(['live', 'sandbox']).optional().openapi({ description: 'The mode a token acts in; default live.' }),
};

/** A sentence for the description of a list that counts fewer rows under a filter. */
export const countedLessWith = (filter: string): string =>
  `With ${filter}, \`total\` is exact up to ${COUNTED_FILTERED_MAX.toLocaleString('en')}.`;

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

/** An id as a request names it: a UUID, typed as what it is the id of. That there is one, and whose it is, the verb finds out. */
export const idOf = <T extends Id>() => z.uuid() as unknown as z.ZodType<T, T>;

export const idParam = <N extends string, T extends Id>(name: N, id: z.ZodType<T, T>) =>
  z.object({ [name]: id.openapi({ param: { name, in: 'path' } }) } as Record<N, z.ZodType<T, T>>);

export const MoneyBody = z
  .object({ asset: z.enum(['USDC', 'SOL']), amount: z.string(), base_units: z.string() })
  .openapi('Money', { example: { asset: 'USDC', amount: '12.5', base_units: '12500000' } });

export const Timestamp = z.string().openapi({ format: 'date-time', example: '2026-11-21T09:00:00.000Z' });
export const ServiceTime = Timestamp.openapi({
  description: "Business time of this answer. Count down to `expires_at` from here, not from the device's clock.",
});
export const UpdateResponse = z.object({ detail: z.string(), updated_fields: z.array(z.string()) }).openapi('UpdateResponse');
export const DetailResponse = z.object({ detail: z.string() }).openapi('DetailResponse');

/** In 3.1 a nullable component must be a union; `.nullable()` loses its null. */
export const orNull = <S extends z.ZodType>(schema: S) => z.union([schema, z.null()]);

/** Absent stays absent: an optional field of the wire is omitted, never null. */
export const given = <K extends string, V>(name: K, value: V | null) => (value === null ? {} : ({ [name]: value } as Record<K, V>));
