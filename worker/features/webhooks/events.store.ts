import { and, asc, desc, inArray, type SQL, sql } from 'drizzle-orm';
import { raise } from '#core/errors.ts';
import { COUNTED_FILTERED_MAX, COUNTED_ROWS_MAX } from '#core/limits.ts';
import { type Scope, type Shard, scopeIn } from '#platform/context.ts';
import { IN_ORDER, isAfter, isAt, isEvent, isInActsAbout, isOfType } from '#platform/db/acts/find.ts';
import { openEvents } from '#platform/db/acts/read.ts';
import { boundId, setOf } from '#platform/db/among.ts';
import { ARCHIVED_VERSION_MAX, lineOfType, readArchivedEvents } from '#platform/db/archive.ts';
import { countTo, type Listed, type PageRequest, rowsOf } from '#platform/db/page.ts';
import { ANY_TYPE } from '#platform/db/tables/archives.ts';
import { decodeId } from '#platform/db/tables/columns.ts';
import { ACT_EVENTS_MAX, events, type StoredEvent } from '#platform/db/tables/events.ts';
import { type Delivery, webhookDeliveries } from '#platform/db/tables/webhooks.ts';
import { type EventType, isRare } from '#rules/events.ts';

interface EventFilter {
  eventType?: string | undefined;
  /** Event id that the list starts after. Must be of this merchant and mode. */
  after?: string | undefined;
}

/** `next`: last event that the search read, if it ended there and the page contains its last match. */
type ListedEvents = Listed<StoredEvent> & { next: string | null };

/** List position: archive object, events skipped in it, and last sequence number in the database. */
interface Start {
  archiveId: number;
  skip: number;
  seq: number;
}

/**
 * Lists events in storage order, archive first and in one batch, so a page is stable while events arrive or move there. Pages end at row
 * 10,000: continue with `after`. A common type is searched in a limited number of acts.
 * Throws 422 validation_error if `after` does not exist.
 */
export async function listEvents(scope: Scope, filter: EventFilter, page: PageRequest): Promise<ListedEvents> {
  const { db, merchantId, livemode } = scope;
  const { eventType: type, after } = filter;
  const start: Start = after === undefined ? { archiveId: 0, skip: 0, seq: 0 } : await startBehind(scope, after, type);
  const [from, end] = [start.skip + page.offset, start.skip + page.offset + page.perPage];
  const counts = sql`archived_types WHERE merchant_id = ${boundId(merchantId)} AND livemode = ${livemode ? 1 : 0} AND type = ${type ?? ANY_TYPE}
    AND archive_id >= ${start.archiveId}`;
  const archived = sql`(SELECT coalesce(sum(events), 0) FROM (SELECT events FROM ${counts} LIMIT ${COUNTED_ROWS_MAX + 1}))`;
  const beyondArchive = (position: number): SQL => sql`max(0, ${position} - ${archived})`;
  const behind = and(rowsOf(events, scope), start.seq > 0 ? isAfter(start.seq) : undefined);
  const mine = type === undefined ? behind : and(behind, isOfType(type as EventType, lastSearched(scope, start.seq)));
  // Each object contains at least one match, so a page spans at most as many objects as it has rows.
  const sums = sql`SELECT archive_id, events, sum(events) OVER (ORDER BY archive_id) - events AS preceding FROM ${counts}
    ORDER BY archive_id LIMIT ${end}`;
  const hot = db.select().from(events).where(mine).orderBy(IN_ORDER);
  const [pieces, [before], rows, [count], [begin], [last]] = await db.batch([
    db
      .select({ key: sql<string>`a.key`, preceding: sql<number>`s.preceding` })
      .from(sql`(${sums}) s JOIN archives a ON a.id = s.archive_id`)
      .where(sql`s.preceding < ${end} AND s.preceding + s.events > ${from}`)
      .orderBy(sql`s.archive_id`),
    db.select({ events: sql<number>`n` }).from(sql`(SELECT ${archived} AS n)`),
    // The type allows only numbers, SQLite also takes an expression.
    hot.limit(sql`${beyondArchive(end)} - ${beyondArchive(from)}` as never).offset(beyondArchive(from) as never),
    countTo(db, events, mine, page),
    db.select({ seq: events.seq }).from(events).where(isAt(start.seq)),
    db
      .select({ id: events.id })
      .from(events)
      .where(type === undefined || isRare(type as EventType) ? sql`false` : sql`act_seq = ${lastSearched(scope, start.seq)}`)
      .orderBy(desc(events.seq))
      .limit(1),
  ]);
  // The `after` event moved to the archive concurrently, with events behind it.
  if (start.seq > 0 && !begin) return listEvents(scope, filter, page);
  const total = (before?.events ?? 0) - start.skip + (count?.total ?? 0);
  const items = [...(await readPieces(scope, pieces, type, from, end)), ...openEvents(rows)].slice(0, page.perPage);
  return { items, total, next: from + items.length < start.skip + total ? null : (last?.id ?? null) };
}

/** SQL: number of the last act that a search for a common type reads, behind the event of number `seq`. Null if there are not as many. */
const lastSearched = ({ merchantId, livemode }: Scope, seq: number): SQL =>
  sql`(SELECT seq FROM acts WHERE merchant_id = ${boundId(merchantId)} AND livemode = ${livemode ? 1 : 0} AND seq > ${Math.floor(seq / ACT_EVENTS_MAX)}
    ORDER BY seq LIMIT 1 OFFSET ${COUNTED_FILTERED_MAX - 1})`;

/** Objects in memory at once: each takes some megabytes of the isolate's limit. */
const READ_AT_ONCE = 4;

async function readPieces(
  ctx: Shard,
  pieces: { key: string; preceding: number }[],
  type: string | undefined,
  from: number,
  end: number,
): Promise<StoredEvent[]> {
  const having = type === undefined ? '' : lineOfType(type);
  const old: StoredEvent[] = [];
  for (let i = 0; i < pieces.length; i += READ_AT_ONCE) {
    const read = pieces
      .slice(i, i + READ_AT_ONCE)
      .map(async ({ key, preceding }) =>
        ofType(await readArchivedEvents(ctx, key, having), type).slice(Math.max(0, from - preceding), end - preceding),
      );
    old.push(...(await Promise.all(read)).flat());
  }
  return old;
}

const ofType = (happened: StoredEvent[], type: string | undefined): StoredEvent[] =>
  type === undefined ? happened : happened.filter((event) => event.type === type);

async function startBehind(scope: Scope, eventId: string, type: string | undefined): Promise<Start> {
  // The plus signs force the index of the id.
  const mine = and(
    isEvent([eventId]),
    sql`+${events.merchantId} = ${boundId(scope.merchantId)} AND +${events.livemode} = ${scope.livemode}`,
  );
  const row = await scope.db.select({ seq: events.seq }).from(events).where(mine).get();
  // Archived events never follow stored ones.
  if (row) return { archiveId: Number.MAX_SAFE_INTEGER, skip: 0, seq: row.seq };
  const found = await findArchived(scope, eventId);
  const problem = { loc: ['query', 'after'], msg: 'Expected the id of an event', type: 'not_found' };
  if (!found) return raise('validation_error', { problems: [problem] });
  const upToIt = found.object.slice(0, found.object.findIndex(({ id }) => id === eventId) + 1);
  return { archiveId: found.archiveId, skip: ofType(upToIt, type).length, seq: 0 };
}

/** Ids begin with the event's time, so few objects can contain an id. More only if many events were stored out of order. */
const NEAR_MAX = 64;

async function findArchived(scope: Scope, eventId: string) {
  const { merchantId, livemode } = scope;
  const near = await scope.db.all<{ id: number; key: string }>(
    sql`SELECT id, key FROM (SELECT id, key, first_event_id, last_event_id FROM archives WHERE merchant_id = ${boundId(merchantId)}
      AND livemode = ${livemode ? 1 : 0} AND last_event_id >= ${eventId} ORDER BY last_event_id LIMIT ${NEAR_MAX})
      WHERE first_event_id <= ${eventId} ORDER BY last_event_id`,
  );
  for (const { id: archiveId, key } of near) {
    const object = await readArchivedEvents(scope, key, '', eventId);
    if (object.some(({ id }) => id === eventId)) return { archiveId, object };
  }
  return null;
}

/** Finds a stored or archived event of the merchant and mode. */
export async function findEvent(scope: Scope, eventId: string): Promise<StoredEvent | null> {
  const { merchantId, livemode, db } = scope;
  // The plus signs force the index of the id.
  const mine = and(isEvent([eventId]), sql`+${events.merchantId} = ${boundId(merchantId)} AND +${events.livemode} = ${livemode}`);
  const [stored] = openEvents(await db.select().from(events).where(mine));
  return stored ?? (await findArchived(scope, eventId))?.object.find(({ id }) => id === eventId) ?? null;
}

export async function findArchivedEvent(ctx: Shard, delivery: Delivery): Promise<StoredEvent | null> {
  const found = await findArchived(scopeIn(ctx, delivery), delivery.eventId);
  return found?.object.find(({ id }) => id === delivery.eventId) ?? null;
}

/** Objects with events of a payment or membership: those noted, and those of the archived payments. */
const archivesOf = (column: 'payment_id' | 'membership_id', id: SQL): SQL =>
  sql`(SELECT archive_id FROM archived_subjects WHERE subject_id = ${id}
    UNION SELECT archive_id FROM archived_sales WHERE ${sql.raw(column)} = ${id} AND archive_id IS NOT NULL) s JOIN archives a ON a.id = s.archive_id`;

/** Loads all events of a payment or membership in storage order, with their deliveries. */
export async function loadTimeline(scope: Scope, about: { paymentId: string } | { membershipId: string }) {
  const { db, merchantId, livemode } = scope;
  // The plus signs force the index of the subject: the merchant has many more events.
  const isMine = sql`+${events.merchantId} = ${boundId(merchantId)} AND +${events.livemode} = ${livemode}`;
  const name = 'paymentId' in about ? 'paymentId' : 'membershipId';
  const subjectId = 'paymentId' in about ? about.paymentId : about.membershipId;
  const id = boundId(subjectId);
  const ofMembership = sql`SELECT id, version FROM memberships WHERE id = ${id} UNION ALL SELECT id, version FROM payments WHERE membership_id = ${id}
    UNION ALL SELECT id, ${ARCHIVED_VERSION_MAX} FROM archived_payments WHERE membership_id = ${id}`;
  const found = await db.all<{ id: ArrayLike<number> | string; version: number }>(
    'paymentId' in about
      ? sql`SELECT id, version FROM payments WHERE id = ${id} UNION ALL SELECT ${id}, ${ARCHIVED_VERSION_MAX}`
      : ofMembership,
  );
  const leads = found.map((lead) => ({ ...lead, id: decodeId(lead.id) }));
  const [objects, rows] = await db.batch([
    db
      .select({ key: sql<string>`a.key` })
      .from(archivesOf('paymentId' in about ? 'payment_id' : 'membership_id', id))
      .where(sql`a.merchant_id = ${boundId(merchantId)} AND a.livemode = ${livemode ? 1 : 0}`)
      .orderBy(sql`a.id`),
    db
      .select()
      .from(events)
      .where(and(isInActsAbout('paymentId' in about ? 'payment_id' : 'membership_id', subjectId, leads), isMine))
      .orderBy(asc(events.createdAt), asc(events.seq)),
  ]);
  const all: StoredEvent[] = [];
  for (const { key } of objects) all.push(...(await readArchivedEvents(scope, key, subjectId)));
  all.push(...openEvents(rows));
  const happened = all.filter((event) => event[name] === subjectId);
  return { events: happened, deliveries: await listDeliveriesOf(scope, happened) };
}

/** Deliveries of events, in storage order. */
export function listDeliveriesOf({ db }: Scope, happened: readonly StoredEvent[]) {
  const { id: deliveryId, eventId, eventType, status, createdAt, completedAt } = webhookDeliveries;
  return db
    .select({ id: deliveryId, eventId, eventType, status, createdAt, completedAt })
    .from(webhookDeliveries)
    .where(inArray(eventId, setOf(happened.map((event) => event.id))))
    .orderBy(asc(deliveryId));
}
