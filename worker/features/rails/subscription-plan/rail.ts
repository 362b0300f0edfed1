import { payoutOf } from '#features/products/selling/obstacles.ts';
import { pullerFunds } from '#platform/chain/fee-payer.ts';
import { payoutAccountExists } from '#platform/chain/token-accounts.ts';
import { hasSubscriptions } from '#platform/context.ts';
import type { Rail } from '../rail.ts';
import { obstaclesIn, statusOfFunds } from '../x402.ts';
import { lookAtPlan } from './plan.ts';

/** Native subscriptions: the service pays for the collections, into an account that has to be there, by a plan that was published. */
export const subscriptionRail: Rail = {
  looksAgain: false,
  async status(ctx) {
    return statusOfFunds(await pullerFunds(ctx));
  },
  async look(ctx, prospect) {
    if (!hasSubscriptions(ctx.config)) return { obstacles: [], hasAccount: null, silent: null };
    const payTo = payoutOf(prospect);
    const [funds, hasAccount, plan] = await Promise.all([
      pullerFunds(ctx),
      payTo === null ? null : payoutAccountExists(ctx, payTo, 'nothing'),
      lookAtPlan(ctx, prospect),
    ]);
    const isSilent = funds === 'unknown' || plan === 'unknown' || (payTo !== null && hasAccount === null);
    const isMissing = plan !== 'published' && plan !== 'none' && plan !== 'unknown';
    return {
      obstacles: [
        ...obstaclesIn({ feePayerIsEmpty: funds === 'empty', accountIsMissing: hasAccount === false }),
        ...(isMissing ? (['subscription_plan_published'] as const) : []),
      ],
      hasAccount,
      silent: isSilent ? 'rpc_unavailable' : null,
    };
  },
  caution: () => null,
};
