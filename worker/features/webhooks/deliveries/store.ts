import { and, asc, eq, getViewSelectedFields, inArray, isNull, lt, lte, type SQL, sql } from 'drizzle-orm';
import { clockFilterForEvents } from '#platform/chain/clock-filter.store.ts';
import type { Db, Shard } from '#platform/context.ts';
import { firstSeqAt, IN_ORDER, isAct, isAfter, isEvent, isOfActs } from '#platform/db/acts/find.ts';
import { openEvents } from '#platform/db/acts/read.ts';
import { boundId, fieldOf, idField, jsonRows } from '#platform/db/among.ts';
import { abortIfExists, abortUnlessChanged, type Write } from '#platform/db/commit.ts';
import { acts, EVENT_DUE_AT, events, type NewStoredEvent } from '#platform/db/tables/events.ts';
import { type Delivery, type Endpoint, webhookDeliveries, webhookEndpoints } from '#platform/db/tables/webhooks.ts';
import type { EventType } from '#rules/events.ts';
import { findArchivedEvent } from '../events.store.ts';
import { countAnswer, countOfSession } from './breaker.store.ts';
import { type DeliveryKey, endpointsOf, isDelivery, isWaiting, type OverdueDelivery } from './waiting.store.ts';

export async function loadFanOut(db: Db, actIds: string[]) {
  const [rows, endpoints] = await db.batch([
    db
      .select()
      .from(events)
      .where(and(isOfActs(actIds), isNull(events.fannedOutAt)))
      .orderBy(asc(events.seq)),
    db
      .select()
      .from(webhookEndpoints)
      .where(
        and(
          eq(webhookEndpoints.status, 'enabled'),
          inArray(webhookEndpoints.livemode, [true, false]),
          // Excludes an endpoint saved concurrently with the deletion of its account.
          sql`NOT EXISTS (SELECT 1 FROM accounts a WHERE a.id = ${webhookEndpoints.merchantId} AND a.status = 'deleted')`,
          inArray(webhookEndpoints.merchantId, db.select({ id: acts.merchantId }).from(acts).where(isAct(actIds)) as never),
        ),
      ),
  ]);
  return { events: openEvents(rows), endpoints };
}

export interface NewDelivery
  extends Pick<Delivery, 'merchantId' | 'livemode' | 'endpointId' | 'eventId' | 'eventType' | 'maxAttempts' | 'replayOf'> {
  leaseUntil?: number;
  testEvent?: NewStoredEvent | null;
}

/** Ids per millisecond of a merchant's deliveries. They have 15 digits, as many as the API reads. */
const IDS_PER_MS = 64;

/** SELECT of each merchant and mode of the deliveries, with an id above those stored. */
function nextIds(ctx: Shard, deliveries: NewDelivery[]): SQL {
  const owners = new Map(deliveries.map(({ merchantId, livemode }) => [`${merchantId}${livemode}`, { merchantId, livemode }]));
  const isOwner = sql`merchant_id = ${idField('merchantId')} AND livemode = ${fieldOf('livemode')}`;
  const last = sql`SELECT max((SELECT max(id) FROM webhook_deliveries WHERE ${isOwner} AND endpoint_id = e.id)) FROM (${endpointsOf(isOwner)}) e`;
  return sql`SELECT ${idField('merchantId')} AS merchant, ${fieldOf('livemode')} AS mode,
    max(${ctx.wallNow * IDS_PER_MS}, 1 + coalesce((${last}), 0)) AS next FROM ${jsonRows([...owners.values()])}`;
}

/** Plans deliveries due now, one per event and endpoint except copies. */
export const insertDeliveries = (ctx: Shard, deliveries: NewDelivery[], condition: SQL = sql`true`) =>
  ctx.db
    .insert(webhookDeliveries)
    .select(
      sql`WITH ids AS MATERIALIZED (${nextIds(ctx, deliveries)})
        SELECT j.value ->> 'eventId', ${idField('endpointId')}, iif(j.value ->> 'replayOf' IS NULL, 0, j.key + next), j.key + next,
          merchant, mode, j.value ->> 'eventType', 'pending', 0, j.value ->> 'maxAttempts',
          ${ctx.wallNow}, coalesce(j.value ->> 'leaseUntil', 0), NULL, NULL, NULL, NULL, j.value ->> 'replayOf', ${ctx.wallNow}, NULL,
          nullif(j.value -> 'testEvent', 'null'), NULL
        FROM ${jsonRows(deliveries)} JOIN ids ON merchant = ${idField('merchantId')} AND mode = j.value ->> 'livemode' WHERE ${condition}`,
    )
    .onConflictDoNothing({ target: [webhookDeliveries.eventId, webhookDeliveries.endpointId, webhookDeliveries.copy] })
    .returning({
      id: webhookDeliveries.id,
      merchantId: webhookDeliveries.merchantId,
      livemode: webhookDeliveries.livemode,
      endpointId: webhookDeliveries.endpointId,
    });

/** A delivery as `insertDeliveries` stores it, before the database assigns the id. */
export const storedAs = (ctx: Shard, { leaseUntil = 0, testEvent = null, ...delivery }: NewDelivery): Delivery => ({
  ...delivery,
  id: 0,
  copy: 0,
  status: 'pending',
  attempt: 0,
  nextAttemptAt: ctx.wallNow,
  leaseUntil,
  responseStatus: null,
  responseMs: null,
  responseExcerpt: null,
  error: null,
  createdAt: ctx.wallNow,
  completedAt: null,
  testEvent,
  failures: null,
});

/** Plans deliveries of missed events. The statement checks again, so concurrent recoveries create one delivery. */
export const insertMissed = (ctx: Shard, deliveries: NewDelivery[]) =>
  insertDeliveries(
    ctx,
    deliveries,
    sql`NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.event_id = j.value ->> 'eventId' AND d.endpoint_id = ${idField('endpointId')}
      AND d.status IN ('succeeded', 'pending', 'retrying'))`,
  );

export const findDeliveryOf = (db: Db, eventId: string) =>
  db.select().from(webhookDeliveries).where(eq(webhookDeliveries.eventId, eventId)).get();

export const markFannedOut = (ctx: Shard, actIds: string[]) =>
  ctx.db
    .update(acts)
    .set({ fannedOutAt: ctx.wallNow })
    .where(and(isAct(actIds), isNull(acts.fannedOutAt)));

export interface Claimed {
  delivery: Delivery;
  endpoint: Endpoint;
  event: NewStoredEvent;
}

/** Tolerance for messages that a queue delivers early. */
const EARLY_MS = 1000;

/**
 * Claims the next attempt with all it needs in one round trip, plus one if the event is archived. Returns null if the delivery is not due,
 * ended or leased, so no attempt runs twice unless its worker crashed before recording. `event` is null if neither stored nor archived.
 */
export async function claimDelivery(
  ctx: Shard,
  key: DeliveryKey,
  leaseUntil: number,
): Promise<(Omit<Claimed, 'event'> & { event: NewStoredEvent | null }) | null> {
  const { db, wallNow } = ctx;
  const mine = isDelivery(key);
  const of = (column: typeof webhookDeliveries.endpointId | typeof webhookDeliveries.eventId) =>
    db.select({ id: column }).from(webhookDeliveries).where(mine) as never;
  // No join: D1 batches name columns without their table, so equal column names would collide.
  const [taken, [delivery], [endpoint], stored] = await db.batch([
    db
      .update(webhookDeliveries)
      .set({ leaseUntil })
      .where(and(mine, isWaiting, lte(webhookDeliveries.leaseUntil, wallNow), lte(webhookDeliveries.nextAttemptAt, wallNow + EARLY_MS)))
      .returning({ id: webhookDeliveries.id }),
    db.select().from(webhookDeliveries).where(mine),
    db
      .select()
      .from(webhookEndpoints)
      .where(inArray(webhookEndpoints.id, of(webhookDeliveries.endpointId))),
    db
      .select()
      .from(events)
      .where(isEvent(sql`SELECT event_id AS value FROM webhook_deliveries WHERE ${mine}`)),
  ]);
  if (taken.length === 0 || !delivery || !endpoint) return null;
  return { delivery, endpoint, event: openEvents(stored)[0] ?? delivery.testEvent ?? (await findArchivedEvent(ctx, delivery)) };
}

export type DeliveryChange = Partial<Omit<Delivery, 'nextAttemptAt'>> & { nextAttemptAt?: number | null | SQL };

/** Plans the record of an attempt if the caller still holds the lease. Tests are not counted as traffic. */
export function recordDelivery(ctx: Shard, delivery: Delivery, after: DeliveryChange): Write[] {
  const { attempt, leaseUntil, testEvent } = delivery;
  const hasEnded = (after.status === 'succeeded' || after.status === 'failed') && testEvent === null;
  return [
    ctx.db
      .update(webhookDeliveries)
      .set({ ...after, leaseUntil: 0 })
      .where(and(isDelivery(delivery), eq(webhookDeliveries.attempt, attempt), eq(webhookDeliveries.leaseUntil, leaseUntil))),
    abortUnlessChanged(ctx),
    ...(hasEnded ? countsOf(ctx, delivery, after, after.completedAt ?? ctx.wallNow) : []),
  ];
}

function countsOf(ctx: Shard, delivery: Delivery, { status, responseStatus, responseMs }: DeliveryChange, at: number): Write[] {
  const hasSucceeded = status === 'succeeded';
  const ms = typeof responseStatus === 'number' ? (responseMs ?? null) : null;
  const ofSession = delivery.livemode ? [] : [countOfSession(ctx, delivery, hasSucceeded, at)];
  return [...ofSession, countAnswer(ctx, delivery, hasSucceeded, at, ms)];
}

/**
 * Lists events of these types that an endpoint never received in a window: those with failed and cancelled deliveries, and those without one.
 * In storage order, from the previous page's last item. Reads no live acts before `since`: a session's clock may be ahead of their numbers.
 */
export async function listMissed(
  db: Db,
  endpoint: Endpoint,
  types: EventType[],
  window: { since: number; until: number; after: number | null },
  limit: number,
) {
  const isDelivered = sql`EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.event_id = events.id AND d.endpoint_id = ${boundId(endpoint.id)} AND d.status IN ('succeeded', 'pending', 'retrying'))`;
  const lastFailed = sql<
    number | null
  >`(SELECT max(d.id) FROM webhook_deliveries d WHERE d.event_id = events.id AND d.endpoint_id = ${boundId(endpoint.id)})`;
  const rows = await db
    .select({ event: getViewSelectedFields(events), replayOf: lastFailed })
    .from(events)
    .where(
      and(
        eq(events.merchantId, endpoint.merchantId),
        eq(events.livemode, endpoint.livemode),
        sql`${events.createdAt} BETWEEN ${window.since} AND ${window.until}`,
        window.after !== null ? isAfter(window.after) : endpoint.livemode ? isAfter(firstSeqAt(window.since)) : undefined,
        // The plus forces SQLite to use the order of the acts.
        sql`+${inArray(events.type, types)}`,
        sql`NOT ${isDelivered}`,
      ),
    )
    .orderBy(IN_ORDER)
    .limit(limit);
  const opened = openEvents(rows.map(({ event }) => event));
  return rows.map(({ replayOf }, i) => ({ event: opened[i]!, replayOf }));
}

export const listDueActs = (ctx: Pick<Shard, 'db' | 'sandbox' | 'cause'>, dueBefore: number, limit: number) =>
  ctx.db
    .select({ id: acts.id })
    .from(acts)
    .where(and(isNull(acts.fannedOutAt), lte(EVENT_DUE_AT, dueBefore), clockFilterForEvents(ctx)))
    .orderBy(EVENT_DUE_AT)
    .limit(limit);

/** Doubles the waiting time of acts that could not be fanned out, within the bounds. */
export const postponeActs = (db: Db, actIds: string[], now: number, wait: { leastMs: number; mostMs: number }) =>
  db
    .update(acts)
    .set({ nextTryAt: sql`${now} + min(${wait.mostMs}, max(${wait.leastMs}, ${now} - created_at))` })
    .where(and(isNull(acts.fannedOutAt), isAct(actIds)));

/** Lists attempts due by `dueBefore` and not leased, longest due first, after `last`. Held deliveries have no due time and are excluded. */
export const listOverdue = (
  db: Db,
  { leasedBefore, dueBefore, last }: { leasedBefore: number; dueBefore: number; last: OverdueDelivery | null },
  limit: number,
): Promise<OverdueDelivery[]> =>
  db
    .select({
      id: webhookDeliveries.id,
      merchantId: webhookDeliveries.merchantId,
      livemode: webhookDeliveries.livemode,
      endpointId: webhookDeliveries.endpointId,
      failureStreak: webhookEndpoints.failureStreak,
      dueAt: sql<number>`next_attempt_at`.as('due_at'),
    })
    .from(webhookDeliveries)
    .innerJoin(webhookEndpoints, eq(webhookEndpoints.id, webhookDeliveries.endpointId))
    .where(
      and(
        isWaiting,
        lte(webhookDeliveries.nextAttemptAt, dueBefore),
        lt(webhookDeliveries.leaseUntil, leasedBefore),
        last
          ? sql`(next_attempt_at, endpoint_id, ${webhookDeliveries.id}) > (${last.dueAt}, ${boundId(last.endpointId)}, ${last.id})`
          : undefined,
      ),
    )
    .orderBy(asc(webhookDeliveries.nextAttemptAt), asc(webhookDeliveries.endpointId), asc(webhookDeliveries.id))
    .limit(limit);

/** SQL condition: requested replays, which have one attempt. Recovered deliveries have a full schedule. */
const replaysOf = ({ eventId, id }: { eventId: string; id: number }): SQL =>
  sql`event_id = ${eventId} AND replay_of = ${id} AND max_attempts = 1`;
const WAITS = sql`status IN ('pending', 'retrying')`;

export const findWaitingReplay = (db: Db, original: Delivery) =>
  db
    .select()
    .from(webhookDeliveries)
    .where(and(replaysOf(original), WAITS))
    .get();

export const newestReplayId = (original: Delivery): SQL => sql`(SELECT max(id) FROM webhook_deliveries WHERE ${replaysOf(original)})`;

/** Plans a replay. Aborts if another replay is waiting. */
export const insertReplay = (ctx: Shard, original: Delivery, replay: NewDelivery): Write[] => [
  abortIfExists(ctx, webhookDeliveries, sql`${replaysOf(original)} AND ${WAITS}`),
  insertDeliveries(ctx, [replay]),
];
