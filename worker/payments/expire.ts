import type { Ctx } from '../context.ts';
import type { PaymentId } from '../core/ids.ts';
import { DAY, MINUTE, SECOND } from '../core/time.ts';
import { forEach, transact, unchanged } from '../db/commit.ts';
import { PAYMENT } from '../states.ts';
import { listExpired, loadWalks } from './chain.store.ts';
import { planFail } from './payment.ts';
import { getPayment, type Payment } from './store.ts';

const SWEEP_MAX = 200;
/** After the last moment a payment may be on time: its block has to be confirmed and listed first. */
const PATIENCE_MS = MINUTE;

/** When it is certain, unless the node is down, that nothing came in time. Epoch ms. */
export const certainAt = ({ expiresAt, lateGraceSeconds }: Pick<Payment, 'expiresAt' | 'lateGraceSeconds'>): number =>
  expiresAt + lateGraceSeconds * SECOND + PATIENCE_MS;

/**
 * Ends sessions nobody paid. Only once the cursor has passed the last moment at which a payment would have been on time, so
 * that a buyer is never failed because we could not look; while the node is down it waits, at most a day. (contract section 3)
 */
export async function sweepExpired(ctx: Ctx): Promise<number> {
  const { newest } = await loadWalks(ctx.db);
  const endedBy = Math.min(ctx.now - PATIENCE_MS, newest.passedAt);
  const bounds = { endedBy, graceMs: ctx.config.LATE_GRACE_SECONDS * SECOND, abandonedBefore: ctx.now - DAY };
  const due = await listExpired(ctx.db, bounds, SWEEP_MAX);
  return forEach(ctx, due, ({ id, isShort }) => expirePayment(ctx, id, isShort ? 'underpaid' : 'session_expired'));
}

/** Races a confirmation through the version of the same row: one of the two is stored, never both. */
export const expirePayment = (ctx: Ctx, paymentId: PaymentId, failureCode: 'underpaid' | 'session_expired') =>
  transact(ctx, async () => {
    const payment = await getPayment(ctx.db, paymentId);
    return PAYMENT.isTerminal(payment.status) ? unchanged(payment) : planFail(ctx, payment, { failureCode });
  });
