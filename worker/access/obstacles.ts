import { type Ctx, hasX402 } from '../context.ts';
import type { Obstacle } from '../products/sale.ts';
import type { RailId } from '../rails.ts';
import { feePayerFunds } from './fee-payer.ts';
import { payoutAccountExists } from './token-account.ts';

/**
 * What only the node knows to be in the way of a sale: money for the network's fees, an account to be paid to. Both matter to
 * x402 alone, where the service pays the network and a buyer cannot create accounts. A node that does not answer is no
 * reason to turn a buyer away: his payment would only be refused, not lost.
 */
export async function chainObstacles(ctx: Ctx, payTo: string | null, railId: RailId): Promise<Obstacle[]> {
  if (railId !== 'x402_solana_usdc') return [];
  const [funds, exists] = await Promise.all([
    hasX402(ctx.config) ? feePayerFunds(ctx) : null,
    payTo === null ? null : payoutAccountExists(ctx, payTo),
  ]);
  const [isEmpty, isMissing] = [funds === 'empty', exists === false];
  return [...(isEmpty ? (['rail_unavailable'] as const) : []), ...(isMissing ? (['payout_ata_exists'] as const) : [])];
}
