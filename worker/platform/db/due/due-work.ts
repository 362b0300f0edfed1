import { sql } from 'drizzle-orm';
import { MINUTE } from '#core/time.ts';
import type { Shard } from '#platform/context.ts';

/** Work of a sweep: what the tick asks, so that a sweep without work neither runs nor writes. */
export interface DueWork {
  /** SELECTs of the time (epoch ms) at which the oldest work falls due: null or no row if none waits. */
  work: string[];
  /** SELECT without rows if there is no work. Then `work` is not asked. Works with the same gate are asked together. */
  gate?: string;
  isOfWallTime?: boolean;
  /** Head start of the run before `work`, if the exact age of the work is unknown. */
  aheadMs?: number;
  /** Runs this long after its due time even without work. */
  idleMs?: number;
  /** Asked about once in this time, by turns with others. Each minute if absent. */
  askedEveryMs?: number;
}

type Works = Readonly<Record<string, DueWork>>;

const soonest = (...times: (number | null | undefined)[]): number =>
  Math.min(...times.map((time) => (typeof time === 'number' ? time : Number.POSITIVE_INFINITY)));

/**
 * Returns since when (wall, epoch ms) a run is due, by the sweep's own due time and its oldest work. A failed run is due again even without
 * work. Infinity if none is due.
 */
const dueSince = ({ idleMs }: DueWork, workAt: number | null, { dueAt, failures }: SweepRow): number =>
  soonest(workAt === null ? null : Math.max(workAt, dueAt), idleMs === undefined ? null : dueAt + idleMs, failures > 0 ? dueAt : null);

interface SweepRow {
  dueAt: number;
  failures: number;
}

/** Returns since when a run is late. Counts from the first tick that asks. */
export const lateSince = (work: DueWork, workAt: number | null, row: SweepRow): number =>
  dueSince(work, workAt, row) + (work.askedEveryMs ?? 0);

/** Position of the sandboxes' sweep, joined once, because the work of each of its tables begins there. */
export const SANDBOX_CURSOR = 'sandboxes';
const FROM = `(SELECT 1) LEFT JOIN cursors sandbox_cursor ON sandbox_cursor.name = '${SANDBOX_CURSOR}'`;
const FAILED = '(SELECT json_group_array(name) FROM sweeps WHERE failures > 0) AS failed';

/** Reads the oldest work of each sweep (wall, epoch ms, null: none) in one statement that reads about a row for each SELECT. */
export const readDueWork = async (ctx: Shard, works: Works): Promise<Map<string, number | null>> => (await readDue(ctx, works)).oldest;

/** Also lists the sweeps that failed and have not succeeded since. */
async function readDue({ db, now, wallNow }: Shard, works: Works): Promise<{ oldest: Map<string, number | null>; failed: string[] }> {
  const asked = Object.entries(works).flatMap(([name, { work, gate, isOfWallTime }]) =>
    work.map((select) => ({ name, select, gate: gate ?? null, offset: isOfWallTime ? 0 : wallNow - now })),
  );
  const oldest = new Map<string, number | null>(Object.keys(works).map((name) => [name, null]));
  // A SELECT that two sweeps share is asked once.
  const columns = [...Map.groupBy(asked, ({ gate, select }) => gate ?? select).values()];
  const answers = columns.map((column, i) => {
    const values = column.map(({ select }) => `(${select})`).join();
    const { gate, select } = column[0]!;
    return `${gate === null ? `(${select})` : `CASE WHEN EXISTS (${gate}) THEN json_array(${values}) END`} AS c${i}`;
  });
  const row = (await db.get<Record<string, unknown>>(sql.raw(`SELECT ${[...answers, FAILED].join(',\n')} FROM ${FROM}`)))!;
  for (const [i, column] of columns.entries()) {
    const answer = row[`c${i}`];
    const times: unknown[] = column[0]!.gate === null ? column.map(() => answer) : JSON.parse(String(answer ?? '[]'));
    for (const [j, { name, offset }] of column.entries()) {
      const at = times[j];
      if (typeof at === 'number') oldest.set(name, soonest(oldest.get(name), at + offset));
    }
  }
  return { oldest, failed: JSON.parse(String(row.failed)) as string[] };
}

/**
 * Lists the sweeps that are due, in one statement. The sweeps that are asked about less often take turns by the minute, unless they failed.
 */
export async function listDueSweeps(ctx: Shard, works: Works): Promise<string[]> {
  const minute = Math.floor(ctx.wallNow / MINUTE);
  const asked = Object.entries(works).filter(
    ([, { askedEveryMs }], turn) => askedEveryMs === undefined || (minute + turn) % (askedEveryMs / MINUTE) === 0,
  );
  const rows = asked.flatMap(([name, { idleMs }]): [string, DueWork][] =>
    idleMs === undefined
      ? []
      : [[rowOf(name), { work: [`SELECT due_at + ${idleMs} FROM sweeps WHERE name = '${name}'`], isOfWallTime: true }]],
  );
  const { oldest, failed } = await readDue(ctx, Object.fromEntries([...asked, ...rows]));
  const due = asked.flatMap(([name, work]) => {
    const workAt = oldest.get(name) ?? null;
    const scheduledAt = work.idleMs === undefined ? null : (oldest.get(rowOf(name)) ?? 0);
    return soonest(workAt === null ? null : workAt - (work.aheadMs ?? 0), scheduledAt) <= ctx.wallNow ? [name] : [];
  });
  return [...new Set([...due, ...failed.filter((name) => name in works)])];
}

const rowOf = (name: string): string => `row of ${name}`;
