import { and, eq, isNull, lte, ne, type SQL, sql } from 'drizzle-orm';
import type { EndpointId } from '#core/ids.ts';
import type { Ctx, Db, Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import type { Delivery, Endpoint } from '#platform/db/tables/webhooks.ts';
import { webhookDeliveries } from '#platform/db/tables/webhooks.ts';

/** Shown on a delivery that waits because its endpoint is broken, so that its merchant sees why; and found again by it. */
export const HELD = 'held back: the endpoint keeps failing';

/** As the partial indexes have it, word for word: a bound status would not use them. */
export const isWaiting = sql`${webhookDeliveries.status} IN ('pending', 'retrying')`;

const waitingFor = (endpointId: EndpointId) => and(eq(webhookDeliveries.endpointId, endpointId), isWaiting);

/** What a broken endpoint gets until it answers: one attempt, `at` that time. It is broken after so many failures in a row. */
export interface Probe {
  at: number;
  streak: number;
}

const isBrokenNow = (endpointId: EndpointId, { streak }: Probe) => sql`EXISTS (SELECT 1 FROM webhook_endpoints e
  WHERE e.id = ${endpointId} AND e.status = 'enabled' AND e.failure_streak >= ${streak})`;

/** When a held delivery is due: as the probe of its broken endpoint; at once where another attempt has mended it meanwhile. */
export const dueAsProbe = (ctx: Ctx, { endpointId }: Delivery, probe: Probe): SQL =>
  sql`CASE WHEN ${isBrokenNow(endpointId, probe)} THEN ${probe.at} ELSE ${ctx.wallNow} END`;

/**
 * Beside its probe, what a broken endpoint would get by then waits without a time, so that
 * no sweep reads it. An answer of the endpoint releases it.
 */
export const holdBeside = (ctx: Shard, { id, endpointId }: Delivery, probe: Probe): Write =>
  ctx.db
    .update(webhookDeliveries)
    .set({ nextAttemptAt: null, error: HELD })
    .where(
      and(
        waitingFor(endpointId),
        ne(webhookDeliveries.id, id),
        lte(webhookDeliveries.nextAttemptAt, probe.at),
        lte(webhookDeliveries.leaseUntil, ctx.wallNow),
        isBrokenNow(endpointId, probe),
      ),
    );

/** After a probe that failed, the oldest that is held back is the next one. */
export const promoteHeld = (ctx: Shard, endpointId: EndpointId, probeAt: number): Write =>
  ctx.db
    .update(webhookDeliveries)
    .set({ nextAttemptAt: probeAt })
    .where(
      sql`id = (SELECT id FROM webhook_deliveries WHERE endpoint_id = ${endpointId} AND status IN ('pending', 'retrying')
        AND next_attempt_at IS NULL ORDER BY id LIMIT 1)`,
    );

/**
 * What was held back is due. Every success says so, because the endpoint may have broken and held others
 * back since its attempt began; one that failed before has its probe among them, which has a time.
 */
export const releaseHeld = (ctx: Shard, { id, failureStreak }: Endpoint, now: number): Write =>
  ctx.db
    .update(webhookDeliveries)
    .set({ nextAttemptAt: now, error: null })
    .where(and(waitingFor(id), failureStreak > 0 ? eq(webhookDeliveries.error, HELD) : isNull(webhookDeliveries.nextAttemptAt)));

/** What waited for an endpoint that gets nothing more. An attempt under way may still end well. */
export const cancelWaiting = (ctx: Shard, endpointId: EndpointId): Write =>
  ctx.db
    .update(webhookDeliveries)
    .set({ status: 'cancelled', nextAttemptAt: null, completedAt: ctx.wallNow })
    .where(and(waitingFor(endpointId), lte(webhookDeliveries.leaseUntil, ctx.wallNow)));

const DUE_MAX = 500;

/** Attempts of one endpoint that are due and not leased, those longest due first. */
export const listDueOf = (db: Db, endpointId: EndpointId, now: number) =>
  db
    .select({ id: webhookDeliveries.id })
    .from(webhookDeliveries)
    .where(and(waitingFor(endpointId), lte(webhookDeliveries.nextAttemptAt, now), lte(webhookDeliveries.leaseUntil, now)))
    .orderBy(webhookDeliveries.nextAttemptAt, webhookDeliveries.id)
    .limit(DUE_MAX);
