import type { Asset } from '#core/money.ts';

/** Static facts of a payment rail. Checks that need a node, a price source or a clock are in features/rails/, one file per kind. */
export interface RailRow {
  name: string;
  kind: string;
  asset: Asset;
  supports: readonly string[];
  needs: readonly RailVariable[];
  /** `quoted`: a price in another asset is converted if the product accepts this one. `exact`: only a price in the rail's own asset. */
  pricing: 'quoted' | 'exact';
  /** True if the asset's price changes. While no source reports a rate, the rail takes only prices in its own asset. */
  needsRate: boolean;
  showsIdentity: boolean;
  /** True if buyers arrive without the merchant. Sales are refused until the merchant confirms live mode. */
  needsLiveModeConfirmed: boolean;
  takesFee: boolean;
}

export const X402_NEEDS = ['FEE_PAYER_KEYS', 'CHALLENGE_KEYS'] as const;
export const METERED_NEEDS = ['CHANNEL_KEYS', 'CHALLENGE_KEYS'] as const;
export const SUBSCRIPTION_NEEDS = ['SUBSCRIPTION_KEYS'] as const;
type RailVariable = (typeof X402_NEEDS | typeof METERED_NEEDS | typeof SUBSCRIPTION_NEEDS)[number];
export type RailConfig = { readonly [V in RailVariable]?: unknown };

/** Payments by a person at the hosted checkout, with identity proof and quote. */
const CHECKOUT = {
  kind: 'checkout',
  supports: ['checkout', 'one_off', 'recurring'],
  needs: [],
  pricing: 'quoted',
  needsRate: false,
  showsIdentity: true,
  needsLiveModeConfirmed: false,
  takesFee: true,
} as const;

const BY_PROGRAM = {
  needs: [],
  pricing: 'exact',
  needsRate: false,
  showsIdentity: false,
  needsLiveModeConfirmed: true,
  takesFee: false,
} as const;

export const RAILS = {
  solana_usdc: { ...CHECKOUT, name: 'USDC by hosted checkout', asset: 'USDC' },
  solana_sol: { ...CHECKOUT, name: 'SOL by hosted checkout', asset: 'SOL', needsRate: true },
  solana_usdc_subscription: {
    ...BY_PROGRAM,
    name: 'Native USDC subscription',
    kind: 'subscription',
    asset: 'USDC',
    supports: ['automatic'],
    needs: SUBSCRIPTION_NEEDS,
    showsIdentity: true,
  },
  x402_solana_usdc: {
    ...BY_PROGRAM,
    name: 'USDC per request (x402 V2)',
    kind: 'x402',
    asset: 'USDC',
    supports: ['pay_per_request', 'one_off', 'recurring'],
    needs: X402_NEEDS,
  },
  mpp_solana_usdc: {
    ...BY_PROGRAM,
    name: 'USDC by metered channel (MPP)',
    kind: 'mpp',
    asset: 'USDC',
    supports: ['metered'],
    needs: METERED_NEEDS,
  },
} as const satisfies Record<string, RailRow>;

export type RailId = keyof typeof RAILS;

export const SUBSCRIPTION_RAIL = 'solana_usdc_subscription' satisfies RailId;

export const METERED_RAIL = 'mpp_solana_usdc' satisfies RailId;

/** Rail of all x402 payments: consume, settle, facilitator and plan purchases. */
export const X402_RAIL = 'x402_solana_usdc' satisfies RailId;
