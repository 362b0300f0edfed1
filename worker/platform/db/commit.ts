import { type SQL, sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { ApiError, formatErrorChain, notAMember, sessionEnded } from '#core/errors.ts';
import { actIdOf, newEventId } from '#core/ids.ts';
import type { Ctx, Job, Shard } from '#platform/context.ts';
import { parkJob } from '#platform/queues/parked-messages.store.ts';
import { sendJob } from '#platform/queues/send-jobs.ts';
import type { NewEvent } from '#rules/events.ts';
import { actEventOf, actOf, actsOf, insertActs, type NewAct, waitingOf } from './acts/acts.ts';
import { boundId } from './among.ts';
import { homeOf } from './directory.ts';
import type { NewStoredEvent } from './tables/events.ts';
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

interface Admission {
  /** Id of the person, account or key. */
  id: string;
  /** SQL condition: the caller's access ended since the call was admitted. */
  hasEnded: SQL;
  refusal(): ApiError;
}

/**
 * Admissions of a person, as one and as a member of the account, or of a key in a call that leaves something behind. None for callers that
 * are not checked again.
 */
function admissionsOf(ctx: Shard): Admission[] {
  const { acting, now, elapsedMs, leftMs } = ctx;
  if (!acting.actor) return [];
  const { accountId, personId, tokenVersion, keyId, leavesAccess } = acting.actor;
  if (personId !== null && tokenVersion !== undefined) {
    const hasEnded = sql`EXISTS (SELECT 1 FROM persons WHERE id = ${boundId(personId)} AND token_version <> ${tokenVersion})`;
    const person = { id: personId, hasEnded, refusal: sessionEnded };
    const isElsewhere = personId === accountId || homeOf(ctx, accountId).database !== ctx.database;
    return isElsewhere ? [person] : [person, { id: accountId, hasEnded: hasLeft(accountId, personId), refusal: notAMember }];
  }
  if (keyId === null || !leavesAccess) return [];
  // Any revocation during the call is earlier than its deadline, whichever of the clocks is ahead.
  const hasEnded = sql`EXISTS (SELECT 1 FROM api_keys WHERE id = ${boundId(keyId)} AND revoked_at <= ${now + elapsedMs() + leftMs()})`;
  return [{ id: keyId, hasEnded, refusal: () => new ApiError('invalid_authorization') }];
}

const hasLeft = (accountId: string, personId: string): SQL =>
  sql`NOT EXISTS (SELECT 1 FROM members WHERE account_id = ${boundId(accountId)} AND person_id = ${boundId(personId)})
    AND NOT EXISTS (SELECT 1 FROM accounts WHERE id = ${boundId(accountId)} AND owner_id = ${boundId(personId)})`;

async function requireAdmitted(ctx: Ctx, { id, hasEnded, refusal }: Admission): Promise<void> {
  const [row] = await homeOf(ctx, id).db.all<{ ended: number }>(sql`SELECT ${hasEnded} AS ended`);
  if (row?.ended) throw refusal();
}

/**
 * Writes that abort the batch if the caller's access ended since the call was admitted: what takes an account back must not be followed by a
 * call of before. A person of another database is read there right before the batch.
 */
async function planAdmitted(ctx: Shard, admissions: Admission[]): Promise<Write[]> {
  const isHere = ({ id }: Admission): boolean => homeOf(ctx, id).database === ctx.database;
  for (const admission of admissions) if (!isHere(admission)) await requireAdmitted(ctx, admission);
  return admissions.filter(isHere).map(({ hasEnded }) => abortIf(ctx, hasEnded));
}

/**
 * Stores a Change in one batch: acts first, because their unique index is the lock, then the writes. Rethrows database
 * errors, and nothing is stored then. Throws 401 invalid_authorization if the caller's sessions, membership or key ended meanwhile.
 */
export async function commit<T>(ctx: Shard, change: Change<T>): Promise<T> {
  const acts = actsOf(ctx, change.events);
  if (acts.length + change.writes.length === 0) return change.result;
  const admissions = admissionsOf(ctx);
  const writes = [...(await planAdmitted(ctx, admissions)), ...change.writes];
  try {
    if (acts.length > 0) await storeActs(ctx, acts, writes);
    else await ctx.db.batch(writes as [Write, ...Write[]]);
  } catch (error) {
    if (isAborted(error)) for (const admission of admissions) await requireAdmitted(ctx, admission);
    throw error;
  }
  return change.result;
}

async function storeActs(ctx: Shard, acts: NewAct[], writes: Write[]): Promise<void> {
  try {
    const [stored] = await ctx.db.batch([insertActs(ctx, acts), ...writes]);
    announceActs(ctx, waitingOf(stored));
  } catch (error) {
    // If only the answer was lost, the acts are announced. If nothing was stored, the job finds none.
    if (!isConstraint(error)) announceActs(ctx, idsOf(acts));
    throw error;
  }
}

const idsOf = (acts: readonly NewAct[]): string[] => acts.map(({ id }) => id);

/** Acts per message, so that one invocation can handle them. */
const ANNOUNCED_MAX = 25;

/** Queues the fan-out of stored acts. The row is the outbox: the sweep over acts without fan-out recovers a lost message. */
export function announceActs(ctx: Shard, actIds: string[]): void {
  for (let from = 0; from < actIds.length; from += ANNOUNCED_MAX)
    ctx.defer(sendJob(ctx, { kind: 'fanOut', actIds: actIds.slice(from, from + ANNOUNCED_MAX) }));
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
  const acts = events.map(({ type, snapshot, requestId }) => {
    const { merchantId, livemode, productId } = snapshot;
    return actOf(ctx, { merchantId, livemode, productId, type, ...describe(snapshot) }, requestId);
  });
  // The unique index ignores an act that is already stored.
  const once = insertActs(ctx, acts).onConflictDoNothing();
  try {
    const [stored] = await ctx.db.batch([once, ...copy]);
    announceActs(ctx, waitingOf(stored));
  } catch (error) {
    if (!isConstraint(error)) throw error;
    ctx.note(`copy refused: ${formatErrorChain(error)}`);
    announceActs(ctx, waitingOf(await once));
    await parkJob(ctx, `refused_${describe(snapshot).subject.id}`, job);
  }
}

/** Stores an event once per `key`, however often it is noticed, for as long as events are retained. */
export async function commitOnce(ctx: Shard, event: NewEvent, key: string): Promise<void> {
  const act = { ...actOf(ctx, event), id: actIdOf(ctx.now, event.merchantId, key, 1) };
  announceActs(ctx, waitingOf(await insertActs(ctx, [act]).onConflictDoNothing()));
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
      // The fence refused the batch: the partition moves.
      if (error instanceof ApiError) throw error;
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

/** Event that is stored nowhere but with its delivery. */
export const looseEvent = (ctx: Ctx, event: NewEvent): NewStoredEvent => ({
  id: newEventId(ctx.now, event.merchantId),
  merchantId: event.merchantId,
  livemode: event.livemode,
  ...actEventOf(event),
  requestId: ctx.cause,
  createdAt: ctx.now,
});
