import { type SQL, sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { ApiError, storyOf } from '#core/errors.ts';
import { newEventId } from '#core/ids.ts';
import type { Ctx, Job, Shard } from '#platform/context.ts';
import { parkJob } from '#platform/queues/parked-messages.store.ts';
import { sendJob } from '#platform/queues/send-jobs.ts';
import type { NewEvent } from '#rules/events.ts';
import { events as eventsTable, type NewStoredEvent } from './tables/events.ts';
import { guard } from './tables/idempotency.ts';

/** A statement that `commit` runs in its batch: making one changes nothing. */
export type Write = BatchItem<'sqlite'>;

/** What a verb decided: facts to store together. Values, not effects. */
export interface Change<T> {
  events: NewEvent[];
  writes: Write[];
  result: T;
}

/** Nothing to store: the state is already the wanted one, or a refusal that costs nothing. */
export const unchanged = <T>(result: T): Change<T> => ({ events: [], writes: [], result });

/**
 * Rolls the whole batch back where `condition` holds. After an UPDATE, `changes() = 0` makes a lost
 * compare-and-set fail its neighbours, which D1 alone would not.
 */
export const abortIf = (ctx: Pick<Shard, 'db'>, condition: SQL): Write => ctx.db.insert(guard).select(sql`SELECT NULL WHERE ${condition}`);
export const abortUnlessChanged = (ctx: Pick<Shard, 'db'>): Write => abortIf(ctx, sql`changes() = 0`);
/** Rolls the batch back if the table has such a row. */
export const abortIfExists = (ctx: Pick<Shard, 'db'>, table: SQLiteTable, condition: SQL | undefined): Write =>
  abortIf(ctx, sql`EXISTS (SELECT 1 FROM ${table} WHERE ${condition})`);

/**
 * Stores a Change in one batch: events first, because UNIQUE(subject_id, subject_version) is the lock, then the writes.
 * Throws what the database throws; nothing of the batch is stored then.
 */
export async function commit<T>(ctx: Shard, change: Change<T>): Promise<T> {
  const events = change.events.map((event) => eventRow(ctx, event));
  const batch = [...events.map((row) => ctx.db.insert(eventsTable).values(row)), ...change.writes];
  const [first, ...rest] = batch;
  const announce = () =>
    announceEvents(
      ctx,
      events.map(({ id }) => id),
    );
  try {
    if (first) await ctx.db.batch([first, ...rest]);
  } catch (error) {
    // Only its answer may be lost: what was stored is announced, and of what was not the job finds nothing.
    if (!isConstraint(error)) announce();
    throw error;
  }
  announce();
  return change.result;
}

/** Events that one message names: what its consumer does for each must fit one invocation. */
const ANNOUNCED_MAX = 50;

/** Has stored events fanned out. The row is the outbox: a message lost here is found by the sweep over events not yet fanned out. */
export function announceEvents(ctx: Shard, eventIds: string[]): void {
  for (let from = 0; from < eventIds.length; from += ANNOUNCED_MAX)
    ctx.defer(sendJob(ctx, { kind: 'fanOut', eventIds: eventIds.slice(from, from + ANNOUNCED_MAX) }));
}

/** A job that carries what an object says of itself. */
interface ProjectionJob<S> {
  kind: Job['kind'];
  projection: { snapshot: S; events: readonly { type: NewEvent['type']; snapshot: S; requestId?: string | undefined }[] };
}

/**
 * Stores what an object said of itself: each of its events once, and its `copy`, which must leave a newer one alone. Harmless doubled
 * or late: an object sends the same again until it hears that this is done. A copy that a constraint refuses would be refused for ever, so
 * it is parked for the operator, once for each object, and the events pass without it.
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
  // The same event may come twice: UNIQUE(subject, version) keeps the first.
  const once = rows.map((row) => ctx.db.insert(eventsTable).values(row).onConflictDoNothing());
  try {
    await commit(ctx, { events: [], writes: [...once, ...copy], result: undefined });
  } catch (error) {
    if (!isConstraint(error)) throw error;
    ctx.note(`copy refused: ${storyOf(error)}`);
    await commit(ctx, { events: [], writes: once, result: undefined });
    await parkJob(ctx, `refused_${describe(snapshot).subject.id}`, job);
  }
  announceEvents(
    ctx,
    rows.map(({ id }) => id),
  );
}

/**
 * For a change that only creates. A batch that failed may have landed with its answer lost, so the new row is looked for
 * before the failure is believed.
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

/** What a plan is made from: at the first try what was read before, if anything was; at every other what is stored by then. */
interface Facts<F> {
  known?: F | undefined;
  reload(): Promise<F>;
}

/**
 * Load, plan, commit, up to three times. After a failed batch the facts show whether a rival's change, or our own with its answer
 * lost, is already there; then `plan` answers `unchanged`. `attempt` counts from 1. 409 state_conflict (contended) where others were
 * faster each time, 503 temporarily_unavailable where the database did not answer.
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
      ctx.note(`batch failed: ${storyOf(error)}`);
      if (attempt < TRIES_MAX) continue;
      if (isConstraint(error))
        throw new ApiError('state_conflict', { detail: 'Too many concurrent changes. Retry.', meta: { reason: 'contended' } });
      throw new ApiError('temporarily_unavailable', { retryAfterSeconds: 1 });
    }
  }
}

/**
 * A sweep's loop: one row that fails is noted, and holds up nothing behind it. So many `lanes` run at once, each in order. Begins no
 * row once the invocation's budget is spent. Answers how many rows it began.
 */
export async function forEach<T>(ctx: Ctx, rows: readonly T[], run: (row: T) => Promise<unknown>, lanes = 1): Promise<number> {
  let begun = 0;
  const runLane = async (_: unknown, lane: number) => {
    for (let i = lane; i < rows.length && ctx.budget.left > 0; i += lanes) {
      begun++;
      await run(rows[i]!).catch((error: unknown) => ctx.note(`row failed: ${storyOf(error)}`));
    }
  };
  await Promise.all(Array.from({ length: lanes }, runLane));
  if (begun < rows.length) ctx.note(`budget spent: ${rows.length - begun} rows left`);
  return begun;
}

/** True where the database refused the batch for what is in it (lock, quota, uniqueness), not because it was out of reach. */
export function isConstraint(error: unknown): boolean {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (/constraint failed/i.test(cause.message)) return true;
  }
  return false;
}

/** True if `abortIf` rolled the batch back. */
export function isAborted(error: unknown): boolean {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (/constraint failed: guard\b/i.test(cause.message)) return true;
  }
  return false;
}

/** An event as it is stored. A caller that needs its id beforehand makes the row itself. */
export const eventRow = (ctx: Ctx, event: NewEvent): NewStoredEvent => ({
  id: newEventId(ctx.now),
  merchantId: event.merchantId,
  livemode: event.livemode,
  subjectType: event.subject.type,
  subjectId: event.subject.id,
  subjectVersion: event.subject.version,
  type: event.type,
  data: { object: event.object, ...(event.previous ? { previous: event.previous } : {}), ...event.beside },
  productId: event.productId ?? null,
  paymentId: event.paymentId ?? null,
  membershipId: event.membershipId ?? null,
  requestId: ctx.cause,
  createdAt: ctx.now,
});
