import { DAY } from '#core/time.ts';
import type { Shard } from '#platform/context.ts';
import { type Swept, sweepRounds } from '#platform/db/sweeps.ts';
import { readUntil } from './refund.ts';
import { forgetUnlanded, hasOldUnlapsed, noteOldLapsed } from './store.ts';

/** So long after it could most likely land no more. */
const KEEP_MS = 8 * DAY;
const ROUNDS = { max: 500, roundsMax: 20 };

/**
 * Forgets what merchants had prepared and never signed. By age alone one that landed and was never read would go, and its payment could be
 * paid back again: so it stays until the final chain is above its last height and was read from then on, however long that takes.
 */
export async function sweepRefunds(ctx: Shard): Promise<Swept> {
  const before = ctx.now - KEEP_MS;
  if (await hasOldUnlapsed(ctx.db, before)) {
    const known = await ctx.chain.knows([]);
    if (known.kind === 'known') await noteOldLapsed(ctx, before, known.finalHeight, ROUNDS.max);
    else ctx.note(`rpc: ${known.reason}`);
  }
  const until = await readUntil(ctx);
  return sweepRounds(ctx, ROUNDS, (max) => forgetUnlanded(ctx.db, { before, readUntil: until, max }));
}
