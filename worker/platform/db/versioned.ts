import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm';
import {
  getTableConfig,
  type SQLiteColumn,
  SQLiteSyncDialect,
  type SQLiteTable,
  type SQLiteUpdateSetSource,
} from 'drizzle-orm/sqlite-core';
import { formatErrorChain } from '#core/errors.ts';
import type { Db, Shard } from '#platform/context.ts';
import type { NewEvent } from '#rules/events.ts';
import { actOf, insertActs, waitingOf } from './acts/acts.ts';
import { fieldAs, fieldOf, idField, jsonRows } from './among.ts';
import { abortIf, announceActs, forEach, type Write } from './commit.ts';

/** Table with optimistic locking: the version that a verb has read is its lock. */
type Versioned = SQLiteTable & { version: SQLiteColumn };
type Listed = Versioned & { id: SQLiteColumn };

type Patch<T extends Versioned> = Omit<SQLiteUpdateSetSource<T>, 'version'> & { version?: number };
type Values<T extends Versioned> = SQLiteUpdateSetSource<T>;

/** Columns that change without a new version: schedules, sealed secrets, health, and copies guarded by another row's version. */
const UNVERSIONED = {
  billing_customers: ['erasingSince', 'nextReadAt'],
  customers: ['wallets', 'emails', 'totals', 'lastSeenAt', 'erasure', 'eraseAt'],
  memberships: ['delivery', 'authorizationId', 'subscriptionStatus'],
  payments: ['isRetained'],
  setup_intents: ['secretHash', 'isRetained'],
  subscription_authorizations: ['nextAttemptAt', 'nextCheckAt', 'collectAt', 'askedReadAt'],
  webhook_endpoints: ['failureStreak', 'failingSince', 'lastSuccessAt', 'lastFailureAt', 'warningsSent'],
} as const;
type Unversioned = { [Table in keyof typeof UNVERSIONED]: (typeof UNVERSIONED)[Table][number] };

type UnversionedPatch<T extends Versioned> = T['_']['name'] extends keyof Unversioned
  ? Pick<Values<T>, Unversioned[T['_']['name']] & keyof Values<T>>
  : never;

/** Versioned columns in indexes and in the conditions of indexes. */
const indexedColumns = new WeakMap<Versioned, ReadonlySet<string>>();

function indexedColumnsOf(table: Versioned): ReadonlySet<string> {
  const known = indexedColumns.get(table);
  if (known) return known;
  const { name, indexes } = getTableConfig(table);
  const indexed = new Set(indexes.flatMap(({ config }) => config.columns));
  const conditions = indexes.flatMap(({ config: { where } }) => (where ? [new SQLiteSyncDialect().sqlToQuery(where).sql] : [])).join(' ');
  const isNamed = (column: SQLiteColumn): boolean => new RegExp(`\\b${column.name}\\b`).test(conditions);
  const columns = Object.entries(getTableColumns(table) as Record<string, SQLiteColumn>);
  const unversioned: readonly string[] = UNVERSIONED[name as keyof Unversioned] ?? [];
  const named = columns.filter(([, column]) => column.primary || indexed.has(column) || isNamed(column)).map(([property]) => property);
  const found = new Set(named.filter((property) => !unversioned.includes(property)));
  indexedColumns.set(table, found);
  return found;
}

/**
 * Leaves out unchanged columns of indexes: an entry counts as written if a statement names a column of its index. Only a versioned column
 * surely has the value that was read.
 */
function changesOf<T extends Versioned>(table: T, before: object, patch: object): object {
  const indexed = indexedColumnsOf(table);
  return Object.fromEntries(
    Object.entries(patch).filter(
      ([name, value]) => !(indexed.has(name) && name in before && (before as Record<string, unknown>)[name] === value),
    ),
  );
}

/**
 * Sets a row to its next version, or to the one in `patch` if several steps are stored at once. Names no unchanged
 * column of an index. The second statement aborts the batch if the row is gone, has another version, or `provided` does not hold.
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
    .set({ ...changesOf(table, before, patch), version: Math.max(patch.version ?? 0, before.version + 1) } as Values<T>)
    .where(and(isRow(table, before), eq(table.version, before.version), provided)),
  abortIf({ db }, sql`changes() <> 1`),
];

/** Variant of `casUpdate` for many rows. Aborts the batch unless every row still has the version that was read. */
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
    .where(sql`${table.id} = ${idField('id')} AND ${table.version} = j.value ->> 'version'`) as Write,
  abortIf({ db }, sql`changes() <> ${before.length}`),
];

/** Increments the version of every matching row, so that verbs that have read one plan again. May match none. */
export const stepRows = <T extends Versioned>(db: Db, table: T, patch: Omit<Patch<T>, 'version'>, where: SQL | undefined) =>
  db
    .update(table)
    .set({ ...patch, version: sql`${table.version} + 1` } as Values<T>)
    .where(where);

export const updateUnversioned = <T extends Versioned>(db: Db, table: T, patch: UnversionedPatch<T>, where: SQL | undefined) =>
  db
    .update(table)
    .set(patch as Values<T>)
    .where(where);

function isRow(table: Versioned, row: object): SQL | undefined {
  const columns = Object.entries(getTableColumns(table) as Record<string, SQLiteColumn>);
  const own = columns.filter(([, { primary }]) => primary);
  const keys = own.length > 0 ? own : columns.filter(([, column]) => getTableConfig(table).primaryKeys[0]?.columns.includes(column));
  return and(...keys.map(([name, column]) => eq(column, (row as Record<string, unknown>)[name])));
}

type PlainValues = Record<string, string | number | null>;

export interface RowStep<V> {
  event: NewEvent;
  values: V;
}

/**
 * Stores the same step of many rows in one batch of two statements. A row that changed since it was read is skipped and gets no event.
 * Neither such a row nor one that the database refuses delays the others.
 */
export async function commitMany<V extends PlainValues>(ctx: Shard, table: Listed, steps: RowStep<V>[]): Promise<void> {
  if (steps.length === 0) return;
  try {
    announceActs(ctx, await storeTogether(ctx, table, steps));
  } catch (error) {
    ctx.note(`batch failed: ${formatErrorChain(error)}`);
    if (steps.length > 1) await forEach(ctx, steps, (step) => commitMany(ctx, table, [step]));
  }
}

async function storeTogether<V extends PlainValues>(ctx: Shard, table: Listed, steps: RowStep<V>[]): Promise<string[]> {
  const made = steps.map(({ event }) => ({ ...actOf(ctx, event), subject: event.subject }));
  const isNext = sql`CROSS JOIN ${table} t WHERE t.id = ${idField('subject.id')} AND t.version = ${fieldOf('subject.version')} - 1`;
  const stored = insertActs(ctx, made, isNext);
  // Updates rows still at the previous version. Both statements read the same state.
  const patches = steps.map(({ event, values }) => ({ ...values, id: event.subject.id, version: event.subject.version }));
  const columns = getTableColumns(table) as Record<string, SQLiteColumn>;
  const set = Object.fromEntries([...Object.keys(steps[0]!.values), 'version'].map((key) => [key, fieldAs(columns[key]!, key)]));
  const moved = ctx.db
    .update(table)
    .set(set)
    .from(jsonRows(patches))
    .where(sql`${table.id} = ${idField('id')} AND ${table.version} = ${fieldOf('version')} - 1`);
  const [acts] = await ctx.db.batch([stored, moved]);
  return waitingOf(acts);
}
