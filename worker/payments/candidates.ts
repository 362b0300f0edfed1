import type { Ctx } from '../context.ts';
import { ApiError } from '../core/errors.ts';
import type { PaymentId } from '../core/ids.ts';
import { MINUTE, SECOND } from '../core/time.ts';
import { hasSent, keepCandidate } from './candidate.store.ts';

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

/** A transaction can land as long as its blockhash lives, 150 slots or about a minute and a half: until then another pays twice. */
const IN_FLIGHT_MS = 2 * MINUTE;

const inFlight = (): ApiError =>
  new ApiError('payment_transaction_conflict', {
    detail: 'Another transaction of this payment is on its way. Wait until it has arrived or lapsed: both would be paid.',
    meta: { reason: 'in_flight' },
    retryAfterSeconds: 10,
  });

/** 409 payment_transaction_conflict while a transaction that we sent may still land. What others name is nothing we know of. */
export async function requireNoneInFlight(ctx: Ctx, paymentId: PaymentId): Promise<void> {
  if (await hasSent(ctx.db, paymentId, ctx.now - IN_FLIGHT_MS)) throw inFlight();
}

/**
 * Keeps a signature to look up again by ourselves, so that nobody has to stay and ask. 409 payment_transaction_conflict for one
 * to be sent while another that we sent may still land.
 */
export async function rememberCandidate(ctx: Ctx, paymentId: PaymentId, txSignature: string, origin: 'sent' | 'named'): Promise<void> {
  const { delaySeconds } = nextCheck(0);
  const candidate = { paymentId, txSignature, origin, attempt: 0, nextCheckAt: ctx.now + delaySeconds * SECOND, createdAt: ctx.now };
  const { isNew, hasRival } = await keepCandidate(ctx, candidate, ctx.now - IN_FLIGHT_MS);
  if (hasRival) throw inFlight();
  if (isNew) ctx.defer(ctx.env.JOBS.send({ kind: 'recheckCandidate', paymentId, txSignature, attempt: 0 }, { delaySeconds }));
}
