import { formatErrorChain } from '#core/errors.ts';
import { PROBE_EVERY_MS } from '#core/limits.ts';
import { MINUTE, SECOND } from '#core/time.ts';
import { type Shard, scopeIn } from '#platform/context.ts';
import { commit, isConstraint, transact, unchanged, type Write } from '#platform/db/commit.ts';
import type { Delivery, Endpoint } from '#platform/db/tables/webhooks.ts';
import { DELIVERY, ENDPOINT } from '#rules/states.ts';
import { endpointEvent } from '../resource.ts';
import { getEndpoint, noteHealth, takeProbe, updateEndpoint } from '../store.ts';
import { CIRCUIT_OPEN, cancelWaiting, dueAsProbe, holdPending, listDueOf, resumePending, scheduleProbe } from './breaker.store.ts';
import { sendAttempts } from './fan-out.ts';
import { POST_MS, postAttempt } from './post.ts';
import { type AttemptOutcome, BREAKER_STREAK, heldUntil, isCircuitOpen, isGivenUp, isSuccess, stepAfter, warningsDue } from './schedule.ts';
import { type Claimed, claimDelivery, type DeliveryChange, recordDelivery } from './store.ts';
import type { DeliveryKey } from './waiting.store.ts';

/** Longer than an attempt and its record can take. A worker that holds the lease longer has crashed. */
export const LEASE_MS = MINUTE;
/** Longest delay left to the queue. Beyond it the sweep sends the attempt, so that the queue does not store long delays. */
const QUEUE_DELAY_MAX_MS = 10 * MINUTE;

const ATTEMPT_MS = POST_MS + 3 * SECOND;

/**
 * Claims the next attempt of a delivery under a lease. Returns null if nothing is due. Cancels a delivery without a stored or archived
 * event, because nothing could ever be sent.
 */
export async function claimAttempt(ctx: Shard, key: DeliveryKey): Promise<Claimed | null> {
  const claimed = await claimDelivery(ctx, key, ctx.wallNow + LEASE_MS);
  if (!claimed) return null;
  const { delivery, endpoint, event } = claimed;
  if (event) return { delivery, endpoint, event };
  ctx.note(`delivery ${delivery.id} is cancelled: unknown event ${delivery.eventId}`);
  await cancelDelivery(ctx, delivery, isCircuitOpen(endpoint) ? [scheduleProbe(ctx, endpoint.id, ctx.wallNow)] : []);
  return null;
}

export async function makeAttempt(ctx: Shard, claimed: Claimed): Promise<AttemptOutcome | null> {
  const { delivery, endpoint } = claimed;
  if (endpoint.status === 'disabled') {
    await cancelDelivery(ctx, delivery);
    return null;
  }
  // A shortened timeout would count against the endpoint. The delivery stays due and the sweep sends it again.
  if (ctx.leftMs() < ATTEMPT_MS) {
    ctx.note(`delivery ${delivery.id}: too little time is left for an attempt`);
    await recordAttempt(ctx, delivery, {});
    return null;
  }
  // The circuit breaker skips single attempts (replays, tests): a person awaits the result.
  const held = delivery.maxAttempts > 1 ? await circuitOpenUntil(ctx, endpoint) : null;
  if (held !== null) {
    const probe = { at: held, streak: BREAKER_STREAK };
    await recordAttempt(
      ctx,
      delivery,
      { nextAttemptAt: dueAsProbe(ctx, delivery, probe), error: CIRCUIT_OPEN },
      holdPending(ctx, delivery, probe),
    );
    return null;
  }

  const outcome = await postAttempt(ctx, claimed);
  const now = outcome.at + outcome.ms;
  const attempt = delivery.attempt + 1;
  const step = stepAfter(outcome, attempt, delivery.maxAttempts, delivery.livemode, now, Math.random());
  const { status, ms, error } = outcome;
  const shown = {
    attempt,
    responseStatus: status,
    responseMs: ms,
    responseExcerpt: outcome.excerpt,
    error,
    ...(step.kind !== 'succeeded' && { failures: [...(delivery.failures ?? []), { at: now, status, ms, error }] }),
  };
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
  if (isSuccess(outcome) && isCircuitOpen(endpoint)) await sendHeld(ctx, endpoint, now);
  const isGone = step.kind === 'failed' && step.isGone;
  if (isGone || !isSuccess(outcome)) await judgeEndpoint(ctx, endpoint, { isGone, now });
  if (step.kind === 'retrying' && step.nextAttemptAt - now <= QUEUE_DELAY_MAX_MS) {
    await sendAttempts(ctx, [{ ...delivery, failureStreak: 1 }], Math.ceil((step.nextAttemptAt - now) / SECOND));
  }
  return outcome;
}

/** Plans the health changes of a result. A test counts neither for nor against its endpoint. */
function healthWrites(ctx: Shard, { delivery, endpoint }: Claimed, outcome: AttemptOutcome, now: number): Write[] {
  if (delivery.testEvent !== null) return [];
  const success = isSuccess(outcome);
  const health = noteHealth(ctx, endpoint.id, success, now);
  return [health, success ? resumePending(ctx, endpoint, now) : scheduleProbe(ctx, endpoint.id, now + PROBE_EVERY_MS)];
}

/** Sends one page of deliveries that the circuit breaker held. The sweep sends the rest, lost messages included. */
async function sendHeld(ctx: Shard, endpoint: Endpoint, now: number): Promise<void> {
  const due = await listDueOf(ctx.db, endpoint.id, now);
  await sendAttempts(
    ctx,
    due.map((key) => ({ ...key, failureStreak: 0 })),
  );
}

/** Returns null if the attempt may be sent. Of all attempts due when the open circuit allows a probe, exactly one is the probe. */
async function circuitOpenUntil(ctx: Shard, endpoint: Endpoint): Promise<number | null> {
  const held = heldUntil(endpoint, ctx.wallNow);
  if (held !== null || !isCircuitOpen(endpoint)) return held;
  return (await takeProbe(ctx, endpoint)) ? null : heldUntil({ ...endpoint, lastFailureAt: ctx.wallNow }, ctx.wallNow);
}

const cancelDelivery = (ctx: Shard, delivery: Delivery, extraWrites: Write[] = []): Promise<void> =>
  recordAttempt(
    ctx,
    delivery,
    { status: DELIVERY.next(delivery.status, 'cancel'), nextAttemptAt: null, completedAt: ctx.wallNow },
    ...extraWrites,
  );

const RECORD_TRIES_MAX = 3;
const RECORD_PAUSE_MS = 300;

/**
 * Records the result once. Retries on a database outage: otherwise the worker would seem to have crashed, and the consumer would get an
 * accepted event again.
 */
async function recordAttempt(ctx: Shard, delivery: Delivery, after: DeliveryChange, ...more: Write[]): Promise<void> {
  const lease = { ...delivery, leaseUntil: ctx.wallNow + LEASE_MS };
  for (let tries = 1; ; tries++) {
    try {
      return await commit(ctx, { events: [], writes: [...recordDelivery(ctx, lease, after), ...more], result: undefined });
    } catch (error) {
      // The lease ended and another attempt recorded its result, or this record landed before and only the answer was lost.
      if (isConstraint(error)) return ctx.note(`delivery ${delivery.id} is recorded already`);
      if (tries === RECORD_TRIES_MAX) throw error;
      ctx.note(`record failed: ${formatErrorChain(error)}`);
      await scheduler.wait(RECORD_PAUSE_MS * tries);
    }
  }
}

const readAgain = (ctx: Shard, endpoint: Endpoint): Promise<Endpoint> => getEndpoint(scopeIn(ctx, endpoint), endpoint.id);

interface Failure {
  isGone: boolean;
  now: number;
}

/** Applies the consequence of a failure: disables on 410 or after five days, warns before that. */
async function judgeEndpoint(ctx: Shard, endpoint: Endpoint, failure: Failure): Promise<void> {
  const { isGone, now } = failure;
  const current = await readAgain(ctx, endpoint);
  if (isGone || isGivenUp(current, now)) await giveUp(ctx, endpoint, failure);
  else if (warningsDue(current, now) > current.warningsSent) await newWarning(ctx, endpoint, now);
}

/** Plans the event for the merchant's other endpoints, one per due warning. Two warnings due together become one event. */
const newWarning = (ctx: Shard, endpoint: Endpoint, now: number): Promise<void> =>
  transact(ctx, { reload: () => readAgain(ctx, endpoint) }, (current) => {
    const warningsSent = warningsDue(current, now);
    if (current.status === 'disabled' || warningsSent <= current.warningsSent) return unchanged(undefined);
    const after = { ...current, warningsSent, updatedAt: ctx.now, version: current.version + 1 };
    const event = endpointEvent('webhook.endpoint_failing', after, after.version);
    return { events: [event], writes: updateEndpoint(ctx, current, { warningsSent }), result: undefined };
  });

/**
 * Disables the endpoint with its event and cancels waiting deliveries. Each try decides on a fresh row, because a success or a merchant's
 * change may have come between.
 */
const giveUp = (ctx: Shard, endpoint: Endpoint, { isGone, now }: Failure): Promise<void> =>
  transact(ctx, { reload: () => readAgain(ctx, endpoint) }, (current) => {
    if (current.status === 'disabled' || !(isGone || isGivenUp(current, now))) return unchanged(undefined);
    const patch = { status: ENDPOINT.next(current.status, 'disable'), disabledReason: isGone ? 'gone' : 'no_success_for_5_days' };
    const after = { ...current, ...patch, updatedAt: ctx.now, version: current.version + 1 };
    return {
      events: [endpointEvent('webhook.endpoint_disabled', after, after.version)],
      writes: [...updateEndpoint(ctx, current, patch), cancelWaiting(ctx, endpoint)],
      result: undefined,
    };
  });
