import type { Ctx } from '../context.ts';
import { forEach } from '../db/commit.ts';
import { planAt } from '../plans.ts';
import { changeAccount } from './change-account.ts';
import { listLapsed } from './store.ts';

const SWEEP_MAX = 100;

/**
 * Writes down that a plan has ended. It counted as free from its very instant, because every judgement looks at the clock;
 * this only makes the row say so too.
 */
export async function sweepPlans(ctx: Ctx): Promise<number> {
  const due = await listLapsed(ctx.db, ctx.now, SWEEP_MAX);
  return forEach(ctx, due, ({ id }) =>
    changeAccount(ctx, id, (account) =>
      // Paid for again in the meantime: nothing to do.
      account.plan !== 'free' && planAt(account, ctx.now) === 'free' ? { values: { plan: 'free', planThrough: null } } : null,
    ),
  );
}
