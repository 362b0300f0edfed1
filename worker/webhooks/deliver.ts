import type { Actor, Ctx } from '../context.ts';
import { type AccountId, type EndpointId, newId } from '../core/ids.ts';
import { MINUTE, SECOND } from '../core/time.ts';
import { commit, eventRow, isConstraint } from '../db/commit.ts';
import type { EventType, NewEvent } from '../events.ts';
import { DELIVERY, ENDPOINT } from '../states.ts';
import { type Claimed, claimDelivery, insertDeliveries, insertEvent, recordDelivery } from './delivery.store.ts';
import { sendAttempts } from './fan-out.ts';
import { post } from './post.ts';
import { toEndpointResource } from './resource.ts';
import { healthAfter, heldUntil, isBroken, isGivenUp, isSuccess, type Outcome, stepAfter, warningsDue } from './schedule.ts';
import { type Endpoint, getEndpoint, noteHealth, takeProbe, updateEndpoint } from './store.ts';

/** Longer than an attempt and its record can take; who is silent for so long is dead. */
const LEASE_MS = MINUTE;
/** Beyond this the sweep brings the next attempt: a message waits in memory of a queue, a row in ours. */
const QUEUE_DELAY_MAX_MS = 10 * MINUTE;

/** The next attempt of a delivery, ours for the length of a lease; null where there is nothing to do. */
export const claimAttempt = (ctx: Ctx, deliveryId: number): Promise<Claimed | null> =>
  claimDelivery(ctx.db, deliveryId, ctx.now, ctx.now + LEASE_MS);

/** Makes a claimed attempt and records how it went, in one batch with what it says about the endpoint. */
export async function makeAttempt(ctx: Ctx, claimed: Claimed): Promise<Outcome | null> {
  const { delivery, endpoint } = claimed;
  if (endpoint.status === 'disabled') {
    await record(ctx, claimed, { status: DELIVERY.next(delivery.status, 'cancel'), nextAttemptAt: null, completedAt: ctx.now });
    return null;
  }
  const held = delivery.replayOf === null ? await holdOrProbe(ctx, endpoint) : null;
  if (held !== null) {
    await record(ctx, claimed, { nextAttemptAt: held });
    return null;
  }

  const outcome = await post(ctx, claimed);
  const now = ctx.now + ctx.elapsedMs();
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
  await record(ctx, claimed, after, noteHealth(ctx, endpoint.id, isSuccess(outcome), now));
  if (step.kind === 'retrying' && step.nextAttemptAt - now <= QUEUE_DELAY_MAX_MS) {
    await sendAttempts(ctx, [{ id: delivery.id, failureStreak: 1 }], Math.ceil((step.nextAttemptAt - now) / SECOND));
  }
  if (!isSuccess(outcome)) await judgeEndpoint(ctx, endpoint, step.kind === 'failed' && step.isGone, now);
  return outcome;
}

/** Null where the attempt may go out. Of all that are due when a broken endpoint may be probed, one is the probe. */
async function holdOrProbe(ctx: Ctx, endpoint: Endpoint): Promise<number | null> {
  const held = heldUntil(endpoint, ctx.now);
  if (held !== null || !isBroken(endpoint)) return held;
  return (await takeProbe(ctx, endpoint)) ? null : heldUntil({ ...endpoint, lastFailureAt: ctx.now }, ctx.now);
}

async function record(
  ctx: Ctx,
  { delivery }: Claimed,
  after: Partial<Claimed['delivery']>,
  ...more: Parameters<typeof commit>[1]['writes']
): Promise<void> {
  try {
    const lease = { ...delivery, leaseUntil: ctx.now + LEASE_MS };
    await commit(ctx, { events: [], writes: [...recordDelivery(ctx, lease, after), ...more], result: null });
  } catch (error) {
    // Our lease ended and another took over: his record stands.
    if (!isConstraint(error)) throw error;
    ctx.note(`lease of delivery ${delivery.id} lost`);
  }
}

/** After a failure: gone for good on 410, given up after five days, and told about before that. */
async function judgeEndpoint(ctx: Ctx, endpoint: Endpoint, isGone: boolean, now: number): Promise<void> {
  const current = await getEndpoint(ctx.db, endpoint.merchantId, endpoint.livemode, endpoint.id);
  const warnings = warningsDue(current, now);
  if (warnings > warningsDue(healthAfter(endpoint, false, endpoint.lastFailureAt ?? now), endpoint.lastFailureAt ?? now)) {
    ctx.note(`warning ${warnings}: endpoint ${endpoint.id} has failed since ${current.failingSince}`);
  }
  if (current.status === 'disabled' || !(isGone || isGivenUp(current, now))) return;
  const disabledReason = isGone ? 'gone' : 'no_success_for_5_days';
  const after = {
    ...current,
    status: ENDPOINT.next(current.status, 'disable'),
    disabledReason,
    updatedAt: ctx.now,
    version: current.version + 1,
  };
  const event = endpointEvent('webhook.endpoint_disabled', after, after.version);
  try {
    const { status } = after;
    await commit(ctx, { events: [event], writes: updateEndpoint(ctx, current, { status, disabledReason }), result: null });
  } catch (error) {
    if (!isConstraint(error)) throw error;
  }
}

const endpointEvent = (type: EventType, endpoint: Endpoint, version: number, subjectId: string = endpoint.id): NewEvent => ({
  merchantId: endpoint.merchantId,
  livemode: endpoint.livemode,
  type,
  subject: { type: 'webhook_endpoint', id: subjectId, version },
  object: toEndpointResource(endpoint),
});

export interface TestResult {
  deliveryId: number;
  eventId: string;
  outcome: Outcome | null;
}

/** A real, signed event to this endpoint alone, at once, and what it answered. */
export async function testEndpoint(ctx: Ctx, actor: Actor, endpointId: EndpointId): Promise<TestResult> {
  const endpoint = await getEndpoint(ctx.db, actor.accountId as AccountId, actor.livemode, endpointId);
  // Each test is a subject of its own: it happened once, and races with nothing.
  const row = { ...eventRow(ctx, endpointEvent('webhook.test', endpoint, 1, newId(ctx.now))), fannedOutAt: ctx.now };
  const delivery = {
    merchantId: endpoint.merchantId,
    livemode: endpoint.livemode,
    endpointId: endpoint.id,
    eventId: row.id,
    eventType: row.type,
    maxAttempts: 1,
    replayOf: null,
  };
  const [, [written]] = await ctx.db.batch([insertEvent(ctx.db, row), insertDeliveries(ctx, [delivery])]);
  const claimed = await claimAttempt(ctx, written!.id);
  // A disabled endpoint may be tested before it is enabled again.
  const outcome =
    claimed && (await makeAttempt(ctx, { ...claimed, endpoint: { ...claimed.endpoint, status: 'enabled', failureStreak: 0 } }));
  return { deliveryId: written!.id, eventId: row.id, outcome };
}
