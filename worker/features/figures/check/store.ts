import { and, asc, eq, gt, gte, lt, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import { DAY } from '#core/time.ts';
import type { Db } from '#platform/context.ts';
import { events } from '#platform/db/tables/events.ts';
import { figureCursors, figureDays } from '#platform/db/tables/office/figures.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { updateUnversioned } from '#platform/db/versioned.ts';
import type { EventType } from '#rules/events.ts';
import { cursorNameOf } from '../cursors.store.ts';
import { parsedParts } from '../store.ts';

/** How far figures are checked; undefined before there are any. */
export const loadCheckedDay = (db: Db) =>
  db
    .select()
    .from(figureCursors)
    .where(eq(figureCursors.name, cursorNameOf(true)))
    .get();

export const noteChecked = (db: Db, checkedDay: string): Promise<unknown> =>
  updateUnversioned(db, figureCursors, { checkedDay }, eq(figureCursors.name, cursorNameOf(true)));

/** Merchants of a day from one that is drawn at random on, in the order of their ids, and from the first one where those end. */
export async function drawDayOwners(db: Db, day: number, count: number) {
  const ofDay = eq(figureDays.day, day);
  const all = await db.$count(figureDays, ofDay);
  const page = (offset: number, limit: number) =>
    db
      .select({ merchantId: figureDays.merchantId, livemode: figureDays.livemode })
      .from(figureDays)
      .where(ofDay)
      .orderBy(asc(figureDays.merchantId))
      .limit(limit)
      .offset(offset);
  // By its number and not by an id: those begin with a time, and a draw among them would mostly fall into the gaps.
  const drawn = await page(crypto.getRandomValues(new Uint32Array(1))[0]! % Math.max(1, all), count);
  const owners = drawn.length < count ? [...drawn, ...(await page(0, count - drawn.length))] : drawn;
  return [...new Map(owners.map((owner) => [`${owner.merchantId} ${owner.livemode}`, owner])).values()];
}

/** A checkout is confirmed at most so long after it began: while no node answers, its session waits a day. */
const CONFIRMED_WITHIN_MS = 3 * DAY;

export interface DayOwner {
  merchantId: AccountId;
  livemode: boolean;
  day: number;
}

/** Where a page of a merchant's payments ends, in the order in which they were made. */
export interface PageEnd {
  createdAt: number;
  id: string;
}

/** From when on payments are made that may count for a day. */
export const firstOf = (day: number): number => day - CONFIRMED_WITHIN_MS;

/** A page of the payments that may count for a merchant's day, and the last event that they have in them. */
export async function readPayments(db: Db, { merchantId, livemode, day }: DayOwner, after: PageEnd | null, max: number) {
  const [rows, [last]] = await db.batch([
    db
      .select()
      .from(payments)
      .where(
        and(
          eq(payments.merchantId, merchantId),
          eq(payments.livemode, livemode),
          gte(payments.createdAt, after?.createdAt ?? firstOf(day)),
          lt(payments.createdAt, day + DAY),
          after ? sql`(created_at, id) > (${after.createdAt}, ${after.id})` : undefined,
        ),
      )
      .orderBy(asc(payments.createdAt), asc(payments.id))
      .limit(max),
    db.select({ seq: sql<number>`coalesce(max(seq), 0)` }).from(events),
  ]);
  return { rows, seq: last!.seq };
}

/**
 * A merchant's day as the figures tell it, and the events that are not folded into them or came after `seq`, at one moment; null where those
 * are too many.
 */
export async function readTold(db: Db, { merchantId, livemode, day }: DayOwner, types: readonly EventType[], seq: number, max: number) {
  const cursor = sql`coalesce((SELECT seq FROM figure_cursors WHERE name = ${cursorNameOf(livemode)}), 0)`;
  const [[figures], later, [folded]] = await db.batch([
    db
      .select()
      .from(figureDays)
      .where(and(eq(figureDays.merchantId, merchantId), eq(figureDays.livemode, livemode), eq(figureDays.day, day))),
    db
      .select()
      .from(events)
      .where(
        and(
          eq(events.merchantId, merchantId),
          eq(events.livemode, livemode),
          gt(events.seq, sql`min(${seq}, ${cursor})`),
          sql`+${events.type} IN ${[...types]}`,
        ),
      )
      .orderBy(asc(events.seq))
      .limit(max + 1),
    db
      .select({ seq: figureCursors.seq })
      .from(figureCursors)
      .where(eq(figureCursors.name, cursorNameOf(livemode))),
  ]);
  return later.length > max ? null : { quarters: parsedParts(figures?.quarters ?? {}), later, foldedSeq: folded?.seq ?? 0 };
}
