import type { RailId } from '#rules/rails.ts';
import { checkoutRail } from './checkout.ts';
import { meteredRail } from './metered.ts';
import type { Rail } from './rail.ts';
import { subscriptionRail } from './subscription-plan/rail.ts';
import { x402Rail } from './x402.ts';

/** One line a rail: which file asks the node and the price source for it. */
const REGISTRY: Record<RailId, Rail> = {
  solana_usdc: checkoutRail('solana_usdc'),
  solana_sol: checkoutRail('solana_sol'),
  solana_usdc_subscription: subscriptionRail,
  x402_solana_usdc: x402Rail,
  mpp_solana_usdc: meteredRail,
};

export const getRail = (railId: RailId): Rail => REGISTRY[railId];
