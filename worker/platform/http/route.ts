/**
 * Route declarations: caller, input, answer, idempotency and verb.
 * @module
 */

import { createRoute, type RouteConfig, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type {
  CommunityId,
  EndpointId,
  EntitlementId,
  KeyId,
  ListingId,
  MembershipId,
  PasskeyId,
  PaymentId,
  ProductId,
  ReceiptId,
  SessionId,
  SetupIntentId,
  TicketId,
} from '#core/ids.ts';
import { inMode, type ScopeOwner } from '#platform/chain/scope.ts';
import type { Actor, Ctx, Scope, Shard, Tenant } from '#platform/context.ts';
import type { RecordedAction } from '#platform/db/audit/record-answer.ts';
import type { Answer, StoredAnswer } from '#platform/db/idempotency-record.ts';
import { answerLeased } from '#platform/db/lease.ts';
import { answerOnce, type StoreAnswer } from '#platform/db/once.ts';
import type { AuditAction } from '#rules/access/audit-actions.ts';
import type { RoleGroup } from '#rules/access/roles.ts';
import type { CallBucket, PublicBucketName } from '#rules/plans.ts';
import { KINDS, type Kind, type KindOptions } from './callers.ts';
import { IdempotencyHeader, type KeyOptions, keyedRequest, OptionalIdempotencyHeader, sendAnswer } from './idempotency-key.ts';
import {
  ACTIONS,
  type ActorEnv,
  type AppEnv,
  errors,
  type Failure,
  idOf,
  idParam,
  jsonBody,
  ModeQuery,
  ok,
  optionalJsonBody,
  type RouteContext,
  router,
  type ViewerEnv,
} from './openapi.ts';
import type { KnownCaller, Subject } from './rate-limit.ts';

/** Path parameters that are ids of these types. Any other name needs `params`. */
interface IdParams {
  claim_id: CommunityId;
  endpoint_id: EndpointId;
  entitlement_id: EntitlementId;
  key_id: KeyId;
  listing_id: ListingId;
  membership_id: MembershipId;
  passkey_id: PasskeyId;
  payment_id: PaymentId;
  product_id: ProductId;
  receipt_id: ReceiptId;
  session_id: SessionId;
  setup_intent_id: SetupIntentId;
  ticket_id: TicketId;
}

type Endpoint = `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;
type NamesIn<P extends string> = P extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;
type Shape = Record<string, z.ZodType>;
type Optional<S> = S | undefined;

type ParamsOf<P extends string, S> = S extends z.ZodType ? z.output<S> : { [N in NamesIn<P> & keyof IdParams]: IdParams[N] };
type QueryOf<Q> = Q extends z.ZodType ? z.output<Q> : Q extends Shape ? z.output<z.ZodObject<Q>> : { mode?: 'live' | 'sandbox' };
type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined;

type Response2xx = Record<
  number,
  { description: string; headers?: Record<string, { $ref: string }>; content?: Record<string, { schema: z.ZodType }> }
>;
type SchemaIn<R> = { [Status in keyof R]: R[Status] extends { content: Record<string, { schema: infer S }> } ? S : never }[keyof R];
type BodyOf<R> = R extends z.ZodType ? z.input<R> : [SchemaIn<R>] extends [never] ? undefined : z.input<SchemaIn<R> & z.ZodType>;

interface Call<E extends AppEnv, P, Q, B, H> {
  c: RouteContext<E> & Pick<Context<E>, 'json' | 'text' | 'redirect'>;
  ctx: Ctx;
  /** Database of the effect and its stored answer. */
  shard: Shard;
  params: P;
  query: Q;
  body: B;
  headers: H;
}
type ActorCall<P, Q, B, H> = Call<ActorEnv, P, Q, B, H> & { actor: Actor; scope: Scope };
type ViewerCall<P, Q, B, H> = Call<ViewerEnv, P, Q, B, H> & { viewer: Tenant | null };

interface Declared<P, Params, Q, B, H, R> {
  path: P;
  tag?: string;
  /** Group of the operation, if not that of the routes around it. */
  group?: RoleGroup;
  description?: string;
  params?: Params;
  query?: Q;
  headers?: H;
  body?: B;
  isBodyOptional?: true;
  /** Schema of 200, or its responses by status. The first status is that of the answer. */
  returns: R;
  /** Errors of the verb. Those of caller, body and key follow from the kind of route. */
  codes?: readonly Failure[];
  /** All error responses, if the kind of route does not supply them. */
  refusals?: ReturnType<typeof errors>;
}

/** Name of an operation in the document and in clients. A route without one is undocumented. */
type Named =
  | { id?: never; sdk?: never; summary?: never; idempotency?: never; agent?: never }
  | {
      /** Operation id. */
      id: string;
      /** `resource.method` of client libraries. False: called by providers, browsers or wallets alone. */
      sdk: `${string}.${string}` | false;
      summary: string;
      /**
       * Effect of a repeated write that takes no Idempotency-Key. `natural`: none, by the protocol's own identity. `none`: nothing prevents
       * a second effect.
       */
      idempotency?: 'natural' | 'none';
      /** Set if an agent must ask its user first: the call moves money, gives value away or cannot be undone. */
      agent?: { confirm: true };
    };

interface Checks<C, F> {
  /** Runs before the Idempotency-Key lookup and may throw. Later steps receive its result as `checked`. */
  check?(call: C): F | Promise<F>;
  /** Database of what a public route names. Chosen before the Idempotency-Key lookup. */
  shard?(call: C & { checked: F }): Shard | Promise<Shard>;
}
/** Row of a call, loaded after the lookup of a stored answer. `scope` is then its merchant's, in its mode and by its clock. */
type Loads<C, L> =
  | { load(call: C): Promise<L>; owner(row: NoInfer<L>): ScopeOwner; respond?: never; answered?: never }
  | { load?: undefined; owner?: undefined };
type Loaded<L> = [L] extends [object] ? { row: L; scope: Scope } : unknown;
interface Presents<C, T, S> extends KeyOptions {
  /** Entry of the audit log, written with the answer, or actions of the entries that the verb writes itself. False: none. */
  audit?: RecordedAction<NoInfer<T>, C> | Actions;
  present(result: T, call: C): S | Promise<S>;
  /** Runs after the answer is stored, and on every replay. */
  answered?(call: C, answer: StoredAnswer): Promise<unknown>;
  answer?: never;
  respond?: never;
}
type Actions = readonly [AuditAction, ...AuditAction[]] | false;
/** Answer mode of a handler, which determines the idempotency of its effect. */
type Answers<C, T, S> =
  | { answer(call: C): S | Promise<S>; audit?: Actions; once?: never; leased?: never; respond?: never }
  /** Single batch: `storeAnswer` returns the writes that store the answer with the effect. */
  | (Presents<C, T, S> & { once(call: C, storeAnswer: StoreAnswer<unknown>): Promise<T>; leased?: never })
  /** Several batches or external calls, under a lease of the key. */
  | (Presents<C, T, S> & { leased(call: C): Promise<T>; once?: never })
  /** Writes the response itself. */
  | { respond(call: C): Response | Promise<Response>; audit?: Actions; answer?: never; once?: never; leased?: never };

type Declare<K extends 'actor' | 'viewer' | 'anyone', Options> = <
  const P extends Endpoint,
  R extends z.ZodType | Response2xx,
  F,
  T,
  L = undefined,
  Params extends Optional<z.ZodType> = undefined,
  Q extends Optional<z.ZodType | Shape> = undefined,
  B extends Optional<z.ZodType> = undefined,
  H extends Optional<z.ZodType> = undefined,
>(
  route: Options &
    Named &
    Declared<P, Params, Q, B, H, R> &
    Checks<CallOf<K, ParamsOf<P, Params>, QueryOf<Q>, Parsed<B>, Parsed<H>>, F> &
    Loads<CallOf<K, ParamsOf<P, Params>, QueryOf<Q>, Parsed<B>, Parsed<H>> & { checked: F }, L> &
    Answers<CallOf<K, ParamsOf<P, Params>, QueryOf<Q>, Parsed<B>, Parsed<H>> & { checked: F } & Loaded<L>, T, BodyOf<R>>,
) => Routes;
type CallOf<K, P, Q, B, H> = K extends 'actor'
  ? ActorCall<P, Q, B, H>
  : K extends 'viewer'
    ? ViewerCall<P, Q, B, H>
    : Call<AppEnv, P, Q, B, H>;

type Admitted = Pick<KindOptions, 'key' | 'mode'> & { bucket?: CallBucket };
type OnBucket = { bucket: PublicBucketName; by: string | Subject; known?: KnownCaller };
type Router = ReturnType<typeof router>;
export interface Routes extends Router {
  /** Merchant's read, by key or token. */
  read: Declare<'actor', Pick<KindOptions, 'mode' | 'needsNoFactor'>>;
  /** Merchant's write, once per Idempotency-Key. */
  write: Declare<'actor', Admitted>;
  /** Server call, by key only. */
  key: Declare<'actor', { bucket: CallBucket }>;
  /** Call of a signed-in person with a role in the account, by token only. */
  person: Declare<'actor', Pick<KindOptions, 'key' | 'limit'> & { mode?: 'live'; memberParam?: string }>;
  /** Call of signed-in persons about themselves, by token only. The scope is that of the account they registered with. */
  self: Declare<'actor', Pick<KindOptions, 'key' | 'limit'>>;
  /** Public call with additional details for the owner. */
  viewer: Declare<'viewer', Pick<KindOptions, 'key'> & OnBucket>;
  public: Declare<'anyone', Pick<KindOptions, 'key' | 'security' | 'guards'> & Partial<OnBucket>>;
}

type AnyCall = Call<AppEnv, unknown, unknown, unknown, unknown> & { checked: unknown; row: unknown; scope: Scope };
type AnyRoute = Named &
  Declared<string, z.ZodType, z.ZodType | Shape, z.ZodType, z.ZodType, z.ZodType | Response2xx> &
  Checks<AnyCall, unknown> &
  KeyOptions & {
    audit?: RecordedAction | Actions;
    load?(call: AnyCall): Promise<unknown>;
    owner?(row: unknown): ScopeOwner;
    answer?(call: AnyCall): unknown;
    once?(call: AnyCall, storeAnswer: StoreAnswer<unknown>): Promise<unknown>;
    leased?(call: AnyCall): Promise<unknown>;
    present?(result: unknown, call: AnyCall): unknown;
    answered?(call: AnyCall, answer: StoredAnswer): Promise<unknown>;
    respond?(call: AnyCall): Response | Promise<Response>;
  };

/** `group`: group of the operations, which the scope of a restricted key names, and by which roles may make them. */
export function routes(tag?: string, group?: RoleGroup): Routes {
  const app = router();
  const declare = (kindOf: (typeof KINDS)[keyof typeof KINDS]) => (declared: AnyRoute & KindOptions) => {
    const route = { tag, ...(group && { group }), ...declared };
    app.openapi(configOf(kindOf(route), route), handlerOf(route) as never);
    return all;
  };
  const kinds = Object.fromEntries(Object.entries(KINDS).map(([name, kindOf]) => [name, declare(kindOf)]));
  const all = Object.assign(app, kinds) as unknown as Routes;
  return all;
}

function configOf({ security, scope, middleware, key, takesMode, codes }: Kind, route: AnyRoute) {
  const { path: endpoint, body, isBodyOptional, headers, refusals } = route;
  const [method, path] = endpoint.split(' ') as ['POST', string];
  const params = route.params ?? idsIn(path);
  const query = queryOf(route.query, takesMode);
  const keyHeader = key === 'none' ? undefined : key === 'required' ? IdempotencyHeader : OptionalIdempotencyHeader;
  return createRoute({
    method: method.toLowerCase() as 'post',
    path,
    ...(route.id === undefined
      ? { hide: true }
      : { ...operationOf(route, method, { security, key }, query), ...(scope && { 'x-scope': scope }) }),
    ...(security ? { security } : {}),
    middleware: middleware as never,
    request: {
      ...(headers ? { headers } : keyHeader ? { headers: keyHeader } : {}),
      ...(params ? { params } : {}),
      ...(query ? { query } : {}),
      ...(body && (isBodyOptional ? optionalJsonBody(body) : jsonBody(body))),
    } as RouteConfig['request'],
    responses: { ...(refusals ?? errors(...codes, ...(route.codes ?? []))), ...responsesOf(route) },
  });
}

const READS = ['GET', 'HEAD'];

/** Texts and extensions of an operation. Throws for a write that does not say what a repeated call does, or what the audit log records. */
function operationOf(route: AnyRoute & { id: string }, method: string, { security = [], key }: Partial<Kind>, query?: z.ZodObject) {
  const { id, tag, summary, description, sdk, agent, audit } = route;
  const [resource, name] = sdk === false ? [] : sdk!.split('.');
  const idempotency = key === 'required' ? 'required' : key === 'optional' ? 'honoured' : route.idempotency;
  if (!READS.includes(method) && idempotency === undefined) throw new Error(`${id} does not say what a repeated call does`);
  const isMerchants = security.some(({ apiKey, bearer }) => apiKey ?? bearer);
  if (isMerchants && audit === undefined && !READS.includes(method) && !/consume|sandbox/.test(route.group!))
    throw new Error(`${id} has no audit`);
  const pages = query && ['after', 'page'].find((field) => field in query.shape);
  return {
    operationId: id,
    'x-sdk': sdk === false ? false : { resource, method: name },
    summary: summary!,
    ...(description ? { description } : {}),
    ...(READS.includes(method) ? {} : { 'x-idempotency': idempotency }),
    ...(method === 'GET' && pages ? { 'x-pages': pages } : {}),
    ...(agent ? { 'x-agent': agent } : {}),
    ...(audit ? { [ACTIONS]: 'action' in audit ? [audit.action] : audit } : {}),
    tags: [tag!],
  };
}

function idsIn(path: string): z.ZodType | undefined {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  return names[0] === undefined ? undefined : idParam(names[0], idOf());
}

const queryOf = (query: z.ZodType | Shape | undefined, takesMode: boolean): z.ZodObject | undefined => {
  if (query instanceof z.ZodType) return query as z.ZodObject;
  return query || takesMode ? z.object({ ...query, ...(takesMode ? ModeQuery : {}) }) : undefined;
};

const responsesOf = ({ returns }: AnyRoute): Response2xx => (returns instanceof z.ZodType ? ok(returns) : returns);

type HandlerContext = AnyCall['c'] & {
  var: ActorEnv['Variables'] & ViewerEnv['Variables'];
  req: { valid(target: string): unknown };
  json(body: unknown, status: number): Response;
};

function handlerOf(route: AnyRoute) {
  const { check, shard, load, owner, answer, once, leased, respond, present, answered, isSecret, retentionMs, audit } = route;
  const status = Number(Object.keys(responsesOf(route))[0]);
  const options: KeyOptions = { ...(isSecret ? { isSecret } : {}), ...(retentionMs === undefined ? {} : { retentionMs }) };
  const complete = async (call: AnyCall): Promise<AnyCall> => {
    if (!load || !owner) return call;
    const row = await load(call);
    return Object.assign(call, { row, scope: await inMode(call.shard, owner(row)) });
  };
  const run = async (call: AnyCall, storeAnswer: StoreAnswer<unknown>) => {
    const loaded = await complete(call);
    return once!(loaded, audit && 'action' in audit ? call.c.var.withEntry(call.shard as Scope, audit, loaded, storeAnswer) : storeAnswer);
  };
  return async (c: HandlerContext) => {
    const [params, query, body, headers] = ['param', 'query', 'json', 'header'].map((target) => c.req.valid(target));
    const { ctx, actor, scope, viewer } = c.var;
    const call = {
      c,
      ctx,
      shard: c.var.shard,
      actor,
      scope,
      viewer,
      params,
      query,
      body,
      headers,
      checked: undefined as unknown,
      row: undefined as unknown,
    };
    call.checked = await check?.(call);
    if (shard) {
      call.shard = await shard(call);
      c.set('shard', call.shard);
    }
    if (respond) return respond(call);
    if (answer) return c.json(await answer(await complete(call)), status);
    const shown = async (result: unknown): Promise<Answer> => ({ status, body: await present!(result, call) });
    const request = await keyedRequest(c, options);
    const stored = once
      ? await answerOnce(call.shard, request, (storeAnswer) => run(call, storeAnswer), shown)
      : await answerLeased(call.shard, request, async () => leased!(await complete(call)), shown);
    await answered?.(call, stored);
    return sendAnswer(c, stored);
  };
}
