import { and, asc, eq, gt, inArray, type SQL, sql } from 'drizzle-orm';
import type { Ctx, Db } from '../context.ts';
import type { AccountId } from '../core/ids.ts';
import { HOUR } from '../core/time.ts';
import type { Write } from '../db/commit.ts';
import { endpointHours, events, webhookDeliveries, webhookEndpoints } from '../db/messaging.ts';
import { countTo, rowsOf } from '../db/page.ts';
import type { Delivery } from './store.ts';
import { isWaiting } from './waiting.store.ts';

/** When a delivery has its place in a story: when it ended, or as long as it has not, when it began. */
const toldAt = sql`coalesce(${webhookDeliveries.completedAt}, ${webhookDeliveries.createdAt})`;

/** The story of a payment or membership: the first events and their first deliveries, in the order in which they are told. */
export async function loadTimeline(
  db: Db,
  merchantId: AccountId,
  livemode: boolean,
  about: { paymentId: string } | { membershipId: string },
  limit: number,
) {
  // The signs keep the search on the index of what the story is about: the merchant has many more events.
  const isMine = sql`+${events.merchantId} = ${merchantId} AND +${events.livemode} = ${livemode}`;
  const subject = 'paymentId' in about ? eq(events.paymentId, about.paymentId) : eq(events.membershipId, about.membershipId);
  const inOrder = [asc(events.createdAt), asc(events.seq)];
  const found = db
    .select()
    .from(events)
    .where(and(subject, isMine))
    .orderBy(...inOrder)
    .limit(limit);
  // No delivery is told before its event, so those of later events have no place among so many items.
  const ids = db
    .select({ id: events.id })
    .from(events)
    .where(and(subject, isMine))
    .orderBy(...inOrder)
    .limit(limit);
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

const hourOf = (at: number): number => at - (at % HOUR);

/** A statement, not an effect: one more delivery of an endpoint has ended for good, in its hour. */
export const countEnded = (ctx: Ctx, { merchantId, livemode, endpointId }: Delivery, succeeded: boolean, at: number): Write =>
  ctx.db
    .insert(endpointHours)
    .values({ merchantId, livemode, endpointId, hour: hourOf(at), succeeded: succeeded ? 1 : 0, ended: 1 })
    .onConflictDoUpdate({
      target: [endpointHours.merchantId, endpointHours.livemode, endpointHours.hour, endpointHours.endpointId],
      set: { succeeded: sql`succeeded + excluded.succeeded`, ended: sql`ended + 1` },
    });

/** How events leave the house, from what each endpoint keeps of itself; of what ended, the hours that began after `since`. */
export async function loadIntegrationHealth(db: Db, merchantId: AccountId, livemode: boolean, since: number) {
  const mine = rowsOf(webhookEndpoints, merchantId, livemode);
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
    countTo(db, webhookEndpoints, ofStatus(sql`'disabled'`)),
    db
      .select({
        succeeded: sql<number>`coalesce(sum(${endpointHours.succeeded}), 0)`,
        ended: sql<number>`coalesce(sum(${endpointHours.ended}), 0)`,
      })
      .from(endpointHours)
      .where(and(rowsOf(endpointHours, merchantId, livemode), gt(endpointHours.hour, since))),
    db
      .select({ oldestAt: sql<number | null>`min(${webhookDeliveries.createdAt})` })
      .from(webhookDeliveries)
      .where(and(rowsOf(webhookDeliveries, merchantId, livemode), isWaiting)),
  ]);
  return {
    enabled,
    disabled: disabled?.total ?? 0,
    succeeded: recent?.succeeded ?? 0,
    ended: recent?.ended ?? 0,
    oldestAt: waiting?.oldestAt ?? null,
  };
}
