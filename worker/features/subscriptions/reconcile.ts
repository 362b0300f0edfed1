import { raise } from '#core/errors.ts';
import type { AuthorizationId } from '#core/ids.ts';
import { Memory } from '#core/isolate/memory.ts';
import { DAY, SECOND } from '#core/time.ts';
import { factsOf, overAt, planStop, stepAuthorization } from '#features/authorizations/authorization.ts';
import { findAuthorization } from '#features/authorizations/store.ts';
import { hasSubscriptions, type Shard } from '#platform/context.ts';
import { type Change, transact, unchanged } from '#platform/db/commit.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import { sendJob } from '#platform/queues/send-jobs.ts';
import { type AuthorizationStep, type ConsentSeen, stepAfterReading } from '#rules/subscriptions/authorization.ts';
import { firstAttemptAt, jitterFraction, type LastCollection } from '#rules/subscriptions/schedule.ts';
import { consentIn, type SubscriptionReading } from './read-subscriptions.ts';

/** 404. */
export const getAuthorization = async (ctx: Shard, authorizationId: AuthorizationId): Promise<AuthorizationRow> =>
  (await findAuthorization(ctx.db, authorizationId)) ?? raise('not_found');

/** Least time between two chain reads of one authorization that GETs ask for. */
export const ASKED_READ_MS = 10 * SECOND;
const asked = new Memory<AuthorizationId, number>(10_000);

/** True if the chain may still change the authorization. */
export const isRead = ({ status, endedAt, stoppedAt }: AuthorizationRow): boolean =>
  status !== 'pending' && endedAt === null && stoppedAt === null;

/**
 * Queues a read of an authorization's accounts, at most one per `ASKED_READ_MS`. A GET returns the stored row and changes nothing. A sandbox
 * chain is read by its session's steps alone.
 */
export function requestReading(ctx: Shard, row: AuthorizationRow): void {
  if (ctx.sandbox !== null || !isRead(row) || !hasSubscriptions(ctx.config)) return;
  // The row knows the last read, and the isolate the queued one.
  const readAt = Math.max(row.askedReadAt ?? 0, asked.get(row.id) ?? 0);
  if (readAt > ctx.wallNow) return;
  const dueAt = Math.max(ctx.wallNow, readAt + ASKED_READ_MS);
  asked.set(row.id, dueAt);
  ctx.defer(sendJob(ctx, { kind: 'readSubscription', authorizationId: row.id }, Math.ceil((dueAt - ctx.wallNow) / SECOND)));
}

/** Commits a change of an authorization. Reloads and plans again if another request was faster. */
export const changeAuthorization = (ctx: Shard, known: AuthorizationRow, plan: (current: AuthorizationRow) => Change<AuthorizationRow>) =>
  transact(ctx, { known, reload: () => getAuthorization(ctx, known.id) }, plan);

/** Applies what the accounts show to an authorization: each step once, with its event. Harmless repeated. */
export const applyReading = (ctx: Shard, row: AuthorizationRow, reading: SubscriptionReading): Promise<AuthorizationRow> =>
  changeAuthorization(ctx, row, (current) => planReading(ctx, current, reading));

function planReading(ctx: Shard, row: AuthorizationRow, reading: SubscriptionReading): Change<AuthorizationRow> {
  // The buyer's consent may stay on the chain for ever.
  if (row.stoppedAt !== null) return planStop(ctx, row);
  const seen = consentIn(row, reading);
  const step = stepAfterReading(factsOf(row), seen, ctx.now);
  if (step !== null) return stepAuthorization(ctx, row, step, patchOf(ctx.now, row, step, reading));
  // A cancelled subscription can be resumed until its period on the chain ends.
  const isOver = row.status === 'cancelled' && row.endedAt === null && (row.cancelEffectiveAt ?? 0) <= ctx.now;
  return isOver ? stepAuthorization(ctx, row, null, overAt(ctx.now)) : unchanged(row);
}

function patchOf(now: number, row: AuthorizationRow, step: AuthorizationStep, reading: SubscriptionReading): Partial<AuthorizationRow> {
  switch (step) {
    case 'requestCancel':
    case 'cancel':
      return { ...cancelledPatch(now, row, reading), ...refusedPatch(now, row, 'cancelled') };
    case 'resume':
    case 'approve':
      return { cancelledAt: null, cancelEffectiveAt: null, failures: 0, endedAt: null, ...dueAgain(now, row) };
    case 'loseApproval':
      return { nextAttemptAt: null, nextCheckAt: now + DAY, ...refusedPatch(now, row, 'lost') };
    default:
      return overAt(now);
  }
}

function cancelledPatch(now: number, row: AuthorizationRow, { state }: SubscriptionReading): Partial<AuthorizationRow> {
  const cancelEffectiveAt = state.kind === 'cancelled' ? Number(state.endsAt) * SECOND : (row.cancelEffectiveAt ?? now);
  const lastsUntil = Math.max(cancelEffectiveAt, row.paidThrough ?? 0);
  const next = row.paidThrough !== null && row.paidThrough > now ? row.paidThrough : cancelEffectiveAt;
  return {
    cancelledAt: row.cancelledAt ?? now,
    cancelEffectiveAt,
    ...(lastsUntil <= now ? overAt(now) : { nextAttemptAt: null, nextCheckAt: Math.min(next, now + DAY) }),
  };
}

/** Records the failure of a collection that was due. */
function refusedPatch(now: number, { nextAttemptAt }: AuthorizationRow, seen: Exclude<ConsentSeen, 'given'>): Partial<AuthorizationRow> {
  if (nextAttemptAt === null || nextAttemptAt > now) return {};
  const code = seen === 'cancelled' ? 'subscription_cancelled' : 'subscription_requires_reapproval';
  const lastCollection: LastCollection = { at: now, status: 'failed', code };
  return { lastCollection };
}

/** Due with the period after the paid time, or at once if that has begun. */
function dueAgain(now: number, row: AuthorizationRow): Pick<AuthorizationRow, 'nextAttemptAt' | 'nextCheckAt'> {
  const { paidThrough } = row;
  const nextAttemptAt = paidThrough !== null && paidThrough > now ? firstAttemptAt(paidThrough, jitterFraction(row.id)) : now;
  return { nextAttemptAt, nextCheckAt: now + DAY };
}
