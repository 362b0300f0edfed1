import { SANDBOX_WALLET } from '#platform/chain/simulated-config.ts';
import { type Config, hasPriceSource } from '#platform/context.ts';
import type { Product } from '#platform/db/tables/products.ts';
import {
  allowedRailsOf,
  isConfigured,
  isQuoted,
  payoutWalletOf,
  renewsOver,
  SELLING_RAILS,
  suits,
  takesBuyers,
  takesPrice,
} from '#rules/product-rails.ts';
import { RAILS, type RailId } from '#rules/rails.ts';
import type { Sale } from '../store.ts';

/** What may stand between a product and its sale over a rail, in the order in which it is said; readiness has a check for each. */
export type Obstacle =
  | 'sandbox'
  | 'rail_unavailable'
  | 'product_active'
  | 'price_set'
  | 'rail_enabled'
  | 'live_mode_confirmed'
  | 'payout_wallet_set'
  | 'fee_wallet_configured'
  | 'payout_wallet_unspendable'
  | 'payout_ata_exists'
  | 'subscription_plan_published'
  | 'payout_wallet_empty'
  | 'fee_wallet_empty';

/** A sale, or what there is of one while no product is named. */
export interface Prospect {
  livemode: boolean;
  product: Pick<
    Product,
    | 'id'
    | 'merchantId'
    | 'livemode'
    | 'slug'
    | 'status'
    | 'asset'
    | 'priceAmount'
    | 'acceptedAssets'
    | 'allowedRails'
    | 'requiresIdentity'
    | 'payoutWallet'
    | 'liveModeConfirmed'
    | 'renewalMode'
    | 'accessPeriodDays'
  > | null;
  setting: Sale['setting'];
  accountWallet: string | null;
  switchedOff?: Sale['switchedOff'];
}

export const prospectOf = ({ product, merchant, setting, switchedOff }: Sale): Prospect => ({
  livemode: product.livemode,
  product,
  setting,
  // A sandbox is tried before anything is set up: without a wallet it pays one of its own.
  accountWallet: merchant.walletAddress ?? (product.livemode ? null : SANDBOX_WALLET),
  switchedOff,
});

export const payoutOf = ({ product, setting, accountWallet }: Omit<Prospect, 'livemode'>): string | null =>
  payoutWalletOf(product ?? { payoutWallet: null }, setting, accountWallet);

/** True where the product can be sold over this rail and its own list, if it has one, names it. */
export const isAllowed = ({ product }: Pick<Prospect, 'product'>, railId: RailId): boolean =>
  product?.allowedRails?.includes(railId) ?? (product === null ? SELLING_RAILS.includes(railId) : suits(product, railId));

/** True where neither the product's own list nor the merchant's setting excludes this rail. */
export const isSoldOver = (config: Config, { product, setting }: Prospect, railId: RailId): boolean =>
  setting?.enabled !== false && allowedRailsOf(product ?? { allowedRails: null }, config).includes(railId);

/** A service fee without a wallet for it stops every rail that the fee is taken on. */
const lacksFeeWallet = ({ FEE_BPS, FEE_WALLET }: Config, railId: RailId): boolean =>
  RAILS[railId].takesFee && FEE_BPS > 0 && FEE_WALLET === undefined;

/** True where the service has what the rail needs. Another asset than that of the price needs a source of its price. */
function isServed(config: Config, { product }: Prospect, railId: RailId): boolean {
  if (!SELLING_RAILS.includes(railId) || !isConfigured(config, railId)) return false;
  return product === null || !isQuoted(product, railId) || hasPriceSource(config);
}

/**
 * The obstacles of a sale over a rail, decided here alone: checkout, payment sessions, x402 and readiness differ only in
 * which answers stop them. What only the node knows is asked in features/rails/.
 */
export function obstaclesOf(config: Config, prospect: Prospect, railId: RailId): Obstacle[] {
  const { product, livemode, setting } = prospect;
  // What a rail cannot take is said once, as what it is: of the price, or of the buyers.
  const isOn = setting?.enabled !== false && (product?.allowedRails?.includes(railId) ?? true);
  const stands: [Obstacle, boolean][] = [
    ['rail_unavailable', !isServed(config, prospect, railId) || prospect.switchedOff === 'rail'],
    ['product_active', product !== null && (product.status !== 'active' || prospect.switchedOff === 'product')],
    ['price_set', product !== null && !takesPrice(product, railId)],
    ['rail_enabled', !isOn || (product !== null && !(takesBuyers(product, railId) && renewsOver(product, railId)))],
    ['live_mode_confirmed', livemode && RAILS[railId].needsLiveModeConfirmed && product !== null && !product.liveModeConfirmed],
    ['payout_wallet_set', payoutOf(prospect) === null],
    ['fee_wallet_configured', lacksFeeWallet(config, railId)],
  ];
  return stands.filter(([, isInTheWay]) => isInTheWay).map(([obstacle]) => obstacle);
}
