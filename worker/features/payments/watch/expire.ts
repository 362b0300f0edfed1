import type { PaymentId } from '#core/ids.ts';
import { DAY, MINUTE, SECOND } from '#core/time.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { transact, unchanged } from '#platform/db/commit.ts';
import { type Swept, sweepPages } from '#platform/db/sweeps.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import { PAYMENT } from '#rules/states.ts';
import { planFail, stepPayment } from '../payment.ts';
import { getPayment } from '../store.ts';
import { type ExpiringSession, expireTogether, listExpired } from './expire.store.ts';
import { readPassedAt } from './reference-scan.store.ts';

const PAGES = { pageMax: 250, pagesMax: 24 };
/** Delay after the deadline until the last block is confirmed and listed. */
export const EXPIRY_PATIENCE_MS = MINUTE;

/** Returns the time (epoch ms) after which no payment in time can appear, unless the node is down. */
export const certainAt = ({ expiresAt, lateGraceSeconds }: Pick<Payment, 'expiresAt' | 'lateGraceSeconds'>): number =>
  expiresAt + lateGraceSeconds * SECOND + EXPIRY_PATIENCE_MS;

/**
 * Expires unpaid sessions once the cursor has passed the last moment of a payment in time, so that no buyer fails because the service could
 * not read the chain. While the node is down the sweep waits, at most a day.
 */
export async function sweepExpired(ctx: Shard): Promise<Swept> {
  // A simulated chain has no lag, so no scan is needed.
  const passedAt = ctx.sandbox === null ? await readPassedAt(ctx, ctx.config.SERVICE_REFERENCE) : ctx.now;
  const endedBy = Math.min(ctx.now - EXPIRY_PATIENCE_MS, passedAt);
  const bounds = { endedBy, graceMs: ctx.config.LATE_GRACE_SECONDS * SECOND, abandonedBefore: ctx.now - DAY };
  return sweepPages<ExpiringSession>(
    ctx,
    PAGES,
    (last) => listExpired(ctx, bounds, last, PAGES.pageMax),
    (ended) =>
      expireTogether(
        ctx,
        ended.map((session) => planExpiry(ctx, session)),
      ),
  );
}

const wasSubscribed = ({ status, terms }: Payment): boolean => terms.authorizationId !== undefined && status === 'PENDING_CONFIRMATION';

function planExpiry(ctx: Ctx, { isShort, rowNumber: _, ...session }: ExpiringSession) {
  const failureCode = isShort ? 'underpaid' : wasSubscribed(session) ? 'collection_failed' : 'session_expired';
  const { after, event } = stepPayment(ctx, session, 'fail', { failureCode });
  return { event, values: { status: after.status, failureCode, updatedAt: after.updatedAt } };
}

/** Expires a payment under its row version: of a race with a confirmation exactly one is stored. */
export const expirePayment = (ctx: Shard, paymentId: PaymentId, failureCode: 'underpaid' | 'session_expired') =>
  transact(ctx, { reload: () => getPayment(ctx, paymentId) }, (payment) =>
    PAYMENT.isTerminal(payment.status) ? unchanged(payment) : planFail(ctx, payment, { failureCode }),
  );
