import { and, asc, eq, inArray, sql } from 'drizzle-orm';
import type { Db } from '#platform/context.ts';
import { setOf } from '#platform/db/among.ts';
import { ACT_EVENTS_MAX } from '#platform/db/tables/events.ts';
import { analyticsCursors } from '#platform/db/tables/office/analytics.ts';
import { held, type Move, moves } from '#platform/db/tables/office/partitions.ts';
import { stepRows } from '#platform/db/versioned.ts';

export const listMoves = (db: Db): Promise<Move[]> => db.select().from(moves).orderBy(asc(moves.partition));

export const findMove = (db: Db, partition: string): Promise<Move | undefined> =>
  db.select().from(moves).where(eq(moves.partition, partition)).get();

/** Inserts a move over an ended one. Returns undefined while another partition moves, or if this one is not where the caller read. */
export async function insertMove(db: Db, move: typeof moves.$inferInsert): Promise<Move | undefined> {
  const [stored] = await db
    .insert(moves)
    .select(
      sql`SELECT ${move.partition}, ${move.fromDatabase}, ${move.toDatabase}, ${move.state}, '', 0, ${move.begunAt}, ${move.changedAt}, NULL, NULL
        WHERE NOT EXISTS (SELECT 1 FROM moves WHERE state <> 'done')`,
    )
    .onConflictDoUpdate({
      target: moves.partition,
      set: {
        fromDatabase: sql`excluded.from_database`,
        toDatabase: sql`excluded.to_database`,
        state: sql`excluded.state`,
        position: '',
        rowsCopied: 0,
        begunAt: sql`excluded.begun_at`,
        changedAt: sql`excluded.changed_at`,
        fencedAt: null,
        openedAt: null,
      },
      setWhere: and(eq(moves.state, 'done'), sql`to_database = excluded.from_database`),
    })
    .returning();
  return stored;
}

export type MoveChange = Partial<Omit<Move, 'partition' | 'rowsCopied'>> & { rowsCopied?: number };

/** Changes a move if it is still as it was read, so that of two commands one goes on. */
export async function changeMove(db: Db, before: Move, after: MoveChange): Promise<Move | undefined> {
  const isUnchanged = and(eq(moves.state, before.state), eq(moves.position, before.position), eq(moves.changedAt, before.changedAt));
  const [changed] = await db
    .update(moves)
    .set(after)
    .where(and(eq(moves.partition, before.partition), isUnchanged))
    .returning();
  return changed;
}

/** Closes or opens the partitions of a database. Changes none of a partition that moves. */
export const closePartitions = (
  db: Db,
  database: string,
  { partitions, isOpen, now }: { partitions: readonly string[]; isOpen: boolean; now: number },
) =>
  db
    .insert(moves)
    .select(
      sql`SELECT value, ${database}, ${database}, ${isOpen ? 'done' : 'closed'}, '', 0, ${now}, ${now}, NULL, NULL FROM ${setOf(partitions)} WHERE true`,
    )
    .onConflictDoUpdate({
      target: moves.partition,
      set: { fromDatabase: database, toDatabase: database, state: isOpen ? 'done' : 'closed', changedAt: now },
      setWhere: inArray(moves.state, ['done', 'closed']),
    });

type HeldState = (typeof held.$inferSelect)['state'];

export const setHeld = (db: Db, partition: string, state: HeldState) =>
  db.insert(held).values({ partition, state }).onConflictDoUpdate({ target: held.partition, set: { state } });

export const deleteHeld = (db: Db, partition: string) => db.delete(held).where(eq(held.partition, partition));

/** Number of sweeps that run in a database. */
export const countRunning = async (db: Db, now: number): Promise<number> =>
  (await db.get<{ count: number }>(sql`SELECT count(*) AS count FROM sweeps WHERE lease_until > ${now}`))!.count;

export const readLastAct = async (db: Db): Promise<number> =>
  (await db.get<{ seq: number }>(sql`SELECT coalesce(max(seq), 0) AS seq FROM acts`))!.seq;

/** Marks all acts up to one as counted in the analytics. */
export const passEvents = (db: Db, seq: number) =>
  stepRows(db, analyticsCursors, { seq: sql`max(seq, ${(seq + 1) * ACT_EVENTS_MAX - 1})` }, sql`true`);
