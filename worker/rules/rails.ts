import type { Asset } from '#core/money.ts';

/** A way of being paid, as far as it is a fact: what asks a node, a price source or a clock is in features/rails/, one file a kind. */
export interface RailRow {
  name: string;
  /** The API's word for how payments over it are made. */
  kind: string;
  asset: Asset;
  /** What can be bought this way; empty where the rail does not exist on this service yet. */
  supports: readonly string[];
  /** Variables of the configuration that it cannot do without. */
  needs: readonly RailVariable[];
  /** `quoted`: a price in another asset is converted, if the product accepts this one. `exact`: only a price in its own asset. */
  pricing: 'quoted' | 'exact';
  /** Its asset has a changing price: while no source tells it, the rail takes only what is priced in that asset. */
  needsRate: boolean;
  /** Its buyers can show who they are. */
  showsIdentity: boolean;
  /** Its buyers come by themselves: nothing is sold before the merchant said that they are ready to be paid. */
  needsLiveModeConfirmed: boolean;
  /** The service takes its fee, if it has one, and needs a wallet for it. */
  takesFee: boolean;
}

/** Pays for the network with one key, and signs its challenges with another. */
export const X402_NEEDS = ['FEE_PAYER_KEYS', 'CHALLENGE_KEYS'] as const;
/** Opens and closes channels with one key, and signs its challenges with another. */
export const METERED_NEEDS = ['CHANNEL_KEYS', 'CHALLENGE_KEYS'] as const;
/** Collects with one key, and pays for that. */
export const SUBSCRIPTION_NEEDS = ['SUBSCRIPTION_KEYS'] as const;
type RailVariable = (typeof X402_NEEDS | typeof METERED_NEEDS | typeof SUBSCRIPTION_NEEDS)[number];
/** The part of the configuration that rails need. */
export type RailConfig = { readonly [V in RailVariable]?: unknown };

/** Opened by a person, one by one, who may prove who they are and see a quote before they sign. */
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

/** Paid by a program: it cannot follow a rate or show who it is, and its protocol knows a single transfer, so there is no fee. */
const BY_PROGRAM = {
  needs: [],
  pricing: 'exact',
  needsRate: false,
  showsIdentity: false,
  needsLiveModeConfirmed: true,
  takesFee: false,
} as const;

/** One row a rail, by the names the API gives them, in the order in which they are listed. */
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
    // Its first payment is made at the hosted checkout, by a person.
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

/** The rail of what a buyer's wallet renews on the chain. */
export const SUBSCRIPTION_RAIL = 'solana_usdc_subscription' satisfies RailId;

/** The rail of metered sessions. */
export const METERED_RAIL = 'mpp_solana_usdc' satisfies RailId;

/** The rail of everything paid by x402: consume, settle, the facilitator and the purchase of plans. */
export const X402_RAIL = 'x402_solana_usdc' satisfies RailId;
