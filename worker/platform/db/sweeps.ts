import { and, eq, getTableName, lte, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { newFence } from '#core/ids.ts';
import { MINUTE, SECOND } from '#core/time.ts';
import type { Ctx, Db, Shard } from '#platform/context.ts';
import { jsonRows } from './among.ts';
import { sweeps } from './tables/operations.ts';

/**
 * Result of one invocation of a sweep. `empty`: every due row was taken. `bound`: rows may be left, and the next round takes them at once.
 * `paused`: rows may be left that only the next cron can take, because a dependency does not answer or has enough of them.
 */
export interface Swept {
  taken: number;
  end: 'empty' | 'bound' | 'paused';
  /** Row after which the next round continues, if the rows that were taken stay due. */
  last?: unknown;
}

export const emptyOrBound = (isEmpty: boolean): Swept['end'] => (isEmpty ? 'empty' : 'bound');

/** Adds up parts of a sweep. A part that can go on at once outweighs a paused one. */
export const addSwept = (...parts: Swept[]): Swept => ({
  taken: parts.reduce((sum, { taken }) => sum + taken, 0),
  end: (['bound', 'paused'] as const).find((end) => parts.some((part) => part.end === end)) ?? 'empty',
});

const SWEEP_MS = 20 * SECOND;

export const mayGoOn = (ctx: Ctx): boolean => ctx.budget.left > 0 && ctx.elapsedMs() < SWEEP_MS;

/**
 * Processes pages, each after the last row of the previous one, so that a failing row delays no other. Ends at a page that is not full, at
 * `pagesMax`, at the time limit, or when the budget is spent.
 */
export async function sweepPages<T>(
  ctx: Ctx,
  { pageMax, pagesMax }: { pageMax: number; pagesMax: number },
  read: (last: T | null) => Promise<T[]>,
  handle: (rows: T[]) => Promise<unknown>,
): Promise<Swept> {
  let taken = 0;
  let last: T | null = null;
  for (let page = 0; page < pagesMax && mayGoOn(ctx); page++) {
    const rows: T[] = await read(last);
    if (rows.length > 0) await handle(rows);
    taken += rows.length;
    if (rows.length < pageMax) return { taken, end: emptyOrBound(ctx.budget.left > 0) };
    last = rows.at(-1)!;
  }
  return { taken, end: 'bound' };
}

export async function sweepRounds(
  ctx: Ctx,
  { max, roundsMax }: { max: number; roundsMax: number },
  end: (max: number) => Promise<number>,
): Promise<Swept> {
  let taken = 0;
  for (let round = 0; round < roundsMax && mayGoOn(ctx); round++) {
    const ended = await end(max);
    taken += ended;
    if (ended < max) return { taken, end: emptyOrBound(ctx.budget.left > 0) };
  }
  return { taken, end: 'bound' };
}

interface WaitingRows {
  table: SQLiteTable;
  at: SQLiteColumn;
  /** Condition for live rows, textually equal to that of both indexes. */
  isLive: SQL;
  /** Index that begins with `at`, if the planner would choose another. */
  byTime?: string;
  byMerchant: string;
}

/** Merchants per read: this many from a random one onward, and this many of the first. */
const MERCHANTS_MAX = 500;
const OF_MERCHANT_MAX = 10;

/** Inlined numbers, because JSON would read each row three times. */
export const isAmongRows = (rowids: readonly number[]): SQL => sql.raw(`rowid IN (${rowids.join(', ')})`);

const indexed = (index: string | undefined): SQL => sql.raw(index === undefined ? '' : `INDEXED BY ${index}`);

/**
 * Lists up to `limit` due rows by rowid. If more are due, half of the slots rotate among merchants, so that no merchant's backlog takes the
 * share of others, and half go to the rows due longest. A sandbox has one merchant. `matchesClock`: condition for rows of the requested
 * clock.
 */
export async function listDueInTurns(
  ctx: Shard,
  waiting: WaitingRows,
  { matchesClock, dueBefore, limit }: { matchesClock: SQL; dueBefore: number; limit: number },
): Promise<number[]> {
  if (limit <= 0) return [];
  const { table, at, byTime } = waiting;
  const longest = await listRowids(
    ctx,
    sql`SELECT rowid AS id FROM ${table} ${indexed(byTime)} WHERE ${matchesClock} AND ${at} <= ${dueBefore} ORDER BY ${at} LIMIT ${limit}`,
  );
  if (longest.length < limit || ctx.sandbox !== null) return longest;
  const shared = await listShared(ctx, waiting, dueBefore, Math.floor(limit / 2));
  return [...new Set([...shared, ...longest])].slice(0, limit);
}

const listRowids = async ({ db }: Shard, query: SQL): Promise<number[]> => (await db.all<{ id: number }>(query)).map(({ id }) => id);

/** First row of each merchant, then the second of each: reads about three rows per merchant and one per listed row. */
async function listShared(ctx: Shard, { table, at, isLive, byMerchant }: WaitingRows, dueBefore: number, limit: number): Promise<number[]> {
  const from = sql`FROM ${sql.raw(getTableName(table))} ${indexed(byMerchant)} WHERE ${isLive}`;
  const start = await findStart(ctx, from);
  const due = sql.raw(at.name);
  const first = sql`SELECT rowid ${from} AND merchant_id = m.id AND ${due} <= ${dueBefore} ORDER BY ${due} LIMIT ${OF_MERCHANT_MAX}`;
  const walk = (begin: SQL, name: string) =>
    sql.raw(name).append(sql`(id) AS (SELECT (SELECT min(merchant_id) ${from} ${begin}) UNION ALL
      SELECT (SELECT min(merchant_id) ${from} AND merchant_id > w.id) FROM ${sql.raw(name)} w WHERE w.id IS NOT NULL LIMIT ${MERCHANTS_MAX})`);
  return listRowids(
    ctx,
    sql`WITH RECURSIVE ${walk(sql`AND merchant_id >= unhex(${start})`, 'rest')}, ${walk(sql``, 'head')},
      m(id) AS (SELECT id FROM rest WHERE id IS NOT NULL UNION SELECT id FROM head WHERE id IS NOT NULL)
    SELECT c.rowid AS id FROM m CROSS JOIN ${sql.raw(getTableName(table))} c ON c.rowid IN (${first})
    ORDER BY row_number() OVER (PARTITION BY m.id ORDER BY c.${due}), c.${due} LIMIT ${limit}`,
  );
}

const TIME_DIGITS = 12;

async function findStart({ db }: Shard, from: SQL): Promise<string> {
  const ends = await db.get<{ first: string; last: string }>(
    sql`SELECT hex((SELECT min(merchant_id) ${from})) AS first, hex((SELECT max(merchant_id) ${from})) AS last`,
  );
  // The due rows may be done meanwhile.
  const [first, last] = [ends!.first, ends!.last].map((id) => Number.parseInt(id.slice(0, TIME_DIGITS), 16) || 0) as [number, number];
  return Math.floor(first + (crypto.getRandomValues(new Uint32Array(1))[0]! / 2 ** 32) * (last - first))
    .toString(16)
    .padStart(TIME_DIGITS, '0');
}

/** A run renews its lease after a third of the period. The lease of a crashed run expires before the next cron. */
const LEASE_MS = 45 * SECOND;
export const RENEW_MS = LEASE_MS / 3;
/** A message that has not arrived within this time is resent. */
const RESEND_MS = 50 * SECOND;

/**
 * Marks the `known` sweeps that are due as sent, unless one is queued or running, in one statement, so that only one of two concurrent ticks sends a sweep.
 * `patienceMs`: head start of another sender after the due time. Returns the names.
 */
export async function takeDueSweeps(db: Db, known: { name: string; patienceMs: number }[], now: number): Promise<string[]> {
  const rows = await db.all<{ name: string }>(sql`INSERT INTO sweeps (name, due_at, sent_at, lease_until, fence, failures)
    SELECT value ->> 'name', ${now} - (value ->> 'patienceMs'), ${now}, 0, 0, 0 FROM ${jsonRows(known)} WHERE true
    ON CONFLICT (name) DO UPDATE SET sent_at = ${now}
      WHERE lease_until <= ${now} AND sent_at <= ${now - RESEND_MS} AND due_at <= excluded.due_at
    RETURNING name`);
  return rows.map(({ name }) => name);
}

/** SQL condition: no partition of the database is being copied. Sweeps see all rows, and would work on those that another database works on. */
export const IS_AWAKE = sql`NOT EXISTS (SELECT 1 FROM held WHERE state IN ('resting', 'leaving', 'arriving'))`;

/**
 * Takes the lease of a sweep. Returns null if the sweep is running, or not due because another message was faster, or while a partition of the
 * database moves.
 */
export async function leaseSweep(db: Db, name: string, now: number, leaseMs = LEASE_MS): Promise<{ fence: number } | null> {
  const fence = newFence();
  const taken = { leaseUntil: now + leaseMs, fence, sentAt: 0 };
  const isFree = and(lte(sweeps.leaseUntil, now), lte(sweeps.dueAt, now), IS_AWAKE);
  const rows = await db
    .insert(sweeps)
    .select(sql`SELECT ${name}, ${now}, 0, ${taken.leaseUntil}, ${fence}, NULL, 0, NULL WHERE ${IS_AWAKE}`)
    .onConflictDoUpdate({ target: sweeps.name, set: taken, setWhere: isFree })
    .returning({ fence: sweeps.fence });
  return rows[0] ?? null;
}

const RELEASED = { leaseUntil: 0, fence: 0 };
const held = (name: string, fence: number) => and(eq(sweeps.name, name), eq(sweeps.fence, fence));

export const renewSweep = (db: Db, name: string, fence: number, now: number) =>
  db
    .update(sweeps)
    .set({ leaseUntil: now + LEASE_MS })
    .where(held(name, fence));

interface SweepEnding {
  dueAt: number;
  succeededAt: number;
  /** Time of the message of the next round, which no tick sends too. */
  sentAt: number;
  /** When the sweep counts as behind, unless it ended with rows left before. null: none are left. */
  behindAt: number | null;
}

/** Longer than the longest time between two questions for the work of a sweep. */
const RECENT_MS = 15 * MINUTE;

/** A mark that is older than the last run is of another backlog: a sweep without work does not run. */
const behindSince = (succeededAt: number, behindAt: number): SQL =>
  sql`CASE WHEN succeeded_at > ${succeededAt - RECENT_MS} THEN coalesce(behind_at, ${behindAt}) ELSE ${behindAt} END`;

/** Ends the lease. Changes nothing if another run took over. */
export const endSweep = (db: Db, name: string, fence: number, { behindAt, ...ending }: SweepEnding) =>
  db
    .update(sweeps)
    .set({ ...RELEASED, ...ending, failures: 0, behindAt: behindAt === null ? null : behindSince(ending.succeededAt, behindAt) })
    .where(held(name, fence));

/** Ends the lease of a run that failed. The sweep is due at `dueAt`. */
export const failSweep = (db: Db, name: string, fence: number, dueAt: number) =>
  db
    .update(sweeps)
    .set({ ...RELEASED, dueAt, failures: sql`failures + 1` })
    .where(held(name, fence));
