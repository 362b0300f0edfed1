import { and, asc, eq, gt, inArray, isNull, lt, lte, sql } from 'drizzle-orm';
import type { Db } from '../context.ts';
import { events, webhookDeliveries, webhookEndpoints } from '../db/messaging.ts';

/** Events that nobody fanned out yet although their message should have come: lost, or on a bad day. */
export const listWaitingEvents = (db: Db, createdBefore: number, afterSeq: number, limit: number) =>
  db
    .select({ id: events.id, seq: events.seq })
    .from(events)
    .where(and(isNull(events.fannedOutAt), lte(events.createdAt, createdBefore), gt(events.seq, afterSeq)))
    .orderBy(asc(events.seq))
    .limit(limit);

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
