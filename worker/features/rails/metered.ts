import { payoutOf } from '#features/products/selling/obstacles.ts';
import { channelOperatorsOf, operatorFunds } from '#platform/chain/fee-payer.ts';
import { payoutAccountExists } from '#platform/chain/token-accounts.ts';
import type { Ctx } from '#platform/context.ts';
import type { Rail } from './rail.ts';
import { obstaclesIn, statusOfFunds } from './x402.ts';

/** Every party of a channel needs a USDC account when it is paid out, our key too, which is paid nothing. */
const operatorAccountExists = (ctx: Ctx): Promise<boolean | null> =>
  payoutAccountExists(ctx, channelOperatorsOf(ctx.config).current, 'all');

/** Metered sessions: the service pays the network's fees, and neither the merchant's account nor its own can be made by a buyer. */
export const meteredRail: Rail = {
  looksAgain: false,
  async status(ctx) {
    const [funds, exists] = await Promise.all([operatorFunds(ctx), operatorAccountExists(ctx)]);
    return exists === false ? { status: 'unavailable', reason: 'operator_account_missing' } : statusOfFunds(funds);
  },
  async look(ctx, prospect) {
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
      silent: isSilent ? 'rpc_unavailable' : null,
    };
  },
  caution: () => null,
};
