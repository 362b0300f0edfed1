import { ASSETS, type Asset } from '#core/money.ts';

/** The ways of being paid, by the names the contract gives them. (contract section 6 "Rails") */
interface Rail {
  name: string;
  kind: 'checkout' | 'subscription' | 'x402' | 'mpp';
  asset: Asset;
  /** What can be bought this way; empty where the rail does not exist on this service yet. */
  supports: readonly string[];
}

export const RAILS = {
  solana_usdc: { name: 'USDC by hosted checkout', kind: 'checkout', asset: 'USDC', supports: ['checkout', 'one_off', 'recurring'] },
  solana_sol: { name: 'SOL by hosted checkout', kind: 'checkout', asset: 'SOL', supports: ['checkout', 'one_off', 'recurring'] },
  solana_usdc_subscription: { name: 'Native USDC subscription', kind: 'subscription', asset: 'USDC', supports: [] },
  x402_solana_usdc: {
    name: 'USDC per request (x402 V2)',
    kind: 'x402',
    asset: 'USDC',
    supports: ['pay_per_request', 'one_off', 'recurring'],
  },
  mpp_solana_usdc: { name: 'USDC by metered channel (MPP)', kind: 'mpp', asset: 'USDC', supports: [] },
} as const satisfies Record<string, Rail>;

export type RailId = keyof typeof RAILS;
export const RAIL_IDS = Object.keys(RAILS) as [RailId, ...RailId[]];
/** What a product can be sold over today. */
export const SELLING_RAILS = RAIL_IDS.filter((railId) => RAILS[railId].supports.length > 0);

/** What this service sells over: x402 only where it is configured. */
export const servedRails = (isX402Available: boolean): RailId[] =>
  SELLING_RAILS.filter((railId) => railId !== 'x402_solana_usdc' || isX402Available);

export const isRailId = (text: string): text is RailId => Object.hasOwn(RAILS, text);

/** A setting of a rail, as far as a sale needs it. */
export interface RailSetting {
  railId: string;
  enabled: boolean;
  payoutWallet: string | null;
}

/** Where a sale's money goes: the product's own wallet, else the rail's, else the account's. (contract section 3 "Payout wallet") */
export const payoutWalletOf = (
  product: { payoutWallet: string | null },
  setting: RailSetting | null,
  accountWallet: string | null,
): string | null => product.payoutWallet ?? setting?.payoutWallet ?? accountWallet;

/** The rail of a hosted checkout paid in an asset. */
export const checkoutRailOf = (asset: Asset): RailId => (asset === 'SOL' ? 'solana_sol' : 'solana_usdc');

/** The rails of the hosted checkout: the one a product prefers, then the one in the asset of its price, which needs no rate. */
export const checkoutRailsOf = ({ asset, defaultRail }: { asset: Asset; defaultRail: string | null }): RailId[] => {
  const all = [checkoutRailOf(asset), ...ASSETS.map(checkoutRailOf)];
  return [...new Set([...all.filter((railId) => railId === defaultRail), ...all])];
};

/** What a product may be paid in, the asset of its price first. */
export const acceptedAssetsOf = ({ asset, acceptedAssets }: { asset: Asset; acceptedAssets: Asset[] | null }): Asset[] => [
  asset,
  ...(acceptedAssets ?? []).filter((other) => other !== asset),
];

/** What of a product decides over its rails; a product that does not say restricts nothing. */
interface OnRails {
  allowedRails: string[] | null;
  asset?: Asset;
  acceptedAssets?: Asset[] | null;
  requiresIdentity?: string | null;
}

/** In an asset it accepts; and per request only for the price itself: a machine cannot follow a rate. */
export function takesPrice({ asset, acceptedAssets = null }: OnRails, railId: RailId): boolean {
  const rail = RAILS[railId];
  if (asset === undefined) return true;
  return rail.kind === 'x402' ? asset === rail.asset : acceptedAssetsOf({ asset, acceptedAssets }).includes(rail.asset);
}

/** A machine cannot show who it is. */
export const takesBuyers = ({ requiresIdentity }: Pick<OnRails, 'requiresIdentity'>, railId: RailId): boolean =>
  RAILS[railId].kind !== 'x402' || !requiresIdentity;

/** Can a product be sold over a rail at all, whether the merchant wants it or not? */
export const suits = (product: OnRails, railId: RailId): boolean => takesPrice(product, railId) && takesBuyers(product, railId);

/** Rails a product may be sold over: those it names, else all that suit it. */
export const allowedRailsOf = (product: OnRails, isX402Available: boolean): string[] =>
  product.allowedRails ?? servedRails(isX402Available).filter((railId) => suits(product, railId));
