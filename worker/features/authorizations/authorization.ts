import type { Address } from '@solana/kit';
import { type AuthorizationId, newAuthorizationId } from '#core/ids.ts';
import { HOUR, isoOrNull, SECOND } from '#core/time.ts';
import { noteSubscription } from '#features/memberships/membership.ts';
import type { Shard } from '#platform/context.ts';
import { type Change, unchanged } from '#platform/db/commit.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import type { EventType, NewEvent } from '#rules/events.ts';
import { AUTHORIZATION } from '#rules/states.ts';
import type { AuthorizationFacts, AuthorizationStep } from '#rules/subscriptions/authorization.ts';
import type { CollectionRoute } from '#solana/programs/subscriptions/subscription-state.ts';
import { toAuthorizationResource } from './resource.ts';
import { insertAuthorization, updateAuthorization } from './store.ts';

export {
  type AuthorizationClass,
  claimAskedRead,
  claimPeriod,
  dropCollected,
  noteCollected,
  scheduleAuthorization,
  scheduleSigner,
  takeCollectedBack,
  takeDueAuthorizations,
} from './store.ts';

export interface AgreedPlan {
  planAddress: string;
  subscriptionAddress: string;
  puller: string;
  periodHours: number;
}

/** Time until the first read of a checkout's subscription, which its buyer may sign elsewhere. */
const FIRST_READ_MS = 15 * SECOND;

/**
 * Plans a checkout's authorization, `pending` until its first period is collected. The batch that creates the payment stores it. `payment` is
 * in USDC, and its terms name the authorization.
 */
export function planAuthorization(ctx: Shard, payment: Payment & { expectedWallet: string }, plan: AgreedPlan): Change<AuthorizationRow> {
  const id = (payment.terms.authorizationId ?? newAuthorizationId(ctx.now, payment.merchantId)) as AuthorizationId;
  const row: AuthorizationRow = {
    id,
    merchantId: payment.merchantId,
    livemode: payment.livemode,
    productId: payment.productId,
    slug: payment.slug,
    paymentId: payment.id,
    membershipId: null,
    subscriberWallet: payment.expectedWallet,
    customerRef: payment.customerRef,
    email: payment.email,
    terms: payment.terms,
    ...plan,
    mint: payment.mint,
    recipientWallet: payment.recipientWallet,
    recipientAta: payment.recipientAta,
    amount: payment.priceAmount,
    status: 'pending',
    startedAt: null,
    periodStartsAt: null,
    periodEndsAt: null,
    paidThrough: null,
    failures: 0,
    lastCollection: null,
    cancelledAt: null,
    cancelEffectiveAt: null,
    stoppedAt: null,
    nextAttemptAt: null,
    collectAt: null,
    nextCheckAt: ctx.now + FIRST_READ_MS,
    askedReadAt: null,
    endedAt: null,
    createdAt: ctx.now,
    updatedAt: ctx.now,
    version: 1,
  };
  return { events: [], writes: [insertAuthorization(ctx.db, row)], result: row };
}

/** Accounts of a collection, as the program takes them. */
export const routeOf = (row: AuthorizationRow): CollectionRoute => ({
  plan: row.planAddress as Address,
  subscriber: row.subscriberWallet as Address,
  mint: row.mint as Address,
  puller: row.puller as Address,
  receiver: row.recipientWallet as Address,
});

export const factsOf = (row: AuthorizationRow): AuthorizationFacts => ({
  status: row.status,
  paidThrough: row.paidThrough,
  startedAt: row.startedAt ?? row.createdAt,
  periodMs: row.periodHours * HOUR,
});

/** Event of each step. A checkout that fails has an event of its payment instead. */
const EVENT_OF: Record<AuthorizationStep, EventType> = {
  authorize: 'subscription.authorized',
  collect: 'subscription.renewed',
  fallDue: 'subscription.past_due',
  requestCancel: 'subscription.cancel_requested',
  cancel: 'subscription.cancelled',
  resume: 'subscription.authorized',
  loseApproval: 'subscription.requires_reapproval',
  approve: 'subscription.authorized',
  expire: 'subscription.cancelled',
};

/**
 * Plans a step of an authorization: its row, its event, which is also the lock, and its membership's copy. Without a step the status stays
 * and no event is stored. `patch.membershipId`: the membership that it pays for from now on.
 */
export function stepAuthorization(
  ctx: Shard,
  before: AuthorizationRow,
  step: AuthorizationStep | null,
  patch: Partial<AuthorizationRow> = {},
): Change<AuthorizationRow> {
  const status = step === null ? before.status : AUTHORIZATION.next(before.status, step);
  const after = { ...before, ...patch, status, updatedAt: ctx.now, version: before.version + 1 };
  const hasEvent = step === 'authorize' || (step !== null && before.status !== 'pending');
  const isNew = after.membershipId !== before.membershipId || step === 'authorize';
  return {
    events: hasEvent ? [authorizationEvent(EVENT_OF[step!], before, after)] : [],
    writes: [
      ...updateAuthorization(ctx, before, after),
      ...(after.membershipId === null || (!isNew && status === before.status)
        ? []
        : [noteSubscription(ctx.db, after.membershipId, after, isNew)]),
    ],
    result: after,
  };
}

/**
 * Plans the end of an authorization that its merchant stops. The buyer's consent stays on the chain and the plan's owner could still collect.
 * the event's email says how to end that. Changes nothing if it is over or stopped.
 */
export function planStop(ctx: Shard, row: AuthorizationRow): Change<AuthorizationRow> {
  const isStopped = row.stoppedAt !== null && row.endedAt !== null;
  if (isStopped || row.status === 'pending' || row.status === 'expired') return unchanged(row);
  const step = AUTHORIZATION.can(row.status, 'cancel') ? 'cancel' : null;
  return stepAuthorization(ctx, row, step, { ...overAt(ctx.now), stoppedAt: row.stoppedAt ?? ctx.now });
}

const authorizationEvent = (type: EventType, before: AuthorizationRow, after: AuthorizationRow): NewEvent => ({
  merchantId: after.merchantId,
  livemode: after.livemode,
  type,
  subject: { type: 'subscription', id: after.id, version: after.version },
  object: toAuthorizationResource(after),
  previous: { status: before.status, paid_through: isoOrNull(before.paidThrough) },
  productId: after.productId,
  ...(after.membershipId ? { membershipId: after.membershipId } : {}),
});

/** Columns of an authorization that is over. Its account is not read any more. */
export const overAt = (now: number): Pick<AuthorizationRow, 'endedAt' | 'nextAttemptAt' | 'nextCheckAt'> => ({
  endedAt: now,
  nextAttemptAt: null,
  nextCheckAt: null,
});
