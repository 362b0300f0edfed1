import { formatErrorChain } from '#core/errors.ts';
import { HOUR, MINUTE, SECOND } from '#core/time.ts';
import { sweepDomains } from '#features/accounts/domain/domain.ts';
import { sweepErasures } from '#features/accounts/erase-account.ts';
import { sweepFactorResets } from '#features/accounts/operator/owner-access.ts';
import { sweepPeppers } from '#features/accounts/peppers/peppers.ts';
import { sweepSetups } from '#features/agent-setup/expire.ts';
import { sweepAnalytics } from '#features/analytics/fold.ts';
import { sweepAudit } from '#features/audit/audit.ts';
import type { AuthorizationClass } from '#features/authorizations/authorization.ts';
import { sweepProbes } from '#features/catalogue/probe.ts';
import { sweepMails } from '#features/email-delivery/attempt.ts';
import { sweepDuePlans } from '#features/email-delivery/due-plans.ts';
import { sweepEntitlements } from '#features/entitlements/sweep.ts';
import { sweepFinality } from '#features/finality/watch.ts';
import { sweepSeals } from '#features/key-rotation/key-rotation.ts';
import { sweepPlacements } from '#features/membership-delivery/sweep.ts';
import { sweepMemberships } from '#features/memberships/expire-membership.ts';
import { sweepChannels, sweepUnopened } from '#features/metered/watch/watch-channels.ts';
import { dueWorkOf, type SweepName } from '#features/operator/due-work.store.ts';
import { NAME_USES } from '#features/operator/names/name-uses.ts';
import { sweepRefunds } from '#features/payments/refunds/expire-refunds.ts';
import { sweepEndedSessions } from '#features/payments/watch/ended-sessions.ts';
import { sweepExpired } from '#features/payments/watch/expire.ts';
import { sweepCandidates } from '#features/payments/watch/recheck.ts';
import { sweepReference } from '#features/payments/watch/reference-scan.ts';
import { sweepPlans } from '#features/plans/expire-plan.ts';
import { sweepArchive } from '#features/retention/archive.ts';
import { eraseArchived } from '#features/retention/erase.ts';
import { archiveLogs, eraseArchivedLog } from '#features/retention/log-archive.ts';
import { sweepEndedSetups, sweepOf } from '#features/retention/retention.ts';
import { sweepSettlements } from '#features/settlements/sweep.ts';
import { sweepTickets } from '#features/support/close-silent.ts';
import { sweepDeliveries, sweepFanOut } from '#features/webhooks/deliveries/fan-out.ts';
import { sweepFeePayer } from '#platform/chain/fee-payer.ts';
import { addressOf, type Ctx, type Env, newCtx, type Shard, type SweepMessage } from '#platform/context.ts';
import { globalOf, shardNamed } from '#platform/db/directory.ts';
import { type DueWork, listDueSweeps } from '#platform/db/due/due-work.ts';
import { othersOf, shardsOf } from '#platform/db/each-database.ts';
import { sweepIdempotencyRecords } from '#platform/db/idempotency-record.ts';
import { sweepNames } from '#platform/db/names/names.ts';
import type { Swept } from '#platform/db/sweeps.ts';
import { addSwept, endSweep, failSweep, leaseSweep, RENEW_MS, renewSweep, takeDueSweeps } from '#platform/db/sweeps.ts';
import { inTime } from '#platform/deadline.ts';
import { deferring, logRequest } from '#platform/log.ts';
import { callClock, isClosedDatabase, refreshMoves } from '#platform/moves.ts';
import { announceEntries } from '#platform/queues/send-jobs.ts';
import { followActs } from './event-handlers.ts';
import { sweepParked } from './jobs.ts';

interface Sweep {
  name: SweepName;
  nextDueAt(now: number): number;
  /**
   * Predecessor: the sweep starts when a run of that one ends, successful or not. It starts by itself only if the predecessor has not run
   * for long.
   */
  after?: string;
  /** Runs once for all databases, in the first one. */
  isOfDeployment?: true;
  /** `last`: row after which this round continues. */
  run(ctx: Shard, last?: unknown): Promise<Swept>;
}

/** Due at every cron: once a minute, every five seconds on a local machine. Duplicate messages within a moment run once. */
const atEachCron = (now: number): number => now + 3 * SECOND;
/** Their work is asked about every ten minutes, so they are due a little before. */
const seldom = (ms: number) => (now: number) => now + ms - MINUTE;

/**
 * Runs by its schedule, so that resets of factors and old entries of audit logs, which are few and have no index by age, cost no read in
 * each minute.
 */
async function sweepRegularly(ctx: Shard): Promise<Swept> {
  const [resets, records] = [await sweepFactorResets(ctx), await sweepIdempotencyRecords(ctx)];
  return { ...records, ...addSwept(resets, records, await archiveLogs(ctx)) };
}

const subscriptionSweep = (kind: AuthorizationClass) => async (ctx: Shard) =>
  (await import('#features/subscriptions/sweep.ts')).sweepSubscriptions(kind)(ctx);

/** Backstops of the queues. Each sweep is bounded, resumable and runs in its own invocations. */
export const SWEEPS: readonly Sweep[] = [
  { name: 'memberships', nextDueAt: atEachCron, run: sweepMemberships },
  { name: 'entitlements', nextDueAt: atEachCron, run: sweepEntitlements },
  { name: 'setups', nextDueAt: seldom(10 * MINUTE), run: sweepSetups },
  { name: 'plans', nextDueAt: atEachCron, run: sweepPlans },
  {
    name: 'customers',
    nextDueAt: seldom(10 * MINUTE),
    run: async (ctx) => (await import('#features/billing/processor/erase.ts')).sweepCustomers(ctx),
  },
  {
    name: 'cardPlans',
    nextDueAt: seldom(HOUR),
    run: async (ctx) => (await import('#features/billing/processor/sync.ts')).sweepCardPlans(ctx),
  },
  {
    name: 'erasures',
    nextDueAt: atEachCron,
    run: sweepErasures({
      eraseAccount: async (ctx, id) => (await eraseArchived(ctx, id)) + (await eraseArchivedLog(ctx, id, null)),
      eraseMember: eraseArchivedLog,
    }),
  },
  {
    name: 'erasedCustomers',
    nextDueAt: atEachCron,
    run: async (ctx) => (await import('#features/privacy/erasure/sweep.ts')).sweepErasedCustomers(ctx),
  },
  { name: 'idempotency', nextDueAt: seldom(10 * MINUTE), run: sweepRegularly },
  // Temporary rows. retention/retention.ts defines the periods.
  { name: 'loginNonces', nextDueAt: seldom(10 * MINUTE), run: sweepOf('loginNonces') },
  { name: 'pendingTotp', nextDueAt: seldom(10 * MINUTE), run: sweepOf('pendingTotp') },
  { name: 'usedSignInStates', nextDueAt: seldom(10 * MINUTE), run: sweepOf('usedSignInStates') },
  { name: 'handoffs', nextDueAt: seldom(10 * MINUTE), run: sweepOf('handoffs') },
  { name: 'identities', nextDueAt: seldom(10 * MINUTE), run: sweepOf('identitySessions') },
  { name: 'paymentSessions', nextDueAt: seldom(10 * MINUTE), run: sweepOf('paymentSessions') },
  { name: 'endedMeteredSessions', nextDueAt: seldom(10 * MINUTE), run: sweepOf('meteredSessions') },
  { name: 'endedAuthorizations', nextDueAt: seldom(10 * MINUTE), run: sweepOf('authorizations') },
  { name: 'failedSettlements', nextDueAt: seldom(10 * MINUTE), run: sweepOf('failedSettlements') },
  { name: 'refunds', nextDueAt: seldom(10 * MINUTE), run: sweepRefunds },
  { name: 'sandboxTransactions', nextDueAt: seldom(HOUR), run: sweepOf('sandboxTransactions') },
  { name: 'sandboxAccounts', nextDueAt: seldom(HOUR), run: sweepOf('sandboxAccounts') },
  { name: 'processorEvents', nextDueAt: seldom(HOUR), run: sweepOf('processorEvents') },
  { name: 'endedDeliveries', nextDueAt: seldom(10 * MINUTE), run: sweepOf('deliveries') },
  { name: 'endpointHours', nextDueAt: seldom(10 * MINUTE), run: sweepOf('endpointHours') },
  { name: 'archive', nextDueAt: seldom(10 * MINUTE), run: sweepArchive },
  { name: 'endedSetups', nextDueAt: seldom(10 * MINUTE), run: sweepEndedSetups },
  { name: 'endedSessions', nextDueAt: seldom(10 * MINUTE), run: sweepEndedSessions },
  { name: 'fanOut', nextDueAt: atEachCron, run: (ctx) => sweepFanOut(ctx, followActs) },
  { name: 'deliveries', nextDueAt: atEachCron, run: sweepDeliveries },
  { name: 'mails', nextDueAt: atEachCron, run: sweepMails },
  { name: 'listings', nextDueAt: atEachCron, run: sweepProbes },
  { name: 'placements', nextDueAt: atEachCron, run: sweepPlacements },
  { name: 'duePlans', nextDueAt: seldom(HOUR), run: sweepDuePlans },
  { name: 'communityCodes', nextDueAt: seldom(10 * MINUTE), run: sweepOf('communityCodes') },
  { name: 'endedMails', nextDueAt: seldom(10 * MINUTE), run: sweepOf('mails') },
  {
    name: 'names',
    isOfDeployment: true,
    nextDueAt: seldom(HOUR),
    run: sweepNames(NAME_USES),
  },
  { name: 'peppers', nextDueAt: seldom(HOUR), run: sweepPeppers },
  { name: 'seals', nextDueAt: seldom(HOUR), run: sweepSeals },
  { name: 'parked', nextDueAt: seldom(10 * MINUTE), run: sweepParked },
  // Order matters: candidates on the chain are found, then decided, and only then do sessions expire.
  { name: 'reference', nextDueAt: atEachCron, isOfDeployment: true, run: (ctx) => sweepReference(ctx) },
  { name: 'reference2', nextDueAt: atEachCron, isOfDeployment: true, run: (ctx) => sweepReference(ctx, 1) },
  { name: 'reference3', nextDueAt: atEachCron, isOfDeployment: true, run: (ctx) => sweepReference(ctx, 2) },
  { name: 'reference4', nextDueAt: atEachCron, isOfDeployment: true, run: (ctx) => sweepReference(ctx, 3) },
  { name: 'candidates', nextDueAt: atEachCron, after: 'reference', run: sweepCandidates('found') },
  { name: 'expired', nextDueAt: atEachCron, after: 'candidates', run: sweepExpired },
  { name: 'sentCandidates', nextDueAt: atEachCron, run: sweepCandidates('sent') },
  { name: 'namedCandidates', nextDueAt: atEachCron, run: sweepCandidates('named') },
  { name: 'finality', nextDueAt: atEachCron, run: sweepFinality },
  // Separate invocations per class of session, so that the class that loses money first never waits.
  { name: 'closingChannels', nextDueAt: atEachCron, run: sweepChannels('closing') },
  { name: 'activeChannels', nextDueAt: atEachCron, run: sweepChannels('active') },
  { name: 'channelOpenings', nextDueAt: atEachCron, run: sweepChannels('opening') },
  { name: 'endedChannels', nextDueAt: atEachCron, run: sweepChannels('ended') },
  { name: 'unopenedSessions', nextDueAt: atEachCron, run: sweepUnopened },
  // Separate sweeps for due periods, checkouts that may be signed, and all other checks, so that none waits for another.
  { name: 'collections', nextDueAt: atEachCron, run: subscriptionSweep('collections') },
  { name: 'subscriptionCheckouts', nextDueAt: atEachCron, run: subscriptionSweep('checkouts') },
  { name: 'subscriptions', nextDueAt: atEachCron, run: subscriptionSweep('looks') },
  { name: 'settlements', nextDueAt: atEachCron, run: sweepSettlements },
  { name: 'feePayer', nextDueAt: atEachCron, isOfDeployment: true, run: sweepFeePayer },
  { name: 'analytics', nextDueAt: atEachCron, run: sweepAnalytics },
  { name: 'domains', nextDueAt: seldom(10 * MINUTE), run: sweepDomains },
  { name: 'tickets', nextDueAt: seldom(10 * MINUTE), run: sweepTickets },
  {
    name: 'auditChain',
    nextDueAt: seldom(10 * MINUTE),
    run: async (ctx) => (await import('#features/audit-log/chain.ts')).sweepAuditChain(ctx),
  },
  { name: 'audit', nextDueAt: seldom(10 * MINUTE), run: sweepAudit },
  { name: 'sandboxes', nextDueAt: atEachCron, run: async (ctx) => (await import('#features/sandbox/sweep.ts')).sweepSandboxes(ctx) },
  {
    name: 'endedSandboxes',
    nextDueAt: seldom(HOUR),
    run: async (ctx) => (await import('#features/sandbox/sweep.ts')).sweepEndedSandboxes(ctx),
  },
];

const FOLLOWER_PATIENCE_MS = 2 * MINUTE;
/**
 * Consecutive invocations of a sweep for each minute between two questions for its work. Then the next cron continues, so that rows that
 * always fail cannot run forever.
 */
const ROUNDS_A_MINUTE = 20;
/** Crons after which a sweep that always ends with rows left counts as behind. */
const BEHIND_CRONS = 3;

const workOf = (ctx: Ctx, name: SweepName): DueWork => dueWorkOf(ctx)[name];

/** Name of the message that finds the due sweeps of a database. A lost one is replaced by that of the next cron. */
const TICK = 'tick';
/** Limit of the platform. */
const BATCH_MAX = 100;

/** Cron: sends one message per database, and reads none. */
export async function sendTicks(env: Env, now: number): Promise<void> {
  const requestId = `cron_${now}`;
  const shards = shardsOf(newCtx(env, { requestId, wallNow: now, defer: () => {} }));
  const messages = shards.map((shard) => ({ body: { sweep: TICK, round: 1, requestId, ...addressOf(shard) } }));
  for (let i = 0; i < messages.length; i += BATCH_MAX) await env.SWEEPS.sendBatch(messages.slice(i, i + BATCH_MAX));
}

/**
 * Sends one message per sweep that is due and has work. Without either, reads one statement and writes nothing. If the database cannot
 * answer, all sweeps without a predecessor are tried.
 */
async function runTick(env: Env, execution: ExecutionContext, { requestId, database }: SweepMessage): Promise<void> {
  const now = Date.now();
  const defer = deferring(execution, { request_id: requestId });
  const shard = shardNamed(newCtx(env, { requestId, kind: 'sweep', wallNow: now, defer }), database);
  if (await isBeingRestored(shard)) return;
  const due = await takeDue(shard, now).catch((error: unknown) => {
    logRequest({ request_id: requestId, notes: [formatErrorChain(error)] });
    return sweepsOf(shard).flatMap(({ name, after }) => (after === undefined ? [name] : []));
  });
  if (due.length > 0) await env.SWEEPS.sendBatch(due.map((sweep) => ({ body: { sweep, round: 1, requestId, ...addressOf(shard) } })));
}

const isFirst = (shard: Shard): boolean => shard.database === globalOf(shard).database;

/** Sweeps that run in a database. */
const sweepsOf = (shard: Shard): Sweep[] => SWEEPS.filter(({ isOfDeployment }) => !isOfDeployment || isFirst(shard));

async function takeDue(shard: Shard, now: number): Promise<string[]> {
  const working = [...(await listDueSweeps(shard, dueWorkOf(shard))), ...(isFirst(shard) ? await listDueElsewhere(shard) : [])];
  const due = sweepsOf(shard).filter(({ name }) => working.includes(name));
  if (due.length === 0) return [];
  return takeDueSweeps(
    shard.db,
    due.map(({ name, after }) => ({ name, patienceMs: after ? FOLLOWER_PATIENCE_MS : 0 })),
    now,
  );
}

const ELSEWHERE_MS = 2 * SECOND;

/** Lists the sweeps of the deployment with work in the other databases. The first one alone has their schedule. */
async function listDueElsewhere(shard: Shard): Promise<string[]> {
  const works = Object.fromEntries(
    SWEEPS.filter(({ isOfDeployment }) => isOfDeployment).map(({ name }) => {
      const { idleMs: _, ...work } = workOf(shard, name);
      return [name, work];
    }),
  );
  const each = othersOf(shard).map((other) =>
    // A database that is away or slow has its own tick, and stops no other.
    inTime({ leftMs: () => ELSEWHERE_MS }, () => listDueSweeps(other, works)).catch((error: unknown) => {
      logRequest({ request_id: shard.requestId, notes: [`${other.database}: ${formatErrorChain(error)}`] });
      return [];
    }),
  );
  return (await Promise.all(each)).flat();
}

async function isBeingRestored(shard: Shard): Promise<boolean> {
  const { config, env, database } = shard;
  if (config.MOVES !== 'on' || env.DIRECTORY === undefined) return false;
  await refreshMoves(env.DIRECTORY, callClock(shard));
  return isClosedDatabase(database);
}

/** Consumer of the sweep queue, one message per invocation. No retries, because a failed sweep is due at the next cron. */
export async function consumeSweeps(batch: MessageBatch<SweepMessage>, env: Env, execution: ExecutionContext): Promise<void> {
  for (const { id, body } of batch.messages) {
    if (body.sweep === TICK) {
      await runTick(env, execution, body);
      continue;
    }
    const sweep = SWEEPS.find(({ name }) => name === body.sweep);
    // Message of another release. The cron of that release resends the message.
    if (!sweep) logRequest({ request_id: `sweep_${id}`, sweep: body.sweep, notes: ['no such sweep'] });
    else await runSweep(env, execution, sweep, body);
  }
}

async function runSweep(
  env: Env,
  execution: ExecutionContext,
  sweep: Sweep,
  { round, requestId: cause, database, last }: SweepMessage,
): Promise<void> {
  const { name, isOfDeployment } = sweep;
  const now = Date.now();
  const requestId = `sweep_${name}_${now}`;
  const notes: string[] = [];
  const defer = deferring(execution, { request_id: requestId, cause });
  const shard = newCtx(env, { requestId, kind: 'sweep', wallNow: now, defer, note: (reason) => notes.push(reason) });
  const ctx = isOfDeployment ? globalOf(shard) : shardNamed(shard, database);
  let swept: Swept | null = null;
  let hasMore = false;
  try {
    if (await isBeingRestored(ctx)) return;
    const lease = await leaseSweep(ctx.db, name, now);
    if (!lease) return;
    swept = await whileLeased(ctx, name, lease.fence, () => sweep.run(ctx, last));
    const { work, askedEveryMs = MINUTE } = workOf(ctx, name);
    hasMore = swept.end === 'bound' && round < (ROUNDS_A_MINUTE * askedEveryMs) / MINUTE;
    await endSweep(ctx.db, name, lease.fence, {
      dueAt: swept.end === 'bound' ? now : sweep.nextDueAt(now),
      succeededAt: Date.now(),
      sentAt: hasMore ? now : 0,
      behindAt: swept.end === 'empty' || work.length === 0 ? null : now + BEHIND_CRONS * askedEveryMs,
    });
    if (hasMore) await env.SWEEPS.send({ sweep: name, round: round + 1, requestId, ...continuation(swept), ...addressOf(ctx) });
  } catch (error) {
    notes.push(formatErrorChain(error));
  }
  announceEntries(ctx);
  const { taken = 0 } = swept ?? {};
  if (taken > 0 || notes.length > 0)
    logRequest({ request_id: requestId, cause, sweep: name, taken, ms: Date.now() - now, ...(notes.length > 0 ? { notes } : {}) });
  // Successors start when nothing is left, or when the next cron continues.
  const next = hasMore ? [] : SWEEPS.filter(({ after }) => after === name);
  for (const successor of next)
    for (const shard of isOfDeployment ? shardsOf(ctx) : [ctx])
      await env.SWEEPS.send({ sweep: successor.name, round: 1, requestId, ...addressOf(shard) });
}

const continuation = ({ last }: Swept): Pick<SweepMessage, 'last'> => (last === undefined ? {} : { last });

/** Renews the lease during a run, so that a crashed run loses the lease. A run that throws releases the lease and is due again. */
async function whileLeased(ctx: Shard, name: string, fence: number, run: () => Promise<Swept>): Promise<Swept> {
  const renew = () =>
    renewSweep(ctx.db, name, fence, Date.now()).then(undefined, (error: unknown) => ctx.note(`lease: ${formatErrorChain(error)}`));
  const renewal = setInterval(() => ctx.defer(renew()), RENEW_MS);
  try {
    return await run();
  } catch (error) {
    await failSweep(ctx.db, name, fence, ctx.wallNow).catch((failure: unknown) => ctx.note(`lease: ${formatErrorChain(failure)}`));
    throw error;
  } finally {
    clearInterval(renewal);
  }
}
