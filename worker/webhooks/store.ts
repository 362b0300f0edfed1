import { and, asc, desc, eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { Ctx, Db } from '../context.ts';
import { raise } from '../core/errors.ts';
import type { AccountId, EndpointId } from '../core/ids.ts';
import { vetoIf, vetoUnlessChanged, type Write } from '../db/commit.ts';
import { events, webhookDeliveries, webhookEndpoints } from '../db/messaging.ts';
import { countTo, type PageRequest } from '../db/page.ts';
import { ENDPOINT } from '../states.ts';

export type Endpoint = typeof webhookEndpoints.$inferSelect;
export type Delivery = typeof webhookDeliveries.$inferSelect;
export type StoredEvent = typeof events.$inferSelect;

const ofMerchant = (table: typeof webhookEndpoints | typeof webhookDeliveries, merchantId: AccountId, livemode: boolean) =>
  and(eq(table.merchantId, merchantId), eq(table.livemode, livemode));
const optional = <T>(column: Parameters<typeof eq>[0], value: T | undefined): SQL | undefined =>
  value === undefined ? undefined : eq(column, value);

export const findEndpoint = (db: Db, merchantId: AccountId, livemode: boolean, endpointId: EndpointId) =>
  db
    .select()
    .from(webhookEndpoints)
    .where(and(ofMerchant(webhookEndpoints, merchantId, livemode), eq(webhookEndpoints.id, endpointId)))
    .get();

export async function getEndpoint(...args: Parameters<typeof findEndpoint>): Promise<Endpoint> {
  return (await findEndpoint(...args)) ?? raise('not_found');
}

export async function listEndpoints(db: Db, merchantId: AccountId, livemode: boolean, page: PageRequest) {
  const mine = ofMerchant(webhookEndpoints, merchantId, livemode);
  const rows = db.select().from(webhookEndpoints).where(mine).orderBy(desc(webhookEndpoints.createdAt), desc(webhookEndpoints.id));
  const [items, [count]] = await db.batch([rows.limit(page.perPage).offset(page.offset), countTo(db, webhookEndpoints, mine)]);
  return { items, total: count?.total ?? 0 };
}

export const countEnabledEndpoints = (db: Db, merchantId: AccountId, livemode: boolean): Promise<number> =>
  db.$count(webhookEndpoints, and(ofMerchant(webhookEndpoints, merchantId, livemode), eq(webhookEndpoints.status, 'enabled')));

/** A statement, not an effect: refuses the batch once the plan's enabled endpoints are used up. */
export const vetoOverQuota = (ctx: Ctx, { merchantId, livemode }: Endpoint, enabledMax: number): Write =>
  vetoIf(
    ctx,
    sql`(SELECT count(*) FROM webhook_endpoints WHERE merchant_id = ${merchantId} AND livemode = ${livemode ? 1 : 0} AND status = 'enabled') >= ${enabledMax}`,
  );

export const insertEndpoint = (db: Db, endpoint: Endpoint): Write => db.insert(webhookEndpoints).values(endpoint);

/** Statements, not effects: settings only, because attempts move an endpoint's health at the same time. Who decides by that health is refused once it moved. */
export const updateEndpoint = (ctx: Ctx, before: Endpoint, patch: Partial<Endpoint>): Write[] => [
  ctx.db
    .update(webhookEndpoints)
    .set({ ...patch, updatedAt: ctx.now, version: before.version + 1 })
    .where(
      and(
        eq(webhookEndpoints.id, before.id),
        eq(webhookEndpoints.version, before.version),
        patch.disabledReason === 'no_success_for_5_days' ? sql`failing_since IS ${before.failingSince}` : undefined,
      ),
    ),
  vetoUnlessChanged(ctx),
];

/** A statement, not an effect: every endpoint of an account, in both modes. */
export const disableEndpointsOf = (ctx: Ctx, merchantId: AccountId, disabledReason: string): Write =>
  ctx.db
    .update(webhookEndpoints)
    .set({ status: ENDPOINT.next('enabled', 'disable'), disabledReason, updatedAt: ctx.now, version: sql`version + 1` })
    .where(and(eq(webhookEndpoints.merchantId, merchantId), eq(webhookEndpoints.status, 'enabled')));

/** A statement, not an effect: what an attempt showed, relative to whatever other attempts showed meanwhile. */
export const noteHealth = (ctx: Ctx, endpointId: EndpointId, success: boolean, now: number): Write =>
  ctx.db
    .update(webhookEndpoints)
    .set(
      success
        ? { failureStreak: 0, failingSince: null, lastSuccessAt: now }
        : { failureStreak: sql`failure_streak + 1`, failingSince: sql`coalesce(failing_since, ${now})`, lastFailureAt: now },
    )
    .where(eq(webhookEndpoints.id, endpointId));

/** True for one of those who want to probe a broken endpoint: it counts as failing until the probe says otherwise. */
export async function takeProbe(ctx: Ctx, { id, lastFailureAt }: Endpoint): Promise<boolean> {
  const mine = and(eq(webhookEndpoints.id, id), lastFailureAt === null ? undefined : eq(webhookEndpoints.lastFailureAt, lastFailureAt));
  const taken = await ctx.db.update(webhookEndpoints).set({ lastFailureAt: ctx.now }).where(mine).returning({ id: webhookEndpoints.id });
  return taken.length > 0;
}

export interface DeliveryFilter {
  endpointId?: string;
  status?: Delivery['status'];
}

export async function listDeliveries(db: Db, merchantId: AccountId, livemode: boolean, filter: DeliveryFilter, page: PageRequest) {
  const mine = and(
    ofMerchant(webhookDeliveries, merchantId, livemode),
    optional(webhookDeliveries.endpointId, filter.endpointId),
    optional(webhookDeliveries.status, filter.status),
  );
  const rows = db.select().from(webhookDeliveries).where(mine).orderBy(desc(webhookDeliveries.id)).limit(page.perPage).offset(page.offset);
  const [items, [count]] = await db.batch([rows, countTo(db, webhookDeliveries, mine)]);
  return { items, total: count?.total ?? 0 };
}

export async function getDelivery(db: Db, merchantId: AccountId, livemode: boolean, deliveryId: number): Promise<Delivery> {
  const mine = and(ofMerchant(webhookDeliveries, merchantId, livemode), eq(webhookDeliveries.id, deliveryId));
  return (await db.select().from(webhookDeliveries).where(mine).get()) ?? raise('not_found');
}

/** In the order they happened, so a page stays what it was while new ones arrive. */
export async function listEvents(db: Db, merchantId: AccountId, livemode: boolean, eventType: string | undefined, page: PageRequest) {
  const mine = and(eq(events.merchantId, merchantId), eq(events.livemode, livemode), optional(events.type, eventType));
  const rows = db.select().from(events).where(mine).orderBy(asc(events.seq)).limit(page.perPage).offset(page.offset);
  const [items, [count]] = await db.batch([rows, countTo(db, events, mine)]);
  return { items, total: count?.total ?? 0 };
}

/** When a delivery has its place in a story: when it ended, or as long as it has not, when it began. */
const toldAt = sql`coalesce(${webhookDeliveries.completedAt}, ${webhookDeliveries.createdAt})`;

/** The story of a payment or membership: the first events and the first deliveries, in the order in which they are told. */
export async function loadTimeline(
  db: Db,
  merchantId: AccountId,
  livemode: boolean,
  about: { paymentId?: string; membershipId?: string },
  limit: number,
) {
  const mine = and(
    eq(events.merchantId, merchantId),
    eq(events.livemode, livemode),
    optional(events.paymentId, about.paymentId),
    optional(events.membershipId, about.membershipId),
  );
  const found = db.select().from(events).where(mine).orderBy(asc(events.createdAt), asc(events.seq)).limit(limit);
  const ids = db.select({ id: events.id }).from(events).where(mine);
  const [rows, deliveries] = await db.batch([
    found,
    db
      .select()
      .from(webhookDeliveries)
      .where(inArray(webhookDeliveries.eventId, ids))
      .orderBy(asc(toldAt), asc(webhookDeliveries.id))
      .limit(limit),
  ]);
  return { events: rows, deliveries };
}

export async function loadIntegrationHealth(db: Db, merchantId: AccountId, livemode: boolean, since: number) {
  const mine = ofMerchant(webhookDeliveries, merchantId, livemode);
  const [endpoints, [recent], [waiting]] = await db.batch([
    db
      .select()
      .from(webhookEndpoints)
      .where(ofMerchant(webhookEndpoints, merchantId, livemode)),
    // By when they ended: a delivery fails for good three days after it was made.
    db
      .select({
        succeeded: sql<number>`coalesce(sum(status = 'succeeded' AND completed_at >= ${since}), 0)`,
        ended: sql<number>`coalesce(sum(status IN ('succeeded', 'failed') AND completed_at >= ${since}), 0)`,
        lastAt: sql<number | null>`max(CASE WHEN status = 'succeeded' THEN completed_at END)`,
      })
      .from(webhookDeliveries)
      .where(mine),
    db
      .select({ oldestAt: sql<number | null>`min(created_at)` })
      .from(webhookDeliveries)
      .where(and(mine, inArray(webhookDeliveries.status, ['pending', 'retrying']))),
  ]);
  return {
    endpoints,
    succeeded: recent?.succeeded ?? 0,
    ended: recent?.ended ?? 0,
    lastAt: recent?.lastAt ?? null,
    oldestAt: waiting?.oldestAt ?? null,
  };
}
