import type { ApiError } from '#core/errors.ts';
import type { Sale } from '#features/products/product.ts';
import { newObstacleError } from '#features/products/selling/fixes.ts';
import { type Obstacle, obstaclesOf, payoutOf, prospectOf } from '#features/products/selling/obstacles.ts';
import { type Funds, feePayerFunds } from '#platform/chain/fee-payer.ts';
import { payoutAccountExists } from '#platform/chain/token-accounts.ts';
import { type Ctx, hasX402 } from '#platform/context.ts';
import { X402_RAIL } from '#rules/rails.ts';
import { AVAILABLE, type Rail, type RailStatus } from './rail.ts';

/** What the public x402 client pays without being told that it may. */
const UNASKED_MAX = 1_000_000n;

/** Payments per request: the service pays the network's fees, and a buyer cannot create the account that is paid. */
export const x402Rail: Rail = {
  looksAgain: false,
  async status(ctx) {
    return statusOfFunds(await feePayerFunds(ctx));
  },
  async look(ctx, prospect) {
    const payTo = payoutOf(prospect);
    const funds = hasX402(ctx.config) ? await feePayerFunds(ctx) : null;
    const hasAccount = payTo === null ? null : await payoutAccountExists(ctx, payTo, 'nothing');
    const isSilent = funds === 'unknown' || (payTo !== null && hasAccount === null);
    return {
      obstacles: obstaclesIn({ feePayerIsEmpty: funds === 'empty', accountIsMissing: hasAccount === false }),
      hasAccount,
      silent: isSilent ? 'rpc_unavailable' : null,
    };
  },
  caution: ({ priceAmount }) =>
    priceAmount > UNASKED_MAX
      ? 'The price is above 1 USDC: the public x402 client refuses it until its owner raises spendControls.maxAmountPerPayment.'
      : null,
};

/** What a rail is worth whose fees the service pays, by what its key has left. */
export function statusOfFunds(funds: Funds): RailStatus {
  switch (funds) {
    case 'empty':
      return { status: 'unavailable', reason: 'fee_payer_empty' };
    case 'low':
      return { status: 'degraded', reason: 'fee_payer_low' };
    case 'unknown':
      return { status: 'degraded', reason: 'rpc_unavailable' };
    default:
      return AVAILABLE;
  }
}

/** What of it stops a sale. */
export const obstaclesIn = (seen: { feePayerIsEmpty: boolean; accountIsMissing: boolean }): Obstacle[] => [
  ...(seen.feePayerIsEmpty ? (['rail_unavailable'] as const) : []),
  ...(seen.accountIsMissing ? (['payout_ata_exists'] as const) : []),
];

/**
 * What only the node knows to be in the way of an x402 payment: money for the network's fees, an account to be paid to. A node that does
 * not answer is no reason to turn a buyer away: their payment would only be refused, not lost.
 */
export async function chainObstacles(ctx: Ctx, payTo: string | null): Promise<Obstacle[]> {
  const [funds, exists] = await Promise.all([
    hasX402(ctx.config) ? feePayerFunds(ctx) : null,
    payTo === null ? null : payoutAccountExists(ctx, payTo, 'all'),
  ]);
  return obstaclesIn({ feePayerIsEmpty: funds === 'empty', accountIsMissing: exists === false });
}

/** Whether a payment by x402 would work right now. Asks the node only for what it cannot know, and only where nothing else is missing. */
export async function checkX402Ready(ctx: Ctx, sale: Sale): Promise<{ ok: true; payTo: string } | { ok: false; missing: Obstacle }> {
  const prospect = prospectOf(sale);
  const [missing] = obstaclesOf(ctx.config, prospect, X402_RAIL);
  if (missing) return { ok: false, missing };
  const payTo = payoutOf(prospect)!;
  const [seen] = await chainObstacles(ctx, payTo);
  return seen ? { ok: false, missing: seen } : { ok: true, payTo };
}

/** What is missing to settle any x402 payment, whatever is sold. */
export const newX402NotReady = (missing: Obstacle): ApiError =>
  newObstacleError(missing, X402_RAIL, { product: null, setting: null, accountWallet: null });

/** 409 setup_not_ready for a sale that the operator switched off: it is not settled even with a valid challenge. */
export const newSwitchedOffError = (sale: Sale): ApiError =>
  newObstacleError(sale.switchedOff === 'rail' ? 'rail_unavailable' : 'product_active', X402_RAIL, prospectOf(sale));
