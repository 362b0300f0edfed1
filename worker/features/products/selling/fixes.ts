import { z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import { ASSETS, formatAmount } from '#core/money.ts';
import type { RenewalMode } from '#rules/payment-terms.ts';
import { renewsOver, takesBuyers } from '#rules/product-rails.ts';
import { RAILS, type RailId, SUBSCRIPTION_RAIL } from '#rules/rails.ts';
import { RENT_EXEMPT_LAMPORTS } from '#solana/assets.ts';
import { type Obstacle, type Prospect, payoutOf } from './obstacles.ts';

/** What to do about an obstacle: a call that an agent can make as it is, or with its own values filled in. */
export interface Fix {
  detail: string;
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH';
  path?: string;
  body?: Record<string, unknown>;
  /** Unsigned, base64. */
  transaction?: string;
  /** Page that shows the transaction in words and has a wallet sign it. */
  sign_url?: string;
}

export const FixBody = z
  .object({
    detail: z.string(),
    method: z.enum(['GET', 'POST', 'PUT', 'PATCH']).optional(),
    path: z.string().optional(),
    body: z.record(z.string(), z.unknown()).optional(),
    transaction: z.string().optional().openapi({ description: 'Unsigned, base64: sign it with the payout wallet and send it.' }),
    sign_url: z.url().optional().openapi({ description: 'Page that shows the transaction in words and has a wallet sign and send it.' }),
  })
  .openapi('Fix', {
    description:
      'What to do: a call, with values of yours in the place of <…>, or a transaction. With neither only the operator can do it.',
  });

/** What of a sale says how to mend it. */
type Mendable = Omit<Prospect, 'livemode'>;

export function fixOf(obstacle: Obstacle, railId: RailId, sale: Mendable): Fix {
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
        detail: `This service cannot take payments over ${railId} right now. GET /v1/access/rails says why.`,
        method: 'GET',
        path: '/v1/access/rails',
      };
    case 'product_active':
      if (sale.switchedOff === 'product') return { detail: 'The operator of this service switched the product off. Ask them why.' };
      return { detail: 'The product is archived. Unarchive it to sell it again.', method: 'POST', path: `${path}/unarchive` };
    case 'rail_enabled':
      return openRail(railId, sale, path);
    case 'price_set': {
      const { asset, pricing } = RAILS[railId];
      return pricing === 'exact'
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
    case 'subscription_plan_published':
      return {
        detail: 'The plan that buyers subscribe to is not published, or the product has other terms by now. The payout wallet signs it.',
        method: 'POST',
        path: `/v1/access/products/${product?.id ?? '{product_id}'}/subscription-plan`,
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

/** What has no sandbox: the service is a facilitator for others in live mode alone. */
const LIVE_INSTEAD: Fix = { detail: 'This has no sandbox. Call it with a live key.' };

const RENEWED_OTHERWISE: Record<RenewalMode, Pick<Fix, 'detail' | 'body'>> = {
  AUTOMATIC: {
    detail: `The product renews itself, and is sold over ${SUBSCRIPTION_RAIL} alone. Let its buyers renew it to sell it over others.`,
    body: { renewal_mode: 'ONE_OFF' },
  },
  ONE_OFF: {
    detail: 'The product is renewed by its buyers. Let it renew itself to sell it over this rail.',
    body: { renewal_mode: 'AUTOMATIC', billing_model: 'recurring' },
  },
};

/** The merchant's switch is off, or the product itself is not for this rail. */
function openRail(railId: RailId, { product, setting }: Mendable, productPath: string): Fix {
  if (setting?.enabled === false) {
    const path = `/v1/access/rail-settings/${railId}`;
    return { detail: `${railId} is switched off. Switch it on with PUT ${path}.`, method: 'PUT', path, body: { enabled: true } };
  }
  const patch = { method: 'PATCH', path: productPath } as const;
  if (product && !takesBuyers(product, railId)) {
    const detail = `Buyers cannot show who they are over ${railId}. Ask nobody to.`;
    return { ...patch, detail, body: { requires_identity: null } };
  }
  if (product && !renewsOver(product, railId)) return { ...patch, ...RENEWED_OTHERWISE[product.renewalMode] };
  const detail = `The product is not sold over ${railId}. Name it in allowed_rails.`;
  return { ...patch, detail, body: { allowed_rails: [...(product?.allowedRails ?? []), railId] } };
}

/** There is no wallet to be paid on, or one that no key can spend from. */
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
export function newObstacleError(obstacle: Obstacle, railId: RailId, prospect: Mendable): ApiError {
  const fix = fixOf(obstacle, railId, prospect);
  if (obstacle === 'fee_wallet_configured' || obstacle === 'fee_wallet_empty')
    return new ApiError('fee_wallet_missing', { detail: fix.detail, meta: { reason: obstacle } });
  const next = fix.method ? { next: `${fix.method} ${fix.path}` } : {};
  const readiness = `GET ${readinessOf(prospect)}`;
  return new ApiError('setup_not_ready', { detail: fix.detail, meta: { reason: obstacle, ...next, fix, readiness } });
}
