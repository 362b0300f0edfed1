import { storyOf } from '#core/errors.ts';
import { MINUTE, SECOND } from '#core/time.ts';
import { type Shard, scopeIn } from '#platform/context.ts';
import { commit, isConstraint, transact, unchanged, type Write } from '#platform/db/commit.ts';
import type { Delivery, Endpoint } from '#platform/db/tables/webhooks.ts';
import type { EventType, NewEvent } from '#rules/events.ts';
import { DELIVERY, ENDPOINT } from '#rules/states.ts';
import { toEndpointResource } from '../resource.ts';
import { getEndpoint, noteHealth, takeProbe, updateEndpoint } from '../store.ts';
import { cancelWaiting, dueAsProbe, HELD, holdBeside, listDueOf, promoteHeld, releaseHeld } from './breaker.store.ts';
import { sendAttempts } from './fan-out.ts';
import { POST_MS, postAttempt } from './post.ts';
import {
  type AttemptOutcome,
  BREAKER_STREAK,
  heldUntil,
  isBroken,
  isGivenUp,
  isSuccess,
  PROBE_EVERY_MS,
  stepAfter,
  warningsDue,
} from './schedule.ts';
import { type Claimed, claimDelivery, type DeliveryChange, recordDelivery } from './store.ts';

/** Longer than an attempt and its record can take; a worker that holds the lease longer has crashed. */
export const LEASE_MS = MINUTE;
/** Beyond this the sweep brings the next attempt: a message waits in memory of a queue, a row in ours. */
const QUEUE_DELAY_MAX_MS = 10 * MINUTE;

/** What an attempt takes at the most: the endpoint's time for its answer, and ours to record it. */
const ATTEMPT_MS = POST_MS + 3 * SECOND;

/**
 * The next attempt of a delivery, ours for the length of a lease; null where there is nothing to do. A delivery whose event neither the
 * database nor the archive holds is cancelled: there is nothing it could send, ever.
 */
export async function claimAttempt(ctx: Shard, deliveryId: number): Promise<Claimed | null> {
  const claimed = await claimDelivery(ctx, deliveryId, ctx.wallNow + LEASE_MS);
  if (!claimed) return null;
  const { delivery, endpoint, event } = claimed;
  if (event) return { delivery, endpoint, event };
  ctx.note(`delivery ${deliveryId} is cancelled: unknown event ${delivery.eventId}`);
  await cancelDelivery(ctx, delivery, isBroken(endpoint) ? [promoteHeld(ctx, endpoint.id, ctx.wallNow)] : []);
  return null;
}

/** Makes a claimed attempt and records how it went, in one batch with what it says about the endpoint. */
export async function makeAttempt(ctx: Shard, claimed: Claimed): Promise<AttemptOutcome | null> {
  const { delivery, endpoint } = claimed;
  if (endpoint.status === 'disabled') {
    await cancelDelivery(ctx, delivery);
    return null;
  }
  // An endpoint that is given less than its time would be blamed for ours: the delivery stays due, and the sweep brings it again.
  if (ctx.leftMs() < ATTEMPT_MS) {
    ctx.note(`delivery ${delivery.id}: too little time is left for an attempt`);
    await recordAttempt(ctx, delivery, {});
    return null;
  }
  // Single attempts, replays and tests, were asked for by a person who wants to see an answer.
  const held = delivery.maxAttempts > 1 ? await heldUntilOrProbe(ctx, endpoint) : null;
  if (held !== null) {
    const probe = { at: held, streak: BREAKER_STREAK };
    await recordAttempt(ctx, delivery, { nextAttemptAt: dueAsProbe(ctx, delivery, probe), error: HELD }, holdBeside(ctx, delivery, probe));
    return null;
  }

  const outcome = await postAttempt(ctx, claimed);
  const now = ctx.wallNow + ctx.elapsedMs();
  const attempt = delivery.attempt + 1;
  const step = stepAfter(outcome, attempt, delivery.maxAttempts, delivery.livemode, now, Math.random());
  const shown = { attempt, responseStatus: outcome.status, responseMs: outcome.ms, responseExcerpt: outcome.excerpt, error: outcome.error };
  const after =
    step.kind === 'retrying'
      ? { ...shown, status: DELIVERY.next(delivery.status, 'retry'), nextAttemptAt: step.nextAttemptAt }
      : {
          ...shown,
          status: DELIVERY.next(delivery.status, step.kind === 'succeeded' ? 'succeed' : 'fail'),
          nextAttemptAt: null,
          completedAt: now,
        };
  await recordAttempt(ctx, delivery, after, ...healthWrites(ctx, claimed, outcome, now));
  if (delivery.testEvent !== null) return outcome;
  if (isSuccess(outcome) && isBroken(endpoint)) await sendHeld(ctx, endpoint, now);
  const isGone = step.kind === 'failed' && step.isGone;
  if (isGone || !isSuccess(outcome)) await judgeEndpoint(ctx, endpoint, { isGone, now });
  if (step.kind === 'retrying' && step.nextAttemptAt - now <= QUEUE_DELAY_MAX_MS) {
    await sendAttempts(ctx, [{ id: delivery.id, failureStreak: 1 }], Math.ceil((step.nextAttemptAt - now) / SECOND));
  }
  return outcome;
}

/** What an answer says about its endpoint. A test is no real traffic: it neither counts against an endpoint nor clears one. */
function healthWrites(ctx: Shard, { delivery, endpoint }: Claimed, outcome: AttemptOutcome, now: number): Write[] {
  if (delivery.testEvent !== null) return [];
  const success = isSuccess(outcome);
  const health = noteHealth(ctx, endpoint.id, success, now);
  return [health, success ? releaseHeld(ctx, endpoint, now) : promoteHeld(ctx, endpoint.id, now + PROBE_EVERY_MS)];
}

/** What the breaker held back goes at once. More than one page of it, or a lost message: the sweep brings the rest. */
async function sendHeld(ctx: Shard, endpoint: Endpoint, now: number): Promise<void> {
  const due = await listDueOf(ctx.db, endpoint.id, now);
  await sendAttempts(
    ctx,
    due.map(({ id }) => ({ id, failureStreak: 0 })),
  );
}

/** Null where the attempt may go out. Of all that are due when a broken endpoint may be probed, one is the probe. */
async function heldUntilOrProbe(ctx: Shard, endpoint: Endpoint): Promise<number | null> {
  const held = heldUntil(endpoint, ctx.wallNow);
  if (held !== null || !isBroken(endpoint)) return held;
  return (await takeProbe(ctx, endpoint)) ? null : heldUntil({ ...endpoint, lastFailureAt: ctx.wallNow }, ctx.wallNow);
}

const cancelDelivery = (ctx: Shard, delivery: Delivery, beside: Write[] = []): Promise<void> =>
  recordAttempt(
    ctx,
    delivery,
    { status: DELIVERY.next(delivery.status, 'cancel'), nextAttemptAt: null, completedAt: ctx.wallNow },
    ...beside,
  );

const RECORD_TRIES_MAX = 3;
const RECORD_PAUSE_MS = 300;

/**
 * Says how an attempt went, once. A database that is out of reach for a moment must not make an attempt look as if its maker
 * had died, or the consumer would be sent again what it has already accepted.
 */
async function recordAttempt(ctx: Shard, delivery: Delivery, after: DeliveryChange, ...more: Write[]): Promise<void> {
  const lease = { ...delivery, leaseUntil: ctx.wallNow + LEASE_MS };
  for (let tries = 1; ; tries++) {
    try {
      return await commit(ctx, { events: [], writes: [...recordDelivery(ctx, lease, after), ...more], result: undefined });
    } catch (error) {
      // Our lease ended and another attempt took over: its record stands. Or ours landed before, and only its answer was lost.
      if (isConstraint(error)) return ctx.note(`delivery ${delivery.id} is recorded already`);
      if (tries === RECORD_TRIES_MAX) throw error;
      ctx.note(`record failed: ${storyOf(error)}`);
      await scheduler.wait(RECORD_PAUSE_MS * tries);
    }
  }
}

const readAgain = (ctx: Shard, endpoint: Endpoint): Promise<Endpoint> => getEndpoint(scopeIn(ctx, endpoint), endpoint.id);

/** An attempt that failed: when, and whether the endpoint said that it is gone for good. */
interface Failure {
  isGone: boolean;
  now: number;
}

/** After a failure: gone for good on 410, given up after five days, and warned of before that. */
async function judgeEndpoint(ctx: Shard, endpoint: Endpoint, failure: Failure): Promise<void> {
  const { isGone, now } = failure;
  const current = await readAgain(ctx, endpoint);
  if (isGone || isGivenUp(current, now)) await giveUp(ctx, endpoint, failure);
  else if (warningsDue(current, now) > current.warningsTold) await newWarning(ctx, endpoint, now);
}

/** Tells the merchant's other endpoints, once for each warning that is due; two that are due together are one event. */
const newWarning = (ctx: Shard, endpoint: Endpoint, now: number): Promise<void> =>
  transact(ctx, { reload: () => readAgain(ctx, endpoint) }, (current) => {
    const warningsTold = warningsDue(current, now);
    if (current.status === 'disabled' || warningsTold <= current.warningsTold) return unchanged(undefined);
    const after = { ...current, warningsTold, updatedAt: ctx.now, version: current.version + 1 };
    const event = endpointEvent('webhook.endpoint_failing', after, after.version);
    return { events: [event], writes: updateEndpoint(ctx, current, { warningsTold }), result: undefined };
  });

/** Disables, tells, and ends what waited. Judged afresh at every try: a success or a change by its merchant may come between. */
const giveUp = (ctx: Shard, endpoint: Endpoint, { isGone, now }: Failure): Promise<void> =>
  transact(ctx, { reload: () => readAgain(ctx, endpoint) }, (current) => {
    if (current.status === 'disabled' || !(isGone || isGivenUp(current, now))) return unchanged(undefined);
    const patch = { status: ENDPOINT.next(current.status, 'disable'), disabledReason: isGone ? 'gone' : 'no_success_for_5_days' };
    const after = { ...current, ...patch, updatedAt: ctx.now, version: current.version + 1 };
    return {
      events: [endpointEvent('webhook.endpoint_disabled', after, after.version)],
      writes: [...updateEndpoint(ctx, current, patch), cancelWaiting(ctx, endpoint.id)],
      result: undefined,
    };
  });

/** What happened to an endpoint, told to its own merchant. */
export const endpointEvent = (type: EventType, endpoint: Endpoint, version: number): NewEvent => ({
  merchantId: endpoint.merchantId,
  livemode: endpoint.livemode,
  type,
  subject: { type: 'webhook_endpoint', id: endpoint.id, version },
  object: toEndpointResource(endpoint),
});
