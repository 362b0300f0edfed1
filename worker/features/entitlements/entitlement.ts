import { ApiError, formatErrorChain, objectAway } from '#core/errors.ts';
import { entitlementIdOf, parseConsumptionId } from '#core/ids.ts';
import { SECOND } from '#core/time.ts';
import type { Ctx, Scope, Shard } from '#platform/context.ts';
import { commit, commitProjection, forEach } from '#platform/db/commit.ts';
import { fingerprintsOf, type IdempotentRequest } from '#platform/db/idempotency-record.ts';
import { type Swept, sweepPages } from '#platform/db/sweeps.ts';
import { entitlementObject, entitlementObjectName } from '#platform/objects.ts';
import { type Customer, type EntitlementKey, type EntitlementSnapshot, type GrantProblem, planGrant, type Sold } from '#rules/balance.ts';
import {
  type Called,
  type ConsumeAnswer,
  type EntitlementProjection,
  type EntitlementRpc,
  type Full,
  type Operation,
  projectedOf,
  type UseRequest,
} from '#rules/entitlement-rpc.ts';
import { toEntitlementResource } from './resource.ts';
import { type EndedCopy, listPastEnd, overwriteCopy, upsertCopy } from './store.ts';

export { listEntitlements, toSnapshot } from './store.ts';

/** Derives the key of an entitlement: the id follows from merchant, mode, product and customer, so no lookup is needed. */
export function entitlementKeyOf({ merchantId, livemode }: Owner, productId: string, customer: Customer): EntitlementKey {
  return { entitlementId: entitlementIdOf(merchantId, livemode, productId, customer), merchantId, livemode, productId, customer };
}

type Owner = { merchantId: string; livemode: boolean };

/**
 * Calls an entitlement's object. Throws 503 temporarily_unavailable if the object restarts, is overloaded or does not answer: the outcome
 * is unknown, and the caller may repeat, because every call is keyed.
 */
export async function callEntitlement<T>(
  ctx: Ctx,
  owner: Owner,
  entitlementId: string,
  call: (object: EntitlementRpc) => Promise<T>,
): Promise<T> {
  try {
    return await call(entitlementObject(ctx, entitlementObjectName(owner, entitlementId)));
  } catch (error) {
    ctx.note(`object: ${formatErrorChain(error)}`);
    throw objectAway(error);
  }
}

export const calledBy = (ctx: Ctx): Called => ({
  now: ctx.now,
  aheadMs: ctx.now - ctx.wallNow,
  requestId: ctx.cause,
  leftMs: ctx.leftMs(),
});

export const readEntitlement = (ctx: Ctx, owner: Owner, entitlementId: string): Promise<EntitlementSnapshot | null> =>
  callEntitlement(ctx, owner, entitlementId, (object) => object.read(calledBy(ctx)));

const ENDED = { pageMax: 100, pagesMax: 20 };
const LANES = 6;

/**
 * Reads expired entitlements so that their objects end them. Only sandbox sessions and a local machine with an advanced clock need it: by
 * wall time the object's own alarm does this.
 */
export async function sweepEntitlements(ctx: Shard): Promise<Swept> {
  if (ctx.sandbox === null && ctx.now === ctx.wallNow) return { taken: 0, end: 'empty' };
  return sweepPages<EndedCopy>(
    ctx,
    ENDED,
    (last) => listPastEnd(ctx, last, ENDED.pageMax),
    (ended) => forEach(ctx, ended, (one) => readEntitlement(ctx, one, one.id), LANES),
  );
}

/** Deletes a test entitlement. Its object then publishes nothing. Idempotent. */
export const eraseEntitlement = (ctx: Scope, entitlementId: string): Promise<void> =>
  callEntitlement(ctx, ctx, entitlementId, (object) => object.erase());

/**
 * Builds a keyed call to an object. Merchant, mode, product and customer are part of the object's name, so the same key elsewhere is a
 * different call.
 */
function operationOf<T>(ctx: Ctx, identity: EntitlementKey, verb: string, request: IdempotentRequest, input: T): Operation<T> {
  return { identity, key: `${verb}:${request.key}`, fingerprint: fingerprintsOf(ctx, request)[0], input, ...calledBy(ctx) };
}

/** Consumes units exactly once per key. Denials and conflicts are returned, so that the caller can build a challenge. */
export function consumeEntitlement(
  ctx: Ctx,
  identity: EntitlementKey,
  request: IdempotentRequest,
  use: UseRequest,
): Promise<ConsumeAnswer> {
  const operation = operationOf(ctx, identity, 'consume', request, use);
  return callEntitlement(ctx, identity, identity.entitlementId, (object) => object.consume(operation));
}

export const tooManyKeys = (ctx: Ctx, { until }: Full): ApiError =>
  new ApiError('rate_limited', {
    detail: 'The entitlement has reached its limit of operations per day. Its balance is unchanged. Retry later.',
    retryAfterSeconds: (until - ctx.wallNow) / SECOND,
    meta: { reason: 'entitlement_full' },
  });

/**
 * Grants what a product sells without a payment. Throws 409 idempotency_conflict, 422 for units or days that the product does not sell, for
 * neither, or for more than can be counted.
 */
export async function grantEntitlement(
  ctx: Ctx,
  identity: EntitlementKey,
  request: IdempotentRequest,
  { sold, units, days, reason }: { sold: Sold; units?: number | undefined; days?: number | undefined; reason: string },
) {
  const planned = planGrant(sold, { units, days });
  const refusal = 'field' in planned ? planned : null;
  const operation = operationOf(ctx, identity, 'grant', request, { addition: 'field' in planned ? null : planned, reason });
  const answer = await callEntitlement(ctx, identity, identity.entitlementId, (object) => object.grant(operation));
  if (answer.ok) return answer;
  if (answer.reason === 'conflict') throw new ApiError('idempotency_conflict');
  if (answer.reason === 'full') throw tooManyKeys(ctx, answer);
  const problem = refusal
    ? { loc: ['body', refusal.field], msg: textOfGrantProblem(sold, refusal), type: refusal.reason }
    : { loc: ['body', 'units'], msg: 'Expected fewer units', type: 'too_big' };
  throw new ApiError('validation_error', { problems: [problem] });
}

const GRANT_PROBLEMS: Record<GrantProblem['reason'], Record<GrantProblem['field'], string>> = {
  not_sold: {
    units: 'The product sells time, not units. Grant days.',
    days: 'The product sells units without an end. Grant units only.',
  },
  nothing_granted: { units: 'Send units, days or both, as the product sells them.', days: 'Send the days to grant.' },
};

const textOfGrantProblem = ({ usageUnits, accessPeriodDays }: Sold, { reason, field }: GrantProblem): string =>
  usageUnits === null && accessPeriodDays === null
    ? 'The product has neither units nor an end. Omit units and days.'
    : GRANT_PROBLEMS[reason][field];

/** Refunds a consumption. Its id names the object that stores it. Throws 404, 409 state_conflict. */
export async function refundConsumption(ctx: Scope, request: IdempotentRequest, input: { consumptionId: string; reason: string }) {
  const named = parseConsumptionId(input.consumptionId);
  if (!named) throw new ApiError('not_found');
  // Another tenant's id names an object that does not exist, and a request must not create one.
  const known = await readEntitlement(ctx, ctx, named.entitlementId);
  if (!known) throw new ApiError('not_found');
  const operation = operationOf(ctx, known, 'refund', request, input);
  const answer = await callEntitlement(ctx, ctx, named.entitlementId, (object) => object.refund(operation));
  if (answer.ok) return { ...answer, entitlementId: named.entitlementId };
  if (answer.reason === 'conflict') throw new ApiError('idempotency_conflict');
  if (answer.reason === 'full') throw tooManyKeys(ctx, answer);
  if (answer.reason === 'not_found') throw new ApiError('not_found');
  throw new ApiError('state_conflict', { detail: 'The consumption was already refunded.', meta: { reason: 'refunded' } });
}

/** Overwrites a copy that differs from its object, even a newer copy, unless another write came in between. */
export const repairCopy = (ctx: Shard, said: EntitlementSnapshot, readVersion: number): Promise<null> =>
  commit(ctx, { events: [], writes: [overwriteCopy(ctx, said, readVersion)], result: null });

export async function projectEntitlement(ctx: Shard, projection: EntitlementProjection): Promise<void> {
  const { snapshot } = projection;
  await commitProjection(
    ctx,
    { kind: 'projectEntitlement', projection },
    {
      copy: upsertCopy(ctx, snapshot),
      describe: (published) => ({
        subject: { type: 'entitlement', id: published.entitlementId, version: published.version },
        object: toEntitlementResource(published),
      }),
    },
  );
  await callEntitlement(ctx, snapshot, snapshot.entitlementId, (object) =>
    object.published({ ...projectedOf(projection), requestId: ctx.cause, isRoutine: projection.isUseOnly === true }),
  );
}
