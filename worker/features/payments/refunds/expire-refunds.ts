import { DAY } from '#core/time.ts';
import type { Shard } from '#platform/context.ts';
import { addSwept, type Swept, sweepRounds } from '#platform/db/sweeps.ts';
import { readUntil } from './refund.ts';
import { forgetUnlanded, hasOldUnlapsed, noteOldLapsed } from './store.ts';

/** Retention after the time by which the refund could land. */
export const UNSIGNED_RETENTION_MS = 8 * DAY;
const ROUNDS = { max: 500, roundsMax: 20 };

/**
 * Deletes prepared refunds that were never broadcast. Age is not enough: a refund is deleted only after the finalized chain has passed its
 * last valid block height and was scanned to that point, otherwise a landed refund could be paid twice.
 */
export async function sweepRefunds(ctx: Shard): Promise<Swept> {
  const before = ctx.now - UNSIGNED_RETENTION_MS;
  const known = (await hasOldUnlapsed(ctx.db, before)) ? await ctx.chain.knows([]) : null;
  if (known?.kind === 'known') await noteOldLapsed(ctx, before, known.finalHeight, ROUNDS.max);
  if (known?.kind === 'unavailable') ctx.note(`rpc: ${known.reason}`);
  const until = await readUntil(ctx);
  const swept = await sweepRounds(ctx, ROUNDS, (max) => forgetUnlanded(ctx.db, { before, readUntil: until, max }));
  return known?.kind === 'unavailable' ? addSwept(swept, { taken: 0, end: 'paused' }) : swept;
}
