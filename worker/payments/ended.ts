import type { Ctx } from '../context.ts';
import { DAY, SECOND } from '../core/time.ts';
import { NATIVE_MINT } from '../solana/assets.ts';
import { accountOf } from '../solana/checkout-transaction.ts';
import { endSessions, listEnded, listOver, restoreRow, type Which } from './ended.store.ts';

const KEEP_MS = 30 * DAY;
const PAGE = 100;
const SWEEP_MS = 10 * SECOND;

/** Checkouts that nobody paid, a month after their end: of each less than 400 bytes stay. Answers how many it looked at. */
export async function sweepEndedSessions(ctx: Ctx): Promise<number> {
  const before = ctx.now - KEEP_MS;
  let taken = 0;
  while (ctx.elapsedMs() < SWEEP_MS) {
    const over = await listOver(ctx.db, before, PAGE);
    if (over.length > 0)
      await endSessions(
        ctx.db,
        over.map(({ id }) => id),
        before,
      );
    taken += over.length;
    if (over.length < PAGE) break;
  }
  return taken;
}

/**
 * Makes failed payments again of sessions that ended long ago, because money was seen that names them: it is judged as that of any
 * other. Of those without, the next sweep keeps as little as before. Answers how many there were.
 */
export async function restoreEnded(ctx: Ctx, which: Which): Promise<number> {
  if ('nonces' in which && which.nonces.length === 0) return 0;
  const ended = await listEnded(ctx.db, which);
  for (const payment of ended) {
    const mint = payment.asset === 'SOL' ? NATIVE_MINT : ctx.config.network.usdcMint;
    await restoreRow(ctx, { ...payment, mint, recipientAta: await accountOf(payment.recipientWallet, mint) });
  }
  return ended.length;
}
