import { ApiError } from '#core/errors.ts';
import type { PaymentId } from '#core/ids.ts';
import { DAY, HOUR, MINUTE, SECOND } from '#core/time.ts';
import { inMode } from '#platform/chain/scope.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { commit, forEach } from '#platform/db/commit.ts';
import { mayGoOn, type Swept } from '#platform/db/sweeps.ts';
import type { Candidate } from '#platform/db/tables/candidates.ts';
import { sendJob, sendJobs } from '#platform/queues/send-jobs.ts';
import { PAYMENT } from '#rules/states.ts';
import { isSignature } from '#solana/assets.ts';
import type { Sighting } from '#solana/node-answers.ts';
import { refundNonceOf } from '#solana/refund.ts';
import { confirmByMemo, confirmFound } from '../confirm/confirm.ts';
import { recordRefund } from '../refunds/record-refund.ts';
import { getPayment } from '../store.ts';
import {
  type CheckKey,
  deleteJudged,
  dropCandidate,
  findCandidate,
  listBacklog,
  listCandidates,
  listDueCandidates,
  markJudged,
  takeChecks,
} from './candidate.store.ts';
import { nextCheck, SWEEP_PATIENCE_MS } from './candidates.ts';

/** Handles a queue message: runs its check unless the sweep or another delivery was faster. Idempotent, late or lost. */
export async function recheckQueued(ctx: Shard, job: { paymentId: string; txSignature: string; attempt: number }): Promise<void> {
  const candidate = await findCandidate(ctx.db, job.paymentId as PaymentId, job.txSignature);
  if (!candidate || candidate.attempt !== job.attempt) return;
  const scope = candidate.livemode ? ctx : await inMode(ctx, await getPayment(ctx, candidate.paymentId));
  await readCandidates(scope, [candidate]);
}

/** Checks a group of a backlog, unless the sweep or another delivery was faster. Idempotent, late or lost. */
export const recheckGroup = async (ctx: Shard, { candidates }: { candidates: CheckKey[] }): Promise<void> =>
  void (await readCandidates(ctx, await listCandidates(ctx.db, candidates)));

/** Checks a transaction that a caller or the provider named, and retries for a while if the chain or the session is not there yet. */
export async function findQueued(ctx: Shard, job: { txSignature: string; attempt: number }): Promise<void> {
  const outcome = await confirmByMemo(ctx, job.txSignature).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    ctx.note(`hint: ${error.code}`);
    return isTransient(error) ? ('unavailable' as const) : ('nothing' as const);
  });
  const { delaySeconds, isQueued } = nextCheck(job.attempt, 0);
  // After the schedule the cursor finds the service's transactions. While no node answers, the named signature is the only source, so
  // retries last a day.
  const isWorthwhile = outcome === 'later' ? isQueued : outcome === 'unavailable' && job.attempt < HINT_ATTEMPTS_MAX;
  if (!isWorthwhile) return;
  ctx.defer(sendJob(ctx, { kind: 'findPayment', txSignature: job.txSignature, attempt: job.attempt + 1 }, delaySeconds));
}

const HINT_ATTEMPTS_MAX = 150;

const GROUP_MAX = 20;
const PAGE_MAX = 100;
/** Calls that one candidate may need, including its share of the group call. */
const CALLS_EACH = 7;
const LANES = 6;
const FORGET_MAX = 5000;
/** Retention of a named transaction that no node shows, because a node may lack its history for a while. */
const NAMED_MS = HOUR;

type Origin = Exclude<Candidate['origin'], 'judged'>;

/** Backlog that goes to the queue at each cron: what a database confirms in a minute. */
const QUEUED_MAX = 15_000;
/** Candidates per message. An invocation takes ten messages, and the platform limits its calls. */
const QUEUED_GROUP = 10;

/**
 * Checks due candidates after lost queue messages and past the schedule. Each origin has its own sweep, so that real money does not wait
 * for signatures named by strangers. Stops at the first failed node call, because the others would fail too. The first round sends a backlog
 * to the queue as well, and `isQueued` is true in the next.
 */
export const sweepCandidates =
  (origin: Origin) =>
  async (ctx: Shard, isQueued?: unknown): Promise<Swept> => {
    if (origin === 'found') await deleteJudged(ctx.db, ctx.now, FORGET_MAX);
    // A sandbox clock does not wait for a queue, and strangers could fill it.
    let mayQueue = isQueued === undefined && ctx.sandbox === null && origin !== 'named';
    let taken = 0;
    while (mayGoOn(ctx)) {
      const max = ctx.budget.rows(CALLS_EACH, mayQueue ? GROUP_MAX : PAGE_MAX);
      if (max === 0) break;
      const due = await listDueCandidates(ctx, origin, ctx.now - SWEEP_PATIENCE_MS, max);
      for (let from = 0; from < due.length; from += GROUP_MAX)
        if (!(await readCandidates(ctx, due.slice(from, from + GROUP_MAX)))) return { taken, end: 'paused' };
      taken += due.length;
      if (due.length < max) return { taken, end: 'empty' };
      // The first group shows that a node answers.
      if (mayQueue) await queueBacklog(ctx, origin);
      mayQueue = false;
    }
    return { taken, end: 'bound', last: true };
  };

/** Sends due candidates to the queue in groups, unless a run can check them alone. They stay due until a message is consumed. */
async function queueBacklog(ctx: Shard, origin: Origin): Promise<void> {
  const keys = await listBacklog(ctx, origin, ctx.now - SWEEP_PATIENCE_MS, QUEUED_MAX);
  if (keys.length <= PAGE_MAX) return;
  const groups = Array.from({ length: Math.ceil(keys.length / QUEUED_GROUP) }, (_, i) =>
    keys.slice(i * QUEUED_GROUP, (i + 1) * QUEUED_GROUP),
  );
  await sendJobs(
    ctx,
    groups.map((candidates) => ({ job: { kind: 'recheckCandidates', candidates } })),
  );
}

/**
 * Checks candidates in one call. Returns false if the node did not answer. The next check is stored first, so a crash costs one check, not
 * the candidate.
 */
async function readCandidates(ctx: Shard, named: Candidate[]): Promise<boolean> {
  const [candidates = [], malformed = []] = [true, false].map((isAskable) =>
    named.filter(({ txSignature }) => isSignature(txSignature) === isAskable),
  );
  // A malformed signature makes the node refuse the group's call.
  for (const candidate of malformed) await forgetCandidate(ctx, candidate);
  if (candidates.length === 0) return true;
  const next = (candidate: Candidate) => nextCheck(candidate.attempt + 1, ctx.now - candidate.createdAt);
  const checks = candidates.map((candidate) => ({ candidate, nextCheckAt: ctx.now + next(candidate).delaySeconds * SECOND }));
  const taken = await takeChecks(ctx.db, checks);
  if (taken.length === 0) return true;
  const laterChecks = taken.flatMap(({ paymentId, txSignature, attempt, createdAt }) => {
    const { isQueued, delaySeconds } = nextCheck(attempt, ctx.now - createdAt);
    return isQueued ? [{ job: { kind: 'recheckCandidate', paymentId, txSignature, attempt } as const, delaySeconds }] : [];
  });
  if (laterChecks.length > 0) ctx.defer(sendJobs(ctx, laterChecks));
  const answer = await ctx.chain.findTransactions(taken.map(({ txSignature }) => txSignature));
  if (answer.kind === 'unavailable') {
    ctx.note(`rpc: ${answer.reason}`);
    return false;
  }
  const readings = taken.map((candidate, i) => ({ candidate, sighting: answer.sightings[i]! }));
  const invented = answer.finalHeight === null ? [] : await listInvented(ctx, readings);
  const judgeReading = (reading: CandidateSighting) => applyReading(ctx, reading, { isInvented: invented.includes(reading) });
  await forEach(ctx, readings, judgeReading, LANES);
  return true;
}

interface CandidateSighting {
  candidate: Candidate;
  sighting: Sighting;
}

/** Lists named candidates that can no longer land and are unknown to every node, in one call to nodes that are not behind. */
async function listInvented(ctx: Ctx, readings: CandidateSighting[]): Promise<CandidateSighting[]> {
  const absent = readings.filter(
    ({ candidate: { origin, createdAt }, sighting }) =>
      origin === 'named' && sighting.kind === 'not_found' && ctx.now > createdAt + NAMED_MS,
  );
  if (absent.length === 0) return [];
  const isUnknown = await ctx.chain.areUnknownEverywhere(absent.map(({ candidate }) => candidate.txSignature));
  return absent.filter((_, i) => isUnknown[i]);
}

/** Applies a candidate's reading. Judged even after its session, because it may be money. */
async function applyReading(
  ctx: Shard,
  { candidate, sighting }: CandidateSighting,
  { isInvented }: { isInvented: boolean },
): Promise<void> {
  if (sighting.kind === 'unreadable') ctx.note(`unreadable ${candidate.txSignature}: ${sighting.reason}`);
  const isJudged = (sighting.kind === 'found' || sighting.kind === 'seen') && (await confirmCandidate(ctx, candidate, sighting));
  if (isJudged || isInvented || isTooOld(ctx, candidate, sighting)) await forgetCandidate(ctx, candidate);
}

async function confirmCandidate(ctx: Shard, { paymentId, txSignature }: Candidate, sighting: Sighting): Promise<boolean> {
  try {
    if (sighting.kind === 'found' && refundNonceOf(sighting.transaction) !== null) {
      await recordRefund(ctx, sighting.transaction, { paymentId });
      return true;
    }
    const { payment } = await confirmFound(ctx, { paymentId, txSignature, viewer: null }, sighting);
    return payment.txSignature === txSignature && PAYMENT.isTerminal(payment.status);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    ctx.note(`recheck: ${error.code}`);
    return sighting.kind === 'found' && !isTransient(error);
  }
}

const isTransient = ({ code }: ApiError): boolean => ['rpc_unavailable', 'temporarily_unavailable', 'state_conflict'].includes(code);

/** Found candidates are on the chain and end only by a verdict. Sent or named ones that were never seen expire after a day. */
const isTooOld = (ctx: Ctx, { origin, createdAt }: Candidate, { kind }: Sighting): boolean =>
  origin !== 'found' && kind !== 'found' && kind !== 'unavailable' && ctx.now > createdAt + DAY;

/** Longer than the interval in which the cursor reads the same list again. */
const JUDGED_MS = 15 * MINUTE;

const forgetCandidate = (ctx: Shard, candidate: Candidate): Promise<void> => {
  const { paymentId, txSignature, origin, livemode } = candidate;
  const isListedAgain = origin === 'found' && livemode;
  const writes = isListedAgain ? markJudged(ctx, candidate, ctx.now + JUDGED_MS) : [dropCandidate(ctx.db, paymentId, txSignature)];
  return commit(ctx, { events: [], writes, result: undefined });
};
