import { and, asc, eq, gt, isNull, lt, lte } from 'drizzle-orm';
import type { Db } from '../context.ts';
import { events, webhookDeliveries, webhookEndpoints } from '../db/messaging.ts';
import { isWaiting } from './waiting.store.ts';

/** Events that nobody fanned out yet although their message should have come: lost, or on a bad day. */
export const listWaitingEvents = (db: Db, createdBefore: number, afterSeq: number, limit: number) =>
  db
    .select({ id: events.id, seq: events.seq })
    .from(events)
    .where(and(isNull(events.fannedOutAt), lte(events.createdAt, createdBefore), gt(events.seq, afterSeq)))
    .orderBy(asc(events.seq))
    .limit(limit);

/** Attempts due by `dueBy` and in nobody's hands, longest due first. What a broken endpoint holds back has no time, and is not among them. */
export const listOverdue = (db: Db, now: number, dueBy: number, limit: number) =>
  db
    .select({ id: webhookDeliveries.id, failureStreak: webhookEndpoints.failureStreak })
    .from(webhookDeliveries)
    .innerJoin(webhookEndpoints, eq(webhookEndpoints.id, webhookDeliveries.endpointId))
    .where(and(isWaiting, lte(webhookDeliveries.nextAttemptAt, dueBy), lt(webhookDeliveries.leaseUntil, now)))
    .orderBy(asc(webhookDeliveries.nextAttemptAt))
    .limit(limit);
