/**
 * Moves a partition to another database, live: copies its rows, refuses its writes for seconds while the rest is copied and compared, and
 * deletes the rows that are left behind. Each call does a part of it and continues where the previous one ended, also after a crash.
 * @module
 */

import { formatErrorChain, raise } from '#core/errors.ts';
import { PARTITIONS, type Partition } from '#core/ids.ts';
import { SECOND } from '#core/time.ts';
import { sweepAnalytics } from '#features/analytics/fold.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { directoryOf, shardNamed } from '#platform/db/directory.ts';
import { copyChanges, copyPage, createTriggers, deletePage, dropTriggers, listDifferent } from '#platform/db/partitions/copy-rows.ts';
import { NUMBERS_PER_MS, positionOfDatabase } from '#platform/db/partitions/numbers.ts';
import { OWNED } from '#platform/db/partitions/owned-rows.ts';
import { failSweep, leaseSweep } from '#platform/db/sweeps.ts';
import type { Move } from '#platform/db/tables/office/partitions.ts';
import { callClock, MOVES_MS, refreshMoves } from '#platform/moves.ts';
import {
  changeMove,
  closePartitions,
  countRunning,
  deleteHeld,
  findMove,
  insertMove,
  listMoves,
  type MoveChange,
  passEvents,
  readLastAct,
  setHeld,
} from './store.ts';

/** Longer than the deadline of a request. */
const LEASE_MS = 25 * SECOND;
/** Work of one call. The rest of the request's time is for the step under way. */
const CALL_MS = 10 * SECOND;
const WAIT_MS = SECOND / 4;
const WAITS_MAX = 4;
/** Isolates know a move within `MOVES_MS`, and a call that began before ends within the rest. */
const KNOWN_MS = MOVES_MS + 3 * SECOND;
/** Writes are refused this long before the move is published, and `KNOWN_MS` after: less than 30 seconds together. */
const FENCED_MS = 15 * SECOND;
const TRIES_MAX = 3;
const BETWEEN_MS = 5 * SECOND;
/** Changes that are few enough to stop the sweeps of the source. */
const FEW_CHANGES = 200;

export interface MoveReport {
  partition: string;
  from: string;
  to: string;
  state: string;
  /** Table that is being copied or deleted. */
  table: string | null;
  rows_copied: number;
  /** Time for which writes were refused. */
  refused_ms: number | null;
}

const hexOf = (partition: number): string => partition.toString(16).padStart(3, '0');
const conflict = (detail: string): never => raise('state_conflict', { detail });

const reportOf = ({ partition, fromDatabase, toDatabase, state, position, rowsCopied, fencedAt, openedAt }: Move): MoveReport => ({
  partition,
  from: fromDatabase,
  to: toDatabase,
  state,
  table: ['clearing', 'copying', 'purging', 'cancelling'].includes(state) ? (tableAt(state, position)?.name ?? null) : null,
  rows_copied: rowsCopied,
  refused_ms: fencedAt === null ? null : (openedAt ?? fencedAt) - fencedAt,
});

const requireOn = (ctx: Ctx): void => {
  if (ctx.config.MOVES !== 'on') conflict('MOVES is not on. Deploy MOVES = "on", wait five minutes and repeat the command.');
};

interface Sides {
  ctx: Ctx;
  from: Shard;
  to: Shard;
  now(): number;
}

/** Result of a part of a step. null: it waits. */
type Part = MoveChange | null;

const at = (position: string): [table: number, after: string] => {
  const [, index = '0', after = ''] = /^(\d+) ([\s\S]*)$/.exec(position) ?? [];
  return [Number(index), after];
};
const positionAt = (table: number, after: string | null): string => (after === null ? `${table + 1} ` : `${table} ${after}`);
/** Deletes in reverse order, because rows of some tables are found through others. */
const tableAt = (state: string, position: string) => (state === 'copying' ? OWNED[at(position)[0]] : OWNED.toReversed()[at(position)[0]]);

/** Deletes the next page of rows. Returns null if none is left. */
async function deleteNext({ db }: Shard, { partition, state, position }: Move): Promise<MoveChange | null> {
  const table = tableAt(state, position);
  if (!table) return null;
  const [index, after] = at(position);
  return { position: positionAt(index, await deletePage(db, table, partition, after)) };
}

async function copyUntilEqual({ from, to, ctx }: Sides, { partition }: Move): Promise<void> {
  while ((await copyChanges({ from: from.db, to: to.db }, partition)) > 0) if (ctx.leftMs() === 0) return;
}

async function foldAll(shard: Shard): Promise<void> {
  while ((await sweepAnalytics(shard)).end !== 'empty') if (shard.leftMs() === 0) return;
}

/** Copies what is left, and lists the tables that differ. */
async function copyAndCompare(sides: Sides, move: Move): Promise<string[]> {
  const { from, to } = sides;
  await setHeld(from.db, move.partition, 'leaving');
  await copyUntilEqual(sides, move);
  // Each database counts the events that it stored: the analytics of the partition come with its rows.
  await foldAll(from);
  await copyUntilEqual(sides, move);
  const different = await listDifferent({ from: from.db, to: to.db }, move.partition);
  if (different.length > 0) return different;
  const last = await readLastAct(to.db);
  await foldAll(to);
  await passEvents(to.db, last);
  return [];
}

/** Copies the rest while writes are refused. Lifts the fence if the rows differ, a call failed or time is up. */
async function copyRest(sides: Sides, move: Move): Promise<Part> {
  const { from, now } = sides;
  const tries = Number(move.position || 0);
  const hasTime = () => now() - move.fencedAt! < FENCED_MS;
  const different = hasTime() ? await copyAndCompare(sides, move).catch((error: unknown) => [formatErrorChain(error)]) : [];
  if (!hasTime()) different.push('out of time');
  if (different.length === 0) return { state: 'published', position: '' };
  sides.ctx.note(`partition ${move.partition}: ${different.join('; ')}`);
  await setHeld(from.db, move.partition, 'resting');
  if (tries + 1 >= TRIES_MAX) {
    await changeMove(directoryOf(sides.ctx).db, move, { state: 'resting', fencedAt: null, position: '', changedAt: now() });
    conflict(
      `The rest was not copied in ${TRIES_MAX} tries (${different.join('; ')}). No write is refused. Repeat the command, or cancel.`,
    );
  }
  return { state: 'resting', fencedAt: null, position: String(tries + 1) };
}

const STEPS: Record<Exclude<Move['state'], 'done' | 'closed'>, (sides: Sides, move: Move) => Promise<Part>> = {
  async begun({ to, now }, { partition }) {
    await setHeld(to.db, partition, 'arriving');
    return (await countRunning(to.db, now())) > 0 ? null : { state: 'clearing', position: '' };
  },
  async clearing({ from, to }, move) {
    const next = await deleteNext(to, move);
    if (next) return next;
    await createTriggers(from.db, move.partition);
    return { state: 'copying', position: '' };
  },
  async copying({ from, to }, { partition, position, rowsCopied }) {
    const databases = { from: from.db, to: to.db };
    const [index, after] = at(position);
    const table = OWNED[index];
    if (table) {
      const { copied, last } = await copyPage(databases, table, partition, after);
      return { position: positionAt(index, last), rowsCopied: rowsCopied + copied };
    }
    if ((await copyChanges(databases, partition)) > FEW_CHANGES) return { position };
    return { state: 'resting', position: '' };
  },
  async resting({ from, to, now }, { partition, begunAt, changedAt, position }) {
    await setHeld(from.db, partition, 'resting');
    await copyChanges({ from: from.db, to: to.db }, partition);
    // Until then an isolate may draw the partition for a row of no merchant, which nothing fences.
    const isKnown = now() - begunAt > KNOWN_MS;
    // Between two tries writes are accepted.
    const isRested = position === '' || now() - changedAt > BETWEEN_MS;
    return isKnown && isRested && (await countRunning(from.db, now())) === 0 ? { state: 'fencing', position, fencedAt: null } : null;
  },
  async fencing(sides, move) {
    if (move.fencedAt === null) return { fencedAt: sides.now() };
    return copyRest(sides, move);
  },
  async published(sides, move) {
    const { to, now } = sides;
    // The time counts from the answer to the publication, not from its request.
    if (move.position === '') return { position: 'known' };
    if (move.position === 'known') {
      if (now() - move.changedAt < KNOWN_MS) return null;
      // Nothing fences the late write of a sweep that lost its lease. Once the target is open, a copy would undo newer writes.
      await copyUntilEqual(sides, move);
      return { position: 'copied' };
    }
    await deleteHeld(to.db, move.partition);
    return { state: 'purging', position: '', openedAt: now() };
  },
  async purging({ from }, move) {
    if (move.position === '') await dropTriggers(from.db);
    const next = await deleteNext(from, move);
    if (next) return next;
    await setHeld(from.db, move.partition, 'left');
    return { state: 'done', position: '' };
  },
  async cancelling({ from, to }, move) {
    if (move.position === '') {
      await dropTriggers(from.db);
      await deleteHeld(from.db, move.partition);
    }
    const next = await deleteNext(to, move);
    if (next) return next;
    await setHeld(to.db, move.partition, 'left');
    return { state: 'done', position: '', toDatabase: move.fromDatabase };
  },
};

async function proceed(ctx: Ctx, begun: Move): Promise<Move> {
  const { db } = directoryOf(ctx);
  const now = () => ctx.wallNow + ctx.elapsedMs();
  let move = begun;
  let waits = 0;
  while (move.state !== 'done' && move.state !== 'closed' && ctx.elapsedMs() < CALL_MS) {
    // The rest is copied in one call, so it begins with all of its time.
    if (move.state === 'fencing' && ctx.elapsedMs() > 2 * SECOND) return move;
    const sides = { ctx, from: shardNamed(ctx, move.fromDatabase), to: shardNamed(ctx, move.toDatabase), now };
    const change = await STEPS[move.state](sides, move);
    if (change === null) {
      if (++waits > WAITS_MAX) return move;
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
      continue;
    }
    // Another command may have gone on, or cancelled.
    const changed = await changeMove(db, move, { ...change, changedAt: Math.max(now(), move.changedAt + 1) });
    if (!changed) return (await findMove(db, move.partition)) ?? raise('not_found');
    move = changed;
  }
  return move;
}

async function begin(ctx: Ctx, partition: string, to: string): Promise<Move> {
  await refreshMoves(ctx.env.DIRECTORY!, callClock(ctx), 0);
  const from = ctx.partitions.databaseAt(Number.parseInt(partition, 16) as Partition) ?? raise('not_found');
  const names = ctx.databases.map(({ name }) => name);
  if (!names.includes(to)) return conflict(`${to} is not bound.`);
  // Databases this far from each other would make equal numbers.
  if (names.some((name) => positionOfDatabase(name) >= NUMBERS_PER_MS))
    return conflict(`Partitions move among ${NUMBERS_PER_MS} databases.`);
  const now = ctx.wallNow;
  const move = { partition, fromDatabase: from, toDatabase: to, state: 'begun' as const, begunAt: now, changedAt: now };
  return (
    (await insertMove(directoryOf(ctx).db, move)) ?? conflict('Another partition moves, or a database is closed. See partitions list.')
  );
}

/**
 * Runs a command alone. Otherwise a page that one call still copies or deletes is written after a later step of another call. Reports the move
 * as it is while another command runs.
 */
async function whileAlone(ctx: Ctx, partition: string, run: (known: Move | undefined) => Promise<Move>): Promise<MoveReport> {
  requireOn(ctx);
  const { db } = directoryOf(ctx);
  const lease = await leaseSweep(db, 'moves', ctx.wallNow, LEASE_MS);
  const known = await findMove(db, partition);
  if (!lease) return known && known.state !== 'done' ? reportOf(known) : conflict('Another command runs. Repeat this one.');
  try {
    return reportOf(await run(known));
  } finally {
    await failSweep(db, 'moves', lease.fence, 0).catch((error: unknown) => ctx.note(`lease: ${formatErrorChain(error)}`));
  }
}

/** Begins or continues a move. Throws 409 state_conflict if it cannot begin, or the databases differ after three tries. */
export const movePartition = (ctx: Ctx, { partition, to }: { partition: string; to: string }): Promise<MoveReport> =>
  whileAlone(ctx, partition, async (known) => {
    if (known?.state === 'done' && known.toDatabase === to) return known;
    const isUnderWay = known !== undefined && known.state !== 'done';
    if (isUnderWay && known.toDatabase !== to) conflict(`The partition is ${known.state} on its way to ${known.toDatabase}.`);
    return proceed(ctx, isUnderWay ? known : await begin(ctx, partition, to));
  });

const CANCELLABLE: readonly Move['state'][] = ['begun', 'clearing', 'copying', 'resting', 'fencing'];

/** Cancels a move that is not published yet, and deletes what was copied. */
export const cancelMove = (ctx: Ctx, partition: string): Promise<MoveReport> =>
  whileAlone(ctx, partition, async (known = raise('not_found')) => {
    if (known.state === 'cancelling' || known.state === 'done') return proceed(ctx, known);
    if (!CANCELLABLE.includes(known.state)) return conflict(`The partition is ${known.state}. Complete the move.`);
    const cancelled = await changeMove(directoryOf(ctx).db, known, {
      state: 'cancelling',
      position: '',
      changedAt: Math.max(ctx.wallNow, known.changedAt + 1),
    });
    return proceed(ctx, cancelled ?? raise('temporarily_unavailable', { retryAfterSeconds: 1 }));
  });

/** Lists all partitions with their databases and moves. */
export async function listPartitions(
  ctx: Ctx,
): Promise<{ partition: string; database: string; state: string; refused_ms: number | null }[]> {
  const known = new Map((ctx.directory ? await listMoves(directoryOf(ctx).db) : []).map((move) => [move.partition, move]));
  return Array.from({ length: PARTITIONS }, (_, partition) => partition as Partition).flatMap((partition) => {
    const database = ctx.partitions.databaseAt(partition);
    const move = known.get(hexOf(partition));
    if (database === null) return [];
    const { state = 'open', refused_ms = null } = move ? reportOf(move) : {};
    return [{ partition: hexOf(partition), database, state: state === 'done' ? 'open' : state, refused_ms }];
  });
}

/**
 * Refuses the writes for all partitions of a database and rests its sweeps, while the database is restored, or accepts them again. Waits until
 * every isolate knows. Other databases are not affected. Throws 409 state_conflict while a partition of the database moves.
 */
export async function closeDatabase(
  ctx: Ctx,
  { database, isOpen }: { database: string; isOpen: boolean },
): Promise<{ database: string; partitions: string[] }> {
  requireOn(ctx);
  if (!ctx.databases.some(({ name }) => name === database)) raise('not_found');
  await refreshMoves(ctx.env.DIRECTORY!, callClock(ctx), 0);
  const { db } = directoryOf(ctx);
  const partitions = (await listPartitions(ctx)).filter((one) => one.database === database).map(({ partition }) => partition);
  const moving = (await listMoves(db)).find(({ state }) => state !== 'done' && state !== 'closed');
  if (moving) conflict(`Partition ${moving.partition} is ${moving.state}. Complete or cancel its move.`);
  await closePartitions(db, database, { partitions, isOpen, now: ctx.wallNow });
  if (isOpen) return { database, partitions };
  await new Promise((resolve) => setTimeout(resolve, KNOWN_MS));
  const running = await countRunning(shardNamed(ctx, database).db, ctx.wallNow + ctx.elapsedMs());
  if (running > 0) conflict('A sweep of the database still runs, and no write is accepted. Repeat the command in a minute.');
  return { database, partitions };
}
