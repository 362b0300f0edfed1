import { and, eq, isNull, sql } from 'drizzle-orm';
import { MINUTE } from '#core/time.ts';
import { rowsOnChainOf } from '#platform/chain/reach.store.ts';
import type { Db, Shard } from '#platform/context.ts';
import { vetoIf, type Write } from '#platform/db/commit.ts';
import { archivedPayments } from '#platform/db/tables/archives.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import { settlements } from '#platform/db/tables/settlements.ts';
import { PAYER_LIMITS } from '#rules/plans.ts';
import { EXPIRED } from './store.ts';

const PAYER_WINDOW_MS = PAYER_LIMITS.failedMinutes * MINUTE;

/**
 * A payer's settlements on one chain, in live mode over all merchants: what is open, and what failed on chain. What expired was never there, and cost nothing. What a channel
 * pays out is sent by the service.
 */
const payerCounts = ({ payerWallet, createdAt, ...settlement }: Settlement) => ({
  open: sql`total(status = 'pending')`,
  failed: sql`total(failure_reason <> ${EXPIRED})`,
  ofPayer: sql`FROM settlements WHERE payer_wallet = ${payerWallet} AND ${rowsOnChainOf(settlement, settlements)} AND status <> 'settled' AND purpose NOT IN ('metered', 'subscription') AND created_at > ${createdAt - PAYER_WINDOW_MS}`,
});

/** Fails the batch where a payer has as many open or failed settlements as allowed: every one of them may cost us its fee. */
export const vetoBusyPayer = (ctx: Shard, settlement: Settlement): Write => {
  const { RATE_MULTIPLIER: times } = ctx.config;
  const { open, failed, ofPayer } = payerCounts(settlement);
  return vetoIf(ctx, sql`(SELECT ${open} >= ${PAYER_LIMITS.open * times} OR ${failed} >= ${PAYER_LIMITS.failed * times} ${ofPayer})`);
};

/** How many of each a payer may have, and how many more. */
export async function readPayerLimits(ctx: Shard, settlement: Settlement) {
  const { RATE_MULTIPLIER: times } = ctx.config;
  const { open, failed, ofPayer } = payerCounts(settlement);
  const used = await ctx.db.get<{ open: number; failed: number }>(sql`SELECT ${open} AS open, ${failed} AS failed ${ofPayer}`);
  const limit = { open: Math.floor(PAYER_LIMITS.open * times), failed: Math.floor(PAYER_LIMITS.failed * times) };
  const left = { open: Math.max(0, limit.open - (used?.open ?? 0)), failed: Math.max(0, limit.failed - (used?.failed ?? 0)) };
  return { limit, left };
}

/** True if this payer's money has reached this merchant by x402 before, in the same mode. */
export async function hasPaidBefore(
  db: Db,
  { merchantId, livemode, payerWallet }: Pick<Settlement, 'merchantId' | 'livemode' | 'payerWallet'>,
): Promise<boolean> {
  const { merchantId: seller, livemode: mode, payerWallet: payer, nonce } = archivedPayments;
  const [settled, archived] = await db.batch([
    db
      .select({ paymentId: settlements.paymentId })
      .from(settlements)
      .where(
        and(
          eq(settlements.merchantId, merchantId),
          eq(settlements.livemode, livemode),
          eq(settlements.payerWallet, payerWallet),
          sql`status = 'settled'`,
        ),
      )
      .limit(1),
    // What was paid at a checkout owns its nonce.
    db
      .select({ id: archivedPayments.id })
      .from(archivedPayments)
      .where(and(eq(seller, merchantId), eq(mode, livemode), eq(payer, payerWallet), isNull(nonce)))
      .limit(1),
  ]);
  return settled.length + archived.length > 0;
}
