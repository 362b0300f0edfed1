import type { Ctx } from '../context.ts';
import type { PaymentId } from '../core/ids.ts';
import { MINUTE, SECOND } from '../core/time.ts';
import { keepCandidate } from './candidate.store.ts';

/** Seconds after the previous look at which a signature is looked up again; after them only the sweep does. (contract section 3) */
export const RECHECK_SECONDS = [2, 4, 8, 16, 30, 60, 90] as const;
const SWEEP_SECONDS = 10 * 60;

/** When check number `attempt` (from 0) is due, and whether the queue brings it or only the sweep. */
export function nextCheck(attempt: number): { delaySeconds: number; queued: boolean } {
  const delaySeconds = RECHECK_SECONDS[attempt];
  return delaySeconds === undefined ? { delaySeconds: SWEEP_SECONDS, queued: false } : { delaySeconds, queued: true };
}

/** The sweep takes a check this long after it was due: by then its queue message is lost, not late. */
export const SWEEP_PATIENCE_MS = MINUTE / 2;

/** Keeps a signature to look up again by ourselves, so that nobody has to stay and ask. */
export async function rememberCandidate(ctx: Ctx, paymentId: PaymentId, txSignature: string, origin: 'sent' | 'named'): Promise<void> {
  const { delaySeconds } = nextCheck(0);
  const isNew = await keepCandidate(ctx, {
    paymentId,
    txSignature,
    origin,
    attempt: 0,
    nextCheckAt: ctx.now + delaySeconds * SECOND,
    createdAt: ctx.now,
  });
  if (isNew) ctx.defer(ctx.env.JOBS.send({ kind: 'recheckCandidate', paymentId, txSignature, attempt: 0 }, { delaySeconds }));
}
