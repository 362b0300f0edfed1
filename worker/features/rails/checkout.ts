import { payoutOf } from '#features/products/selling/obstacles.ts';
import { payoutAccountExists } from '#platform/chain/token-accounts.ts';
import { hasPriceSource } from '#platform/context.ts';
import { isPriceHealthy } from '#platform/providers/price.ts';
import { RAILS, type RailId } from '#rules/rails.ts';
import { isNative } from '#solana/assets.ts';
import { lookAhead } from './outlook.ts';
import { AVAILABLE, type LiveView, type Rail } from './rail.ts';

const SILENT: LiveView = { obstacles: [], hasAccount: null, silent: 'rpc_unavailable' };

/** A rail of the hosted checkout, in the asset of its row. */
export const checkoutRail = (railId: RailId): Rail => ({
  looksAgain: true,
  async status({ config, wallNow }) {
    if (!RAILS[railId].needsRate) return AVAILABLE;
    if (!hasPriceSource(config)) return { status: 'degraded', reason: 'price_source_missing' };
    return (await isPriceHealthy(config, wallNow)) ? AVAILABLE : { status: 'degraded', reason: 'price_unavailable' };
  },
  async look(ctx, prospect) {
    // There is no account to look for, only the node has to answer.
    if (isNative(RAILS[railId].asset))
      return (await ctx.chain.isHealthy(ctx.wallNow)) ? { ...(await lookAhead(ctx, prospect, railId)), hasAccount: null } : SILENT;
    const payTo = payoutOf(prospect);
    const hasAccount = payTo === null ? null : await payoutAccountExists(ctx, payTo, 'nothing');
    return payTo !== null && hasAccount === null ? SILENT : { ...(await lookAhead(ctx, prospect, railId)), hasAccount };
  },
  caution: () => null,
});
