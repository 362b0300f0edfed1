import { and, eq, gt, isNull, lte, ne, type SQL, sql } from 'drizzle-orm';
import { QUARTER, quarterOf, utcDayOf } from '#core/days.ts';
import { actOfEvent, type EndpointId } from '#core/ids.ts';
import { HOUR } from '#core/time.ts';
import { OF_NO_SESSION } from '#platform/chain/clock-filter.store.ts';
import type { Ctx, Db, Scope, Shard } from '#platform/context.ts';
import { isAct } from '#platform/db/acts/find.ts';
import { boundId } from '#platform/db/among.ts';
import type { Write } from '#platform/db/commit.ts';
import { countTo, pageRequest, rowsOf } from '#platform/db/page.ts';
import { analyticsDays, endedDeliveries } from '#platform/db/tables/office/analytics.ts';
import { type Delivery, type Endpoint, endpointHours, webhookDeliveries, webhookEndpoints } from '#platform/db/tables/webhooks.ts';
import { answerClassOf } from '#rules/analytics/answer-times.ts';
import { isWaiting, isWaitingFor, oldestWaiting } from './waiting.store.ts';

/** Error shown on a delivery held by the open circuit. Queries for held deliveries match this text. */
export const CIRCUIT_OPEN = 'held back: the endpoint keeps failing';

const waitingFor = (endpointId: EndpointId) => and(eq(webhookDeliveries.endpointId, endpointId), isWaiting);

/**
 * Single attempt due at `at`, all that an endpoint gets while its circuit is open. The circuit opens after `streak` consecutive failures.
 */
interface Probe {
  at: number;
  streak: number;
}

const isBrokenNow = (endpointId: EndpointId, { streak }: Probe) => sql`EXISTS (SELECT 1 FROM webhook_endpoints e
  WHERE e.id = ${boundId(endpointId)} AND e.status = 'enabled' AND e.failure_streak >= ${streak})`;

/** SQL due time of a held delivery: the probe's time, or now if another attempt has closed the circuit meanwhile. */
export const dueAsProbe = (ctx: Ctx, { endpointId }: Delivery, probe: Probe): SQL =>
  sql`CASE WHEN ${isBrokenNow(endpointId, probe)} THEN ${probe.at} ELSE ${ctx.wallNow} END`;

/** Holds deliveries due before the probe without a due time, so that no sweep reads them. The endpoint's next success releases them. */
export const holdPending = (ctx: Shard, { id, endpointId }: Delivery, probe: Probe): Write =>
  ctx.db
    .update(webhookDeliveries)
    .set({ nextAttemptAt: null, error: CIRCUIT_OPEN })
    .where(
      and(
        waitingFor(endpointId),
        ne(webhookDeliveries.id, id),
        lte(webhookDeliveries.nextAttemptAt, probe.at),
        lte(webhookDeliveries.leaseUntil, ctx.wallNow),
        isBrokenNow(endpointId, probe),
      ),
    );

export const scheduleProbe = (ctx: Shard, endpointId: EndpointId, probeAt: number): Write =>
  ctx.db
    .update(webhookDeliveries)
    .set({ nextAttemptAt: probeAt })
    .where(
      sql`(event_id, endpoint_id, copy) IN (SELECT event_id, endpoint_id, copy FROM webhook_deliveries WHERE endpoint_id = ${boundId(endpointId)}
        AND status IN ('pending', 'retrying') AND next_attempt_at IS NULL ORDER BY id LIMIT 1)`,
    );

/**
 * Makes held deliveries due after every success, because the circuit may have opened since its attempt began. After earlier failures the
 * probe has a due time, so held deliveries are found by their error.
 */
export const resumePending = (ctx: Shard, endpoint: Endpoint, now: number): Write =>
  ctx.db
    .update(webhookDeliveries)
    .set({ nextAttemptAt: now, error: null })
    .where(
      endpoint.failureStreak > 0
        ? and(isWaitingFor(ctx, endpoint), eq(webhookDeliveries.error, CIRCUIT_OPEN))
        : and(waitingFor(endpoint.id), isNull(webhookDeliveries.nextAttemptAt)),
    );

/** Cancels waiting deliveries of a disabled endpoint. An attempt in progress may still succeed. */
export const cancelWaiting = (ctx: Shard, endpoint: Endpoint): Write =>
  ctx.db
    .update(webhookDeliveries)
    .set({ status: 'cancelled', nextAttemptAt: null, completedAt: ctx.wallNow })
    .where(and(isWaitingFor(ctx, endpoint), lte(webhookDeliveries.leaseUntil, ctx.wallNow)));

const DUE_MAX = 500;

export const listDueOf = (db: Db, endpointId: EndpointId, now: number) =>
  db
    .select({
      id: webhookDeliveries.id,
      merchantId: webhookDeliveries.merchantId,
      livemode: webhookDeliveries.livemode,
      endpointId: webhookDeliveries.endpointId,
    })
    .from(webhookDeliveries)
    .where(and(waitingFor(endpointId), lte(webhookDeliveries.nextAttemptAt, now), lte(webhookDeliveries.leaseUntil, now)))
    .orderBy(webhookDeliveries.nextAttemptAt, webhookDeliveries.id)
    .limit(DUE_MAX);

const hourOf = (at: number): number => at - (at % HOUR);

const isOfSession = (eventId: string): SQL =>
  sql`EXISTS (SELECT 1 FROM acts WHERE ${isAct([actOfEvent(eventId)])} AND NOT (${sql.raw(OF_NO_SESSION)}))`;

/** Counts an ended delivery of a sandbox session. */
export const countOfSession = (ctx: Shard, { merchantId, endpointId, eventId }: Delivery, succeeded: boolean, at: number): Write =>
  ctx.db
    .insert(endpointHours)
    .select(
      sql`SELECT ${boundId(merchantId)}, 0, ${hourOf(at)}, ${boundId(endpointId)}, ${succeeded ? 1 : 0}, 1 WHERE ${isOfSession(eventId)}`,
    )
    .onConflictDoUpdate({
      target: [endpointHours.merchantId, endpointHours.livemode, endpointHours.hour, endpointHours.endpointId],
      set: { succeeded: sql`succeeded + excluded.succeeded`, ended: sql`ended + 1` },
    });

/**
 * Counts an ended delivery in the merchant's analytics with the duration of its last answer. `ms` is null without an answer. Skips sandbox
 * sessions, which report their own deliveries.
 */
export function countAnswer(ctx: Shard, delivery: Delivery, hasSucceeded: boolean, at: number, ms: number | null): Write {
  const { merchantId, livemode, eventId } = delivery;
  const { quarter, answerClass } = { quarter: quarterOf(at), answerClass: ms === null ? -1 : answerClassOf(ms) };
  return ctx.db
    .insert(endedDeliveries)
    .select(
      sql`SELECT ${boundId(merchantId)}, ${livemode ? 1 : 0}, ${quarter}, ${hasSucceeded ? 1 : 0}, ${answerClass}, 1
        WHERE ${livemode ? sql`true` : sql`NOT ${isOfSession(eventId)}`}`,
    )
    .onConflictDoUpdate({
      target: [
        endedDeliveries.merchantId,
        endedDeliveries.livemode,
        endedDeliveries.quarter,
        endedDeliveries.hasSucceeded,
        endedDeliveries.answerClass,
      ],
      set: { count: sql`count + 1` },
    });
}

/**
 * SELECT of the deliveries that ended after the first quarter since `since`: folded ones, those not folded yet, and those of sandbox
 * sessions.
 */
const endedSince = (scope: Scope, since: number): SQL => sql`SELECT q.value ->> 'delivered' AS succeeded, q.value ->> 'deliveries' AS ended
    FROM analytics_days, json_each(quarters) q
    WHERE ${rowsOf(analyticsDays, scope)} AND day >= ${utcDayOf(since)} AND day + q.key * ${QUARTER} > ${since}
  UNION ALL SELECT iif(has_succeeded, count, 0), count FROM ended_deliveries WHERE ${rowsOf(endedDeliveries, scope)} AND quarter > ${since}
  UNION ALL SELECT succeeded, ended FROM endpoint_hours WHERE ${rowsOf(endpointHours, scope)} AND ${gt(endpointHours.hour, since)}`;

/** Loads delivery health from the endpoints and from counters of ended deliveries. */
export async function loadIntegrationHealth(scope: Scope, since: number) {
  const { db } = scope;
  const mine = rowsOf(webhookEndpoints, scope);
  const ofStatus = (status: SQL) => and(mine, sql`${webhookEndpoints.status} = ${status}`);
  const [enabled, [disabled], [recent], [waiting]] = await db.batch([
    db
      .select({
        kind: webhookEndpoints.kind,
        failureStreak: webhookEndpoints.failureStreak,
        lastSuccessAt: webhookEndpoints.lastSuccessAt,
      })
      .from(webhookEndpoints)
      .where(ofStatus(sql`'enabled'`)),
    countTo(db, webhookEndpoints, ofStatus(sql`'disabled'`), pageRequest({ page: 1, per_page: 1 })),
    db
      .select({ succeeded: sql<number>`coalesce(sum(succeeded), 0)`, ended: sql<number>`coalesce(sum(ended), 0)` })
      .from(sql`(${endedSince(scope, since)})`),
    db.select({ oldestAt: sql<number | null>`min(created_at)` }).from(sql`(${oldestWaiting(scope)})`),
  ]);
  return {
    enabled,
    disabled: disabled?.total ?? 0,
    succeeded: recent?.succeeded ?? 0,
    ended: recent?.ended ?? 0,
    oldestAt: waiting?.oldestAt ?? null,
  };
}
