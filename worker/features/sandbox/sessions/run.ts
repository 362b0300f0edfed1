import { formatErrorChain } from '#core/errors.ts';
import { actOfEvent, type SandboxSessionId } from '#core/ids.ts';
import { DAY, MINUTE, SECOND } from '#core/time.ts';
import { sweepEntitlements } from '#features/entitlements/sweep.ts';
import { sweepFinality } from '#features/finality/watch.ts';
import { sweepSandboxPlacements } from '#features/membership-delivery/sweep.ts';
import { sweepMemberships } from '#features/memberships/expire-membership.ts';
import { sweepSandboxSessions } from '#features/metered/watch/watch-channels.ts';
import { sweepExpired } from '#features/payments/watch/expire.ts';
import { sweepSettlements } from '#features/settlements/sweep.ts';
import { sweepSandboxSubscriptions } from '#features/subscriptions/sweep.ts';
import { SILENT_MS, sweepTickets } from '#features/support/close-silent.ts';
import { clockOf } from '#platform/chain/clock.store.ts';
import { inSandbox } from '#platform/chain/scope.ts';
import type { Scope, Shard } from '#platform/context.ts';
import { commit, isAborted } from '#platform/db/commit.ts';
import type { SandboxSession, SandboxStep } from '#platform/db/tables/sandbox.ts';
import { SANDBOX_SESSION } from '#rules/states.ts';
import type { Call, Scenario, ScriptStage } from '../scenarios/script.ts';
import { SCENARIOS } from '../scenarios/table.ts';
import { findSandboxSession, listPendingEvents, listSessionEvents, readDue, updateSandboxSession } from './store.ts';

export type Follow = (ctx: Shard, actIds: string[]) => Promise<void>;

export const STEPS_MAX = 6;
/** Pause after each step: limits one queue invocation to 50 steps a second. */
export const PAUSE_MS = 20;
const WAIT_SECONDS = 1;
const WAITS_MAX = 90;
/** Failures of a step in a row. Each waits a second longer, so that a database that is away for a minute ends no session. */
const FAILURES_MAX = 15;
/** Waits after which time passes for the session, and between two such moves. By then the request leases of a crashed run have ended. */
const MOVES_AFTER_WAITS = 60;
const MOVES_EVERY_WAITS = 2;
/** Moves as short as the leases and blockhashes that a crashed run leaves. Later moves go on to the next due time. */
const SHORT_MOVES = 6;
const SHORT_MOVE_MS = 30 * SECOND;
/** Limit after which a session without any completed step fails, because every run of it crashes. */
const ABANDONED_MS = DAY;
const EVENTS_MAX = 200;

/**
 * Runs up to `STEPS_MAX` steps of a session. Each step is stored before the next begins, so a crashed run resumes. Of two concurrent runs
 * one is stored and the other stops. If a step fails repeatedly, or crashes its runs for a day, the session ends as failed.
 */
export async function runSession(ctx: Shard, sessionId: SandboxSessionId, follow: Follow): Promise<void> {
  for (let i = 0; i < STEPS_MAX; i++) {
    const session = await findSandboxSession(ctx.db, sessionId);
    if (session?.status !== 'running') return;
    const isAbandoned = ctx.wallNow - session.movedAt > ABANDONED_MS;
    const after = isAbandoned ? ended(ctx, session, 'fail') : await stepSafely(ctx, session, follow);
    try {
      await commit(ctx, { events: [], writes: updateSandboxSession(ctx, session, { ...after, movedAt: ctx.wallNow }), result: null });
    } catch (error) {
      if (isAborted(error)) return;
      throw error;
    }
    await scheduler.wait(PAUSE_MS);
    if (after.waits > 0) return queueRun(ctx, sessionId, failuresOf(after) + WAIT_SECONDS);
  }
  await queueRun(ctx, sessionId);
}

export async function queueRun(ctx: Shard, sessionId: SandboxSessionId, delaySeconds = 0): Promise<void> {
  await ctx.env.SANDBOX.send({ kind: 'runSandboxSession', sessionId, requestId: ctx.cause }, { delaySeconds });
}

const failuresOf = ({ notes }: SandboxSession): number => Number(notes.failures ?? 0);

/** Retries a failed step. Failures are counted apart from waits, because a step that waits long may fail once. */
async function stepSafely(ctx: Shard, session: SandboxSession, follow: Follow): Promise<SandboxSession> {
  const scenario = SCENARIOS[session.scenario];
  try {
    if (!scenario) return ended(ctx, session, 'fail');
    const after = await stepOn(ctx, session, scenario, follow);
    const { failures: _, ...notes } = after.notes;
    return after.waits > WAITS_MAX ? ended(ctx, after, 'fail') : { ...after, notes };
  } catch (error) {
    ctx.note(`sandbox ${session.id} step ${session.nextStep}: ${formatErrorChain(error)}`);
    const failures = failuresOf(session) + 1;
    if (failures > FAILURES_MAX) return ended(ctx, session, 'fail');
    return { ...session, waits: Math.max(session.waits, 1), notes: { ...session.notes, failures: String(failures) } };
  }
}

const ended = (ctx: Shard, session: SandboxSession, how: 'complete' | 'fail'): SandboxSession => ({
  ...session,
  status: SANDBOX_SESSION.next(session.status, how),
  endedAt: ctx.wallNow,
  waits: 0,
});

async function stepOn(ctx: Shard, session: SandboxSession, scenario: Scenario, follow: Follow): Promise<SandboxSession> {
  if (session.advancedMs < session.advancingToMs) return moveClock(ctx, session, scenario, follow);
  const stage = stageOf(ctx, session);
  const { script } = scenario;
  const step = (typeof script === 'function' ? script(session.options) : script)[session.nextStep];
  if (!step) return finish(stage, scenario, follow);
  if (!('run' in step)) {
    // The API reports the session's clock in seconds, so the clock stops on full seconds.
    const ms = Math.max(0, Math.ceil((await step.advanceMs(stage)) / SECOND)) * SECOND;
    return { ...session, nextStep: session.nextStep + 1, advancingToMs: session.advancedMs + ms };
  }
  return callStep(stage, step, scenario, follow);
}

/** Ends a script once its events are there: what a crashed run left undone falls due again after its lease. */
async function finish(stage: ScriptStage, scenario: Scenario, follow: Follow): Promise<SandboxSession> {
  const after = await collect(stage, scenario, follow, 'end');
  if (stage.notes.wares !== undefined && isMissing(scenario, after)) return waitOn(stage, after);
  const { advance_after: seconds, waited: _, ...notes } = stage.notes;
  if (seconds === undefined) return ended(stage.scope, after, 'complete');
  return { ...after, notes, waits: 0, advancingToMs: after.advancedMs + Number(seconds) * SECOND };
}

function isMissing({ expected }: Scenario, { steps }: SandboxSession): boolean {
  const countIn = (types: readonly (string | undefined)[], type: string) => types.filter((one) => one === type).length;
  const recorded = steps.map(({ eventType }) => eventType);
  return expected.some((type) => countIn(recorded, type) < countIn(expected, type));
}

/**
 * Waits once more for the outcome of a step. A crashed run leaves leases, claims and transactions that were never sent, all on the session's
 * clock. Live, time ends them. So time passes for a session too that waits unusually long.
 */
async function waitOn({ scope, session, notes }: ScriptStage, after: SandboxSession): Promise<SandboxSession> {
  const waits = Math.max(session.waits, Number(notes.waited ?? 0)) + 1;
  const moves = (waits - MOVES_AFTER_WAITS) / MOVES_EVERY_WAITS;
  if (moves < 0 || !Number.isInteger(moves)) return { ...after, notes, waits };
  const dueAt = moves < SHORT_MOVES ? null : await nextDueAt(scope);
  const ms = dueAt === null ? SHORT_MOVE_MS : Math.min(Math.max(Math.ceil((dueAt - scope.now) / SECOND) * SECOND, 0) + SECOND, DAY);
  // The move has waits of its own.
  return { ...after, waits: 0, notes: { ...notes, waited: String(waits) }, advancingToMs: after.advancedMs + ms };
}

const stageOf = (ctx: Shard, session: SandboxSession): ScriptStage => ({
  scope: inSandbox(ctx, session.merchantId, clockOf(session)),
  session,
  notes: { ...session.notes },
});

async function callStep(stage: ScriptStage, step: Call, scenario: Scenario, follow: Follow): Promise<SandboxSession> {
  const { session, notes } = stage;
  notes.since ??= String(session.steps.length);
  const result = await step.run(stage);
  const after = await collect(stage, scenario, follow, step.action);
  const since = after.steps.slice(Number(notes.since));
  const isOver = result.kind === 'done' && (step.until ?? []).every((type) => since.some(({ eventType }) => eventType === type));
  if (!isOver) return waitOn(stage, after);
  const { since: _, waited: __, ...remaining } = notes;
  const said: SandboxStep[] =
    since.length === 0 && result.state !== undefined ? [{ at: stage.scope.now, action: step.action, state: result.state }] : [];
  return { ...after, notes: remaining, steps: [...after.steps, ...said], nextStep: session.nextStep + 1, waits: 0 };
}

/** Delivers new events to the session's endpoints and adds them to the steps in recorded order. */
async function collect(
  { scope, session, notes }: ScriptStage,
  scenario: Scenario,
  follow: Follow,
  action: string,
): Promise<SandboxSession> {
  const pending = await listPendingEvents(scope.db, session, EVENTS_MAX);
  const delivered = pending.filter(({ type }) => type !== scenario.heldBack || notes.released !== undefined);
  if (delivered.length > 0) await follow(scope, [...new Set(delivered.map(({ id }) => actOfEvent(id)))]);
  const fresh = await listSessionEvents(scope.db, session, EVENTS_MAX);
  const steps = fresh.map(({ id, type, subjectType, subjectId, data, createdAt }): SandboxStep => {
    const { status: state } = data.object as { status?: string };
    const object = { type: subjectType, id: subjectId };
    return { at: createdAt, action, object, ...(state === undefined ? {} : { state }), eventId: id, eventType: type };
  });
  return { ...session, steps: [...session.steps, ...steps], eventSeq: fresh.at(-1)?.seq ?? session.eventSeq };
}

/**
 * Advances the clock to the next due time or to the target. The new time is stored before the due work runs, so that all its effects, also
 * those of objects, happen at that time.
 */
async function moveClock(ctx: Shard, session: SandboxSession, scenario: Scenario, follow: Follow): Promise<SandboxSession> {
  const stage = stageOf(ctx, session);
  const { now } = stage.scope;
  const target = session.createdAt + session.advancingToMs;
  // A crashed run may have left work of this time undone.
  await runDue(stage.scope);
  const after = await collect(stage, scenario, follow, 'advance');
  const dueAt = await nextDueAt(stage.scope);
  // An object reports within seconds. If the report never comes, the session fails and is later erased like any other.
  if (dueAt !== null && dueAt <= now) return { ...after, waits: session.waits + 1 };
  const next = dueAt === null ? target : Math.min(target, Math.max(dueAt, now + SECOND));
  const advancedMs = next - session.createdAt;
  return { ...after, advancedMs, waits: 0 };
}

type Kind = keyof Awaited<ReturnType<typeof readDue>>;

/** Due work, run by the sweep that handles it live, in this order if several kinds are due at once. */
const DUE: Record<Kind, { run(scope: Scope): Promise<unknown> /** Grace period after the due time. */; patienceMs?: number }> = {
  settlements: { run: sweepSettlements },
  subscriptions: { run: sweepSandboxSubscriptions },
  meteredSessions: { run: sweepSandboxSessions },
  expired: { run: sweepExpired, patienceMs: MINUTE },
  memberships: { run: sweepMemberships },
  entitlements: { run: sweepEntitlements },
  finality: { run: sweepFinality },
  placements: { run: sweepSandboxPlacements },
  tickets: { run: sweepTickets, patienceMs: SILENT_MS },
};

async function nextDueAt(scope: Scope): Promise<number | null> {
  const due = await readDue(scope);
  const moments = Object.entries(DUE).flatMap(([kind, { patienceMs = 0 }]) => {
    const at = due[kind as Kind];
    return at === null ? [] : [at + patienceMs];
  });
  return moments.length === 0 ? null : Math.min(...moments);
}

/** Runs all due work, each kind once, including work that becomes due as a result. */
async function runDue(scope: Scope): Promise<void> {
  const ran = new Set<string>();
  for (let before = -1; before < ran.size; ) {
    before = ran.size;
    const due = await readDue(scope);
    for (const [kind, { run, patienceMs = 0 }] of Object.entries(DUE)) {
      const at = due[kind as Kind];
      if (ran.has(kind) || at === null || at + patienceMs > scope.now) continue;
      await run(scope);
      ran.add(kind);
    }
  }
}
