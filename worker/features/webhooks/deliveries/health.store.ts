import { and, gt, type SQL, sql } from 'drizzle-orm';
import { quarterOf } from '#core/days.ts';
import { HOUR } from '#core/time.ts';
import { OF_NO_SESSION } from '#platform/chain/reach.store.ts';
import type { Scope, Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { countTo, pageRequest, rowsOf } from '#platform/db/page.ts';
import { endedDeliveries } from '#platform/db/tables/office/figures.ts';
import type { Delivery } from '#platform/db/tables/webhooks.ts';
import { endpointHours, webhookDeliveries, webhookEndpoints } from '#platform/db/tables/webhooks.ts';
import { answerClassOf } from '#rules/figures/answer-times.ts';
import { isWaiting } from './breaker.store.ts';

const hourOf = (at: number): number => at - (at % HOUR);

/** One more delivery of an endpoint has ended for good, in its hour. */
export const countEnded = (ctx: Shard, { merchantId, livemode, endpointId }: Delivery, succeeded: boolean, at: number): Write =>
  ctx.db
    .insert(endpointHours)
    .values({ merchantId, livemode, endpointId, hour: hourOf(at), succeeded: succeeded ? 1 : 0, ended: 1 })
    .onConflictDoUpdate({
      target: [endpointHours.merchantId, endpointHours.livemode, endpointHours.hour, endpointHours.endpointId],
      set: { succeeded: sql`succeeded + excluded.succeeded`, ended: sql`ended + 1` },
    });

/**
 * The same for the figures of its merchant, with how long its last answer took; `ms` is null where there was none. Those of a sandbox's
 * session are told by the session alone, and end with it.
 */
export function countAnswer(ctx: Shard, delivery: Delivery, hasSucceeded: boolean, at: number, ms: number | null): Write {
  const { merchantId, livemode, eventId } = delivery;
  const { quarter, answerClass } = { quarter: quarterOf(at), answerClass: ms === null ? -1 : answerClassOf(ms) };
  const isOfNoSession = sql`NOT EXISTS (SELECT 1 FROM events WHERE id = ${eventId} AND NOT (${sql.raw(OF_NO_SESSION)}))`;
  return ctx.db
    .insert(endedDeliveries)
    .select(
      sql`SELECT ${merchantId}, ${livemode ? 1 : 0}, ${quarter}, ${hasSucceeded ? 1 : 0}, ${answerClass}, 1
        WHERE ${livemode ? sql`true` : isOfNoSession}`,
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

/** How events leave the house, from what each endpoint keeps of itself; of what ended, the hours that began after `since`. */
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
      .select({
        succeeded: sql<number>`coalesce(sum(${endpointHours.succeeded}), 0)`,
        ended: sql<number>`coalesce(sum(${endpointHours.ended}), 0)`,
      })
      .from(endpointHours)
      .where(and(rowsOf(endpointHours, scope), gt(endpointHours.hour, since))),
    db
      .select({ oldestAt: sql<number | null>`min(${webhookDeliveries.createdAt})` })
      .from(webhookDeliveries)
      .where(and(rowsOf(webhookDeliveries, scope), isWaiting)),
  ]);
  return {
    enabled,
    disabled: disabled?.total ?? 0,
    succeeded: recent?.succeeded ?? 0,
    ended: recent?.ended ?? 0,
    oldestAt: waiting?.oldestAt ?? null,
  };
}
