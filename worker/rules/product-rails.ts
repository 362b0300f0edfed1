/**
 * What the rows of the rails say together: which rails there are, and which of them a product is sold over.
 * @module
 */

import type { Asset } from '#core/money.ts';
import type { PaymentTerms, RenewalMode } from './payment-terms.ts';
import { METERED_RAIL, RAILS, type RailConfig, type RailId, type RailRow, SUBSCRIPTION_RAIL, X402_RAIL } from './rails.ts';

const rowOf = (railId: RailId): RailRow => RAILS[railId];

export const RAIL_IDS = Object.keys(RAILS) as [RailId, ...RailId[]];
export const RAIL_KINDS = [...new Set(RAIL_IDS.map((railId) => rowOf(railId).kind))] as [string, ...string[]];
/** What a product can be sold over today. */
export const SELLING_RAILS = RAIL_IDS.filter((railId) => rowOf(railId).supports.length > 0) as [RailId, ...RailId[]];

const sellingBy = (way: string): RailId[] => RAIL_IDS.filter((railId) => rowOf(railId).supports.includes(way));
/** The rails of the hosted checkout. */
export const CHECKOUT_RAILS = sellingBy('checkout') as [RailId, ...RailId[]];
const PER_REQUEST_RAILS = sellingBy('pay_per_request');
const AUTOMATIC_RAILS = sellingBy('automatic');
const isAutomatic = (railId: RailId): boolean => AUTOMATIC_RAILS.includes(railId);

export const isRailId = (text: string): text is RailId => Object.hasOwn(RAILS, text);

/** True where the configuration has all that the rail needs. */
export const isConfigured = (config: RailConfig, railId: RailId): boolean =>
  rowOf(railId).needs.every((variable) => config[variable] !== undefined);

/** What this service sells over. */
export const servedRails = (config: RailConfig): RailId[] => SELLING_RAILS.filter((railId) => isConfigured(config, railId));

/** A setting of a rail, as far as a sale needs it. */
export interface RailSetting {
  railId: string;
  enabled: boolean;
  payoutWallet: string | null;
}

/** What a merchant set for a rail; null: nothing, so its defaults hold. */
export const settingOf = <S extends Pick<RailSetting, 'railId'>>(settings: S[], railId: RailId): S | null =>
  settings.find((setting) => setting.railId === railId) ?? null;

/** Where a sale's money goes: the product's own wallet, else the rail's, else the account's. */
export const payoutWalletOf = (
  product: { payoutWallet: string | null },
  setting: RailSetting | null,
  accountWallet: string | null,
): string | null => product.payoutWallet ?? setting?.payoutWallet ?? accountWallet;

/** The rail of a hosted checkout paid in an asset. */
export const checkoutRailOf = (asset: Asset): RailId => CHECKOUT_RAILS.find((railId) => rowOf(railId).asset === asset)!;

/** The rail a payment came over: what agents pay has no reference key. */
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

/** What payments of a rail have in common, by which `railOfPayment` tells them from all others. */
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
 * The rails of the hosted checkout: the one a product prefers, then the one in the asset of its price, which needs no rate. What renews
 * itself is begun there too, over its own rail alone.
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

/** The rail of a product's checkout that takes an asset it accepts. */
export const checkoutRailIn = (product: SoldAtCheckout, asset: Asset): RailId =>
  checkoutRailsOf(product).find((railId) => rowOf(railId).asset === asset)!;

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
  renewalMode?: RenewalMode;
}

/** True where the rail takes a product's price: in its own asset, or quoted where the product accepts that asset too. */
export function takesPrice({ asset, acceptedAssets = null }: OnRails, railId: RailId): boolean {
  const rail = rowOf(railId);
  if (asset === undefined) return true;
  return rail.pricing === 'exact' ? asset === rail.asset : acceptedAssetsOf({ asset, acceptedAssets }).includes(rail.asset);
}

/** True where a price in this asset is converted for a payment over the rail. */
export const isQuoted = ({ asset }: { asset: Asset }, railId: RailId): boolean =>
  rowOf(railId).pricing === 'quoted' && rowOf(railId).asset !== asset;

/** True where the rail's buyers can show the identity that the product requires. */
export const takesBuyers = ({ requiresIdentity }: Pick<OnRails, 'requiresIdentity'>, railId: RailId): boolean =>
  rowOf(railId).showsIdentity || !requiresIdentity;

/** True where a product is sold over the rail in the way that it is renewed: over one rail by itself, over all others by its buyer. */
export const renewsOver = ({ renewalMode }: Pick<OnRails, 'renewalMode'>, railId: RailId): boolean =>
  renewalMode === undefined || (renewalMode === 'AUTOMATIC') === isAutomatic(railId);

/** True where a product can be sold over a rail at all, whether or not the merchant allows it. */
export const suits = (product: OnRails, railId: RailId): boolean =>
  takesPrice(product, railId) && takesBuyers(product, railId) && renewsOver(product, railId);

/** Rails a product may be sold over: those it names, else all that suit it. */
export const allowedRailsOf = (product: OnRails, config: RailConfig): string[] =>
  product.allowedRails ?? servedRails(config).filter((railId) => suits(product, railId));

/** The rail a product begins with where it prefers none: one in the asset of the price, before others that need a rate. */
export function firstRailOf(product: OnRails & { asset: Asset }, config: RailConfig): string {
  const rails = allowedRailsOf(product, config);
  return (
    rails.find((railId) => isRailId(railId) && rowOf(railId).asset === product.asset) ??
    rails[0] ??
    checkoutRailsOf({ defaultRail: null, ...product })[0]!
  );
}

/** True where one of these rails takes an asset as it is; for what is sold per request, one that sells so. */
export const isPayableIn = (asset: Asset, rails: readonly RailId[], { isPerRequest }: { isPerRequest: boolean }): boolean =>
  rails.some((railId) => rowOf(railId).asset === asset && (!isPerRequest || PER_REQUEST_RAILS.includes(railId)));
