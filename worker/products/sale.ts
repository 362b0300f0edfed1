import { type Config, hasPriceSource, hasX402 } from '../context.ts';
import { ApiError } from '../core/errors.ts';
import { ASSETS, formatAmount } from '../core/money.ts';
import { allowedRailsOf, payoutWalletOf, RAILS, type RailId, SELLING_RAILS, suits, takesBuyers, takesPrice } from '../rails.ts';
import { RENT_EXEMPT_LAMPORTS } from '../solana/assets.ts';
import type { Product, Sale } from './store.ts';

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
  | 'payout_wallet_empty'
  | 'fee_wallet_empty';

/** A sale, or what there is of one while no product is named. */
export interface Prospect {
  livemode: boolean;
  product: Pick<
    Product,
    | 'id'
    | 'status'
    | 'asset'
    | 'priceAmount'
    | 'acceptedAssets'
    | 'allowedRails'
    | 'requiresIdentity'
    | 'payoutWallet'
    | 'liveModeConfirmed'
  > | null;
  setting: Sale['setting'];
  accountWallet: string | null;
  switchedOff?: Sale['switchedOff'];
}

export const prospectOf = ({ product, merchant, setting, switchedOff }: Sale): Prospect => ({
  livemode: product.livemode,
  product,
  setting,
  accountWallet: merchant.walletAddress,
  switchedOff,
});

export const payoutOf = ({ product, setting, accountWallet }: Omit<Prospect, 'livemode'>): string | null =>
  payoutWalletOf(product ?? { payoutWallet: null }, setting, accountWallet);

/** Does the product’s own list, if it has one, name this rail, and can it be sold over it at all? */
export const isAllowed = ({ product }: Pick<Prospect, 'product'>, railId: RailId): boolean =>
  product?.allowedRails?.includes(railId) ?? (product === null ? SELLING_RAILS.includes(railId) : suits(product, railId));

/** Is the product meant to be sold over this rail? Neither its own list nor the merchant's switch says no. */
export const isOffered = (config: Config, { product, setting }: Prospect, railId: RailId): boolean =>
  setting?.enabled !== false && allowedRailsOf(product ?? { allowedRails: null }, hasX402(config)).includes(railId);

/** A service fee without a wallet for it stops every checkout; x402 allows one transfer only, so no fee is taken there. */
const lacksFeeWallet = ({ FEE_BPS, FEE_WALLET }: Config, railId: RailId): boolean =>
  RAILS[railId].kind === 'checkout' && FEE_BPS > 0 && FEE_WALLET === undefined;

/** Does the service have what the rail takes? Another asset than that of the price needs somebody who says what it is worth. */
function isServed(config: Config, { product }: Prospect, railId: RailId): boolean {
  const { kind, asset } = RAILS[railId];
  if (!SELLING_RAILS.includes(railId)) return false;
  if (kind === 'x402') return hasX402(config);
  return product === null || product.asset === asset || hasPriceSource(config);
}

/**
 * Each question about a sale is decided here and nowhere else: checkout, payment sessions, x402 and readiness differ only in
 * which answers stop them. What only the node knows is asked in access/.
 */
export function obstaclesOf(config: Config, prospect: Prospect, railId: RailId): Obstacle[] {
  const { product, livemode, setting } = prospect;
  // What a rail cannot take is said once, as what it is: of the price, or of the buyers.
  const isOn = setting?.enabled !== false && (product?.allowedRails?.includes(railId) ?? true);
  const stands: [Obstacle, boolean][] = [
    ['sandbox', !livemode],
    ['rail_unavailable', !isServed(config, prospect, railId) || prospect.switchedOff === 'rail'],
    ['product_active', product !== null && (product.status !== 'active' || prospect.switchedOff === 'product')],
    ['price_set', product !== null && !takesPrice(product, railId)],
    ['rail_enabled', !isOn || (product !== null && !takesBuyers(product, railId))],
    // Plain checkout is opened by a person, one by one: the merchant's word is for those who buy by themselves.
    ['live_mode_confirmed', RAILS[railId].kind !== 'checkout' && product !== null && !product.liveModeConfirmed],
    ['payout_wallet_set', payoutOf(prospect) === null],
    ['fee_wallet_configured', lacksFeeWallet(config, railId)],
  ];
  return stands.filter(([, isInTheWay]) => isInTheWay).map(([obstacle]) => obstacle);
}

/** A sandbox product is never paid on chain: what only a payment would need is not missed there. */
const ONLY_TO_BE_PAID: Obstacle[] = ['sandbox', 'live_mode_confirmed', 'payout_wallet_set', 'fee_wallet_configured'];

/** What stops a product in its own mode: in the sandbox only what stops it being shown and tried. */
export const obstaclesInMode = (config: Config, prospect: Prospect, railId: RailId): Obstacle[] =>
  obstaclesOf(config, prospect, railId).filter((one) => prospect.livemode || !ONLY_TO_BE_PAID.includes(one));

/** What to do about an obstacle: a call that an agent can make as it is, or with its own values filled in. */
export interface Fix {
  detail: string;
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH';
  path?: string;
  body?: Record<string, unknown>;
  /** Unsigned, base64. */
  transaction?: string;
}

/** What of a sale says how to mend it. */
type Mendable = Omit<Prospect, 'livemode'>;

export function fixOf(obstacle: Obstacle, railId: RailId, sale: Mendable): Fix {
  const { product, setting } = sale;
  const path = `/v1/products/${product?.id ?? '{product_id}'}`;
  const railPath = `/v1/access/rail-settings/${railId}`;
  const readiness = readinessOf(sale);
  const patch = (detail: string, body: Record<string, unknown>): Fix => ({ detail, method: 'PATCH', path, body });
  switch (obstacle) {
    case 'sandbox': {
      const detail = 'A sandbox product never touches the chain, so it cannot be paid. Create a live product, with a live key.';
      return {
        detail,
        method: 'POST',
        path: '/v1/products',
        body: { name: '<name>', price: { asset: 'USDC', amount: '<amount of USDC>' } },
      };
    }
    case 'rail_unavailable':
      return {
        detail: `This service cannot take payments over ${railId} right now. GET /v1/access/rails says why.`,
        method: 'GET',
        path: '/v1/access/rails',
      };
    case 'product_active':
      if (sale.switchedOff === 'product') return { detail: 'The operator of this service switched the product off. Ask them why.' };
      return { detail: 'The product is archived. Unarchive it to sell it again.', method: 'POST', path: `${path}/unarchive` };
    case 'rail_enabled':
      if (setting?.enabled === false)
        return {
          detail: `${railId} is switched off. Switch it on with PUT ${railPath}.`,
          method: 'PUT',
          path: railPath,
          body: { enabled: true },
        };
      if (product && !takesBuyers(product, railId))
        return patch(`Buyers cannot show who they are over ${railId}. Ask nobody to.`, { requires_identity: null });
      return patch(`The product is not sold over ${railId}. Name it in allowed_rails.`, {
        allowed_rails: [...(product?.allowedRails ?? []), railId],
      });
    case 'price_set': {
      const { asset, kind } = RAILS[railId];
      return kind === 'x402'
        ? patch(`${railId} needs a price in ${asset}.`, { price: { asset, amount: `<amount of ${asset}>` } })
        : patch(`${railId} takes ${asset}. Accept it besides the asset of the price: what it is worth is quoted to each buyer.`, {
            accepted_assets: [...ASSETS],
          });
    }
    case 'live_mode_confirmed':
      return patch('Set live_mode_confirmed to true on the product once you are ready to be paid.', { live_mode_confirmed: true });
    case 'payout_wallet_set':
    case 'payout_wallet_unspendable':
      return namePayee(payoutOf(sale), railPath);
    case 'fee_wallet_configured':
      return { detail: 'This service charges a fee and has no wallet for it. Only its operator can mend this: FEE_WALLET.' };
    case 'payout_ata_exists':
      return {
        detail: `The payout wallet ${payoutOf(sale)} has no USDC account yet. GET ${readiness} has the transaction that creates it.`,
        method: 'GET',
        path: readiness,
      };
    case 'payout_wallet_empty':
      return patch(`The payout wallet ${payoutOf(sale)} holds too little SOL to receive so small a payment. ${LEAST} Or ask for more.`, {
        price: { asset: product?.asset, amount: `<an amount worth more than ${LEAST_SOL} SOL>` },
      });
    case 'fee_wallet_empty':
      return {
        detail: `The fee wallet of this service holds too little SOL to receive so small a fee. ${LEAST} Only its operator can do this.`,
      };
  }
}

const readinessOf = ({ product }: Mendable): string => `/v1/access/setup/readiness${product ? `?product_id=${product.id}` : ''}`;

/** There is no wallet to be paid on, or one that nobody can spend from. */
function namePayee(wallet: string | null, railPath: string): Fix {
  const what = wallet === null ? 'No payout wallet is set.' : `Nobody can spend from the payout wallet ${wallet}.`;
  const detail = `${what} Say where the money goes with PUT ${railPath}, payout_wallet: the address of a Solana wallet of yours, never its key.`;
  return { detail, method: 'PUT', path: railPath, body: { payout_wallet: '<address of your Solana wallet>' } };
}

const LEAST_SOL = formatAmount({ asset: 'SOL', units: RENT_EXEMPT_LAMPORTS });
const LEAST = `An account on chain holds at least ${LEAST_SOL} SOL: send it that much once.`;

/**
 * 409 setup_not_ready in the words of readiness, with the call that mends it; 503 fee_wallet_missing where the service's own wallet is
 * in the way, which no merchant can mend.
 */
export function notReady(obstacle: Obstacle, railId: RailId, prospect: Mendable): ApiError {
  const fix = fixOf(obstacle, railId, prospect);
  if (obstacle === 'fee_wallet_configured' || obstacle === 'fee_wallet_empty')
    return new ApiError('fee_wallet_missing', { detail: fix.detail, meta: { reason: obstacle } });
  const next = fix.method ? { next: `${fix.method} ${fix.path}` } : {};
  const readiness = `GET ${readinessOf(prospect)}`;
  return new ApiError('setup_not_ready', { detail: fix.detail, meta: { reason: obstacle, ...next, fix, readiness } });
}
