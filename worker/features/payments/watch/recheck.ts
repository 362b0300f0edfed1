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
import { noteRefund } from '../refunds/seen.ts';
import { getPayment } from '../store.ts';
import { deleteJudged, dropCandidate, findCandidate, listDueCandidates, markJudged, takeLooks } from './candidate.store.ts';
import { nextCheck, SWEEP_PATIENCE_MS } from './candidates.ts';

/** A queue message: the look it names, unless the sweep or another delivery was faster. Harmless doubled, late or lost. */
export async function recheckQueued(ctx: Shard, job: { paymentId: string; txSignature: string; attempt: number }): Promise<void> {
  const candidate = await findCandidate(ctx.db, job.paymentId as PaymentId, job.txSignature);
  if (!candidate || candidate.attempt !== job.attempt) return;
  const scope = candidate.livemode ? ctx : await inMode(ctx, await getPayment(ctx, candidate.paymentId));
  await lookAtCandidates(scope, [candidate]);
}

/** A transaction that a caller or the provider named: looked up now, and again for a while where the chain or the session is not there yet. */
export async function findQueued(ctx: Shard, job: { txSignature: string; attempt: number }): Promise<void> {
  const outcome = await confirmByMemo(ctx, job.txSignature).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    ctx.note(`hint: ${error.code}`);
    return isTransient(error) ? ('unavailable' as const) : ('nothing' as const);
  });
  const { delaySeconds, isQueued } = nextCheck(job.attempt, 0);
  // Past the schedule the cursor finds what is ours; but while no node answers, the named signature is all there is, for a day.
  const isWorthwhile = outcome === 'later' ? isQueued : outcome === 'unavailable' && job.attempt < HINT_ATTEMPTS_MAX;
  if (!isWorthwhile) return;
  ctx.defer(sendJob(ctx, { kind: 'findPayment', txSignature: job.txSignature, attempt: job.attempt + 1 }, delaySeconds));
}

/** A day of sweeps' intervals. */
const HINT_ATTEMPTS_MAX = 150;

/** A node shows so many transactions in one call. */
const GROUP_MAX = 20;
/** Candidates listed at once. */
const PAGE_MAX = 100;
/** Calls that one candidate may take, its part of the calls for its group included. */
const CALLS_EACH = 7;
/** Judged at once, each against the database. */
const LANES = 6;
const FORGET_MAX = 5000;
/** How long a named transaction is looked for although no node shows it: a node may be without its history for a while. */
const NAMED_MS = HOUR;

type Origin = Exclude<Candidate['origin'], 'judged'>;

/**
 * The backstop for lost messages, and alone in looking for candidates that outlast the schedule. Each origin has a sweep of its own, so
 * that no money waits for what strangers name. Stops at the first call that the node does not answer: the others would only wait
 * for the same.
 */
export const sweepCandidates =
  (origin: Origin) =>
  async (ctx: Shard): Promise<Swept> => {
    if (origin === 'found') await deleteJudged(ctx.db, ctx.now, FORGET_MAX);
    let taken = 0;
    while (mayGoOn(ctx)) {
      const max = ctx.budget.rows(CALLS_EACH, PAGE_MAX);
      if (max === 0) break;
      const due = await listDueCandidates(ctx, origin, ctx.now - SWEEP_PATIENCE_MS, max);
      for (let from = 0; from < due.length; from += GROUP_MAX)
        if (!(await lookAtCandidates(ctx, due.slice(from, from + GROUP_MAX)))) return { taken, isFinished: true };
      taken += due.length;
      if (due.length < max) return { taken, isFinished: true };
    }
    return { taken, isFinished: false };
  };

/**
 * Looks signatures up once more, in one call; false where the node did not answer it. The next look is written down before this
 * one begins, so a crash in between costs one look, not the candidate.
 */
async function lookAtCandidates(ctx: Shard, named: Candidate[]): Promise<boolean> {
  const [candidates = [], malformed = []] = [true, false].map((isAskable) =>
    named.filter(({ txSignature }) => isSignature(txSignature) === isAskable),
  );
  // A node refuses the call for its group because of one that is no signature.
  for (const candidate of malformed) await forgetCandidate(ctx, candidate);
  if (candidates.length === 0) return true;
  const next = (candidate: Candidate) => nextCheck(candidate.attempt + 1, ctx.now - candidate.createdAt);
  const looks = candidates.map((candidate) => ({ candidate, nextCheckAt: ctx.now + next(candidate).delaySeconds * SECOND }));
  const taken = await takeLooks(ctx.db, looks);
  if (taken.length === 0) return true;
  const looksToCome = taken.flatMap(({ paymentId, txSignature, attempt, createdAt }) => {
    const { isQueued, delaySeconds } = nextCheck(attempt, ctx.now - createdAt);
    return isQueued ? [{ job: { kind: 'recheckCandidate', paymentId, txSignature, attempt } as const, delaySeconds }] : [];
  });
  if (looksToCome.length > 0) ctx.defer(sendJobs(ctx, looksToCome));
  const answer = await ctx.chain.findTransactions(taken.map(({ txSignature }) => txSignature));
  if (answer.kind === 'unavailable') {
    ctx.note(`rpc: ${answer.reason}`);
    return false;
  }
  const looked = taken.map((candidate, i) => ({ candidate, sighting: answer.sightings[i]! }));
  const invented = answer.finalHeight === null ? [] : await listInvented(ctx, looked);
  const judgeLook = (look: CandidateLook) => applyLook(ctx, look, { isInvented: invented.includes(look) });
  await forEach(ctx, looked, judgeLook, LANES);
  return true;
}

interface CandidateLook {
  candidate: Candidate;
  sighting: Sighting;
}

/** What was only named, could not land any more, and is unknown to every node: asked together, and only of nodes that are not behind. */
async function listInvented(ctx: Ctx, looked: CandidateLook[]): Promise<CandidateLook[]> {
  const absent = looked.filter(
    ({ candidate: { origin, createdAt }, sighting }) =>
      origin === 'named' && sighting.kind === 'not_found' && ctx.now > createdAt + NAMED_MS,
  );
  if (absent.length === 0) return [];
  const isUnknown = await ctx.chain.areUnknownEverywhere(absent.map(({ candidate }) => candidate.txSignature));
  return absent.filter((_, i) => isUnknown[i]);
}

/** What the chain shows of a candidate. It is judged even when its session is over: it may be money. */
async function applyLook(ctx: Shard, { candidate, sighting }: CandidateLook, { isInvented }: { isInvented: boolean }): Promise<void> {
  if (sighting.kind === 'unreadable') ctx.note(`unreadable ${candidate.txSignature}: ${sighting.reason}`);
  const isJudged = (sighting.kind === 'found' || sighting.kind === 'seen') && (await confirmCandidate(ctx, candidate, sighting));
  if (isJudged || isInvented || isTooOld(ctx, candidate, sighting)) await forgetCandidate(ctx, candidate);
}

/** True where the transaction got its verdict; false where the same look may tell something else next time. */
async function confirmCandidate(ctx: Shard, { paymentId, txSignature }: Candidate, sighting: Sighting): Promise<boolean> {
  try {
    if (sighting.kind === 'found' && refundNonceOf(sighting.transaction) !== null) {
      await noteRefund(ctx, sighting.transaction, { paymentId });
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

/** Transient failures: the next look may pass. */
const isTransient = ({ code }: ApiError): boolean => ['rpc_unavailable', 'temporarily_unavailable', 'state_conflict'].includes(code);

/** What the cursor found is on the chain, and ends by a verdict alone. What was sent or named and never seen is given up after a day. */
const isTooOld = (ctx: Ctx, { origin, createdAt }: Candidate, { kind }: Sighting): boolean =>
  origin !== 'found' && kind !== 'found' && kind !== 'unavailable' && ctx.now > createdAt + DAY;

/** Longer than the cursor reads the same list again. */
const JUDGED_MS = 15 * MINUTE;

const forgetCandidate = (ctx: Shard, candidate: Candidate): Promise<void> => {
  const { paymentId, txSignature, origin, livemode } = candidate;
  const isListedAgain = origin === 'found' && livemode;
  const writes = isListedAgain ? markJudged(ctx, candidate, ctx.now + JUDGED_MS) : [dropCandidate(ctx.db, paymentId, txSignature)];
  return commit(ctx, { events: [], writes, result: undefined });
};
