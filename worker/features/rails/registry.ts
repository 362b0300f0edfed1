import { payoutOf } from '#features/products/selling/obstacles.ts';
import { channelOperatorsOf, operatorFunds, pullerFunds } from '#platform/chain/fee-payer.ts';
import { payoutAccountExists } from '#platform/chain/token-accounts.ts';
import { type Ctx, hasPriceSource, hasSubscriptions } from '#platform/context.ts';
import { isPriceHealthy } from '#platform/providers/price.ts';
import { RAILS, type RailId } from '#rules/rails.ts';
import { isNative } from '#solana/assets.ts';
import { forecast } from './outlook.ts';
import { AVAILABLE, type LiveView, type Rail } from './rail.ts';
import { readPlanStatus } from './subscription-plan/plan.ts';
import { obstaclesIn, statusOfFunds, x402Rail } from './x402.ts';

/** Native subscriptions: the service pays for the collections. The payout account must exist, and the plan must be published. */
const subscriptionRail: Rail = {
  overridesStatus: false,
  async status(ctx) {
    return statusOfFunds(await pullerFunds(ctx));
  },
  async probe(ctx, prospect) {
    if (!hasSubscriptions(ctx.config)) return { obstacles: [], hasAccount: null, unavailableDependency: null };
    const payTo = payoutOf(prospect);
    const [funds, hasAccount, plan] = await Promise.all([
      pullerFunds(ctx),
      payTo === null ? null : payoutAccountExists(ctx, payTo, 'nothing'),
      readPlanStatus(ctx, prospect),
    ]);
    const isSilent = funds === 'unknown' || plan === 'unknown' || (payTo !== null && hasAccount === null);
    const isMissing = plan !== 'published' && plan !== 'none' && plan !== 'unknown';
    return {
      obstacles: [
        ...obstaclesIn({ feePayerIsEmpty: funds === 'empty', accountIsMissing: hasAccount === false }),
        ...(isMissing ? (['subscription_plan_published'] as const) : []),
      ],
      hasAccount,
      unavailableDependency: isSilent ? 'rpc_unavailable' : null,
    };
  },
  priceWarning: () => null,
};

/** Every party of a channel needs a USDC account at the payout, including the operator key, which receives nothing. */
const operatorAccountExists = (ctx: Ctx): Promise<boolean | null> =>
  payoutAccountExists(ctx, channelOperatorsOf(ctx.config).current, 'all');

/** Metered sessions: the service pays the network fees. A buyer can create neither the merchant's account nor the service's. */
const meteredRail: Rail = {
  overridesStatus: false,
  async status(ctx) {
    const [funds, exists] = await Promise.all([operatorFunds(ctx), operatorAccountExists(ctx)]);
    return exists === false ? { status: 'unavailable', reason: 'operator_account_missing' } : statusOfFunds(funds);
  },
  async probe(ctx, prospect) {
    const payTo = payoutOf(prospect);
    const [funds, exists, hasAccount] = await Promise.all([
      operatorFunds(ctx),
      operatorAccountExists(ctx),
      payTo === null ? null : payoutAccountExists(ctx, payTo, 'nothing'),
    ]);
    const isSilent = funds === 'unknown' || exists === null || (payTo !== null && hasAccount === null);
    return {
      obstacles: obstaclesIn({ feePayerIsEmpty: funds === 'empty' || exists === false, accountIsMissing: hasAccount === false }),
      hasAccount,
      unavailableDependency: isSilent ? 'rpc_unavailable' : null,
    };
  },
  priceWarning: () => null,
};

const SILENT: LiveView = { obstacles: [], hasAccount: null, unavailableDependency: 'rpc_unavailable' };

const checkoutRail = (railId: RailId): Rail => ({
  overridesStatus: true,
  async status({ config, wallNow }) {
    if (!RAILS[railId].needsRate) return AVAILABLE;
    if (!hasPriceSource(config)) return { status: 'degraded', reason: 'price_source_missing' };
    return (await isPriceHealthy(config, wallNow)) ? AVAILABLE : { status: 'degraded', reason: 'price_unavailable' };
  },
  async probe(ctx, prospect) {
    // SOL needs no token account, so only the node must answer.
    if (isNative(RAILS[railId].asset))
      return (await ctx.chain.isHealthy(ctx.wallNow)) ? { ...(await forecast(ctx, prospect, railId)), hasAccount: null } : SILENT;
    const payTo = payoutOf(prospect);
    const hasAccount = payTo === null ? null : await payoutAccountExists(ctx, payTo, 'nothing');
    return payTo !== null && hasAccount === null ? SILENT : { ...(await forecast(ctx, prospect, railId)), hasAccount };
  },
  priceWarning: () => null,
});

const REGISTRY: Record<RailId, Rail> = {
  solana_usdc: checkoutRail('solana_usdc'),
  solana_sol: checkoutRail('solana_sol'),
  solana_usdc_subscription: subscriptionRail,
  x402_solana_usdc: x402Rail,
  mpp_solana_usdc: meteredRail,
};

export const getRail = (railId: RailId): Rail => REGISTRY[railId];
