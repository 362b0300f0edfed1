import type { Asset } from '#core/money.ts';
import type { PaymentTerms, RenewalMode } from './payment-terms.ts';
import { METERED_RAIL, RAILS, type RailConfig, type RailId, type RailRow, SUBSCRIPTION_RAIL, X402_RAIL } from './rails.ts';

const rowOf = (railId: RailId): RailRow => RAILS[railId];

export const RAIL_IDS = Object.keys(RAILS) as [RailId, ...RailId[]];
export const RAIL_KINDS = [...new Set(RAIL_IDS.map((railId) => rowOf(railId).kind))] as [string, ...string[]];
export const SELLING_RAILS = RAIL_IDS.filter((railId) => rowOf(railId).supports.length > 0) as [RailId, ...RailId[]];

const sellingBy = (way: string): RailId[] => RAIL_IDS.filter((railId) => rowOf(railId).supports.includes(way));
export const CHECKOUT_RAILS = sellingBy('checkout') as [RailId, ...RailId[]];
const PER_REQUEST_RAILS = sellingBy('pay_per_request');
const AUTOMATIC_RAILS = sellingBy('automatic');
const isAutomatic = (railId: RailId): boolean => AUTOMATIC_RAILS.includes(railId);

export const isRailId = (text: string): text is RailId => Object.hasOwn(RAILS, text);

export const isConfigured = (config: RailConfig, railId: RailId): boolean =>
  rowOf(railId).needs.every((variable) => config[variable] !== undefined);

export const servedRails = (config: RailConfig): RailId[] => SELLING_RAILS.filter((railId) => isConfigured(config, railId));

export interface RailSetting {
  railId: string;
  enabled: boolean;
  payoutWallet: string | null;
  origins: string[];
}

/** Merchant's setting of a rail. Null means defaults. */
export const settingOf = <S extends Pick<RailSetting, 'railId'>>(settings: S[], railId: RailId): S | null =>
  settings.find((setting) => setting.railId === railId) ?? null;

/** Payout wallet of a sale: the product's, else the rail's, else the account's. */
export const payoutWalletOf = (
  product: { payoutWallet: string | null },
  setting: RailSetting | null,
  accountWallet: string | null,
): string | null => product.payoutWallet ?? setting?.payoutWallet ?? accountWallet;

export const checkoutRailOf = (asset: Asset): RailId => CHECKOUT_RAILS.find((railId) => rowOf(railId).asset === asset)!;

export function railOfPayment({
  asset,
  reference,
  terms,
}: {
  asset: Asset;
  reference: string;
  terms: Pick<PaymentTerms, 'isMetered' | 'authorizationId'>;
}): RailId {
  if (terms.authorizationId !== undefined) return SUBSCRIPTION_RAIL;
  if (reference !== '') return checkoutRailOf(asset);
  return terms.isMetered ? METERED_RAIL : X402_RAIL;
}

export interface RailOrigin {
  isAutomatic: boolean;
  isCheckout: boolean;
  isMetered: boolean;
}

export const originOf = (railId: RailId): RailOrigin => ({
  isAutomatic: isAutomatic(railId),
  isCheckout: CHECKOUT_RAILS.includes(railId) && !isAutomatic(railId),
  isMetered: railId === METERED_RAIL,
});

/**
 * Rails of the hosted checkout: the product's preferred one, then the one in the price's own asset, which needs no rate. Auto-renewing
 * products start there too, over their own rail only.
 */
export const checkoutRailsOf = ({ asset, defaultRail, renewalMode }: SoldAtCheckout): RailId[] => {
  if (renewalMode === 'AUTOMATIC') return AUTOMATIC_RAILS;
  const all = [checkoutRailOf(asset), ...CHECKOUT_RAILS];
  return [...new Set([...all.filter((railId) => railId === defaultRail), ...all])];
};

interface SoldAtCheckout {
  asset: Asset;
  defaultRail: string | null;
  renewalMode?: RenewalMode;
}

export const checkoutRailIn = (product: SoldAtCheckout, asset: Asset): RailId =>
  checkoutRailsOf(product).find((railId) => rowOf(railId).asset === asset)!;

/** Accepted assets of a product, its price's asset first. */
export const acceptedAssetsOf = ({ asset, acceptedAssets }: { asset: Asset; acceptedAssets: Asset[] | null }): Asset[] => [
  asset,
  ...(acceptedAssets ?? []).filter((other) => other !== asset),
];

interface OnRails {
  allowedRails: string[] | null;
  asset?: Asset;
  acceptedAssets?: Asset[] | null;
  requiresIdentity?: string | null;
  renewalMode?: RenewalMode;
}

/** True if the rail accepts the product's price: in its own asset, or by a quote if the product accepts that asset. */
export function takesPrice({ asset, acceptedAssets = null }: OnRails, railId: RailId): boolean {
  const rail = rowOf(railId);
  if (asset === undefined) return true;
  return rail.pricing === 'exact' ? asset === rail.asset : acceptedAssetsOf({ asset, acceptedAssets }).includes(rail.asset);
}

export const isQuoted = ({ asset }: { asset: Asset }, railId: RailId): boolean =>
  rowOf(railId).pricing === 'quoted' && rowOf(railId).asset !== asset;

export const takesBuyers = ({ requiresIdentity }: Pick<OnRails, 'requiresIdentity'>, railId: RailId): boolean =>
  rowOf(railId).showsIdentity || !requiresIdentity;

export const renewsOver = ({ renewalMode }: Pick<OnRails, 'renewalMode'>, railId: RailId): boolean =>
  renewalMode === undefined || (renewalMode === 'AUTOMATIC') === isAutomatic(railId);

export const suits = (product: OnRails, railId: RailId): boolean =>
  takesPrice(product, railId) && takesBuyers(product, railId) && renewsOver(product, railId);

/** Allowed rails of a product: the named ones, else all that suit. */
export const allowedRailsOf = (product: OnRails, config: RailConfig): string[] =>
  product.allowedRails ?? servedRails(config).filter((railId) => suits(product, railId));

/** Default rail of a product: one in the price's asset, before others that need a rate. */
export function firstRailOf(product: OnRails & { asset: Asset }, config: RailConfig): string {
  const rails = allowedRailsOf(product, config);
  return (
    rails.find((railId) => isRailId(railId) && rowOf(railId).asset === product.asset) ??
    rails[0] ??
    checkoutRailsOf({ defaultRail: null, ...product })[0]!
  );
}

/** True if a rail takes the asset without conversion. For per-request sales, the rail must sell per request. */
export const isPayableIn = (asset: Asset, rails: readonly RailId[], { isPerRequest }: { isPerRequest: boolean }): boolean =>
  rails.some((railId) => rowOf(railId).asset === asset && (!isPerRequest || PER_REQUEST_RAILS.includes(railId)));
