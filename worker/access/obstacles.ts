import { type Ctx, hasX402 } from '../context.ts';
import type { Fix, Obstacle } from '../products/sale.ts';
import { RAILS, type RailId } from '../rails.ts';
import { feePayerFunds } from './fee-payer.ts';
import { payoutAccountExists } from './token-account.ts';

/** What the node says of a sale, asked this moment. */
export interface ChainView {
  obstacles: Obstacle[];
  /** Of the payout wallet's USDC account; null where there is no wallet, or the node does not answer. */
  hasAccount: boolean | null;
  /** The node does not answer: nothing could be sold now, and nobody but the node is to blame. */
  isSilent: boolean;
}

/** Said to a merchant who asks how things stand: a rail whose node is silent sells nothing, whatever was seen a minute ago. */
export async function viewChain(ctx: Ctx, payTo: string | null, railId: RailId): Promise<ChainView> {
  // SOL goes to the wallet itself: there is no account to look for, only the node to be heard from.
  if (RAILS[railId].asset === 'SOL') return { obstacles: [], hasAccount: null, isSilent: !(await ctx.chain.isHealthy(ctx.now)) };
  const isX402 = railId === 'x402_solana_usdc';
  const funds = isX402 && hasX402(ctx.config) ? await feePayerFunds(ctx) : null;
  const hasAccount = payTo === null ? null : await payoutAccountExists(ctx, payTo, true);
  return {
    obstacles: isX402 ? obstaclesIn(funds === 'empty', hasAccount === false) : [],
    hasAccount,
    isSilent: funds === 'unknown' || (payTo !== null && hasAccount === null),
  };
}

/** Only waiting helps. */
export const SILENT: Fix = { detail: 'The Solana node does not answer right now, so nothing can be paid. Ask again in a minute.' };

const obstaclesIn = (isEmpty: boolean, isMissing: boolean): Obstacle[] => [
  ...(isEmpty ? (['rail_unavailable'] as const) : []),
  ...(isMissing ? (['payout_ata_exists'] as const) : []),
];

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
  return obstaclesIn(funds === 'empty', exists === false);
}
