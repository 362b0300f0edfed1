/**
 * Databases of the partitions that an operator moved, as this isolate read them from the directory. With `MOVES` on they are at most ten seconds old, and a
 * moved partition accepts writes only after that time, so every read shows what is true.
 * @module
 */

import { chargeCall } from '#core/isolate/budget.ts';
import { remembered } from '#core/isolate/memory.ts';
import { SECOND } from '#core/time.ts';
import { betweenDatabases, type Fence, inTime } from './deadline.ts';

/** Longest age of what an isolate knows. */
export const MOVES_MS = 10 * SECOND;
/** Short, because requests wait for it. Without an answer what is known counts on, but for partitions under way. */
const ANSWER_MS = 2 * SECOND;
const RETRY_MS = SECOND;

/** Clock of an invocation. */
export interface Clock {
  leftMs(): number;
  now(): number;
}

export const callClock = ({ wallNow, elapsedMs, leftMs }: { wallNow: number; elapsedMs(): number; leftMs(): number }): Clock => ({
  leftMs,
  now: () => wallNow + elapsedMs(),
});

interface Known {
  from_database: string;
  to_database: string;
  state: string;
}

const memory = remembered(() => ({ readAt: Number.NEGATIVE_INFINITY, triedAt: Number.NEGATIVE_INFINITY, known: new Map<number, Known>() }));

const hasMoved = ({ state }: Known): boolean => ['published', 'purging', 'done'].includes(state);
const databaseOf = (one: Known): string => (hasMoved(one) ? one.to_database : one.from_database);

/** Database of each partition with a move, whatever its step. A live view of the isolate's knowledge. */
export const movedPartitions = {
  get: (partition: number): string | undefined => {
    const one = memory.known.get(partition);
    return one && databaseOf(one);
  },
};

/** True while the operator restores the database: its sweeps do not start. */
export const isClosedDatabase = (database: string): boolean =>
  [...memory.known.values()].some(({ state, from_database: name }) => state === 'closed' && name === database);

const isClosed = (partition: number): boolean => memory.known.get(partition)?.state === 'closed';

/** True if the partition may have left its database since the isolate read the moves. */
const isUncertain = (partition: number, now: number): boolean =>
  now - memory.readAt >= MOVES_MS &&
  ['begun', 'clearing', 'copying', 'resting', 'fencing'].includes(memory.known.get(partition)?.state ?? '');

/** Reads the moves if what is known is older than `ageMs`. */
export async function refreshMoves(directory: D1Database, { leftMs, now }: Clock, ageMs = MOVES_MS): Promise<void> {
  const startedAt = now();
  if (startedAt - memory.readAt < ageMs || startedAt - memory.triedAt < Math.min(RETRY_MS, ageMs)) return;
  chargeCall();
  const read = () =>
    directory.prepare('SELECT partition, from_database, to_database, state FROM moves').all<Known & { partition: string }>();
  const rows = await inTime({ leftMs: () => Math.min(ANSWER_MS, leftMs()) }, read).then(
    ({ results }) => results,
    () => null,
  );
  memory.triedAt = startedAt;
  if (rows === null) return;
  memory.readAt = startedAt;
  memory.known = new Map(rows.map(({ partition, ...one }) => [Number.parseInt(partition, 16), one]));
}

interface Fenced {
  databases: Readonly<Record<string, unknown>>;
  partitions: readonly number[];
  /** Database by the deployment's own map. */
  home: string;
  isOn: boolean;
  clock: Clock;
}

/** Fence of the writes for these partitions, which are in one database. */
export function fenceOf({ databases, partitions, home, isOn, clock }: Fenced): Fence {
  const directory = databases.DIRECTORY as D1Database;
  const find = (): string => {
    const homes = new Set(partitions.map((partition) => movedPartitions.get(partition) ?? home));
    // Partitions that are no longer in one database are asked for separately by the next request or message.
    if (homes.size > 1) throw betweenDatabases();
    return [...homes][0]!;
  };
  const bound = (name: string) => databases[name] as D1Database;
  return {
    partitions: partitions.map((partition) => partition.toString(16).padStart(3, '0')),
    async locate(isWrite) {
      if (!isOn) return bound(home);
      await refreshMoves(directory, clock);
      // Facts that the caller read, and numbers of its new rows, belong to the database for which it was opened.
      if (isWrite && find() !== home) throw betweenDatabases();
      // The operator may have opened the database meanwhile.
      if (isWrite && partitions.some(isClosed)) await refreshMoves(directory, clock, SECOND);
      if (isWrite && partitions.some(isClosed)) throw betweenDatabases();
      if (partitions.some((partition) => isUncertain(partition, clock.now()))) throw betweenDatabases();
      return bound(find());
    },
    refresh: () => refreshMoves(directory, clock, 0),
  };
}
