import { and, desc, eq, inArray, type SQL, sql } from 'drizzle-orm';
import { raise } from '#core/errors.ts';
import type { AccountId, EndpointId, KeyId } from '#core/ids.ts';
import { MINUTE } from '#core/time.ts';
import type { Db, Scope, Shard } from '#platform/context.ts';
import { boundId } from '#platform/db/among.ts';
import { abortIf, abortIfExists, type Write } from '#platform/db/commit.ts';
import { countTo, type Listed, listPage, newestFirst, type PageRequest, rowsOf } from '#platform/db/page.ts';
import { type Delivery, type Endpoint, webhookDeliveries, webhookEndpoints } from '#platform/db/tables/webhooks.ts';
import { casUpdate, updateUnversioned } from '#platform/db/versioned.ts';
import { endpointsWith, isPending } from './deliveries/waiting.store.ts';

export const findEndpoint = (scope: Scope, endpointId: EndpointId) =>
  scope.db
    .select()
    .from(webhookEndpoints)
    .where(and(rowsOf(webhookEndpoints, scope), eq(webhookEndpoints.id, endpointId)))
    .get();

export async function getEndpoint(...args: Parameters<typeof findEndpoint>): Promise<Endpoint> {
  return (await findEndpoint(...args)) ?? raise('not_found');
}

/** Lists endpoints, those of one creator if `createdBy` is given. */
export const listEndpoints = (scope: Scope, createdBy: AccountId | KeyId | undefined, page: PageRequest) => {
  const mine = rowsOf(webhookEndpoints, scope);
  const made = createdBy === undefined ? mine : sql`${mine} AND ${webhookEndpoints.createdBy} ->> '$.id' = ${createdBy}`;
  return listPage(scope.db, webhookEndpoints, made, newestFirst(webhookEndpoints.createdAt), page);
};

export const getEnabledEndpointCount = (scope: Scope): Promise<number> =>
  scope.db.$count(webhookEndpoints, and(rowsOf(webhookEndpoints, scope), eq(webhookEndpoints.status, 'enabled')));

/** Aborts if the plan's limit of enabled endpoints is used up. */
export const abortIfOverQuota = (ctx: Shard, { merchantId, livemode }: Endpoint, enabledMax: number): Write =>
  abortIf(
    ctx,
    sql`(SELECT count(*) FROM webhook_endpoints WHERE merchant_id = ${boundId(merchantId)} AND livemode = ${livemode ? 1 : 0} AND status = 'enabled') >= ${enabledMax}`,
  );

export const insertEndpoint = (db: Db, endpoint: Endpoint): Write => db.insert(webhookEndpoints).values(endpoint);

/**
 * Updates settings only, because concurrent attempts change the health. A change that depends on the health aborts if the health has moved.
 */
export const updateEndpoint = (ctx: Shard, before: Endpoint, patch: Partial<Endpoint>): Write[] =>
  casUpdate(
    ctx,
    webhookEndpoints,
    before,
    { ...patch, updatedAt: ctx.now },
    patch.disabledReason === 'no_success_for_5_days' || patch.warningsSent !== undefined
      ? sql`failing_since IS ${before.failingSince}`
      : undefined,
  );

export const listEnabledEndpoints = (db: Db, merchantId: AccountId): Promise<Endpoint[]> =>
  db
    .select()
    .from(webhookEndpoints)
    .where(
      and(
        eq(webhookEndpoints.merchantId, merchantId),
        inArray(webhookEndpoints.livemode, [true, false]),
        eq(webhookEndpoints.status, 'enabled'),
      ),
    );

/** Lists endpoints that a key created, or gave their current URL or secret. A key acts only in its own mode. */
export const listMadeBy = (
  db: Db,
  { merchantId, livemode, id }: { merchantId: AccountId; livemode: boolean; id: KeyId },
): Promise<Endpoint[]> =>
  db
    .select()
    .from(webhookEndpoints)
    .where(
      and(
        eq(webhookEndpoints.merchantId, merchantId),
        eq(webhookEndpoints.livemode, livemode),
        sql`${id} IN (${webhookEndpoints.createdBy} ->> '$.id', ${webhookEndpoints.changedBy} ->> '$.id')`,
      ),
    )
    .orderBy(desc(webhookEndpoints.createdAt));

/** Counts products that a key created or changed, by the audit log. Reads one index entry for each product, however often it was changed. */
export const getProductCountOfKey = async (db: Db, { merchantId, id }: { merchantId: AccountId; id: KeyId }): Promise<number> => {
  // Repeats the partial index's expression literally, otherwise SQLite does not use the index.
  const next = (more: SQL) => sql`SELECT min(subject_id) FROM audit_entries WHERE merchant_id = ${boundId(merchantId)}
    AND actor_id = ${boundId(id)} AND actor_kind = 'key' AND subject_type = 'product' AND outcome = 'done' ${more}`;
  const found = await db.get<{ n: number }>(
    sql`WITH RECURSIVE changed(id) AS (${next(sql``)} UNION ALL
      SELECT (${next(sql`AND subject_id > changed.id`)}) FROM changed WHERE changed.id IS NOT NULL) SELECT count(id) AS n FROM changed`,
  );
  return found?.n ?? 0;
};

export const abortWhileEnabled = (ctx: Shard, merchantId: AccountId): Write =>
  abortIfExists(ctx, webhookEndpoints, sql`merchant_id = ${boundId(merchantId)} AND livemode IN (0, 1) AND status = 'enabled'`);

/** A success that changes only its own time is stored once a minute. */
const isNews = (now: number) =>
  sql`(failing_since IS NOT NULL OR failure_streak > 0 OR last_success_at IS NULL OR last_success_at <= ${now - MINUTE})`;

export const noteHealth = (ctx: Shard, endpointId: EndpointId, success: boolean, now: number): Write =>
  updateUnversioned(
    ctx.db,
    webhookEndpoints,
    success
      ? { failureStreak: 0, failingSince: null, lastSuccessAt: now }
      : {
          failureStreak: sql`failure_streak + 1`,
          failingSince: sql`coalesce(failing_since, ${now})`,
          lastFailureAt: now,
          // The first failure after a success starts a new run without any warnings.
          warningsSent: sql`iif(failing_since IS NULL, 0, warnings_sent)`,
        },
    and(eq(webhookEndpoints.id, endpointId), success ? isNews(now) : undefined),
  );

/**
 * Claims the probe of an endpoint with an open circuit. Of concurrent attempts exactly one gets true. The endpoint counts as failing until
 * the probe succeeds.
 */
export async function takeProbe(ctx: Shard, { id, lastFailureAt }: Endpoint): Promise<boolean> {
  const mine = and(eq(webhookEndpoints.id, id), lastFailureAt === null ? undefined : eq(webhookEndpoints.lastFailureAt, lastFailureAt));
  const taken = await updateUnversioned(ctx.db, webhookEndpoints, { lastFailureAt: ctx.wallNow }, mine).returning();
  return taken.length > 0;
}

interface DeliveryFilter {
  endpointId?: string;
  status?: Delivery['status'];
}

export async function listDeliveries(scope: Scope, filter: DeliveryFilter, page: PageRequest): Promise<Listed<Delivery>> {
  const { endpointId, status } = filter;
  const isMine = rowsOf(webhookDeliveries, scope, [
    [webhookDeliveries.endpointId, endpointId],
    [webhookDeliveries.status, status],
  ]);
  const list = (where: SQL) => listPage(scope.db, webhookDeliveries, where, [desc(webhookDeliveries.id)], page);
  if (endpointId !== undefined) return list(isMine);
  // Repeats the partial indexes' expressions literally.
  if (status === 'pending') return list(sql`${isMine} AND ${isPending(scope)}`);
  if (status !== undefined && status !== 'succeeded') return list(sql`${isMine} AND status IN ('retrying', 'failed', 'cancelled')`);
  const [items, [count]] = await scope.db.batch([
    scope.db
      .select()
      .from(webhookDeliveries)
      .where(isInNewest(scope, isMine, page))
      .orderBy(desc(webhookDeliveries.id)),
    countTo(scope.db, webhookDeliveries, isMine, page),
  ]);
  return { items, total: count?.total ?? 0 };
}

/**
 * SQL condition: of the newest deliveries of all endpoints, the page. The index lists each endpoint on its own. A delivery older than the
 * last that one endpoint could fill the page with is not read.
 */
function isInNewest(scope: Scope, isMine: SQL, { offset, perPage }: PageRequest): SQL {
  const ofEndpoint = sql`SELECT id FROM webhook_deliveries WHERE ${isMine} AND endpoint_id = e.id ORDER BY id DESC`;
  return sql`(merchant_id, livemode, endpoint_id, id) IN (
    WITH e AS MATERIALIZED (${endpointsWith(scope)}),
      least AS MATERIALIZED (SELECT coalesce(max((${ofEndpoint} LIMIT 1 OFFSET ${offset + perPage - 1})), 0) AS id FROM e)
    SELECT merchant_id, livemode, endpoint_id, webhook_deliveries.id FROM e CROSS JOIN webhook_deliveries
    WHERE ${isMine} AND endpoint_id = e.id AND webhook_deliveries.id >= (SELECT id FROM least)
    ORDER BY webhook_deliveries.id DESC LIMIT ${perPage} OFFSET ${offset})`;
}

export async function getDelivery(scope: Scope, deliveryId: number): Promise<Delivery> {
  const isMine = and(rowsOf(webhookDeliveries, scope), sql`endpoint_id IN (${endpointsWith(scope)})`, eq(webhookDeliveries.id, deliveryId));
  return (await scope.db.select().from(webhookDeliveries).where(isMine).get()) ?? raise('not_found');
}
