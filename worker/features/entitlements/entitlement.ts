import { ApiError, formatErrorChain, objectAway } from '#core/errors.ts';
import { customerIdOf, entitlementIdOf, parseConsumptionId } from '#core/ids.ts';
import { SECOND } from '#core/time.ts';
import type { Ctx, Scope, Shard } from '#platform/context.ts';
import { commit, commitProjection } from '#platform/db/commit.ts';
import { homeOfNamed } from '#platform/db/directory.ts';
import { fingerprintsOf, type IdempotentRequest } from '#platform/db/idempotency-record.ts';
import { entitlementObject, entitlementObjectName } from '#platform/objects.ts';
import type { Customer, EntitlementKey, EntitlementSnapshot } from '#rules/balance.ts';
import {
  type Called,
  type ConsumeAnswer,
  type EntitlementProjection,
  type EntitlementRpc,
  type Full,
  type Moved,
  type Operation,
  projectedOf,
  type Redirected,
  type UseRequest,
} from '#rules/entitlement-rpc.ts';
import { toEntitlementResource } from './resource.ts';
import { deleteCopy, findSurvivor, isParted, overwriteCopy, upsertCopy } from './store.ts';

export { listEntitlements, toSnapshot } from './store.ts';
export { deleteCopy };

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

/** A customer absorbs at most 20 others, one after the other. */
const HOPS_MAX = 25;

/** Ends the merge in the object of a customer that an erasure has parted from another. Returns false if the customer is merged. */
async function partFromMerged(ctx: Ctx, at: EntitlementKey): Promise<boolean> {
  const { db } = homeOfNamed(ctx, at.merchantId);
  if (!(await isParted(db, customerIdOf(at.merchantId, at.livemode, at.customer)))) return false;
  const hasParted = await callEntitlement(ctx, at, at.entitlementId, (object) => object.part(calledBy(ctx)));
  if (!hasParted) throw new ApiError('temporarily_unavailable', { retryAfterSeconds: 1 });
  return true;
}

/** Calls an entitlement's object, or that of the customer it was merged into if the payment or grant came later. */
export async function callMerged<T extends object | null>(
  ctx: Ctx,
  identity: EntitlementKey,
  call: (object: EntitlementRpc, identity: EntitlementKey) => Promise<T | Redirected>,
): Promise<T> {
  let at = identity;
  for (let hop = 0; hop < HOPS_MAX; hop++) {
    const answer: T | Redirected = await callEntitlement(ctx, at, at.entitlementId, (object) => call(object, at));
    if (answer === null || !('mergedInto' in answer)) return answer as T;
    if (!(await partFromMerged(ctx, at))) at = (answer as Redirected).mergedInto;
  }
  throw new Error(`${identity.entitlementId} was merged more than ${HOPS_MAX} times`);
}

export const calledBy = (ctx: Ctx): Called => ({
  now: ctx.now,
  aheadMs: ctx.now - ctx.wallNow,
  requestId: ctx.cause,
  leftMs: ctx.leftMs(),
});

export const readEntitlement = (ctx: Ctx, owner: Owner, entitlementId: string): Promise<EntitlementSnapshot | null> =>
  callEntitlement(ctx, owner, entitlementId, (object) => object.read(calledBy(ctx)));

/** Deletes a test entitlement. Its object then publishes nothing. Idempotent. */
export const eraseEntitlement = (ctx: Scope, entitlementId: string): Promise<void> =>
  callEntitlement(ctx, ctx, entitlementId, (object) => object.erase());

/**
 * Builds a keyed call to an object. Merchant, mode, product and customer are part of the object's name, so the same key elsewhere is a
 * different call.
 */
export function operationOf<T>(ctx: Ctx, identity: EntitlementKey, verb: string, request: IdempotentRequest, input: T): Operation<T> {
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
  if (projection.moved) await deliverMoved(ctx, projection.moved);
  else if (projection.events.some(({ type }) => type === 'entitlement.granted')) await moveIfMerged(ctx, snapshot);
  const forgotten = await callEntitlement(ctx, snapshot, snapshot.entitlementId, (object) =>
    object.published({ ...projectedOf(projection), requestId: ctx.cause }),
  );
  // A message of before came again after the customer's erasure.
  if (forgotten !== null) await commit(ctx, { events: [], writes: [deleteCopy(ctx, snapshot.entitlementId, forgotten)], result: null });
}

/** Brings what a merged entitlement has left to its target. Idempotent. */
export const deliverMoved = (ctx: Ctx, moved: Moved): Promise<void> =>
  callEntitlement(ctx, moved.to, moved.to.entitlementId, (object) => object.receive({ moved, ...calledBy(ctx) }));

/** Ends an entitlement for good, and brings what is left to the customer that it was merged into. Idempotent. */
export async function moveEntitlement(ctx: Ctx, identity: EntitlementKey, customerId: string, customer: Customer): Promise<void> {
  const into = { customerId, identity: entitlementKeyOf(identity, identity.productId, customer) };
  const call = { identity, into, ...calledBy(ctx) };
  const moved = await callEntitlement(ctx, identity, identity.entitlementId, (object) => object.mergeAway(call));
  if (moved) await deliverMoved(ctx, moved);
}

/** Moves what was granted under the key of a customer that had been merged by then. */
async function moveIfMerged(ctx: Shard, { entitlementId, merchantId, livemode, productId, customer }: EntitlementSnapshot): Promise<void> {
  const survivor = await findSurvivor(ctx.db, customerIdOf(merchantId, livemode, customer));
  if (survivor) await moveEntitlement(ctx, { entitlementId, merchantId, livemode, productId, customer }, survivor.id, survivor.customer);
}

/** Stores an object's balance after uses, which have no event. A newer copy is not overwritten. */
export async function storeUses(ctx: Ctx, snapshot: EntitlementSnapshot): Promise<void> {
  const home = homeOfNamed(ctx, snapshot.merchantId);
  await commit(home, { events: [], writes: upsertCopy(home, snapshot), result: null });
}
