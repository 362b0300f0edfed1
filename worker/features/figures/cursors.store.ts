import { and, asc, eq, gt, inArray, sql } from 'drizzle-orm';
import type { Db, Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { events } from '#platform/db/tables/events.ts';
import { endedDeliveries, type FigureCursor, figureCursors } from '#platform/db/tables/office/figures.ts';
import { casUpdate } from '#platform/db/versioned.ts';
import type { EventType } from '#rules/events.ts';
import type { EndedDeliveries } from './store.ts';

/** Events of the two modes are folded apart, so that live figures wait for no sandbox. */
const CURSORS = { live: 'events', sandbox: 'sandbox' } as const;
export const cursorNameOf = (livemode: boolean): string => (livemode ? CURSORS.live : CURSORS.sandbox);

export interface FigureCursors {
  live: FigureCursor;
  sandbox: FigureCursor;
}

/** The cursors, made at the first call. */
export async function openCursors(db: Db): Promise<FigureCursors> {
  const names = Object.values(CURSORS);
  const [, cursors] = await db.batch([
    db
      .insert(figureCursors)
      .values(names.map((name) => ({ name, seq: 0, foldedAt: 0, version: 1 })))
      .onConflictDoNothing(),
    db.select().from(figureCursors).where(inArray(figureCursors.name, names)),
  ]);
  const named = (name: string): FigureCursor => cursors.find((cursor) => cursor.name === name)!;
  return { live: named(CURSORS.live), sandbox: named(CURSORS.sandbox) };
}

/** Fail the batch where another run has stepped the cursor since it was read. */
export const stepFigureCursor = (ctx: Shard, before: FigureCursor, after: Partial<FigureCursor> = {}): Write[] =>
  casUpdate(ctx, figureCursors, before, after);

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
