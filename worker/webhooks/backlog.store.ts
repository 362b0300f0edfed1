import { and, asc, eq, inArray, isNull, lt, lte, sql } from 'drizzle-orm';
import type { Db } from '../context.ts';
import { events, webhookDeliveries, webhookEndpoints } from '../db/messaging.ts';

/** The expression that the index `events_due` is made of. */
const dueAt = sql`CASE WHEN next_try_at IS NULL THEN created_at ELSE next_try_at END`;

/** Events that are not fanned out although their message should have come by now, longest due first. */
export const listDueEvents = (db: Db, dueBefore: number, limit: number) =>
  db
    .select({ id: events.id })
    .from(events)
    .where(and(isNull(events.fannedOutAt), lte(dueAt, dueBefore)))
    .orderBy(dueAt)
    .limit(limit);

/** A statement, not an effect: what could not be fanned out waits as long again as it has waited, within these bounds. */
export const postponeEvents = (db: Db, eventIds: string[], now: number, wait: { leastMs: number; mostMs: number }) =>
  db
    .update(events)
    .set({ nextTryAt: sql`${now} + min(${wait.mostMs}, max(${wait.leastMs}, ${now} - created_at))` })
    .where(and(isNull(events.fannedOutAt), sql`id IN (SELECT value FROM json_each(${JSON.stringify(eventIds)}))`));

/**
 * Attempts due by `dueBy` and in nobody's hands, longest due first. What a broken endpoint holds back must not crowd out what others
 * wait for: nothing of it until its probe is due, and then one delivery, whose success brings the rest.
 */
export function listOverdue(db: Db, now: number, dueBy: number, broken: { streak: number; failedAfter: number }, limit: number) {
  const isBroken = sql`${webhookEndpoints.failureStreak} >= ${broken.streak}`;
  const isOverdue = and(
    inArray(webhookDeliveries.status, ['pending', 'retrying']),
    lte(webhookDeliveries.nextAttemptAt, dueBy),
    lt(webhookDeliveries.leaseUntil, now),
  );
  const ofEndpoint = eq(webhookEndpoints.id, webhookDeliveries.endpointId);
  const probes = db
    .select({ id: sql`min(${webhookDeliveries.id})` })
    .from(webhookDeliveries)
    .innerJoin(webhookEndpoints, ofEndpoint)
    .where(and(isOverdue, isBroken, sql`coalesce(${webhookEndpoints.lastFailureAt}, 0) <= ${broken.failedAfter}`))
    .groupBy(webhookDeliveries.endpointId);
  return db
    .select({ id: webhookDeliveries.id, failureStreak: webhookEndpoints.failureStreak })
    .from(webhookDeliveries)
    .innerJoin(webhookEndpoints, ofEndpoint)
    .where(and(isOverdue, sql`(NOT (${isBroken}) OR ${webhookDeliveries.id} IN ${probes})`))
    .orderBy(asc(webhookDeliveries.nextAttemptAt))
    .limit(limit);
}
