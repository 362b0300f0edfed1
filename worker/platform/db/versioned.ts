import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm';
import { getTableConfig, type SQLiteColumn, type SQLiteTable, type SQLiteUpdateSetSource } from 'drizzle-orm/sqlite-core';
import { storyOf } from '#core/errors.ts';
import type { Db, Shard } from '#platform/context.ts';
import type { NewEvent } from '#rules/events.ts';
import { jsonRows } from './among.ts';
import { abortIf, announceEvents, eventRow, forEach, type Write } from './commit.ts';
import { events as eventsTable } from './tables/events.ts';

/** A table whose rows move from version to version. The version that a verb has read is its lock. */
type Versioned = SQLiteTable & { version: SQLiteColumn };
type Listed = Versioned & { id: SQLiteColumn };

type Patch<T extends Versioned> = Omit<SQLiteUpdateSetSource<T>, 'version'> & { version?: number };
type Values<T extends Versioned> = SQLiteUpdateSetSource<T>;

/** Columns that change without a new version: a schedule, a seal, a health, or a copy of what another row's version guards. */
interface Unversioned {
  accounts: 'passwordHash';
  billing_customers: 'erasingSince' | 'nextReadAt';
  memberships: 'delivery' | 'authorizationId' | 'subscriptionStatus';
  payments: 'isKept';
  setup_intents: 'secretHash' | 'isKept';
  subscription_authorizations: 'nextAttemptAt' | 'nextLookAt' | 'collectAt' | 'askedReadAt';
  webhook_endpoints: 'failureStreak' | 'failingSince' | 'lastSuccessAt' | 'lastFailureAt' | 'warningsTold';
}

type UnversionedPatch<T extends Versioned> = T['_']['name'] extends keyof Unversioned
  ? Pick<Values<T>, Unversioned[T['_']['name']] & keyof Values<T>>
  : never;

/**
 * Moves one row to its next version, or to the one in `patch` where several steps are stored at once. The second statement fails the batch
 * if the row is gone or at another version, or if `provided` does not hold.
 */
export const casUpdate = <T extends Versioned>(
  { db }: Pick<Shard, 'db'>,
  table: T,
  before: Partial<T['$inferSelect']> & { version: number },
  patch: Patch<T>,
  provided?: SQL,
): Write[] => [
  db
    .update(table)
    .set({ ...patch, version: Math.max(patch.version ?? 0, before.version + 1) } as Values<T>)
    .where(and(isRow(table, before), eq(table.version, before.version), provided)),
  abortIf({ db }, sql`changes() <> 1`),
];

/** The same step of many rows. The batch fails unless every row is at the version it was read at. */
export const casUpdateMany = <T extends Listed>(
  { db }: Pick<Shard, 'db'>,
  table: T,
  before: readonly { id: string; version: number }[],
  patch: Omit<Patch<T>, 'version'>,
): Write[] => [
  db
    .update(table)
    .set({ ...patch, version: sql`${table.version} + 1` } as Values<T>)
    .from(jsonRows(before.map(({ id, version }) => ({ id, version }))))
    .where(sql`${table.id} = j.value ->> 'id' AND ${table.version} = j.value ->> 'version'`) as Write,
  abortIf({ db }, sql`changes() <> ${before.length}`),
];

/** Moves every row that a condition names to its next version, so that a verb that has read one of them plans again. May match none. */
export const stepRows = <T extends Versioned>(db: Db, table: T, patch: Omit<Patch<T>, 'version'>, where: SQL | undefined) =>
  db
    .update(table)
    .set({ ...patch, version: sql`${table.version} + 1` } as Values<T>)
    .where(where);

/** Changes columns that are under no version. May match no row. */
export const updateUnversioned = <T extends Versioned>(db: Db, table: T, patch: UnversionedPatch<T>, where: SQL | undefined) =>
  db
    .update(table)
    .set(patch as Values<T>)
    .where(where);

/** The row that has this one's primary key. */
function isRow(table: Versioned, row: object): SQL | undefined {
  const columns = Object.entries(getTableColumns(table) as Record<string, SQLiteColumn>);
  const own = columns.filter(([, { primary }]) => primary);
  const keys = own.length > 0 ? own : columns.filter(([, column]) => getTableConfig(table).primaryKeys[0]?.columns.includes(column));
  return and(...keys.map(([name, column]) => eq(column, (row as Record<string, unknown>)[name])));
}

type PlainValues = Record<string, string | number | null>;

/** A row's step: the event carries the version it leads to, `values` the plain columns that differ after it. */
export interface RowStep<V> {
  event: NewEvent;
  values: V;
}

/**
 * Stores the same step of many rows in one batch of two statements, however many they are. A row that another request changed since it was
 * read keeps what they made of it, and gets no event; the others are not held up by it, nor by one the database refuses.
 */
export async function commitMany<V extends PlainValues>(ctx: Shard, table: Listed, steps: RowStep<V>[]): Promise<void> {
  if (steps.length === 0) return;
  try {
    announceEvents(ctx, await storeTogether(ctx, table, steps));
  } catch (error) {
    ctx.note(`batch failed: ${storyOf(error)}`);
    if (steps.length > 1) await forEach(ctx, steps, (step) => commitMany(ctx, table, [step]));
  }
}

const of = (key: string): SQL => sql.raw(`j.value ->> '${key}'`);

/** Answers the ids of the events that were stored. */
async function storeTogether<V extends PlainValues>(ctx: Shard, table: Listed, steps: RowStep<V>[]): Promise<string[]> {
  // What is left out is null: the sequence, which the database gives, and what comes later.
  const rows = steps.map(({ event }) => eventRow(ctx, event));
  const values = sql.join(Object.keys(getTableColumns(eventsTable)).map(of), sql`, `);
  const stored = ctx.db
    .insert(eventsTable)
    .select(
      sql`SELECT ${values} FROM ${jsonRows(rows)} CROSS JOIN ${table} t
        WHERE t.id = ${of('subjectId')} AND t.version = ${of('subjectVersion')} - 1 ORDER BY j.key`,
    )
    .returning({ id: eventsTable.id });
  // What an event was stored for is still at the version before: both statements see the same moment.
  const patches = steps.map(({ event, values }) => ({ ...values, id: event.subject.id, version: event.subject.version }));
  const set = Object.fromEntries([...Object.keys(steps[0]!.values), 'version'].map((key) => [key, of(key)]));
  const moved = ctx.db
    .update(table)
    .set(set)
    .from(jsonRows(patches))
    .where(sql`${table.id} = ${of('id')} AND ${table.version} = ${of('version')} - 1`);
  const [events] = await ctx.db.batch([stored, moved]);
  return events.map(({ id }) => id);
}
