import type { Shard } from '#platform/context.ts';
import { type Swept, sweepRounds } from '#platform/db/sweeps.ts';
import { endLapsedPlans } from './store.ts';

const ROUNDS = { max: 500, roundsMax: 20 };

/**
 * Stores the end of plans. Every check compares the clock, including that of the account's object, so the plan was free from that instant.
 * A renewed plan is not affected.
 */
export const sweepPlans = (ctx: Shard): Promise<Swept> => sweepRounds(ctx, ROUNDS, (max) => endLapsedPlans(ctx.db, ctx.now, max));
