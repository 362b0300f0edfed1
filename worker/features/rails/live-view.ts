import type { Fix } from '#features/products/selling/fixes.ts';
import { type Obstacle, type Prospect, payoutOf } from '#features/products/selling/obstacles.ts';
import { feePayerFunds } from '#platform/chain/fee-payer.ts';
import { payoutAccountExists } from '#platform/chain/token-accounts.ts';
import { type Ctx, hasX402 } from '#platform/context.ts';
import { RAILS, type RailId } from '#rules/rails.ts';
import type { Outage } from './quote.ts';
import { type Foreseen, foresee } from './receivable.ts';

/** What the node and the source of the price say of a sale, asked this moment. While one is silent nothing can be sold. */
export interface ChainView extends Foreseen {
  /** Of the payout wallet's USDC account; null where there is no wallet, or the node does not answer. */
  hasAccount: boolean | null;
}

/** Said to a merchant who asks how things stand: a rail whose node is silent sells nothing, whatever was seen a minute ago. */
export async function viewChain(ctx: Ctx, prospect: Prospect, railId: RailId): Promise<ChainView> {
  const { asset, kind } = RAILS[railId];
  const silent: ChainView = { obstacles: [], hasAccount: null, silent: 'rpc_unavailable' };
  if (kind === 'x402') return viewX402(ctx, payoutOf(prospect));
  // SOL goes to the wallet itself: there is no account to look for, only the node to be heard from.
  if (asset === 'SOL')
    return (await ctx.chain.isHealthy(ctx.wallNow)) ? { ...(await foresee(ctx, prospect, railId)), hasAccount: null } : silent;
  const payTo = payoutOf(prospect);
  const hasAccount = payTo === null ? null : await payoutAccountExists(ctx, payTo, 'nothing');
  return payTo !== null && hasAccount === null ? silent : { ...(await foresee(ctx, prospect, railId)), hasAccount };
}

async function viewX402(ctx: Ctx, payTo: string | null): Promise<ChainView> {
  const funds = hasX402(ctx.config) ? await feePayerFunds(ctx) : null;
  const hasAccount = payTo === null ? null : await payoutAccountExists(ctx, payTo, 'nothing');
  const isSilent = funds === 'unknown' || (payTo !== null && hasAccount === null);
  return { obstacles: obstaclesIn(funds === 'empty', hasAccount === false), hasAccount, silent: isSilent ? 'rpc_unavailable' : null };
}

/** Only waiting helps. */
export const SILENCE: Record<Outage, Fix> = {
  rpc_unavailable: { detail: 'The Solana node does not answer right now, so nothing can be paid. Ask again in a minute.' },
  price_unavailable: {
    detail:
      'Nobody says right now what SOL is worth, so nothing can be paid in another asset than that of the price. Ask again in a minute.',
  },
};

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
    payTo === null ? null : payoutAccountExists(ctx, payTo, 'all'),
  ]);
  return obstaclesIn(funds === 'empty', exists === false);
}
