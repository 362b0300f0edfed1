import type { Ctx } from '../context.ts';
import { ApiError } from '../core/errors.ts';
import type { PaymentId } from '../core/ids.ts';
import { DAY, HOUR, SECOND } from '../core/time.ts';
import { commit, forEach } from '../db/commit.ts';
import type { Sighting } from '../solana/rpc.ts';
import { PAYMENT } from '../states.ts';
import { advanceCandidate, type Candidate, dropCandidate, findCandidate, listDueCandidates } from './candidate.store.ts';
import { nextCheck, SWEEP_PATIENCE_MS } from './candidates.ts';
import { confirmByMemo, settleFound } from './confirm.ts';
import { findPayment } from './store.ts';

/** A queue message: the check it names, unless the sweep or another delivery was faster. Harmless doubled, late or lost. */
export async function recheckQueued(ctx: Ctx, job: { paymentId: string; txSignature: string; attempt: number }): Promise<void> {
  const candidate = await findCandidate(ctx.db, job.paymentId as PaymentId, job.txSignature);
  if (candidate && candidate.attempt === job.attempt) await recheckCandidate(ctx, candidate);
}

/** A transaction somebody pointed at: looked up now, and again for a while where the chain or the session is not there yet. */
export async function findQueued(ctx: Ctx, job: { txSignature: string; attempt: number }): Promise<void> {
  const outcome = await confirmByMemo(ctx, job.txSignature).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    ctx.note(`hint: ${error.code}`);
    return isPassing(error) ? ('unavailable' as const) : ('nothing' as const);
  });
  const { delaySeconds, queued } = nextCheck(job.attempt);
  // Past the schedule the cursor finds what is ours; but while nobody could look, a hint is all there is, for a day.
  const isWorthwhile = outcome === 'later' ? queued : outcome === 'unavailable' && job.attempt < HINT_ATTEMPTS_MAX;
  if (!isWorthwhile) return;
  ctx.defer(ctx.env.JOBS.send({ kind: 'findPayment', txSignature: job.txSignature, attempt: job.attempt + 1 }, { delaySeconds }));
}

/** A day of sweeps' intervals. */
const HINT_ATTEMPTS_MAX = 150;
const SWEEP_MAX = 100;

/**
 * The backstop for lost messages, and the only visitor of signatures older than the schedule. Stops at the first look the node
 * refuses: the others would only wait for the same. Answers how many it took.
 */
export async function sweepCandidates(ctx: Ctx): Promise<number> {
  const due = await listDueCandidates(ctx.db, ctx.now - SWEEP_PATIENCE_MS, SWEEP_MAX);
  let isReachable = true;
  return forEach(ctx, due, async (candidate) => {
    if (isReachable) isReachable = await recheckCandidate(ctx, candidate);
  });
}

/**
 * Looks a signature up once more; false where the node did not answer. The next check is written down before this one begins,
 * so a crash in between costs one check, not the candidate. It is judged even when its session is over: it may be money.
 */
async function recheckCandidate(ctx: Ctx, candidate: Candidate): Promise<boolean> {
  const { paymentId, txSignature, attempt } = candidate;
  const payment = await findPayment(ctx.db, paymentId);
  const isOver = payment !== undefined && PAYMENT.isTerminal(payment.status);
  // Somebody's word alone, on a session that has its end: an hour is enough to be proven right.
  const patienceMs = isOver && candidate.origin === 'named' ? HOUR : DAY;
  if (!payment || ctx.now > Math.max(isOver ? 0 : payment.expiresAt, candidate.createdAt) + patienceMs) {
    await forget(ctx, candidate);
    return true;
  }
  const next = nextCheck(attempt + 1);
  if (!(await advanceCandidate(ctx.db, candidate, ctx.now + next.delaySeconds * SECOND))) return true;
  if (next.queued) {
    const job = { kind: 'recheckCandidate', paymentId, txSignature, attempt: attempt + 1 } as const;
    ctx.defer(ctx.env.JOBS.send(job, { delaySeconds: next.delaySeconds }));
  }
  const sighting = await ctx.chain.findTransaction(txSignature);
  if (sighting.kind === 'unavailable') ctx.note(`rpc: ${sighting.reason}`);
  if (sighting.kind === 'found' || !isOver) await judge(ctx, candidate, sighting);
  return sighting.kind !== 'unavailable';
}

async function judge(ctx: Ctx, candidate: Candidate, sighting: Sighting): Promise<void> {
  const { paymentId, txSignature } = candidate;
  try {
    const { payment } = await settleFound(ctx, { paymentId, txSignature, viewer: null }, sighting);
    if (payment.txSignature === txSignature && PAYMENT.isTerminal(payment.status)) await forget(ctx, candidate);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    ctx.note(`recheck: ${error.code}`);
    if (!isPassing(error)) await forget(ctx, candidate);
  }
}

/** Weather, not a verdict: the same look may tell something else next time. */
const isPassing = ({ code }: ApiError): boolean =>
  code === 'rpc_unavailable' ||
  code === 'temporarily_unavailable' ||
  code === 'state_conflict' ||
  code === 'identity_verification_required';

const forget = (ctx: Ctx, { paymentId, txSignature }: Candidate): Promise<void> =>
  commit(ctx, { events: [], writes: [dropCandidate(ctx.db, paymentId, txSignature)], result: undefined });
