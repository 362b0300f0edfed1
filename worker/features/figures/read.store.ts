import { and, asc, eq, gt, sql } from 'drizzle-orm';
import type { Db } from '#platform/context.ts';
import { events, type StoredEvent } from '#platform/db/tables/events.ts';
import { figureCursors, figureDays, figureQuarters, figureTotals } from '#platform/db/tables/office/figures.ts';
import type { EventType } from '#rules/events.ts';
import { cursorNameOf } from './cursors.store.ts';
import { type FigureOwner, parsed, parsedParts } from './store.ts';

/** What of a merchant's events is not in the figures yet, at most `limit`. A part of a batch. */
export const behindCursor = (db: Db, { merchantId, livemode }: FigureOwner, types: readonly EventType[], limit: number) =>
  db
    .select()
    .from(events)
    .where(
      and(
        eq(events.merchantId, merchantId),
        eq(events.livemode, livemode),
        gt(events.seq, sql`coalesce((SELECT seq FROM figure_cursors WHERE name = ${cursorNameOf(livemode)}), 0)`),
        sql`+${events.type} IN ${[...types]}`,
      ),
    )
    .orderBy(asc(events.seq))
    .limit(limit);

/** What a merchant's answer is made of, read in one moment: the figures from one UTC day to another, and what is not folded yet. */
export async function loadFigures(
  db: Db,
  owner: FigureOwner & { from: number; to: number; edges: [number, number][] },
  tail: ReturnType<typeof behindCursor>,
) {
  const { merchantId, livemode, from, to, edges } = owner;
  const mine = sql`merchant_id = ${merchantId} AND livemode = ${livemode ? 1 : 0}`;
  const isEdge = sql.join(
    edges.map(([start, end]) => sql`(quarter >= ${start} AND quarter < ${end})`),
    sql` OR `,
  );
  const [[cursor], days, quarters, totals, behind] = await db.batch([
    db
      .select()
      .from(figureCursors)
      .where(eq(figureCursors.name, cursorNameOf(livemode))),
    db.select().from(figureDays).where(sql`${mine} AND day >= ${from} AND day < ${to}`).orderBy(asc(figureDays.day)),
    db
      .select()
      .from(figureQuarters)
      .where(edges.length === 0 ? sql`false` : sql`${mine} AND (${isEdge})`),
    db.select().from(figureTotals).where(mine),
    tail,
  ]);
  return {
    foldedAt: cursor?.foldedAt ?? 0,
    days: days.map((row) => ({ ...row, quarters: parsedParts(row.quarters), products: parsedParts(row.products) })),
    quarters: quarters.map((row) => ({ ...row, products: parsedParts(row.products) })),
    totals: totals[0] ? parsed(totals[0].counts) : {},
    behind: behind as StoredEvent[],
  };
}
