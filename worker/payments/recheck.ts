import type { Ctx } from '../context.ts';
import { ApiError } from '../core/errors.ts';
import type { PaymentId } from '../core/ids.ts';
import { DAY, SECOND } from '../core/time.ts';
import { commit } from '../db/commit.ts';
import { PAYMENT } from '../states.ts';
import { nextCheck, SWEEP_PATIENCE_MS } from './candidates.ts';
import { confirmPayment } from './confirm.ts';
import { advanceCandidate, type Candidate, dropCandidates, findCandidate, findPayment, listDueCandidates } from './store.ts';

/** A queue message: the check it names, unless the sweep or another delivery was faster. Harmless doubled, late or lost. */
export async function recheckQueued(ctx: Ctx, job: { paymentId: string; txSignature: string; attempt: number }): Promise<void> {
  const candidate = await findCandidate(ctx.db, job.paymentId as PaymentId, job.txSignature);
  if (candidate && candidate.attempt === job.attempt) await recheckCandidate(ctx, candidate);
}

const SWEEP_MAX = 50;

/** The backstop for lost messages, and the only visitor of signatures older than the schedule. Answers how many it took. */
export async function sweepCandidates(ctx: Ctx): Promise<number> {
  const due = await listDueCandidates(ctx.db, ctx.now - SWEEP_PATIENCE_MS, SWEEP_MAX);
  for (const candidate of due) await recheckCandidate(ctx, candidate);
  return due.length;
}

/**
 * Looks a signature up once more. The next check is written down before this one begins, so a crash in between costs one
 * check, not the candidate. A transaction that turns out to pay something else is forgotten.
 */
async function recheckCandidate(ctx: Ctx, candidate: Candidate): Promise<void> {
  const { paymentId, txSignature, attempt } = candidate;
  const payment = await findPayment(ctx.db, paymentId);
  if (!payment || PAYMENT.isTerminal(payment.status) || ctx.now > payment.expiresAt + DAY) return forget(ctx, candidate);
  const next = nextCheck(attempt + 1);
  if (!(await advanceCandidate(ctx.db, candidate, ctx.now + next.delaySeconds * SECOND))) return;
  if (next.queued) {
    const job = { kind: 'recheckCandidate', paymentId, txSignature, attempt: attempt + 1 } as const;
    ctx.defer(ctx.env.JOBS.send(job, { delaySeconds: next.delaySeconds }));
  }
  try {
    await confirmPayment(ctx, { paymentId, txSignature, viewer: null });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    ctx.note(`recheck: ${error.code}`);
    if (error.code === 'payment_mismatch') await forget(ctx, candidate);
  }
}

const forget = (ctx: Ctx, { paymentId, txSignature }: Candidate): Promise<void> =>
  commit(ctx, { events: [], writes: [dropCandidates(ctx.db, paymentId, txSignature)], result: undefined });
