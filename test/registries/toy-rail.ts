import { payoutOf } from '#features/products/selling/obstacles.ts';
import { AVAILABLE, type Rail } from '#features/rails/rail.ts';
import { payoutAccountExists } from '#platform/chain/token-accounts.ts';

export const toyRail: Rail = {
  overridesStatus: false,
  status: async (ctx) => ((await ctx.chain.isHealthy(ctx.now)) ? AVAILABLE : { status: 'degraded', reason: 'rpc_unavailable' }),
  probe: async (ctx, prospect) => {
    const payTo = payoutOf(prospect);
    const hasAccount = payTo === null ? null : await payoutAccountExists(ctx, payTo, 'nothing');
    const isSilent = payTo !== null && hasAccount === null;
    return {
      obstacles: hasAccount === false ? ['payout_ata_exists'] : [],
      hasAccount,
      unavailableDependency: isSilent ? 'rpc_unavailable' : null,
    };
  },
  priceWarning: ({ priceAmount }) => (priceAmount > 10_000_000n ? 'More than 10 USDC is much for a toy.' : null),
};
