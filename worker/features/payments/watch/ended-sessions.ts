import { DAY } from '#core/time.ts';
import type { Shard } from '#platform/context.ts';
import { type Swept, sweepRounds } from '#platform/db/sweeps.ts';
import { mintOf } from '#solana/assets.ts';
import { accountOf } from '#solana/checkout-transaction.ts';
import { endSessions, listEnded, listOver, restoreRow, type Which } from './ended-sessions.store.ts';

const KEEP_MS = 30 * DAY;
const ROUNDS = { max: 100, roundsMax: 50 };

/** Shortens unpaid checkouts a month after their end: of each less than 400 bytes stay. Answers how many it looked at. */
export const sweepEndedSessions = (ctx: Shard): Promise<Swept> => {
  const before = ctx.now - KEEP_MS;
  return sweepRounds(ctx, ROUNDS, async (max) => {
    const over = await listOver(ctx.db, before, max);
    const ids = over.map(({ id }) => id);
    if (ids.length > 0) await endSessions(ctx.db, ids, before);
    return ids.length;
  });
};

/**
 * Makes failed payments again of sessions that ended long ago, because money was seen that names them: it is judged as that of any
 * other. Of those without, the next sweep keeps as little as before. Answers how many there were. Once the invocation's budget is
 * spent the others stay as they are.
 */
export async function restoreEnded(ctx: Shard, which: Which): Promise<number> {
  if ('nonces' in which && which.nonces.length === 0) return 0;
  const ended = await listEnded(ctx, which);
  for (const payment of ended) {
    if (ctx.budget.left === 0) break;
    const mint = mintOf(ctx.config.network, payment.asset);
    await restoreRow(ctx, { ...payment, mint, recipientAta: await accountOf(payment.recipientWallet, mint) });
  }
  return ended.length;
}
