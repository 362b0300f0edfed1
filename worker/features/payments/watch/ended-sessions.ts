import { DAY } from '#core/time.ts';
import type { Shard } from '#platform/context.ts';
import { type Swept, sweepRounds } from '#platform/db/sweeps.ts';
import { mintOf } from '#solana/assets.ts';
import { deriveAccount } from '#solana/checkout-transaction.ts';
import { endSessions, listEnded, listReducible, restoreRow, type SessionKey } from './ended-sessions.store.ts';

export const UNPAID_RETENTION_MS = 30 * DAY;
const ROUNDS = { max: 100, roundsMax: 50 };

/** Reduces unpaid checkouts a month after their end to less than 400 bytes each. */
export const sweepEndedSessions = (ctx: Shard): Promise<Swept> => {
  const before = ctx.now - UNPAID_RETENTION_MS;
  return sweepRounds(ctx, ROUNDS, async (max) => {
    const over = await listReducible(ctx.db, before, max);
    if (over.length > 0) await endSessions(ctx.db, over, before);
    return over.length;
  });
};

/**
 * Restores ended sessions as failed payments because money names them. The next sweep reduces those without money again. Returns how many
 * there were. Stops when the invocation's budget is spent.
 */
export async function restoreEnded(ctx: Shard, which: SessionKey): Promise<number> {
  if ('nonces' in which && which.nonces.length === 0) return 0;
  const ended = await listEnded(ctx, which);
  for (const payment of ended) {
    if (ctx.budget.left === 0) break;
    const mint = mintOf(ctx.config.network, payment.asset);
    await restoreRow(ctx, { ...payment, mint, recipientAta: await deriveAccount(payment.recipientWallet, mint) });
  }
  return ended.length;
}
