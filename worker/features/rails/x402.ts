import type { ApiError } from '#core/errors.ts';
import type { Sale } from '#features/products/product.ts';
import { newObstacleError } from '#features/products/selling/fixes.ts';
import { type Obstacle, obstaclesOf, payoutOf, prospectOf } from '#features/products/selling/obstacles.ts';
import { type Funds, feePayerFunds } from '#platform/chain/fee-payer.ts';
import { payoutAccountExists } from '#platform/chain/token-accounts.ts';
import { type Ctx, hasX402 } from '#platform/context.ts';
import { X402_RAIL } from '#rules/rails.ts';
import { AVAILABLE, type Rail, type RailStatus } from './rail.ts';

/** Amount that the public x402 client pays by default. */
const UNASKED_MAX = 1_000_000n;

/** Payments per request: the service pays the network fees, and a buyer cannot create the payout account. */
export const x402Rail: Rail = {
  overridesStatus: false,
  async status(ctx) {
    return statusOfFunds(await feePayerFunds(ctx));
  },
  async probe(ctx, prospect) {
    const payTo = payoutOf(prospect);
    const funds = hasX402(ctx.config) ? await feePayerFunds(ctx) : null;
    const hasAccount = payTo === null ? null : await payoutAccountExists(ctx, payTo, 'nothing');
    const isSilent = funds === 'unknown' || (payTo !== null && hasAccount === null);
    return {
      obstacles: obstaclesIn({ feePayerIsEmpty: funds === 'empty', accountIsMissing: hasAccount === false }),
      hasAccount,
      unavailableDependency: isSilent ? 'rpc_unavailable' : null,
    };
  },
  priceWarning: ({ priceAmount }) =>
    priceAmount > UNASKED_MAX
      ? 'The price is above 1 USDC: the public x402 client refuses it until its owner raises spendControls.maxAmountPerPayment.'
      : null,
};

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

export const obstaclesIn = (seen: { feePayerIsEmpty: boolean; accountIsMissing: boolean }): Obstacle[] => [
  ...(seen.feePayerIsEmpty ? (['rail_unavailable'] as const) : []),
  ...(seen.accountIsMissing ? (['payout_ata_exists'] as const) : []),
];

/**
 * Lists obstacles of an x402 payment that only the node knows: fee payer's funds and the payout account. A silent node is no obstacle: a
 * failed payment is refused, not lost.
 */
export async function chainObstacles(ctx: Ctx, payTo: string | null): Promise<Obstacle[]> {
  const [funds, exists] = await Promise.all([
    hasX402(ctx.config) ? feePayerFunds(ctx) : null,
    payTo === null ? null : payoutAccountExists(ctx, payTo, 'all'),
  ]);
  return obstaclesIn({ feePayerIsEmpty: funds === 'empty', accountIsMissing: exists === false });
}

/** Checks whether an x402 payment would currently work. Calls the node last, and only if nothing else is missing. */
export async function checkX402Ready(ctx: Ctx, sale: Sale): Promise<{ ok: true; payTo: string } | { ok: false; missing: Obstacle }> {
  const prospect = prospectOf(sale);
  const [missing] = obstaclesOf(ctx.config, prospect, X402_RAIL);
  if (missing) return { ok: false, missing };
  const payTo = payoutOf(prospect)!;
  const [seen] = await chainObstacles(ctx, payTo);
  return seen ? { ok: false, missing: seen } : { ok: true, payTo };
}

export const newX402NotReady = (missing: Obstacle): ApiError =>
  newObstacleError(missing, X402_RAIL, { product: null, setting: null, accountWallet: null });

/** Throws 409 setup_not_ready if the merchant has paused sales, or the operator switched off this one. Applies even to a valid challenge. */
export function requireOn(sale: Sale): void {
  const prospect = prospectOf(sale);
  if (prospect.isPaused) throw newObstacleError('paused', X402_RAIL, prospect);
  if (sale.switchedOff) throw newObstacleError(sale.switchedOff === 'rail' ? 'rail_unavailable' : 'product_active', X402_RAIL, prospect);
}
