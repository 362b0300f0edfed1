import { and, asc, eq, isNull, lt, lte, sql } from 'drizzle-orm';
import { eventsInReach } from '#platform/chain/reach.store.ts';
import type { Db, Shard } from '#platform/context.ts';
import { EVENT_DUE_AT, events } from '#platform/db/tables/events.ts';
import { webhookDeliveries, webhookEndpoints } from '#platform/db/tables/webhooks.ts';
import { isWaiting } from './breaker.store.ts';

/** Events that are not fanned out although their message should have come by now, longest due first. */
export const listDueEvents = (ctx: Pick<Shard, 'db' | 'sandbox' | 'cause'>, dueBefore: number, limit: number) =>
  ctx.db
    .select({ id: events.id })
    .from(events)
    .where(and(isNull(events.fannedOutAt), lte(EVENT_DUE_AT, dueBefore), eventsInReach(ctx)))
    .orderBy(EVENT_DUE_AT)
    .limit(limit);

/** What could not be fanned out waits as long again as it has waited, within these bounds. */
export const postponeEvents = (db: Db, eventIds: string[], now: number, wait: { leastMs: number; mostMs: number }) =>
  db
    .update(events)
    .set({ nextTryAt: sql`${now} + min(${wait.mostMs}, max(${wait.leastMs}, ${now} - created_at))` })
    .where(and(isNull(events.fannedOutAt), sql`id IN (SELECT value FROM json_each(${JSON.stringify(eventIds)}))`));

export interface OverdueDelivery {
  id: number;
  failureStreak: number;
  dueAt: number;
}

/** Attempts due by `dueBefore` and not leased, longest due first and after `last`. What a broken endpoint holds back has no time, and is not among them. */
export const listOverdue = (
  db: Db,
  { leasedBefore, dueBefore, last }: { leasedBefore: number; dueBefore: number; last: { id: number; dueAt: number } | null },
  limit: number,
): Promise<OverdueDelivery[]> =>
  db
    .select({ id: webhookDeliveries.id, failureStreak: webhookEndpoints.failureStreak, dueAt: sql<number>`next_attempt_at`.as('due_at') })
    .from(webhookDeliveries)
    .innerJoin(webhookEndpoints, eq(webhookEndpoints.id, webhookDeliveries.endpointId))
    .where(
      and(
        isWaiting,
        lte(webhookDeliveries.nextAttemptAt, dueBefore),
        lt(webhookDeliveries.leaseUntil, leasedBefore),
        last ? sql`(next_attempt_at, ${webhookDeliveries.id}) > (${last.dueAt}, ${last.id})` : undefined,
      ),
    )
    .orderBy(asc(webhookDeliveries.nextAttemptAt), asc(webhookDeliveries.id))
    .limit(limit);
