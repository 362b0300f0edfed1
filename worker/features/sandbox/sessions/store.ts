import { and, asc, desc, eq, getViewSelectedFields, inArray, isNull, lte, type SQL, sql } from 'drizzle-orm';
import { raise } from '#core/errors.ts';
import type { AccountId, SandboxSessionId } from '#core/ids.ts';
import { DAY } from '#core/time.ts';
import { findQuietSince } from '#features/support/store.ts';
import { clockFilter, clockFilterForClaims, clockFilterForPayment } from '#platform/chain/clock-filter.store.ts';
import { causeOf } from '#platform/chain/scope.ts';
import type { Db, Scope, Shard } from '#platform/context.ts';
import { IN_ORDER, isAfter } from '#platform/db/acts/find.ts';
import { openEvents } from '#platform/db/acts/read.ts';
import { boundId } from '#platform/db/among.ts';
import { abortIf, type Write } from '#platform/db/commit.ts';
import { entitlements } from '#platform/db/tables/entitlements.ts';
import { events } from '#platform/db/tables/events.ts';
import { type SandboxSession, sandboxSessions } from '#platform/db/tables/sandbox.ts';
import { webhookDeliveries, webhookEndpoints } from '#platform/db/tables/webhooks.ts';
import { casUpdate } from '#platform/db/versioned.ts';
import type { EventType } from '#rules/events.ts';
import { SERVED_AFTER_MS } from '#rules/subscriptions/schedule.ts';

export const findSandboxSession = (db: Db, sessionId: SandboxSessionId): Promise<SandboxSession | undefined> =>
  db.select().from(sandboxSessions).where(eq(sandboxSessions.id, sessionId)).get();

/** Returns the merchant's session. Throws 404. */
export async function getSandboxSession(db: Db, merchantId: AccountId, sessionId: SandboxSessionId): Promise<SandboxSession> {
  const found = await findSandboxSession(db, sessionId);
  return found?.merchantId === merchantId ? found : raise('not_found');
}

export const listSandboxSessions = (db: Db, merchantId: AccountId, limit: number): Promise<SandboxSession[]> =>
  db
    .select()
    .from(sandboxSessions)
    .where(eq(sandboxSessions.merchantId, merchantId))
    .orderBy(desc(sandboxSessions.createdAt), desc(sandboxSessions.id))
    .limit(limit);

export const countSandboxSessions = (db: Db, merchantId: AccountId, since: number): Promise<number> =>
  db.$count(sandboxSessions, and(eq(sandboxSessions.merchantId, merchantId), sql`${sandboxSessions.createdAt} >= ${since}`));

/** Plans the insertion. Aborts if the day's sessions are used up. */
export const insertSandboxSession = (ctx: Shard, session: SandboxSession, day: { since: number; max: number }): Write[] => [
  abortIf(
    ctx,
    sql`(SELECT count(*) FROM sandbox_sessions WHERE merchant_id = ${boundId(session.merchantId)} AND created_at >= ${day.since}) >= ${day.max}`,
  ),
  ctx.db.insert(sandboxSessions).values(session),
];

export const updateSandboxSession = (ctx: Shard, before: SandboxSession, after: SandboxSession): Write[] =>
  casUpdate(ctx, sandboxSessions, before, after);

export const listStalled = (db: Db, movedBefore: number, limit: number) =>
  db
    .select({ id: sandboxSessions.id })
    .from(sandboxSessions)
    .where(and(sql`status = 'running'`, lte(sandboxSessions.movedAt, movedBefore)))
    .orderBy(sandboxSessions.movedAt)
    .limit(limit);

type Session = Pick<SandboxSession, 'id' | 'merchantId'>;

/** SQL condition for the index of session events. The `+` prevents reading the merchant's other events. */
const isOfMerchant = (merchantId: AccountId): SQL => sql`${events.livemode} = 0 AND +${events.merchantId} = ${boundId(merchantId)}`;

const isOfSession = ({ id, merchantId }: Session): SQL => sql`${isOfMerchant(merchantId)} AND ${events.requestId} = ${causeOf(id)}`;

export const listSessionEvents = async (db: Db, session: SandboxSession, limit: number) =>
  openEvents(
    await db
      .select()
      .from(events)
      .where(and(isOfSession(session), isAfter(session.eventSeq)))
      .orderBy(IN_ORDER)
      .limit(limit),
  );

export async function listPendingEvents(db: Db, session: Session, limit: number): Promise<{ id: string; type: string }[]> {
  return db
    .select({ id: events.id, type: events.type })
    .from(events)
    .where(and(isOfSession(session), isNull(events.fannedOutAt)))
    .orderBy(IN_ORDER)
    .limit(limit);
}

export async function listSessionDeliveries(db: Db, session: Session, type: EventType) {
  const found = await db
    .select({ delivery: webhookDeliveries, endpoint: webhookEndpoints, event: getViewSelectedFields(events) })
    .from(events)
    .innerJoin(webhookDeliveries, eq(webhookDeliveries.eventId, events.id))
    .innerJoin(webhookEndpoints, eq(webhookEndpoints.id, webhookDeliveries.endpointId))
    .where(and(isOfSession(session), eq(events.type, type), isNull(webhookDeliveries.replayOf)))
    .orderBy(asc(webhookDeliveries.id));
  return found.map(({ event, ...sent }) => ({ ...sent, event: openEvents([event])[0]! }));
}

export async function countDeliveries(
  { db, merchantId }: Scope,
  sessionIds: string[],
): Promise<Map<string, { sent: number; succeeded: number; failed: number }>> {
  if (sessionIds.length === 0) return new Map();
  const causes = sessionIds.map(causeOf);
  const rows = await db
    .select({
      cause: events.requestId,
      sent: sql<number>`sum(${webhookDeliveries.attempt} > 0)`,
      succeeded: sql<number>`sum(${webhookDeliveries.status} = 'succeeded')`,
      failed: sql<number>`sum(${webhookDeliveries.status} = 'failed')`,
    })
    .from(events)
    .innerJoin(webhookDeliveries, eq(webhookDeliveries.eventId, events.id))
    .where(and(isOfMerchant(merchantId), inArray(events.requestId, causes)))
    .groupBy(events.requestId);
  return new Map(rows.map(({ cause, ...counts }) => [sessionIds[causes.indexOf(cause)]!, counts]));
}

/** SQL condition: an active subscription is served an hour longer, until the next period is collected. */
const isServedOn = (table: string): SQL => sql.raw(`${table}.subscription_status IS 'active'`);

/** Returns when each kind of work falls due next, epoch ms of the session's clock. Null: never. */
export async function readDue(
  scope: Scope,
): Promise<
  Record<
    | 'expired'
    | 'memberships'
    | 'finality'
    | 'settlements'
    | 'subscriptions'
    | 'entitlements'
    | 'meteredSessions'
    | 'placements'
    | 'tickets',
    number | null
  >
> {
  const [due] = await scope.db.all<Omit<Awaited<ReturnType<typeof readDue>>, 'tickets'>>(sql`SELECT
    (SELECT min(expires_at + late_grace_seconds * 1000) FROM payments
      WHERE ${clockFilter(scope)} AND status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION')) AS expired,
    (SELECT min(CASE status WHEN 'active' THEN paid_through + iif(${isServedOn('memberships')}, ${SERVED_AFTER_MS}, 0) ELSE grace_until END)
      FROM memberships WHERE ${clockFilter(scope)} AND status IN ('active', 'grace')) AS memberships,
    (SELECT min(at) FROM (SELECT min(next_check_at) AS at FROM tx_claims WHERE ${clockFilterForClaims(scope)}
      UNION ALL SELECT min(next_check_at) FROM unmatched_payments WHERE ${clockFilterForPayment(scope, 'payment_id')} AND status = 'open')
    ) AS finality,
    (SELECT min(next_check_at) FROM settlements WHERE ${clockFilter(scope)} AND status <> 'settled') AS settlements,
    (SELECT min(min(coalesce(next_check_at, collect_at), coalesce(collect_at, next_check_at))) FROM subscription_authorizations WHERE ${clockFilter(scope)}) AS subscriptions,
    (SELECT min(next_check_at) FROM metered_sessions WHERE ${clockFilter(scope)} AND next_check_at IS NOT NULL) AS meteredSessions,
    (SELECT min(paid_through + iif(EXISTS (SELECT 1 FROM memberships m WHERE m.merchant_id = entitlements.merchant_id AND m.livemode = 0
      AND m.customer_ref = entitlements.customer_ref AND m.product_id = entitlements.product_id AND ${isServedOn('m')}), ${SERVED_AFTER_MS}, 0))
      FROM entitlements WHERE ${clockFilter(scope)} AND status = 'active') AS entitlements,
    (SELECT min(next_attempt_at) FROM placements WHERE ${clockFilter(scope)} AND next_attempt_at IS NOT NULL) AS placements`);
  return { ...due!, tickets: await findQuietSince(scope) };
}

export async function listSessionEntitlements(scope: Scope): Promise<string[]> {
  return (await scope.db.select({ id: entitlements.id }).from(entitlements).where(clockFilter(scope))).map(({ id }) => id);
}

export const RETENTION_MS = 30 * DAY;

export const listForgotten = (db: Db, now: number, limit: number, after: SandboxSession | null): Promise<SandboxSession[]> =>
  db
    .select()
    .from(sandboxSessions)
    .where(
      and(
        sql`ended_at IS NOT NULL`,
        lte(sandboxSessions.endedAt, now - RETENTION_MS),
        after === null ? undefined : sql`(ended_at, id) > (${after.endedAt}, ${boundId(after.id)})`,
      ),
    )
    .orderBy(sandboxSessions.endedAt, sandboxSessions.id)
    .limit(limit);
