import type { Shard } from '#platform/context.ts';
import { type Swept, sweepRounds } from '#platform/db/sweeps.ts';
import { endLapsedPlans } from './store.ts';

const ROUNDS = { max: 500, roundsMax: 20 };

/**
 * Stores that plans have ended. Each counted as free from that instant on, because every check compares the clock, that
 * of the account's object too; this only makes the row say so. One paid for again in the meantime is not among them.
 */
export const sweepPlans = (ctx: Shard): Promise<Swept> => sweepRounds(ctx, ROUNDS, (max) => endLapsedPlans(ctx.db, ctx.now, max));
