import { and, asc, gt, lte, sql } from 'drizzle-orm';
import type { MembershipId, PaymentId } from '#core/ids.ts';
import type { Db } from '#platform/context.ts';
import { storyIdOf, uuidOf } from '#platform/db/archive.ts';
import { events } from '#platform/db/tables/events.ts';
import { memberships } from '#platform/db/tables/memberships.ts';

/** The events of payments behind a place. */
export const listPaymentEvents = (db: Db, paymentIds: string[], seq: number) =>
  db
    .select()
    .from(events)
    // The plus keeps the search on the index of payments. An event of a membership may name a payment too.
    .where(sql`payment_id IN (SELECT value FROM json_each(${JSON.stringify(paymentIds)})) AND +seq > ${seq} AND subject_type = 'payment'`)
    .orderBy(asc(events.seq));

/** Payments behind an id, wherever each is: as a row, as what is left of an unpaid session, or in the archive. And the last event there is. */
export async function listPaymentIds(db: Db, after: string, limit: number): Promise<{ ids: PaymentId[]; end: number }> {
  const page = sql`SELECT id FROM (
      SELECT * FROM (SELECT id FROM payments WHERE id > ${after} ORDER BY id LIMIT ${limit})
      UNION SELECT * FROM (SELECT id FROM ended_sessions WHERE id > ${after} ORDER BY id LIMIT ${limit})
      UNION SELECT ${uuidOf(sql`bytes`)} FROM (SELECT id AS bytes FROM archived_payments WHERE id > ${storyIdOf(after)} ORDER BY id LIMIT ${limit})
    ) ORDER BY id LIMIT ${limit}`;
  const [found, [end]] = await db.batch([
    db.select({ id: sql<PaymentId>`id` }).from(sql`(${page})`),
    db.select({ seq: sql<number>`coalesce(max(seq), 0)` }).from(events),
  ]);
  return { ids: found.map(({ id }) => id), end: end!.seq };
}

/** Memberships behind an id, and their events behind a place, as they are at one moment. */
export async function listMembers(db: Db, after: string, seq: number, limit: number) {
  const page = sql`SELECT id FROM memberships WHERE id > ${after} ORDER BY id LIMIT ${limit}`;
  const { id, merchantId, livemode, status, createdAt } = memberships;
  const [members, since] = await db.batch([
    db
      .select({ id, merchantId, livemode, status, createdAt })
      .from(memberships)
      .where(gt(id, after as MembershipId))
      .orderBy(asc(id))
      .limit(limit),
    db
      .select()
      .from(events)
      .where(sql`membership_id IN (${page}) AND +seq > ${seq} AND subject_type = 'membership'`)
      .orderBy(asc(events.seq)),
  ]);
  return { members, since };
}

/** Events of memberships up to the one with which figures began. */
export const listEarlierMoves = (db: Db, after: number, upTo: number, limit: number) =>
  db
    .select()
    .from(events)
    .where(and(gt(events.seq, after), lte(events.seq, upTo), sql`+${events.subjectType} = 'membership'`))
    .orderBy(asc(events.seq))
    .limit(limit);
