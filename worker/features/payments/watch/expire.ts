import type { PaymentId } from '#core/ids.ts';
import { DAY, MINUTE, SECOND } from '#core/time.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { transact, unchanged } from '#platform/db/commit.ts';
import { type Swept, sweepPages } from '#platform/db/sweeps.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import { PAYMENT } from '#rules/states.ts';
import { planFail, stepPayment } from '../payment.ts';
import { getPayment } from '../store.ts';
import { loadWalks } from './candidate.store.ts';
import { type ExpiringSession, expireTogether, listExpired } from './expire.store.ts';

/** Some thousand rows are read for a page. */
const PAGES = { pageMax: 250, pagesMax: 24 };
/** After the last moment a payment may be on time: its block has to be confirmed and listed first. */
const PATIENCE_MS = MINUTE;

/** From when on it is certain, unless the node is down, that no payment came in time. Epoch ms. */
export const certainAt = ({ expiresAt, lateGraceSeconds }: Pick<Payment, 'expiresAt' | 'lateGraceSeconds'>): number =>
  expiresAt + lateGraceSeconds * SECOND + PATIENCE_MS;

/**
 * Ends unpaid sessions. Only once the cursor has passed the last moment at which a payment would have been on time, so
 * that a buyer is never failed because we could not look; while the node is down it waits, at most a day.
 */
export async function sweepExpired(ctx: Shard): Promise<Swept> {
  // A simulated chain shows all it has at any moment: there is nothing to walk.
  const passedAt = ctx.sandbox === null ? (await loadWalks(ctx.db)).newest.passedAt : ctx.now;
  const endedBy = Math.min(ctx.now - PATIENCE_MS, passedAt);
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

/** Its buyer has subscribed, and the first period could not be collected. */
const wasSubscribed = ({ status, terms }: Payment): boolean => terms.authorizationId !== undefined && status === 'PENDING_CONFIRMATION';

function planExpiry(ctx: Ctx, { isShort, place: _, ...session }: ExpiringSession) {
  const failureCode = isShort ? 'underpaid' : wasSubscribed(session) ? 'collection_failed' : 'session_expired';
  const { after, event } = stepPayment(ctx, session, 'fail', { failureCode });
  return { event, values: { status: after.status, failureCode, updatedAt: after.updatedAt } };
}

/** Races a confirmation through the version of the same row: one of the two is stored, never both. */
export const expirePayment = (ctx: Shard, paymentId: PaymentId, failureCode: 'underpaid' | 'session_expired') =>
  transact(ctx, { reload: () => getPayment(ctx, paymentId) }, (payment) =>
    PAYMENT.isTerminal(payment.status) ? unchanged(payment) : planFail(ctx, payment, { failureCode }),
  );
