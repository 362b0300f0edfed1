import { OpenAPIHono, type RouteConfig, z } from '@hono/zod-openapi';
import type { Context, MiddlewareHandler } from 'hono';
import { createMiddleware } from 'hono/factory';
import { type ApiError, ERRORS, type ErrorCode, type ErrorStatus, isListed } from '#core/errors.ts';
import type { AccountId, CustomerId, Id } from '#core/ids.ts';
import { COUNTED_FILTERED_MAX, PER_PAGE } from '#core/limits.ts';
import { ASSETS } from '#core/money.ts';
import type { Actor, Ctx, Env, Scope, Shard, Tenant } from '#platform/context.ts';
import type { withEntry } from '#platform/db/audit/record-answer.ts';
import { REGIONS } from '#platform/variables/regions.ts';
import type { Need, Role } from '#rules/access/roles.ts';
import type { AdmissionAnswer, Permission } from '#rules/admission.ts';
import type { PassedOutcome } from '#rules/entitlement-rpc.ts';
import type { CallBucket } from '#rules/plans.ts';
import { hasClosedQuery, refuseInvalid } from './refuse-invalid.ts';

/**
 * Last guard of a route, after authentication: throws the body's refusal. An empty optional body passes, although browser clients announce
 * JSON for it.
 */
const readBody = ({ isOptional }: { isOptional: boolean }) =>
  createMiddleware<{ Variables: { bodyRefusal: ApiError | undefined } }>(async (c, next) => {
    if (c.var.bodyRefusal) throw c.var.bodyRefusal;
    const announces = c.req.header('Content-Type') !== undefined;
    if (isOptional && announces && (await c.req.text()).trim() === '') Object.assign(c.req.bodyCache, { text: Promise.resolve('{}') });
    await next();
  });

/** `used` is absent if the caller was not admitted, or if the outcome of the consumption is unknown. */
interface AdmittedCall {
  admission: AdmissionAnswer;
  used?: PassedOutcome;
}

/** Access that a caller needs. `unlessBy`: person who needs no role. `isSelf`: the call acts on the person, from whichever account. */
export interface AskedAccess {
  bucket?: CallBucket;
  scope?: Need;
  unlessBy?: string | undefined;
  isSelf?: boolean;
  needsNoFactor?: boolean | undefined;
}

export interface AppEnv {
  Bindings: Env;
  Variables: {
    requestId: string;
    ctx: Ctx;
    /** Authenticated caller: the actor of a merchant route, or the owner who sent a credential to a public route, else null. */
    caller: Actor | null;
    /** True for a connector that proved its platform's secret. */
    isConnector: true | undefined;
    /** Database of the effect and its stored answer: of the actor, of what a public route names, else the first. */
    shard: Shard;
    /** Result of the account's object, obtained before routing, so that the route does not call the object again. */
    admitted: AdmittedCall | undefined;
    /** True for a call that a page makes. Its page is counted in a bucket of its own. */
    isInner: true | undefined;
    /** Calls a route of this service, set once in app.ts. */
    dispatch(request: Request): Promise<Response>;
    /** Valid key of the request, set whatever the result. */
    key: { keyId: string; admissionId: string } | undefined;
    /** Member with a role that does not allow the request. */
    refusedMember: { accountId: AccountId; personId: AccountId; role: Role; livemode: boolean } | undefined;
    /** Set once in app.ts, so that guards do not depend on the account store. */
    authenticate(c: RouteContext, permission: Permission | null, asked?: AskedAccess): Promise<Actor>;
    /** Set once in app.ts, so that the start does not load the audit log. */
    withEntry: typeof withEntry;
    body: unknown;
    /** Refusal of the body, thrown after authentication. */
    bodyRefusal: ApiError | undefined;
    errorCode: ErrorCode;
    /** Entitlement units that this request consumed, for the key's usage. */
    unitsConsumed: number;
  };
}

/** Request and answer as guards of any route see them, because the framework's context type of one environment fits no other. */
export interface RouteContext<E extends AppEnv = AppEnv> extends Pick<Context<E>, 'env' | 'req' | 'var' | 'header' | 'body'> {
  set<Name extends keyof E['Variables']>(name: Name, value: E['Variables'][Name]): void;
}

export interface ActorEnv extends AppEnv {
  Variables: AppEnv['Variables'] & {
    actor: Actor;
    scope: Scope;
  };
}

/** Additional variables of a public route with owner details. `viewer`: tenant of the credential, or null. */
export interface ViewerEnv extends AppEnv {
  Variables: AppEnv['Variables'] & { viewer: Tenant | null };
}

/**
 * Router that answers every validation failure with our 422. Unknown body fields and query parameters fail too, so that a misspelled one is
 * never treated as omitted.
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

/** Rejects unknown query parameters on /v1 routes that answer JSON or nothing, also in the document. */
const withClosedQuery = ({ request, responses, ...route }: AnyRoute): AnyRoute => ({
  ...route,
  request: { ...request, query: request?.query ?? z.object({}) },
  responses: { ...responses, 422: failureResponse([...codesOf(responses[422]), 'unknown_field']) },
});

interface JsonBody<S extends z.ZodType = z.ZodType, R extends boolean = boolean> {
  body: { required: R; content: { 'application/json': { schema: S } } };
}

/** The only way to declare a JSON body. Without `required` the framework skips validation of a missing body. */
export const jsonBody = <S extends z.ZodType>(schema: S): JsonBody<S, true> => ({
  body: { required: true, content: { 'application/json': { schema } } },
});

/** Optional body. A missing body equals an empty object, and the handler applies defaults. */
export const optionalJsonBody = <S extends z.ZodType>(schema: S): JsonBody<S, false> => ({
  body: { required: false, content: { 'application/json': { schema } } },
});

/** References of a response to headers that the document names. */
export const headersOf = <N extends string>(...names: N[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])) as Record<N, { $ref: string }>;

const content = <S extends z.ZodType>(schema: S) => ({ 'application/json': { schema } });
export const ok = <S extends z.ZodType>(schema: S, description = 'Done') => ({ 200: { description, content: content(schema) } });
export const created = <S extends z.ZodType>(schema: S, description = 'Created') => ({ 201: { description, content: content(schema) } });

const Problem = z.object({
  loc: z.array(z.union([z.string(), z.number()])).describe('Location of the problem: `body`, `query`, `path` or `header`, then the field.'),
  msg: z.string().describe('Human-readable description of the problem.'),
  type: z.string().describe('Stable code of the problem.'),
  ctx: z
    .object({ nearest: z.string().optional().describe('Known name closest to the unknown one.') })
    .optional()
    .describe('Details of an `unknown_field`: the closest known field, if any.'),
});
const ErrorCodeName = z
  .enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]])
  .openapi('ErrorCode', { description: 'Machine-readable error code. Branch on this.' });
const errorFields = {
  code: ErrorCodeName,
  request_id: z.string().describe('Identifier of the request in the operator’s log.'),
  docs_url: z.string().describe('URL of a page that explains the error.'),
  retryable: z.boolean().describe('True if the same request may succeed later.'),
  meta: z.record(z.string(), z.unknown()).describe('Machine-readable details. The fields depend on the code.'),
};
export const ErrorBody = z
  .object({ detail: z.string().describe('Human-readable message. Do not branch on it.'), ...errorFields })
  .openapi('Error');
export const ValidationErrorBody = z
  .object({ detail: z.array(Problem).describe('Human-readable message. Do not branch on it.'), ...errorFields })
  .openapi('ValidationError');

export type Failure = ErrorCode | { code: ErrorCode; status: ErrorStatus };

const ANYWHERE = ['temporarily_unavailable', 'misconfigured', 'internal_error'] as const satisfies ErrorCode[];

export function errors(...failures: Failure[]) {
  const byStatus: Record<number, ErrorCode[]> = {};
  for (const failure of [...failures, ...ANYWHERE]) {
    const { code, status } = typeof failure === 'string' ? { code: failure, status: ERRORS[failure].status } : failure;
    byStatus[status] = [...(byStatus[status] ?? []), code];
  }
  return Object.fromEntries(Object.entries(byStatus).map(([status, codes]) => [status, failureResponse(codes)]));
}

/** Codes of an answer, in the document until the error components are made from them. */
export const CODES = 'x-codes';
/** Actions that an operation declares, for tests. The document lists those of all operations once. */
export const ACTIONS = Symbol('audit actions');

const codesOf = (response: RouteConfig['responses'][string] | undefined): ErrorCode[] =>
  ((response as { [CODES]?: ErrorCode[] } | undefined)?.[CODES] ?? []).filter((code) => code !== 'unknown_field');

function failureResponse(codes: ErrorCode[]) {
  const listed = codes.filter(isListed).length;
  const both = z.union([ValidationErrorBody, ErrorBody]);
  const schema = listed === 0 ? ErrorBody : listed === codes.length ? ValidationErrorBody : both;
  return { description: codes.map((code) => `\`${code}\``).join(', '), [CODES]: codes, content: content(schema) };
}

export const protocolBodyErrors = ['payload_too_large', 'unsupported_media_type'] as const satisfies ErrorCode[];
export const bodyErrors = ['validation_error', 'unknown_field', ...protocolBodyErrors] as const satisfies ErrorCode[];

export const positiveInteger = (max: number) =>
  z
    .string()
    .regex(/^[0-9]{1,15}$/, 'Expected a whole number')
    .transform(Number)
    .pipe(z.number().min(1).max(max));

export const PageQuery = {
  page: positiveInteger(999_999_999).default(1).openapi({ type: 'integer', minimum: 1, default: 1 }).describe('Page number, from 1.'),
  per_page: positiveInteger(PER_PAGE.max)
    .default(PER_PAGE.default)
    .openapi({ type: 'integer', minimum: 1, maximum: PER_PAGE.max, default: PER_PAGE.default })
    .describe('Number of entries per page.'),
};

/** A token acts on live rows unless `mode` selects the sandbox. For a key, `mode` must match the key's mode. */
export const ModeQuery = {
  mode: z.enum(['live', 'sandbox']).optional().describe('Mode in which a token acts; live by default.'),
};

const Instant = (description: string) =>
  z
    .union([z.iso.datetime({ offset: true }), z.iso.date()])
    .optional()
    .openapi({ type: 'string', format: 'date-time', description });

/** Parameters of a list by time of creation, half-open. */
export const CreatedRange = {
  created_from: Instant('Return only objects from this time on. A date means its beginning in UTC.'),
  created_to: Instant('Return only objects before this time.'),
};

/** Epoch ms of a parameter of `CreatedRange`. */
export const epochOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Date.parse(text));

type Range<T> = readonly [low: string, high: string, parse: (text: string | undefined) => T | undefined];
const CREATED: Range<number> = ['created_from', 'created_to', epochOf];

/** Refuses a query in which the range of creation, or another one, ends before it begins. */
export const refuseReversed =
  (...others: Range<bigint>[]): z.core.CheckFn<Record<string, unknown>> =>
  ({ value, issues }) => {
    for (const [low, high, parse] of [CREATED, ...others]) {
      const [from, to] = [low, high].map((name) => parse(value[name] as string | undefined)) as [number | undefined, number | undefined];
      if (from === undefined || to === undefined || from <= to) continue;
      issues.push({
        code: 'custom',
        input: value,
        path: [high],
        message: `Expected ${high} not to be below ${low}`,
        params: { type: 'reversed_range' },
      });
    }
  };

/** Description text of a list that counts fewer rows under a filter. */
export const countedLessWith = (filter: string): string =>
  `With ${filter}, \`total\` is exact up to ${COUNTED_FILTERED_MAX.toLocaleString('en')}.`;

const Total = z.int().openapi('Total', {
  description:
    'Number of entries on all pages. Exact up to 10,000, with some filters up to 2,000: the description of each list names them.',
});

const TotalExact = z.literal(false).openapi('TotalExact', { description: 'False if the list has more entries than `total`.' });

export const pageOf = <S extends z.ZodType, F extends z.ZodRawShape = Record<never, never>>(item: S, name: string, further = {} as F) =>
  z
    .object({
      items: z.array(item),
      page: z.int(),
      per_page: z.int(),
      total: Total,
      total_pages: z.int(),
      has_more: z.boolean(),
      total_exact: TotalExact.optional(),
      ...further,
    })
    .openapi(name);

/** UUID in a request, typed by its object. The verb checks existence and ownership. */
export const idOf = <T extends Id>() => z.uuid() as unknown as z.ZodType<T, T>;

/** Filter of a list. */
export const OfCustomer = idOf<CustomerId>().optional().describe('Return only objects of this customer.');

export const idParam = <N extends string, T extends Id>(name: N, id: z.ZodType<T, T>) =>
  z.object({ [name]: id.openapi({ param: { name, in: 'path' } }) } as Record<N, z.ZodType<T, T>>);

export const MoneyBody = z
  .object({
    asset: z.enum(['USDC', 'SOL']).describe('Asset: `USDC` or `SOL`.'),
    amount: z.string().describe('Decimal amount as text, such as `12.5`. USDC has at most 6 decimals, SOL at most 9; more are refused.'),
    base_units: z.string().describe('Amount in the smallest units of the asset: an integer as text.'),
  })
  .openapi('Money', { example: { asset: 'USDC', amount: '12.5', base_units: '12500000' } });

export const Timestamp = z.string().openapi('Timestamp', { format: 'date-time', example: '2026-11-21T09:00:00.000Z' });
export const ServiceTime = Timestamp.describe(
  "Business time of this response. Count down to `expires_at` from this time, not from the device's clock.",
);
/** In OpenAPI 3.1 a nullable component must be a union, because `.nullable()` loses its null. */
export const orNull = <S extends z.ZodType>(schema: S) => z.union([schema, z.null()]);

/** Region of a new account. */
export const HomeRegion = z
  .enum(REGIONS)
  .optional()
  .describe(
    'Region that stores the account for good. Defaults to that of the caller. Only a region that the deployment offers is accepted.',
  );
export const PaidThrough = orNull(Timestamp).describe('End of the paid time; null: no end.');
export const Livemode = z.boolean().describe('False for the sandbox.');
export const ObjectVersion = z.int().describe('Version of the object. Each change increases it.');
export const Detail = z.string().describe('Human-readable message. Do not branch on it.');

export const AccountUuid = z.uuid();
export const EntitlementUuid = z.uuid().describe('Identifier of the entitlement. A customer and a product always have the same one.');
export const IdentitySessionUuid = z.uuid().describe('Identifier of the session in which a buyer proves their identity.');
export const MembershipUuid = z.uuid();
export const PaymentUuid = z.uuid().describe('Identifier of the payment. It grants access to the payment’s status.');
export const ProductUuid = z.uuid();
export const ReceiptUuid = z.uuid();
export const ProductSlug = z
  .string()
  .describe('Last part of the checkout page’s URL: lower-case letters, digits and hyphens. Derived from the name by default.');

export const AssetName = z.enum(ASSETS).describe('Asset: `USDC` or `SOL`.');
export const NetworkId = z.string().describe('Network in CAIP-2.');
export const PayerWallet = z.string();
export const RecipientWallet = z.string();
export const TransactionSignature = z.string();

export const UpdateResponse = z
  .object({
    detail: z.string().describe('Human-readable message. Do not branch on it.'),
    updated_fields: z.array(z.string()),
  })
  .openapi('UpdateResponse');
export const DetailResponse = z
  .object({ detail: z.string().describe('Human-readable message. Do not branch on it.') })
  .openapi('DetailResponse');

/** Omits a null field, because optional fields of the API are omitted, never null. */
export const given = <K extends string, V>(name: K, value: V | null) => (value === null ? {} : ({ [name]: value } as Record<K, V>));
