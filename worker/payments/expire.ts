import type { Ctx } from '../context.ts';
import type { PaymentId } from '../core/ids.ts';
import { DAY, MINUTE, SECOND } from '../core/time.ts';
import { forEach, transact, unchanged } from '../db/commit.ts';
import { PAYMENT } from '../states.ts';
import { getCursor, listExpired } from './chain.store.ts';
import { planFail } from './payment.ts';
import { REFERENCE_CURSOR } from './reference.ts';
import { getPayment, type Payment } from './store.ts';

const SWEEP_MAX = 200;
/** After the last moment a payment may be on time: its block has to be confirmed and listed first. */
const PATIENCE_MS = MINUTE;

const graceMsOf = ({ config }: Ctx): number => config.LATE_GRACE_SECONDS * SECOND;

/** When it is certain, unless the node is down, that nothing came in time. Epoch ms. */
export const certainAt = (ctx: Ctx, { expiresAt }: Pick<Payment, 'expiresAt'>): number => expiresAt + graceMsOf(ctx) + PATIENCE_MS;

/**
 * Ends sessions nobody paid. Only once the cursor has passed the last moment at which a payment would have been on time, so
 * that a buyer is never failed because we could not look; while the node is down it waits, at most a day. (contract section 3)
 */
export async function sweepExpired(ctx: Ctx): Promise<number> {
  const graceMs = graceMsOf(ctx);
  const { passedAt } = await getCursor(ctx.db, REFERENCE_CURSOR);
  const abandonedBefore = ctx.now - DAY;
  const looked = Math.min(ctx.now - graceMs - PATIENCE_MS, passedAt - graceMs);
  const due = await listExpired(ctx.db, Math.max(looked, abandonedBefore), abandonedBefore, SWEEP_MAX);
  return forEach(ctx, due, ({ id, isShort }) => expirePayment(ctx, id, isShort ? 'underpaid' : 'session_expired'));
}

/** Races a confirmation through the version of the same row: one of the two is stored, never both. */
export const expirePayment = (ctx: Ctx, paymentId: PaymentId, failureCode: 'underpaid' | 'session_expired') =>
  transact(ctx, async () => {
    const payment = await getPayment(ctx.db, paymentId);
    return PAYMENT.isTerminal(payment.status) ? unchanged(payment) : planFail(ctx, payment, { failureCode });
  });
