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

/** Obstacles of a sale over a rail, in reporting order. Readiness has a check for each. */
export type Obstacle =
  | 'sandbox'
  | 'rail_unavailable'
  | 'paused'
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
  /** The merchant has paused all sales. */
  isPaused?: boolean;
}

export const prospectOf = ({ product, merchant, setting, switchedOff }: Sale): Prospect => ({
  livemode: product.livemode,
  product,
  setting,
  // A sandbox needs no setup: without a wallet it uses one of its own.
  accountWallet: merchant.payoutWallet ?? (product.livemode ? null : SANDBOX_WALLET),
  switchedOff,
  isPaused: merchant.salesPausedAt !== null,
});

export const payoutOf = ({ product, setting, accountWallet }: Omit<Prospect, 'livemode'>): string | null =>
  payoutWalletOf(product ?? { payoutWallet: null }, setting, accountWallet);

export const isAllowed = ({ product }: Pick<Prospect, 'product'>, railId: RailId): boolean =>
  product?.allowedRails?.includes(railId) ?? (product === null ? SELLING_RAILS.includes(railId) : suits(product, railId));

export const isSoldOver = (config: Config, { product, setting }: Prospect, railId: RailId): boolean =>
  setting?.enabled !== false && allowedRailsOf(product ?? { allowedRails: null }, config).includes(railId);

/** A service fee without a wallet blocks every rail that takes the fee. */
const lacksFeeWallet = ({ FEE_BPS, FEE_WALLET }: Config, railId: RailId): boolean =>
  RAILS[railId].takesFee && FEE_BPS > 0 && FEE_WALLET === undefined;

/** True if the service has what the rail needs. An asset other than the price's needs a price source. */
function isServed(config: Config, { product }: Prospect, railId: RailId): boolean {
  if (!SELLING_RAILS.includes(railId) || !isConfigured(config, railId)) return false;
  return product === null || !isQuoted(product, railId) || hasPriceSource(config);
}

/**
 * Lists the obstacles of a sale over a rail, for checkout, payment sessions, x402 and readiness, which differ only in the obstacles that
 * block them. Checks that need a node are in features/rails/.
 */
export function obstaclesOf(config: Config, prospect: Prospect, railId: RailId): Obstacle[] {
  const { product, livemode, setting } = prospect;
  // Reports a limitation of the rail once: at the price, or at the buyers.
  const isOn = setting?.enabled !== false && (product?.allowedRails?.includes(railId) ?? true);
  const conditions: [Obstacle, boolean][] = [
    ['paused', prospect.isPaused === true],
    ['rail_unavailable', !isServed(config, prospect, railId) || prospect.switchedOff === 'rail'],
    ['product_active', product !== null && (product.status !== 'active' || prospect.switchedOff === 'product')],
    ['price_set', product !== null && !takesPrice(product, railId)],
    ['rail_enabled', !isOn || (product !== null && !(takesBuyers(product, railId) && renewsOver(product, railId)))],
    ['live_mode_confirmed', livemode && RAILS[railId].needsLiveModeConfirmed && product !== null && !product.liveModeConfirmed],
    ['payout_wallet_set', payoutOf(prospect) === null],
    ['fee_wallet_configured', lacksFeeWallet(config, railId)],
  ];
  return conditions.filter(([, isInTheWay]) => isInTheWay).map(([obstacle]) => obstacle);
}
