/**
 * One declaration a route: who may call it, what it takes and answers, how often its effect may happen, and the verb behind it.
 * @module
 */

import { createRoute, type RouteConfig, z } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import type {
  CommunityId,
  EndpointId,
  EntitlementId,
  KeyId,
  MembershipId,
  PaymentId,
  ProductId,
  ReceiptId,
  SetupIntentId,
  TicketId,
} from '#core/ids.ts';
import type { Actor, Ctx, Scope, Shard, Tenant } from '#platform/context.ts';
import type { Answer } from '#platform/db/idempotency-record.ts';
import type { StoreAnswer } from '#platform/db/once.ts';
import type { CallBucket, PublicBucketName } from '#rules/plans.ts';
import * as callers from './callers.ts';
import {
  answerLeased,
  answerOnce,
  checkIdempotencyKey,
  IdempotencyHeader,
  idempotencyErrors,
  type KeyOptions,
  OptionalIdempotencyHeader,
  optionalKeyErrors,
  sendStored,
} from './idempotency-key.ts';
import {
  type ActorEnv,
  type AppEnv,
  bodyErrors,
  errors,
  type Failure,
  idOf,
  idParam,
  jsonBody,
  ModeQuery,
  ok,
  optionalJsonBody,
  protocolBodyErrors,
  type RouteContext,
  router,
  type ViewerEnv,
} from './openapi.ts';
import { publicBucket, type Subject } from './rate-limit.ts';

/** Names in a path that are ids of these types. Any other name needs `params`. */
interface IdParams {
  claim_id: CommunityId;
  endpoint_id: EndpointId;
  entitlement_id: EntitlementId;
  key_id: KeyId;
  membership_id: MembershipId;
  payment_id: PaymentId;
  product_id: ProductId;
  receipt_id: ReceiptId;
  setup_intent_id: SetupIntentId;
  ticket_id: TicketId;
}

type Endpoint = `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;
type NamesIn<P extends string> = P extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;
type Shape = Record<string, z.ZodType>;
type Optional<S> = S | undefined;

type ParamsOf<P extends string, S> = S extends z.ZodType ? z.output<S> : { [N in NamesIn<P> & keyof IdParams]: IdParams[N] };
type QueryOf<Q> = Q extends z.ZodType ? z.output<Q> : Q extends Shape ? z.output<z.ZodObject<Q>> : undefined;
type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined;

type Response2xx = Record<number, { description: string; content?: Record<string, { schema: z.ZodType }> }>;
type SchemaIn<R> = { [Status in keyof R]: R[Status] extends { content: Record<string, { schema: infer S }> } ? S : never }[keyof R];
/** Body of the answer: of the schema that the route returns. */
type BodyOf<R> = R extends z.ZodType ? z.input<R> : SchemaIn<R> extends z.ZodType ? z.input<SchemaIn<R>> : undefined;

/** A checked request as its handler reads it. */
interface Call<E extends AppEnv, P, Q, B, H> {
  c: RouteContext<E>;
  ctx: Ctx;
  /** Database of the effect and of its stored answer. */
  shard: Shard;
  params: P;
  query: Q;
  body: B;
  headers: H;
}
type ActorCall<P, Q, B, H> = Call<ActorEnv, P, Q, B, H> & { actor: Actor; scope: Scope };
type ViewerCall<P, Q, B, H> = Call<ViewerEnv, P, Q, B, H> & { viewer: Tenant | null };

interface Declared<P, Params, Q, B, H, R> {
  /** Method and path. */
  path: P;
  /** Operation id. A route without one is not in the document. */
  id?: string;
  tag?: string;
  summary?: string;
  description?: string;
  params?: Params;
  query?: Q;
  headers?: H;
  body?: B;
  /** A missing body counts as an empty object. */
  isBodyOptional?: true;
  /** Schema of 200, or its responses by status. The first status is that of the answer. */
  returns: R;
  /** Errors of the verb. Those of caller, body and key follow from the kind of route. */
  codes?: readonly Failure[];
  /** All error responses, if the kind of route does not give them. */
  refusals?: ReturnType<typeof errors>;
}

interface Placed<C> {
  /** Database of what a public route names. Chosen before the Idempotency-Key is looked up. */
  shard?(call: C): Shard | Promise<Shard>;
}
interface Presented<C, T, S> extends Placed<C>, KeyOptions {
  present(result: T, call: C): S | Promise<S>;
  answer?: never;
  respond?: never;
}
/** How a handler answers, and how often its effect may happen. */
type Handling<C, T, S> =
  /** No idempotency key. */
  | (Placed<C> & { answer(call: C): S | Promise<S>; once?: never; leased?: never; respond?: never })
  /** In one batch: `storeAnswer` gives the statements that store the answer with the effect. */
  | (Presented<C, T, S> & { once(call: C, storeAnswer: StoreAnswer<unknown>): Promise<T>; leased?: never })
  /** In several batches, or with calls to others: under a lease of the key. */
  | (Presented<C, T, S> & { leased(call: C): Promise<T>; once?: never })
  /** Writes the response itself. */
  | (Placed<C> & { respond(call: C): Response | Promise<Response>; answer?: never; once?: never; leased?: never });

/** A route without a credential, limited by its bucket. */
interface Limited {
  bucket?: PublicBucketName;
  /** A name in the path, or what else separates callers of one bucket. */
  by?: string | Subject;
}
interface Keyed {
  /** `required`: the call fails without an Idempotency-Key. `none`: it takes no key. */
  key?: 'required' | 'none';
}
interface Admitted extends Keyed {
  mode?: 'sandbox' | 'live';
  bucket?: CallBucket;
}
interface OfPerson extends Keyed {
  mode?: 'live';
  check?(c: RouteContext<ActorEnv>): void | Promise<void>;
}
interface Public extends Limited, Keyed {
  security?: Record<string, string[]>[];
  guards?: readonly MiddlewareHandler<AppEnv>[];
}

/** Declares routes of one kind of caller. */
type Declare<K extends 'actor' | 'viewer' | 'anyone', Options> = <
  const P extends Endpoint,
  R extends z.ZodType | Response2xx,
  T,
  Params extends Optional<z.ZodType> = undefined,
  Q extends Optional<z.ZodType | Shape> = undefined,
  B extends Optional<z.ZodType> = undefined,
  H extends Optional<z.ZodType> = undefined,
>(
  route: Options &
    Declared<P, Params, Q, B, H, R> &
    Handling<CallOf<K, ParamsOf<P, Params>, QueryOf<Q>, Parsed<B>, Parsed<H>>, T, BodyOf<R>>,
) => Routes;
type CallOf<K, P, Q, B, H> = K extends 'actor'
  ? ActorCall<P, Q, B, H>
  : K extends 'viewer'
    ? ViewerCall<P, Q, B, H>
    : Call<AppEnv, P, Q, B, H>;

type Router = ReturnType<typeof router>;
export interface Routes extends Router {
  /** A merchant's read, by key or token. */
  read: Declare<'actor', Admitted>;
  /** A merchant's write, done once per Idempotency-Key. */
  write: Declare<'actor', Admitted>;
  /** A call of a server: by key alone. */
  key: Declare<'actor', Admitted & { bucket: CallBucket }>;
  /** A call of a signed-in person: by token alone. */
  person: Declare<'actor', OfPerson>;
  /** A public call that answers the owner more fully. */
  viewer: Declare<'viewer', Required<Limited> & Keyed>;
  /** A public call. */
  public: Declare<'anyone', Public>;
}

/** What the kind of a route gives it. */
interface Kind {
  security?: Record<string, string[]>[];
  middleware: MiddlewareHandler | readonly MiddlewareHandler[];
  key: 'required' | 'optional' | 'none';
  takesMode: boolean;
  codes: readonly Failure[];
}

type AnyCall = Call<AppEnv, unknown, unknown, unknown, unknown>;
type AnyRoute = Declared<string, z.ZodType, z.ZodType | Shape, z.ZodType, z.ZodType, z.ZodType | Response2xx> &
  Handling<AnyCall, unknown, unknown> &
  KeyOptions & { present?(result: unknown, call: AnyCall): unknown };

/** A router whose routes have this tag, unless they name another. */
export function routes(tag?: string): Routes {
  const app = router();
  const add = (kind: Kind, route: AnyRoute): Routes => {
    app.openapi(configOf(kind, { tag, ...route }), handlerOf(route) as never);
    return all;
  };
  const declare =
    <Options>(kindOf: (options: Options, route: AnyRoute) => Kind) =>
    (route: AnyRoute & Options) =>
      add(kindOf(route, route), route);
  const all = Object.assign(app, {
    read: declare(readKind),
    write: declare(writeKind),
    key: declare<{ bucket: CallBucket }>(({ bucket }) => ({
      ...callers.keyRoute(bucket),
      key: 'none',
      takesMode: false,
      codes: [...callers.callerErrors, 'validation_error', ...protocolBodyErrors],
    })),
    person: declare(personKind),
    viewer: declare(viewerKind),
    public: declare(publicKind),
  }) as unknown as Routes;
  return all;
}

function readKind({ mode }: Admitted): Kind {
  const guard = mode === undefined ? callers.merchantRoute('read') : mode === 'live' ? callers.liveRoute.read : callers.sandboxRoute.read;
  return { ...guard, key: 'none', takesMode: mode !== 'live', codes: [...callers.callerErrors, 'validation_error'] };
}

function writeKind({ mode, bucket, key }: Admitted): Kind {
  const optional = mode === undefined ? callers.writeRoute : mode === 'live' ? callers.liveRoute.write : callers.sandboxRoute.write;
  const guard = key === 'required' ? callers.idempotentRoute(bucket) : optional;
  const takes = key === 'required' ? key : 'optional';
  return { ...guard, key: takes, takesMode: mode !== 'live', codes: [...callers.callerErrors, ...bodyErrors, ...keyErrors(takes)] };
}

function personKind({ mode, check, key }: OfPerson, { path }: AnyRoute): Kind {
  const takes = key ?? (path.startsWith('GET ') ? 'none' : 'optional');
  const checked = mode === 'live' ? callers.livePersonRoute : callers.keyedPersonRoute(...(check ? [check] : []));
  const guard = takes === 'none' ? callers.personRoute : checked;
  const body = takes === 'none' ? (['validation_error'] as const) : [...bodyErrors, ...keyErrors('optional')];
  return { ...guard, key: takes, takesMode: false, codes: [...callers.callerErrors, ...body] };
}

const subjectOf = (by: string | Subject = () => ''): Subject => (typeof by === 'string' ? (c) => c.req.param(by) ?? '' : by);
const keyErrors = (key: Kind['key']) => (key === 'none' ? [] : key === 'required' ? idempotencyErrors : optionalKeyErrors);
const takesKey = ({ once, leased }: AnyRoute): Kind['key'] => (once || leased ? 'optional' : 'none');
const inputErrors = ({ body, params, query }: AnyRoute): readonly Failure[] =>
  body ? [...bodyErrors] : params || query ? ['validation_error'] : [];

function viewerKind({ bucket, by, key: asked }: Required<Limited> & Keyed, route: AnyRoute): Kind {
  const key = asked ?? takesKey(route);
  const guard = key === 'none' ? callers.viewerRoute(bucket, subjectOf(by)) : callers.keyedViewerRoute(bucket, subjectOf(by));
  const codes = [...inputErrors(route), ...callers.viewerErrors, ...keyErrors(key), 'rate_limited'] as Failure[];
  return { ...guard, key, takesMode: true, codes };
}

function publicKind({ bucket, by, key: asked, security, guards = [] }: Public, route: AnyRoute): Kind {
  const key = asked ?? takesKey(route);
  const limit = bucket ? [publicBucket(bucket, subjectOf(by))] : [];
  const middleware = [...limit, ...guards, ...(key === 'optional' ? [checkIdempotencyKey] : [])];
  const codes = [...inputErrors(route), ...keyErrors(key), ...(bucket ? ['rate_limited'] : [])] as Failure[];
  return { ...(security ? { security } : {}), middleware, key, takesMode: false, codes };
}

/** The route as the framework and the document know it. */
function configOf({ security, middleware, key, takesMode, codes }: Kind, route: AnyRoute) {
  const { path: endpoint, id, tag, summary, description, body, isBodyOptional, headers, refusals } = route;
  const [method, path] = endpoint.split(' ') as ['POST', string];
  const params = route.params ?? idsIn(path);
  const query = queryOf(route.query, takesMode);
  const keyHeader = key === 'none' ? undefined : key === 'required' ? IdempotencyHeader : OptionalIdempotencyHeader;
  return createRoute({
    method: method.toLowerCase() as 'post',
    path,
    ...(id === undefined ? { hide: true } : { operationId: id, tags: [tag!], summary: summary!, ...(description ? { description } : {}) }),
    ...(security ? { security } : {}),
    middleware: middleware as never,
    request: {
      ...(headers ? { headers } : keyHeader ? { headers: keyHeader } : {}),
      ...(params ? { params } : {}),
      ...(query ? { query } : {}),
      ...(body && (isBodyOptional ? optionalJsonBody(body) : jsonBody(body))),
    } as RouteConfig['request'],
    responses: { ...responsesOf(route), ...(refusals ?? errors(...codes, ...(route.codes ?? []))) },
  });
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

/** Reads the request, runs the verb under its idempotency and sends the answer. */
function handlerOf(route: AnyRoute) {
  const { shard, answer, once, leased, respond, present, isSecret, keepMs } = route;
  const status = Number(Object.keys(responsesOf(route))[0]);
  const options: KeyOptions = { ...(isSecret ? { isSecret } : {}), ...(keepMs === undefined ? {} : { keepMs }) };
  return async (
    c: RouteContext<ActorEnv & ViewerEnv> & { req: { valid(target: string): unknown }; json: (...answer: unknown[]) => Response },
  ) => {
    const [params, query, body, headers] = ['param', 'query', 'json', 'header'].map((target) => c.req.valid(target));
    const { ctx, actor, scope, viewer } = c.var;
    const call = { c, ctx, shard: c.var.shard, actor, scope, viewer, params, query, body, headers };
    if (shard) {
      call.shard = await shard(call);
      c.set('shard', call.shard);
    }
    if (respond) return respond(call);
    if (answer) return c.json(await answer(call), status);
    const shown = async (result: unknown): Promise<Answer> => ({ status, body: await present!(result, call) });
    if (once) return sendStored(c, await answerOnce(c, (storeAnswer) => once(call, storeAnswer), shown, options));
    return sendStored(c, await answerLeased(c, () => leased!(call), shown, options));
  };
}
