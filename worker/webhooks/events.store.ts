import { and, asc, eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { Ctx } from '../context.ts';
import type { AccountId } from '../core/ids.ts';
import { readArchivedEvents, storyIdOf } from '../db/archive.ts';
import { ANY_TYPE } from '../db/archives.ts';
import { events, webhookDeliveries } from '../db/messaging.ts';
import { countTo, type PageRequest, rowsOf, TOTAL_MAX } from '../db/page.ts';
import type { Delivery, StoredEvent } from './store.ts';

/** An object that holds part of a list, after so many events that come before it. */
interface Piece {
  key: string;
  preceding: number;
}

/**
 * In the order they were stored, so a page stays what it was while new ones arrive, and when old ones go to the archive: what is there
 * comes first. Index and rows are read in one batch, so that an event is in exactly one of them.
 */
export async function listEvents(
  ctx: Ctx,
  merchantId: AccountId,
  livemode: boolean,
  type: string | undefined,
  { offset, perPage }: PageRequest,
) {
  const { db } = ctx;
  const end = offset + perPage;
  const counts = sql`archived_types WHERE merchant_id = ${merchantId} AND livemode = ${livemode ? 1 : 0} AND type = ${type ?? ANY_TYPE}`;
  const archived = sql`(SELECT coalesce(sum(events), 0) FROM (SELECT events FROM ${counts} LIMIT ${TOTAL_MAX + 1}))`;
  const beyondArchive = (place: number): SQL => sql`max(0, ${place} - ${archived})`;
  const mine = rowsOf(events, merchantId, livemode, [[events.type, type]]);
  // Each object holds one of them at least, so a page that begins at the first lies in no more objects than it has places.
  const sums = sql`SELECT archive_id, events, sum(events) OVER (ORDER BY archive_id) - events AS preceding FROM ${counts}
    ORDER BY archive_id LIMIT ${end}`;
  const hot = db.select().from(events).where(mine).orderBy(asc(events.seq));
  const [pieces, [before], rows, [count]] = await db.batch([
    db
      .select({ key: sql<string>`a.key`, preceding: sql<number>`s.preceding` })
      .from(sql`(${sums}) s JOIN archives a ON a.id = s.archive_id`)
      .where(sql`s.preceding < ${end} AND s.preceding + s.events > ${offset}`)
      .orderBy(sql`s.archive_id`),
    db.select({ events: sql<number>`n` }).from(sql`(SELECT ${archived} AS n)`),
    // The types know numbers alone here; SQLite takes an expression.
    hot.limit(sql`${beyondArchive(end)} - ${beyondArchive(offset)}` as never).offset(beyondArchive(offset) as never),
    countTo(db, events, mine),
  ]);
  const old = await Promise.all(pieces.map((piece) => readPiece(ctx, piece, type, { offset, end })));
  return { items: [...old.flat(), ...rows].slice(0, perPage), total: (before?.events ?? 0) + (count?.total ?? 0) };
}

async function readPiece(ctx: Ctx, { key, preceding }: Piece, type: string | undefined, page: { offset: number; end: number }) {
  const listed = (await readArchivedEvents(ctx, key)).filter((event) => type === undefined || event.type === type);
  return listed.slice(Math.max(0, page.offset - preceding), page.end - preceding);
}

/** Ids are as old as their events, so few objects can hold one: more only where many were stored in another order than they began. */
const NEAR_MAX = 8;

/** An event of a merchant that the database holds no more. */
export async function findArchivedEvent(ctx: Ctx, { merchantId, livemode, eventId }: Delivery): Promise<StoredEvent | null> {
  const near = await ctx.db.all<{ key: string }>(
    sql`SELECT key FROM (SELECT key, first_event_id, last_event_id FROM archives WHERE merchant_id = ${merchantId} AND livemode = ${livemode ? 1 : 0}
      AND last_event_id >= ${eventId} ORDER BY last_event_id LIMIT ${NEAR_MAX}) WHERE first_event_id <= ${eventId} ORDER BY last_event_id`,
  );
  for (const { key } of near) {
    const found = (await readArchivedEvents(ctx, key, eventId)).find(({ id }) => id === eventId);
    if (found) return found;
  }
  return null;
}

/** When a delivery has its place in a story: when it ended, or as long as it has not, when it began. */
const toldAt = sql`coalesce(${webhookDeliveries.completedAt}, ${webhookDeliveries.createdAt})`;

/** The story of a payment or membership: the first events and their first deliveries, in the order in which they are told. */
export async function loadTimeline(
  ctx: Ctx,
  merchantId: AccountId,
  livemode: boolean,
  about: { paymentId: string } | { membershipId: string },
  limit: number,
) {
  const { db } = ctx;
  // The signs keep the search on the index of what the story is about: the merchant has many more events.
  const isMine = sql`+${events.merchantId} = ${merchantId} AND +${events.livemode} = ${livemode}`;
  const name = 'paymentId' in about ? 'paymentId' : 'membershipId';
  const storyId = 'paymentId' in about ? about.paymentId : about.membershipId;
  const [objects, rows] = await db.batch([
    db
      .select({ key: sql<string>`a.key` })
      .from(sql`archived_stories s JOIN archives a ON a.id = s.archive_id`)
      .where(sql`s.story_id = ${storyIdOf(storyId)} AND a.merchant_id = ${merchantId} AND a.livemode = ${livemode ? 1 : 0}`)
      .orderBy(sql`s.archive_id`)
      .limit(limit),
    db
      .select()
      .from(events)
      .where(and(eq(events[name], storyId), isMine))
      .orderBy(asc(events.createdAt), asc(events.seq))
      .limit(limit),
  ]);
  const old: StoredEvent[] = [];
  for (let i = 0; i < objects.length && old.length < limit; i++)
    old.push(...(await readArchivedEvents(ctx, objects[i]!.key, storyId)).filter((event) => event[name] === storyId));
  const told = [...old, ...rows].slice(0, limit);
  // No delivery is told before its event, so those of later events have no place among so many items.
  const deliveries = await db
    .select()
    .from(webhookDeliveries)
    .where(inArray(webhookDeliveries.eventId, sql`(SELECT value FROM json_each(${JSON.stringify(told.map(({ id }) => id))}))`))
    .orderBy(asc(toldAt), asc(webhookDeliveries.id))
    .limit(limit);
  return { events: told, deliveries };
}
