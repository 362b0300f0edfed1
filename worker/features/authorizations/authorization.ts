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
import type { CollectionRoute } from '#solana/programs/subscriptions/standing.ts';
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

/** The first look at a checkout's subscription, which its buyer may sign anywhere. */
const FIRST_LOOK_MS = 15 * SECOND;

/**
 * The authorization of a checkout, `pending` until its first period is collected. To be stored in the batch that makes the payment, whose
 * terms name it. The wallet is the one that the checkout was opened for. `payment` is paid in USDC.
 */
export function planAuthorization(ctx: Shard, payment: Payment & { expectedWallet: string }, plan: AgreedPlan): Change<AuthorizationRow> {
  const id = (payment.terms.authorizationId ?? newAuthorizationId(ctx.now)) as AuthorizationId;
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
    nextLookAt: ctx.now + FIRST_LOOK_MS,
    askedReadAt: null,
    endedAt: null,
    createdAt: ctx.now,
    updatedAt: ctx.now,
    version: 1,
  };
  return { events: [], writes: [insertAuthorization(ctx.db, row)], result: row };
}

/** Where an authorization's money comes from and goes to, as the program needs it. */
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

/** Resumed and approved again, it is authorized again. Of a checkout that came to nothing its payment tells. */
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
 * One step of an authorization: the row after it, its event, which is also the lock, and what its membership shows of it. `null` changes
 * the row and no status, without an event. `patch.membershipId` names the membership that it pays for from now on.
 */
export function stepAuthorization(
  ctx: Shard,
  before: AuthorizationRow,
  step: AuthorizationStep | null,
  patch: Partial<AuthorizationRow> = {},
): Change<AuthorizationRow> {
  const status = step === null ? before.status : AUTHORIZATION.next(before.status, step);
  const after = { ...before, ...patch, status, updatedAt: ctx.now, version: before.version + 1 };
  const isTold = step !== null && before.status !== 'pending' ? true : step === 'authorize';
  const isNew = after.membershipId !== before.membershipId || step === 'authorize';
  return {
    events: isTold ? [authorizationEvent(EVENT_OF[step!], before, after)] : [],
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
 * Ends an authorization at the merchant's word, for good: it is cancelled, with its event once. The buyer's consent stays on the chain, so
 * that the plan's owner could still collect; the event's email says how to end that. Nothing changes for one that is over or was stopped.
 */
export function planStop(ctx: Shard, row: AuthorizationRow): Change<AuthorizationRow> {
  if (row.stoppedAt !== null || row.status === 'pending' || row.status === 'expired') return unchanged(row);
  const step = AUTHORIZATION.can(row.status, 'cancel') ? 'cancel' : null;
  return stepAuthorization(ctx, row, step, { ...overAt(ctx.now), stoppedAt: ctx.now });
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

/** An authorization that is over for good: nothing is looked at, and it is kept for a while. */
export const overAt = (now: number): Pick<AuthorizationRow, 'endedAt' | 'nextAttemptAt' | 'nextLookAt'> => ({
  endedAt: now,
  nextAttemptAt: null,
  nextLookAt: null,
});
