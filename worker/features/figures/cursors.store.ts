import { and, asc, eq, gt, inArray, sql } from 'drizzle-orm';
import type { Db, Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { events } from '#platform/db/tables/events.ts';
import { endedDeliveries, type FigureCursor, figureCursors } from '#platform/db/tables/office/figures.ts';
import { casUpdate } from '#platform/db/versioned.ts';
import type { EventType } from '#rules/events.ts';
import type { EndedDeliveries } from './store.ts';

/** Events of the two modes are folded apart, so that live figures wait for no sandbox. The first one also counts what was there before. */
const CURSORS = { live: 'events', sandbox: 'sandbox' } as const;
export const cursorNameOf = (livemode: boolean): string => (livemode ? CURSORS.live : CURSORS.sandbox);

export interface FigureCursors {
  live: FigureCursor;
  sandbox: FigureCursor;
}

/** The cursors; made at the first call, which is when figures begin: what is stored by then is counted afterwards, all else is folded. */
export async function openCursors(db: Db): Promise<FigureCursors> {
  const end = sql`(SELECT coalesce(max(seq), 0) FROM events)`;
  const isNew = (name: string) => sql`NOT EXISTS (SELECT 1 FROM figure_cursors WHERE name = ${name})`;
  const [, , cursors] = await db.batch([
    db
      .insert(figureCursors)
      .select(sql`SELECT ${CURSORS.live}, ${end}, 0, ${end}, 'payments', '', NULL, 1 WHERE ${isNew(CURSORS.live)}`)
      .onConflictDoNothing(),
    // Up to here the release before folded both modes under one name.
    db
      .insert(figureCursors)
      .select(
        sql`SELECT ${CURSORS.sandbox}, seq, folded_at, began_at, NULL, '', NULL, 1 FROM figure_cursors
          WHERE name = ${CURSORS.live} AND ${isNew(CURSORS.sandbox)}`,
      )
      .onConflictDoNothing(),
    db
      .select()
      .from(figureCursors)
      .where(inArray(figureCursors.name, Object.values(CURSORS))),
  ]);
  const named = (name: string): FigureCursor => cursors.find((cursor) => cursor.name === name)!;
  return { live: named(CURSORS.live), sandbox: named(CURSORS.sandbox) };
}

/** Fail the batch where another run has stepped the cursor since it was read. */
export const stepFigureCursor = (ctx: Shard, before: FigureCursor, after: Partial<FigureCursor> = {}): Write[] =>
  casUpdate(ctx, figureCursors, before, after);

/** Is what was there before there were figures still being counted, or not begun? */
export const isCountingEarlier = async (db: Db): Promise<boolean> => (await openCursors(db)).live.phase !== null;

/** A cursor as it is after one step, for another step of the same round. */
export const steppedCursor = (cursor: FigureCursor): FigureCursor => ({ ...cursor, version: cursor.version + 1 });

/** Events of these types and one mode behind a place, in their order, and the last place there is. */
export async function listMoving(db: Db, { name, seq }: FigureCursor, types: readonly EventType[], limit: number) {
  const [moving, [end]] = await db.batch([
    db
      .select()
      .from(events)
      // The pluses keep the search on the order of the events.
      .where(and(gt(events.seq, seq), sql`+${events.livemode} = ${name === CURSORS.live ? 1 : 0} AND +${events.type} IN ${[...types]}`))
      .orderBy(asc(events.seq))
      .limit(limit),
    db.select({ seq: sql<number>`coalesce(max(seq), 0)` }).from(events),
  ]);
  return { moving, end: end!.seq };
}

/** Deliveries of one mode that ended and are not in the figures yet. */
export const listEndedDeliveries = (db: Db, { name }: FigureCursor, limit: number): Promise<EndedDeliveries[]> =>
  db
    .select()
    .from(endedDeliveries)
    .where(eq(endedDeliveries.livemode, name === CURSORS.live))
    .limit(limit);
