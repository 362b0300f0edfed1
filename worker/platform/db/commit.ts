import { getTableColumns, isNull, type SQL, sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { ApiError, formatErrorChain } from '#core/errors.ts';
import { newEventId } from '#core/ids.ts';
import type { Ctx, Job, Shard } from '#platform/context.ts';
import { parkJob } from '#platform/queues/parked-messages.store.ts';
import { sendJob } from '#platform/queues/send-jobs.ts';
import { FOLLOWED_EVENT_TYPES, type NewEvent } from '#rules/events.ts';
import { jsonRows } from './among.ts';
import { events as eventsTable, type NewStoredEvent } from './tables/events.ts';
import { guard } from './tables/idempotency.ts';

/** Statement for the batch of `commit`. Creating one has no effect. */
export type Write = BatchItem<'sqlite'>;

export interface Change<T> {
  events: NewEvent[];
  writes: Write[];
  result: T;
}

/** Stores nothing: the state is already as requested, or the refusal has no effect. */
export const unchanged = <T>(result: T): Change<T> => ({ events: [], writes: [], result });

/**
 * Aborts the batch if `condition` holds. After an UPDATE, `changes() = 0` makes a lost compare-and-set abort the batch, which D1 alone
 * would not.
 */
export const abortIf = (ctx: Pick<Shard, 'db'>, condition: SQL): Write => ctx.db.insert(guard).select(sql`SELECT NULL WHERE ${condition}`);
export const abortUnlessChanged = (ctx: Pick<Shard, 'db'>): Write => abortIf(ctx, sql`changes() = 0`);
export const abortIfExists = (ctx: Pick<Shard, 'db'>, table: SQLiteTable, condition: SQL | undefined): Write =>
  abortIf(ctx, sql`EXISTS (SELECT 1 FROM ${table} WHERE ${condition})`);

/**
 * Stores a Change in one batch: events first, because UNIQUE(subject_id, subject_version) is the lock, then the writes. Rethrows database
 * errors, and nothing is stored then.
 */
export async function commit<T>(ctx: Shard, change: Change<T>): Promise<T> {
  const rows = change.events.map((event) => eventRow(ctx, event));
  const [first, ...rest] = change.writes;
  if (rows.length === 0) {
    if (first) await ctx.db.batch([first, ...rest]);
    return change.result;
  }
  try {
    const [stored] = await ctx.db.batch([insertEvents(ctx, rows), ...change.writes]);
    announceEvents(ctx, waitingOf(stored));
  } catch (error) {
    // If only the answer was lost, the events are announced. If nothing was stored, the job finds no events.
    if (!isConstraint(error)) announceEvents(ctx, idsOf(rows));
    throw error;
  }
  return change.result;
}

const idsOf = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);
const of = (key: string): SQL => sql.raw(`j.value ->> '${key}'`);

/** SQL condition: a handler of the service or an enabled endpoint waits for the event in `j`. */
const IS_AWAITED = sql`${of('isFollowed')} OR EXISTS (SELECT 1 FROM webhook_endpoints w
  WHERE w.merchant_id = ${of('merchantId')} AND w.livemode = ${of('livemode')} AND w.status = 'enabled')`;

/** A set in memory: a list in SQL counts as read rows. */
const FOLLOWED: ReadonlySet<string> = new Set(FOLLOWED_EVENT_TYPES);

/**
 * Plans one INSERT of the events, from `source` or `j` alone, in the order of `json_each`. An event that nothing waits for is stored as
 * fanned out. The statement returns id and state of each stored event.
 */
export function insertEvents(ctx: Shard, rows: readonly NewStoredEvent[], source = sql`WHERE true`) {
  const values = Object.keys(getTableColumns(eventsTable)).map((name) =>
    name === 'fannedOutAt' ? sql`CASE WHEN ${IS_AWAITED} THEN NULL ELSE ${ctx.wallNow} END` : of(name),
  );
  const followed = rows.map((row) => ({ ...row, isFollowed: FOLLOWED.has(row.type) }));
  return ctx.db
    .insert(eventsTable)
    .select(sql`SELECT ${sql.join(values, sql`, `)} FROM ${jsonRows(followed)} ${source}`)
    .returning({ id: eventsTable.id, isWaiting: sql<number>`${isNull(eventsTable.fannedOutAt)}` });
}

export const waitingOf = (stored: readonly { id: string; isWaiting: number }[]): string[] =>
  idsOf(stored.filter(({ isWaiting }) => isWaiting));

/** Events per message, so that one invocation can handle them. */
const ANNOUNCED_MAX = 50;

/** Queues the fan-out of stored events. The event row is the outbox: the sweep over events without fan-out recovers a lost message. */
export function announceEvents(ctx: Shard, eventIds: string[]): void {
  for (let from = 0; from < eventIds.length; from += ANNOUNCED_MAX)
    ctx.defer(sendJob(ctx, { kind: 'fanOut', eventIds: eventIds.slice(from, from + ANNOUNCED_MAX) }));
}

interface ProjectionJob<S> {
  kind: Job['kind'];
  projection: { snapshot: S; events: readonly { type: NewEvent['type']; snapshot: S; requestId?: string | undefined }[] };
}

/**
 * Stores a projection: each of its events once, and its `copy`, which must not overwrite a newer one. Idempotent, because the object
 * resends until acknowledged. If a constraint refuses the copy, the copy is parked once per object for the operator and the events are
 * stored without it.
 */
export async function commitProjection<S extends Pick<NewEvent, 'merchantId' | 'livemode'> & { productId: string }>(
  ctx: Shard,
  job: ProjectionJob<S>,
  { copy, describe }: { copy: Write[]; describe(snapshot: S): Pick<NewEvent, 'subject' | 'object'> },
): Promise<void> {
  const { snapshot, events } = job.projection;
  const rows = events.map(({ type, snapshot, requestId = ctx.cause }) => {
    const { merchantId, livemode, productId } = snapshot;
    return { ...eventRow(ctx, { merchantId, livemode, productId, type, ...describe(snapshot) }), requestId };
  });
  // UNIQUE(subject, version) ignores an event that is already stored.
  const once = insertEvents(ctx, rows).onConflictDoNothing();
  try {
    const [stored] = await ctx.db.batch([once, ...copy]);
    announceEvents(ctx, waitingOf(stored));
  } catch (error) {
    if (!isConstraint(error)) throw error;
    ctx.note(`copy refused: ${formatErrorChain(error)}`);
    announceEvents(ctx, waitingOf(await once));
    await parkJob(ctx, `refused_${describe(snapshot).subject.id}`, job);
  }
}

/**
 * Commits a change that only creates rows. A failed batch may have landed with its answer lost, so `findNew` decides before the error is
 * thrown.
 */
export async function commitNew<T>(ctx: Shard, change: Change<T>, findNew: () => Promise<unknown>): Promise<T> {
  try {
    return await commit(ctx, change);
  } catch (error) {
    if (await findNew()) return change.result;
    throw error;
  }
}

const TRIES_MAX = 3;

interface Facts<F> {
  known?: F | undefined;
  reload(): Promise<F>;
}

/**
 * Loads, plans and commits, up to three times. After a failed batch, new facts show whether a rival's change or our own is stored, and
 * `plan` returns `unchanged`. `attempt` counts from 1. Throws 409 state_conflict (contended) after three lost races, 503
 * temporarily_unavailable if the database did not answer.
 */
export async function transact<F, T>(
  ctx: Shard,
  { known, reload }: Facts<F>,
  plan: (facts: F, attempt: number) => Change<T> | Promise<Change<T>>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const change = await plan(attempt === 1 && known !== undefined ? known : await reload(), attempt);
    if (change.events.length + change.writes.length === 0) return commit(ctx, change);
    try {
      return await commit(ctx, change);
    } catch (error) {
      ctx.note(`batch failed: ${formatErrorChain(error)}`);
      if (attempt < TRIES_MAX) continue;
      if (isConstraint(error))
        throw new ApiError('state_conflict', { detail: 'Too many concurrent changes. Retry.', meta: { reason: 'contended' } });
      throw new ApiError('temporarily_unavailable', { retryAfterSeconds: 1 });
    }
  }
}

/**
 * Runs a sweep's rows in `lanes` parallel lanes. A failed row is noted and delays no other. Starts no row after the budget is spent.
 * Returns the number of rows started.
 */
export async function forEach<T>(ctx: Ctx, rows: readonly T[], run: (row: T) => Promise<unknown>, lanes = 1): Promise<number> {
  let begun = 0;
  const runLane = async (_: unknown, lane: number) => {
    for (let i = lane; i < rows.length && ctx.budget.left > 0; i += lanes) {
      begun++;
      await run(rows[i]!).catch((error: unknown) => ctx.note(`row failed: ${formatErrorChain(error)}`));
    }
  };
  await Promise.all(Array.from({ length: lanes }, runLane));
  if (begun < rows.length) ctx.note(`budget spent: ${rows.length - begun} rows left`);
  return begun;
}

/** True if the database refused the batch's content (lock, quota, uniqueness), as opposed to a connection failure. */
export function isConstraint(error: unknown): boolean {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (/constraint failed/i.test(cause.message)) return true;
  }
  return false;
}

export function isAborted(error: unknown): boolean {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (/constraint failed: guard\b/i.test(cause.message)) return true;
  }
  return false;
}

/** Row of an event. A caller that needs the event id in advance creates the row itself. */
export const eventRow = (ctx: Ctx, event: NewEvent): NewStoredEvent => ({
  id: newEventId(ctx.now),
  merchantId: event.merchantId,
  livemode: event.livemode,
  subjectType: event.subject.type,
  subjectId: event.subject.id,
  subjectVersion: event.subject.version,
  type: event.type,
  data: { object: event.object, ...(event.previous ? { previous: event.previous } : {}), ...event.related },
  productId: event.productId ?? null,
  paymentId: event.paymentId ?? null,
  membershipId: event.membershipId ?? null,
  requestId: ctx.cause,
  createdAt: ctx.now,
});
