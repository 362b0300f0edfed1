/**
 * What becomes of an authorization when the chain dropped what collected a period of it, or has it after all: its paid time is counted
 * afresh, in the batch that notes the fate of the payment. A period that was dropped is due again, as long as it lasts.
 * @module
 */

import type { AuthorizationId } from '#core/ids.ts';
import { DAY } from '#core/time.ts';
import { dropCollected, stepAuthorization, takeCollectedBack } from '#features/authorizations/authorization.ts';
import { findAuthorization, listCollected } from '#features/authorizations/store.ts';
import type { Shard } from '#platform/context.ts';
import { type Change, unchanged } from '#platform/db/commit.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { AuthorizationRow, CollectionRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import { isCollected } from '#rules/subscriptions/authorization.ts';
import { firstAttemptAt, luckOf } from '#rules/subscriptions/schedule.ts';

type Collected = Pick<Payment, 'id' | 'terms' | 'txSignature'>;

/** The authorization that a payment was collected for, and its periods; null where it was no collection, or is forgotten. */
async function loadCollected({ db }: Shard, { terms }: Collected) {
  const { authorizationId } = terms;
  if (authorizationId === undefined) return null;
  const id = authorizationId as AuthorizationId;
  const [row, periods] = await Promise.all([findAuthorization(db, id), listCollected(db, id)]);
  return row && { row, periods };
}

/** The chain dropped the transaction: its period is not paid, and may be collected again. */
export async function planDropped(ctx: Shard, payment: Collected): Promise<Change<unknown>> {
  const loaded = await loadCollected(ctx, payment);
  const dropped = loaded?.periods.find(({ paymentId }) => paymentId === payment.id);
  if (!loaded || dropped?.collectedAt == null) return unchanged(null);
  const { row, periods } = loaded;
  const standing = periods.filter((period) => period !== dropped && period.collectedAt !== null);
  const lastCollection =
    row.lastCollection?.txSignature === payment.txSignature
      ? { at: ctx.now, status: 'failed' as const, ...(payment.txSignature === null ? {} : { txSignature: payment.txSignature }) }
      : row.lastCollection;
  const after = stepAuthorization(ctx, row, null, { ...paidBy(standing), lastCollection, ...dueAt(ctx, row, ctx.now) });
  return { ...after, writes: [dropCollected(ctx.db, payment.id), ...after.writes] };
}

/** The transaction is there after all: its period is paid by it, unless another has paid it meanwhile. */
export async function planReturned(ctx: Shard, payment: Collected): Promise<Change<unknown>> {
  const loaded = await loadCollected(ctx, payment);
  const own = loaded?.periods.find(({ periodEndsAt }) => periodEndsAt === payment.terms.periodEndsAt);
  if (!loaded || own === undefined || own.collectedAt !== null) return unchanged(null);
  const { row, periods } = loaded;
  const paid = paidBy([...periods.filter((period) => period !== own && period.collectedAt !== null), own]);
  const step = row.endedAt === null && (row.status === 'past_due' || row.status === 'requires_reapproval') ? 'collect' : null;
  const lastCollection = { at: ctx.now, status: 'collected' as const, txSignature: payment.txSignature! };
  const next = firstAttemptAt(paid.periodEndsAt!, luckOf(row.id));
  const patch = { ...paid, lastCollection, failures: 0 };
  const after = stepAuthorization(ctx, row, step, { ...patch, ...dueAt(ctx, { ...row, status: step ? 'active' : row.status }, next) });
  return { ...after, writes: [takeCollectedBack(ctx, own, payment.id), ...after.writes] };
}

/** The last of these periods. */
function paidBy(periods: CollectionRow[]): Pick<AuthorizationRow, 'periodStartsAt' | 'periodEndsAt' | 'paidThrough'> {
  const last = periods.reduce<CollectionRow | null>((a, b) => (a === null || b.periodStartsAt > a.periodStartsAt ? b : a), null);
  return {
    periodStartsAt: last?.periodStartsAt ?? null,
    periodEndsAt: last?.periodEndsAt ?? null,
    paidThrough: last?.periodEndsAt ?? null,
  };
}

/** Collected then, where it is collected at all; looked at soon where paid time may have ended with the change. */
function dueAt({ now }: Shard, row: AuthorizationRow, at: number): Partial<AuthorizationRow> {
  if (row.endedAt !== null) return {};
  return isCollected(row.status) ? { nextAttemptAt: at, nextLookAt: now + DAY } : { nextLookAt: now };
}
