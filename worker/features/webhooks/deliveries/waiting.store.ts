import { and, eq, type SQL, sql } from 'drizzle-orm';
import { PROBE_EVERY_MS } from '#core/limits.ts';
import type { Scope, Shard, Tenant } from '#platform/context.ts';
import { boundId } from '#platform/db/among.ts';
import { rowsOf } from '#platform/db/page.ts';
import { cursors } from '#platform/db/tables/candidates.ts';
import { type Delivery, type Endpoint, webhookDeliveries } from '#platform/db/tables/webhooks.ts';

/** Names a delivery by the index of its endpoint, as messages do. */
export type DeliveryKey = Pick<Delivery, 'id' | 'merchantId' | 'livemode' | 'endpointId'>;

export interface OverdueDelivery extends DeliveryKey {
  failureStreak: number;
  dueAt: number;
}

export const isDelivery = (key: DeliveryKey): SQL =>
  and(rowsOf(webhookDeliveries, key), eq(webhookDeliveries.endpointId, key.endpointId), eq(webhookDeliveries.id, key.id))!;

/** Repeats the partial indexes' expression literally: a bound status would not use them. */
export const isWaiting = sql`${webhookDeliveries.status} IN ('pending', 'retrying')`;

/** SELECT of the endpoints that have deliveries of an owner, by one index entry each. */
export const endpointsOf = (isOwner: SQL): SQL => {
  const first = sql`SELECT min(endpoint_id) FROM webhook_deliveries WHERE ${isOwner}`;
  return sql`WITH RECURSIVE active(id) AS (${first} UNION ALL SELECT (${first} AND endpoint_id > active.id) FROM active
    WHERE active.id IS NOT NULL) SELECT id FROM active WHERE id IS NOT NULL`;
};

export const endpointsWith = (tenant: Tenant): SQL => endpointsOf(rowsOf(webhookDeliveries, tenant));

/** Longest time until a probe is due, with a margin for clocks that differ. */
const PROBE_MS = 2 * PROBE_EVERY_MS;

const WAITING = sql`FROM webhook_deliveries INDEXED BY webhook_deliveries_due WHERE status IN ('pending', 'retrying')`;
const retrying = (tenant: Tenant): SQL =>
  sql`FROM webhook_deliveries WHERE ${rowsOf(webhookDeliveries, tenant)} AND status = 'retrying' AND status IN ('retrying', 'failed', 'cancelled')`;

/**
 * SELECT of `columns` of pending deliveries of these endpoints, and of some that retry. An open circuit holds them without a due time. All
 * others are due within the time of a probe: the index has those of all merchants, which are few unless the queues fail.
 */
const pending = (columns: SQL, { wallNow }: Pick<Shard, 'wallNow'>, endpointIds: SQL): SQL =>
  sql`SELECT ${columns} ${WAITING} AND next_attempt_at IS NULL AND endpoint_id IN (${endpointIds})
    UNION ALL SELECT ${columns} ${WAITING} AND next_attempt_at <= ${wallNow + PROBE_MS} AND endpoint_id IN (${endpointIds})`;

const KEY = sql`event_id, endpoint_id, copy`;

/** SQL condition: the merchant's pending deliveries. SQLite finds rows by a compound SELECT only inside of another. */
export const isPending = (scope: Scope): SQL =>
  sql`status = 'pending' AND (${KEY}) IN (SELECT ${KEY} FROM (${pending(KEY, scope, endpointsWith(scope))}))`;

/** SQL condition: waiting deliveries of the endpoint. */
export const isWaitingFor = (ctx: Shard, endpoint: Endpoint): SQL => sql`${rowsOf(webhookDeliveries, endpoint)}
  AND ${eq(webhookDeliveries.endpointId, endpoint.id)} AND id IN (SELECT id ${retrying(endpoint)} AND endpoint_id = ${boundId(endpoint.id)}
    UNION ALL ${pending(sql`id`, ctx, sql`${boundId(endpoint.id)}`)})`;

/** SELECT of the oldest delivery that retries, the oldest that an open circuit holds for each endpoint, and the oldest due one. */
export const oldestWaiting = (scope: Scope): SQL => sql`SELECT created_at FROM (SELECT created_at ${retrying(scope)} ORDER BY id LIMIT 1)
  UNION ALL SELECT (SELECT created_at ${WAITING} AND next_attempt_at IS NULL AND endpoint_id = e.id ORDER BY id LIMIT 1)
    FROM (${endpointsWith(scope)}) e
  UNION ALL SELECT min(created_at) ${WAITING} AND next_attempt_at <= ${scope.wallNow + PROBE_MS}
    AND endpoint_id IN (${endpointsWith(scope)})`;

const CURSOR = 'deliveries';

/** Last attempt that the sweeps of a long backlog, which began after `since`, have sent. */
export async function findPassed({ db }: Shard, since: number): Promise<OverdueDelivery | null> {
  const known = await db.select().from(cursors).where(eq(cursors.name, CURSOR)).get();
  return known && known.passedAt > since ? (JSON.parse(known.walkBefore ?? 'null') as OverdueDelivery | null) : null;
}

/** Retains the time at which these sweeps began, so that each attempt is sent again after it. */
export const savePassed = ({ db, wallNow: passedAt }: Shard, last: OverdueDelivery, since: number) =>
  db
    .insert(cursors)
    .values({ name: CURSOR, walkBefore: JSON.stringify(last), passedAt, version: 1 })
    .onConflictDoUpdate({
      target: cursors.name,
      set: { walkBefore: JSON.stringify(last), passedAt: sql`iif(passed_at > ${since}, passed_at, ${passedAt})` },
    });
