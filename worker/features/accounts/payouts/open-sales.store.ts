import { and, eq, gt, inArray, isNull, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { meteredSessions } from '#platform/db/tables/settlements.ts';
import { subscriptionAuthorizations } from '#platform/db/tables/subscriptions/authorizations.ts';
import { stepRows } from '#platform/db/versioned.ts';

const MAY_BE_PAID = ['PENDING_SIGNATURE', 'PENDING_CONFIRMATION'] as const;

/** Matches open payments and metered sessions, those to `wallets` if given. */
export function openSalesOf({ now }: Shard, accountId: AccountId, wallets?: string[]) {
  return {
    payments: and(
      eq(payments.merchantId, accountId),
      eq(payments.livemode, true),
      inArray(payments.status, MAY_BE_PAID),
      gt(payments.expiresAt, now),
      wallets && inArray(payments.recipientWallet, wallets),
    ),
    sessions: and(
      eq(meteredSessions.merchantId, accountId),
      eq(meteredSessions.livemode, true),
      isNull(meteredSessions.endedAt),
      wallets && inArray(meteredSessions.merchantWallet, wallets),
    ),
  };
}

/**
 * Expires open payments and sessions, those to `wallets` if given. An open metered channel pays what was promised on chain. No new one can
 * open.
 */
export function endSalesTo(ctx: Shard, accountId: AccountId, wallets?: string[]): Write[] {
  const { db, now } = ctx;
  const open = openSalesOf(ctx, accountId, wallets);
  return [
    db
      .update(meteredSessions)
      // The check that is due now notifies the sessions' objects.
      .set({ expiresAt: sql`min(expires_at, ${now})`, idleSeconds: 0, nextCheckAt: now })
      .where(open.sessions),
    stepRows(db, payments, { expiresAt: now, updatedAt: now }, open.payments),
  ];
}

/** Matches live authorizations that may be collected, those that pay `wallets` if given. */
export const isCollectedFor = (accountId: AccountId, wallets?: string[]) =>
  and(
    eq(subscriptionAuthorizations.merchantId, accountId),
    eq(subscriptionAuthorizations.livemode, true),
    isNull(subscriptionAuthorizations.endedAt),
    isNull(subscriptionAuthorizations.stoppedAt),
    wallets && inArray(subscriptionAuthorizations.recipientWallet, wallets),
  );

/**
 * Ends all collecting of live authorizations, or that for `wallets`. The read that is due now stores the step and event of each. A collection
 * that was planned before aborts, because the version differs.
 */
export const stopAuthorizations = ({ db, now }: Shard, accountId: AccountId, wallets?: string[]): Write =>
  stepRows(
    db,
    subscriptionAuthorizations,
    { stoppedAt: now, nextAttemptAt: null, collectAt: null, nextCheckAt: now, updatedAt: now },
    isCollectedFor(accountId, wallets),
  );
