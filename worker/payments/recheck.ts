import type { Ctx } from '../context.ts';
import { ApiError } from '../core/errors.ts';
import type { PaymentId } from '../core/ids.ts';
import { DAY, SECOND } from '../core/time.ts';
import { commit, forEach } from '../db/commit.ts';
import { PAYMENT } from '../states.ts';
import { advanceCandidate, type Candidate, dropCandidate, findCandidate, listDueCandidates } from './candidate.store.ts';
import { nextCheck, SWEEP_PATIENCE_MS } from './candidates.ts';
import { confirmByMemo, confirmPayment } from './confirm.ts';
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
    return isPassing(error) ? ('later' as const) : ('nothing' as const);
  });
  const next = nextCheck(job.attempt);
  // Past the schedule the cursor over the service reference finds it, if it is ours at all.
  if (outcome === 'later' && next.queued) {
    ctx.defer(
      ctx.env.JOBS.send(
        { kind: 'findPayment', txSignature: job.txSignature, attempt: job.attempt + 1 },
        { delaySeconds: next.delaySeconds },
      ),
    );
  }
}

const SWEEP_MAX = 100;

/** The backstop for lost messages, and the only visitor of signatures older than the schedule. Answers how many it took. */
export async function sweepCandidates(ctx: Ctx): Promise<number> {
  const due = await listDueCandidates(ctx.db, ctx.now - SWEEP_PATIENCE_MS, SWEEP_MAX);
  return forEach(ctx, due, (candidate) => recheckCandidate(ctx, candidate));
}

/**
 * Looks a signature up once more. The next check is written down before this one begins, so a crash in between costs one
 * check, not the candidate. One that the chain showed us is judged even when its session is over: it may be money.
 */
async function recheckCandidate(ctx: Ctx, candidate: Candidate): Promise<void> {
  const { paymentId, txSignature, attempt, origin } = candidate;
  const payment = await findPayment(ctx.db, paymentId);
  const isOver = !payment || (origin !== 'found' && PAYMENT.isTerminal(payment.status));
  if (isOver || ctx.now > Math.max(payment.expiresAt, candidate.createdAt) + DAY) return forget(ctx, candidate);
  const next = nextCheck(attempt + 1);
  if (!(await advanceCandidate(ctx.db, candidate, ctx.now + next.delaySeconds * SECOND))) return;
  if (next.queued) {
    const job = { kind: 'recheckCandidate', paymentId, txSignature, attempt: attempt + 1 } as const;
    ctx.defer(ctx.env.JOBS.send(job, { delaySeconds: next.delaySeconds }));
  }
  try {
    const { payment: after } = await confirmPayment(ctx, { paymentId, txSignature, viewer: null });
    if (after.txSignature === txSignature && PAYMENT.isTerminal(after.status)) await forget(ctx, candidate);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    ctx.note(`recheck: ${error.code}`);
    if (!isPassing(error)) await forget(ctx, candidate);
  }
}

/** Weather, not a verdict: the same look may tell something else next time. */
const isPassing = ({ code }: ApiError): boolean =>
  code === 'rpc_unavailable' || code === 'temporarily_unavailable' || code === 'state_conflict';

const forget = (ctx: Ctx, { paymentId, txSignature }: Candidate): Promise<void> =>
  commit(ctx, { events: [], writes: [dropCandidate(ctx.db, paymentId, txSignature)], result: undefined });
