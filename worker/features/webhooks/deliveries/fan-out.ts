import { ApiError, formatErrorChain } from '#core/errors.ts';
import { actOfEvent, type EndpointId } from '#core/ids.ts';
import { DAY, HOUR, iso, MINUTE, SECOND } from '#core/time.ts';
import type { Scope, Shard } from '#platform/context.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import type { Write } from '#platform/db/commit.ts';
import { type Swept, sweepPages } from '#platform/db/sweeps.ts';
import type { StoredEvent } from '#platform/db/tables/events.ts';
import type { Endpoint } from '#platform/db/tables/webhooks.ts';
import { EVENT_TYPES, matchesType } from '#rules/events.ts';
import { getEndpoint } from '../store.ts';
import { scheduleOf } from './schedule.ts';
import {
  insertDeliveries,
  insertMissed,
  listDueActs,
  listMissed,
  listOverdue,
  markFannedOut,
  type NewDelivery,
  postponeActs,
} from './store.ts';
import { type DeliveryKey, findPassed, type OverdueDelivery, savePassed } from './waiting.store.ts';

/** Events that only the merchant's other endpoints get. */
const FOR_OTHERS: readonly string[] = ['webhook.endpoint_failing', 'webhook.endpoint_created', 'webhook.endpoint_changed'];
const isAboutItself = ({ id }: Endpoint, { type, subjectId }: StoredEvent): boolean => FOR_OTHERS.includes(type) && subjectId === id;

const wantsEvent = (endpoint: Endpoint, event: StoredEvent): boolean =>
  endpoint.merchantId === event.merchantId &&
  endpoint.livemode === event.livemode &&
  matchesType(endpoint.eventTypes, event.type) &&
  !isAboutItself(endpoint, event) &&
  (endpoint.productIds.length === 0 || isOfProducts(endpoint, event));

/** True if the event names a product of the endpoint, or belongs to a ticket without a product. */
const isOfProducts = ({ productIds }: Endpoint, { productId, type }: StoredEvent): boolean =>
  productId === null ? type.startsWith('support.') : productIds.includes(productId);

/**
 * An endpoint receives only events created after it. Sandbox sessions use their own clock, so the check is skipped there, and may be
 * limited to one endpoint.
 */
const isEligible = ({ sandbox }: Shard, { id, createdAt }: Endpoint, event: StoredEvent): boolean =>
  sandbox?.sessionId ? !sandbox.endpointId || sandbox.endpointId === id : createdAt <= event.createdAt;

const deliveryOf = (endpoint: Endpoint, event: StoredEvent, replayOf: number | null = null): NewDelivery => ({
  merchantId: endpoint.merchantId,
  livemode: event.livemode,
  endpointId: endpoint.id,
  eventId: event.id,
  eventType: event.type,
  maxAttempts: scheduleOf(event.livemode).length,
  replayOf,
});

/**
 * Creates one delivery per event and endpoint, in one batch with the mark that the acts are fanned out. This is the last event handler, so
 * the mark acknowledges the acts for all handlers. Idempotent.
 */
export async function deliverEvents(ctx: Shard, events: StoredEvent[], endpoints: Endpoint[]): Promise<void> {
  const deliveries = events.flatMap((event) =>
    endpoints
      .filter((endpoint) => isEligible(ctx, endpoint, event) && wantsEvent(endpoint, event))
      .map((endpoint) => deliveryOf(endpoint, event)),
  );
  const mark = markFannedOut(ctx, [...new Set(events.map(({ id }) => actOfEvent(id)))]);
  if (deliveries.length === 0) return void (await mark);
  const [written] = await ctx.db.batch([insertDeliveries(ctx, deliveries), mark]);
  const streaks = new Map(endpoints.map(({ id, failureStreak }) => [id, failureStreak]));
  await sendAttempts(
    ctx,
    written.map((key) => ({ ...key, failureStreak: streaks.get(key.endpointId) ?? 0 })),
  );
}

const BATCH_MAX = 100;

/** Queues due attempts. Endpoints that failed last use a separate queue, so they delay no other endpoint. */
export async function sendAttempts(ctx: Shard, due: (DeliveryKey & { failureStreak: number })[], delaySeconds = 0): Promise<void> {
  const feed = async (queue: typeof ctx.env.WEBHOOKS, { isSlow }: { isSlow: boolean }) => {
    const messages = due
      .filter(({ failureStreak }) => failureStreak > 0 === isSlow)
      .map(({ id: deliveryId, merchantId, livemode, endpointId }) => ({
        body: { deliveryId, merchantId, livemode, endpointId, requestId: ctx.cause },
        delaySeconds,
      }));
    for (let i = 0; i < messages.length; i += BATCH_MAX) await queue.sendBatch(messages.slice(i, i + BATCH_MAX));
  };
  // In parallel, so that an outage of one queue does not affect the other.
  await Promise.all([feed(ctx.env.WEBHOOKS, { isSlow: false }), feed(ctx.env.WEBHOOKS_SLOW, { isSlow: true })]);
}

const SWEEP_MAX = 500;
const SWEEP_PAGES_MAX = 20;
/** Acts per page. Their events times the plan's endpoint limit must fit one database parameter. */
const FAN_OUT_MAX = 25;
const FAN_OUT_PAGES_MAX = 16;
export const QUEUE_PATIENCE_MS = 10 * SECOND;
/** Time in which the attempts of a long backlog are sent once. */
const SENT_AGAIN_MS = 15 * MINUTE;
const TRY_AGAIN = { leastMs: 30 * SECOND, mostMs: HOUR };

/** Retries acts with a lost message or a failed handler, with growing delays so that they do not starve others. */
export const sweepFanOut = (ctx: Shard, follow: (ctx: Shard, actIds: string[]) => Promise<void>): Promise<Swept> =>
  sweepPages(
    ctx,
    { pageMax: FAN_OUT_MAX, pagesMax: FAN_OUT_PAGES_MAX },
    () => listDueActs(ctx, ctx.now - QUEUE_PATIENCE_MS, FAN_OUT_MAX),
    async (due) => {
      const ids = due.map(({ id }) => id);
      await follow(ctx, ids).catch(async (error: unknown) => {
        ctx.note(`acts not fanned out: ${formatErrorChain(error)}`);
        await postponeActs(ctx.db, ids, ctx.now, TRY_AGAIN);
      });
    },
  );

/**
 * Sends due, unleased attempts: delays beyond the queue's limit, lost messages, crashed workers. An attempt stays due until its message is
 * consumed, so the next round continues after `passed`, the last attempt that was sent. In a long backlog the next crons do too, so that
 * the queue is not filled with the same attempts every minute.
 */
export async function sweepDeliveries(ctx: Shard, passed?: unknown): Promise<Swept> {
  const bounds = { leasedBefore: ctx.wallNow, dueBefore: ctx.wallNow - QUEUE_PATIENCE_MS };
  const since = ctx.wallNow - SENT_AGAIN_MS;
  const first = (passed as OverdueDelivery | undefined) ?? (await findPassed(ctx, since));
  let last = first;
  const swept = await sweepPages<OverdueDelivery>(
    ctx,
    { pageMax: SWEEP_MAX, pagesMax: SWEEP_PAGES_MAX },
    () => listOverdue(ctx.db, { ...bounds, last }, SWEEP_MAX),
    async (overdue) => {
      await sendAttempts(ctx, overdue);
      last = overdue.at(-1)!;
    },
  );
  if (last && last !== first && (first || swept.end === 'bound')) await savePassed(ctx, last, since);
  return { ...swept, last };
}

const RECOVER_PAGE = 500;
const RECOVER_PAGES_MAX = 40;
const RECOVER_DAYS = 90;
/** Time left in which no further page is read. */
const RECOVER_RESERVE_MS = 5 * SECOND;

/**
 * Creates a fresh delivery schedule for every event in a window that the endpoint subscribes to and never received, oldest first. Returns
 * how many. The next call continues if one call cannot take all. Throws 503 if the time ends before any of the endpoint's products occurs.
 */
export async function recoverEndpoint(ctx: Scope, endpointId: EndpointId, since: number, until: number): Promise<number> {
  const endpoint = await getEndpoint(ctx, endpointId);
  if (endpoint.status === 'disabled')
    throw new ApiError('state_conflict', { detail: 'The endpoint is disabled. Enable it first.', meta: { reason: 'endpoint_disabled' } });
  const from = Math.max(since, ctx.now - RECOVER_DAYS * DAY);
  const types = EVENT_TYPES.filter((type) => matchesType(endpoint.eventTypes, type));
  let scheduled = 0;
  let after: number | null = null;
  for (let pages = 0; pages < RECOVER_PAGES_MAX; ) {
    if (ctx.leftMs() <= RECOVER_RESERVE_MS) {
      if (scheduled > 0) break;
      // A repeat would begin at `since` again.
      const detail = 'The window has too many events of other products. Choose a later since or an earlier until.';
      throw new ApiError('temporarily_unavailable', { detail });
    }
    const window = { since: from, until, after };
    const missed: Awaited<ReturnType<typeof listMissed>> = await listMissed(ctx.db, endpoint, types, window, RECOVER_PAGE);
    const wanted = missed.filter(({ event }) => wantsEvent(endpoint, event));
    if (wanted.length > 0) {
      const after = { since: iso(from), until: iso(until) };
      const entry = { action: 'endpoint.recovered', subject: { type: 'endpoint', id: endpointId }, after } as const;
      scheduled += await insertRecovered(ctx, endpoint, wanted, pages === 0 ? [recordAction(ctx, endpoint, entry)] : []);
      pages++;
    }
    if (missed.length < RECOVER_PAGE) break;
    after = missed.at(-1)!.event.seq;
  }
  return scheduled;
}

async function insertRecovered(
  ctx: Scope,
  endpoint: Endpoint,
  missed: Awaited<ReturnType<typeof listMissed>>,
  entries: Write[],
): Promise<number> {
  const insertion = insertMissed(
    ctx,
    missed.map(({ event, replayOf }) => deliveryOf(endpoint, event, replayOf)),
  );
  const [written] = await ctx.db.batch([insertion, ...entries]);
  await sendAttempts(
    ctx,
    written.map((key) => ({ ...key, failureStreak: endpoint.failureStreak })),
  );
  return written.length;
}
