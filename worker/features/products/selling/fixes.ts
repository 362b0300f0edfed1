import { z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import { ASSETS, formatAmount } from '#core/money.ts';
import { Detail } from '#platform/http/openapi.ts';
import type { RenewalMode } from '#rules/payment-terms.ts';
import { renewsOver, takesBuyers } from '#rules/product-rails.ts';
import { RAILS, type RailId, SUBSCRIPTION_RAIL } from '#rules/rails.ts';
import { RENT_EXEMPT_LAMPORTS } from '#solana/assets.ts';
import { type Obstacle, type Prospect, payoutOf } from './obstacles.ts';

export interface Fix {
  detail: string;
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH';
  path?: string;
  body?: Record<string, unknown>;
  /** Unsigned transaction in base64. */
  transaction?: string;
  sign_url?: string;
}

export const FixBody = z
  .object({
    detail: Detail,
    method: z.enum(['GET', 'POST', 'PUT', 'PATCH']).optional(),
    path: z.string().optional(),
    body: z.record(z.string(), z.unknown()).optional(),
    transaction: z.string().optional().describe('Unsigned transaction in base64. Sign it with the payout wallet and send it.'),
    sign_url: z.url().optional().describe('Page that explains the transaction and lets a wallet sign and send it.'),
  })
  .openapi('Fix', {
    description:
      'Resolution of a problem: a call, with your own values for each <…>, or a transaction. Without either, only the operator can resolve it.',
  });

type SaleContext = Omit<Prospect, 'livemode'>;

export function fixOf(obstacle: Obstacle, railId: RailId, sale: SaleContext): Fix {
  const { product } = sale;
  const path = `/v1/products/${product?.id ?? '{product_id}'}`;
  const railPath = `/v1/access/rail-settings/${railId}`;
  const readiness = readinessOf(sale);
  const patch = (detail: string, body: Record<string, unknown>): Fix => ({ detail, method: 'PATCH', path, body });
  switch (obstacle) {
    case 'sandbox':
      return LIVE_INSTEAD;
    case 'rail_unavailable':
      return {
        detail: `${railId} is currently unavailable. GET /v1/access/rails has the reason.`,
        method: 'GET',
        path: '/v1/access/rails',
      };
    case 'paused':
      return RESUMED;
    case 'product_active':
      if (sale.switchedOff === 'product') return { detail: 'The operator disabled the product. Contact the operator.' };
      return { detail: 'The product is archived. Unarchive it to sell it.', method: 'POST', path: `${path}/unarchive` };
    case 'rail_enabled':
      return railFix(railId, sale, path);
    case 'price_set':
      return priceFix(railId, patch);
    case 'live_mode_confirmed':
      return patch('Live mode is not confirmed. Set live_mode_confirmed to true once the product is ready for sale.', {
        live_mode_confirmed: true,
      });
    case 'payout_wallet_set':
    case 'payout_wallet_unspendable':
      return payoutWalletFix(payoutOf(sale), railPath);
    case 'fee_wallet_configured':
      return { detail: 'This deployment charges a fee without a fee wallet. Only the operator can set FEE_WALLET.' };
    case 'payout_ata_exists':
      return {
        detail: `The payout wallet ${payoutOf(sale)} has no USDC account. GET ${readiness} has the transaction that creates it.`,
        method: 'GET',
        path: readiness,
      };
    case 'subscription_plan_published':
      return {
        detail: 'The plan is not published, or the product’s terms have changed. Publish it with the payout wallet.',
        method: 'POST',
        path: `/v1/access/products/${product?.id ?? '{product_id}'}/subscription-plan`,
      };
    case 'payout_wallet_empty':
      return patch(
        `The payout wallet ${payoutOf(sale)} holds too little SOL to receive so small a payment. ${RENT_HINT} Or raise the price.`,
        {
          price: { asset: product?.asset, amount: `<an amount worth more than ${LEAST_SOL} SOL>` },
        },
      );
    case 'fee_wallet_empty':
      return {
        detail: `The fee wallet of this deployment holds too little SOL to receive so small a fee. ${RENT_HINT} Only the operator can do this.`,
      };
  }
}

function priceFix(railId: RailId, patch: (detail: string, body: Record<string, unknown>) => Fix): Fix {
  const { asset, pricing } = RAILS[railId];
  return pricing === 'exact'
    ? patch(`${railId} requires a price in ${asset}. Change the price.`, { price: { asset, amount: `<amount of ${asset}>` } })
    : patch(`${railId} is paid in ${asset}. Add it to accepted_assets: each buyer gets a quote.`, { accepted_assets: [...ASSETS] });
}

const readinessOf = ({ product }: SaleContext): string => `/v1/access/setup/readiness${product ? `?product_id=${product.id}` : ''}`;

/** Fix for a merchant who paused all sales. */
const RESUMED: Fix = {
  detail: 'The merchant has paused all sales. Sales resume with sales_paused false, after a recent sign-in.',
  method: 'PATCH',
  path: '/v1/account/me',
  body: { sales_paused: false },
};

/** Fix for a sandbox call of the x402 facilitator, which exists in live mode only. */
const LIVE_INSTEAD: Fix = { detail: 'The rail has no sandbox. Use a live key.' };

const RENEWAL_FIXES: Record<RenewalMode, Pick<Fix, 'detail' | 'body'>> = {
  AUTOMATIC: {
    detail: `The product renews automatically and is sold over ${SUBSCRIPTION_RAIL} only. Set renewal_mode to ONE_OFF to sell it over other rails.`,
    body: { renewal_mode: 'ONE_OFF' },
  },
  ONE_OFF: {
    detail: 'Set renewal_mode to AUTOMATIC to sell this product over the subscription rail.',
    body: { renewal_mode: 'AUTOMATIC', billing_model: 'recurring' },
  },
};

function railFix(railId: RailId, { product, setting }: SaleContext, productPath: string): Fix {
  if (setting?.enabled === false) {
    const path = `/v1/access/rail-settings/${railId}`;
    return { detail: `${railId} is disabled. Enable it with PUT ${path}.`, method: 'PUT', path, body: { enabled: true } };
  }
  const patch = { method: 'PATCH', path: productPath } as const;
  if (product && !takesBuyers(product, railId)) {
    const detail = `${railId} cannot identify buyers. Set requires_identity to null.`;
    return { ...patch, detail, body: { requires_identity: null } };
  }
  if (product && !renewsOver(product, railId)) return { ...patch, ...RENEWAL_FIXES[product.renewalMode] };
  const detail = `The product is not sold over ${railId}. Add it to allowed_rails.`;
  return { ...patch, detail, body: { allowed_rails: [...(product?.allowedRails ?? []), railId] } };
}

function payoutWalletFix(wallet: string | null, railPath: string): Fix {
  const what = wallet === null ? 'No payout wallet is set.' : `The payout wallet ${wallet} cannot spend.`;
  const detail = `${what} Set payout_wallet with PUT ${railPath}: the address of a Solana wallet of yours, never its key.`;
  return { detail, method: 'PUT', path: railPath, body: { payout_wallet: '<address of your Solana wallet>' } };
}

const LEAST_SOL = formatAmount({ asset: 'SOL', units: RENT_EXEMPT_LAMPORTS });
const RENT_HINT = `An account on the chain holds at least ${LEAST_SOL} SOL: send that amount once.`;

/**
 * Builds 409 setup_not_ready with the fix from readiness, or 503 fee_wallet_missing for the service's own wallet, which no merchant can
 * fix.
 */
export function newObstacleError(obstacle: Obstacle, railId: RailId, prospect: SaleContext): ApiError {
  const fix = fixOf(obstacle, railId, prospect);
  if (obstacle === 'fee_wallet_configured' || obstacle === 'fee_wallet_empty')
    return new ApiError('fee_wallet_missing', { detail: fix.detail, meta: { reason: obstacle } });
  const next = fix.method ? { next: `${fix.method} ${fix.path}` } : {};
  const readiness = `GET ${readinessOf(prospect)}`;
  return new ApiError('setup_not_ready', { detail: fix.detail, meta: { reason: obstacle, ...next, fix, readiness } });
}
