import type { RailId } from '#rules/rails.ts';
import { checkoutRail } from './checkout.ts';
import { NOT_YET, type Rail } from './rail.ts';
import { x402Rail } from './x402.ts';

/** One line a rail: which file asks the node and the price source for it. */
const REGISTRY: Record<RailId, Rail> = {
  solana_usdc: checkoutRail('solana_usdc'),
  solana_sol: checkoutRail('solana_sol'),
  solana_usdc_subscription: NOT_YET,
  x402_solana_usdc: x402Rail,
  mpp_solana_usdc: NOT_YET,
};

export const getRail = (railId: RailId): Rail => REGISTRY[railId];
