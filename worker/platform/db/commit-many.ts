import { getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { storyOf } from '#core/errors.ts';
import type { Shard } from '#platform/context.ts';
import type { NewEvent } from '#rules/events.ts';
import { announceEvents, eventRow, forEach } from './commit.ts';
import { events as eventsTable } from './tables/events.ts';

/** A table whose rows move from version to version, each step under an event. */
type Versioned = SQLiteTable & { id: SQLiteColumn; version: SQLiteColumn };

type Values = Record<string, string | number | null>;

/** One row's step: the event carries the version it leads to, `values` the plain columns that differ after it. */
export interface RowStep<V> {
  event: NewEvent;
  values: V;
}

/**
 * Stores the same step of many rows in one batch of two statements, however many they are. A row that another request changed since it was
 * read keeps what they made of it, and gets no event; the others are not held up by it, nor by one the database refuses.
 */
export async function commitMany<V extends Values>(ctx: Shard, table: Versioned, steps: RowStep<V>[]): Promise<void> {
  if (steps.length === 0) return;
  try {
    announceEvents(ctx, await storeTogether(ctx, table, steps));
  } catch (error) {
    ctx.note(`batch failed: ${storyOf(error)}`);
    if (steps.length > 1) await forEach(ctx, steps, (step) => commitMany(ctx, table, [step]));
  }
}

const of = (key: string): SQL => sql.raw(`j.value ->> '${key}'`);
const among = (rows: object[]): SQL => sql`json_each(${JSON.stringify(rows)}) j`;

/** Answers the ids of the events that were stored. */
async function storeTogether<V extends Values>(ctx: Shard, table: Versioned, steps: RowStep<V>[]): Promise<string[]> {
  // What is left out is null: the sequence, which the database gives, and what comes later.
  const rows = steps.map(({ event }) => eventRow(ctx, event));
  const values = sql.join(Object.keys(getTableColumns(eventsTable)).map(of), sql`, `);
  const stored = ctx.db
    .insert(eventsTable)
    .select(
      sql`SELECT ${values} FROM ${among(rows)} CROSS JOIN ${table} t
        WHERE t.id = ${of('subjectId')} AND t.version = ${of('subjectVersion')} - 1 ORDER BY j.key`,
    )
    .returning({ id: eventsTable.id });
  // What an event was stored for is still at the version before: both statements see the same moment.
  const patches = steps.map(({ event, values }) => ({ ...values, id: event.subject.id, version: event.subject.version }));
  const set = Object.fromEntries([...Object.keys(steps[0]!.values), 'version'].map((key) => [key, of(key)]));
  const moved = ctx.db
    .update(table)
    .set(set)
    .from(among(patches))
    .where(sql`${table.id} = ${of('id')} AND ${table.version} = ${of('version')} - 1`);
  const [events] = await ctx.db.batch([stored, moved]);
  return events.map(({ id }) => id);
}
