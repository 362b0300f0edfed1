import { type Ctx, hasX402 } from '../context.ts';
import { ApiError } from '../core/errors.ts';
import { UNITS_MAX } from '../core/money.ts';
import { SECOND } from '../core/time.ts';
import type { Sale } from '../products/product.ts';
import { allowedRailsOf, payoutWalletOf } from '../rails.ts';
import { associatedTokenAccount } from '../solana/checkout-transaction.ts';
import { CHALLENGE_SECONDS, type ChallengeFacts, newChallenge, paymentRequired, RANDOM_BYTES, requirementsFor } from '../x402/challenge.ts';
import { encodeHeader, type PaymentRequired, type ResourceInfo } from '../x402/wire.ts';
import { feePayerFunds, feePayersOf } from './fee-payer.ts';
import { tokenAccountExists } from './token-account.ts';

/** What stands between a product and its first sale by x402; the words of readiness. */
export type Missing =
  | 'sandbox'
  | 'rail_unavailable'
  | 'rail_enabled'
  | 'product_active'
  | 'price_set'
  | 'live_mode_confirmed'
  | 'payout_wallet_set'
  | 'payout_ata_exists'
  | 'units_too_many';

const FIXES: Record<Missing, string> = {
  sandbox: 'Sandbox products never touch the chain. Simulate a payment with POST /v1/testing/sessions.',
  rail_unavailable: 'This service cannot take x402 payments right now. GET /v1/access/rails says why.',
  rail_enabled:
    'x402_solana_usdc is switched off: PUT /v1/access/rail-settings/x402_solana_usdc, or name it in allowed_rails of the product.',
  product_active: 'The product is archived. Unarchive it to sell it again.',
  price_set: 'x402 needs a price in USDC.',
  live_mode_confirmed: 'Set live_mode_confirmed to true on the product once you are ready to be paid.',
  payout_wallet_set: 'Say where the money goes: PUT /v1/access/rail-settings/x402_solana_usdc with a payout_wallet.',
  units_too_many: 'One payment cannot buy that many units. Ask for fewer at once, or sell larger packs.',
  payout_ata_exists: 'The payout wallet has no USDC account yet. GET /v1/access/rail-settings has the transaction that creates it.',
};

export type Readiness = { ok: true; payTo: string } | { ok: false; missing: Missing };

/** Would a payment by x402 work right now? Asks the node only for what it cannot know: the payout account and our own funds. */
export async function readyForX402(ctx: Ctx, { product, merchant, setting }: Sale): Promise<Readiness> {
  const missing = (reason: Missing): Readiness => ({ ok: false, missing: reason });
  if (!product.livemode) return missing('sandbox');
  if (!hasX402(ctx.config)) return missing('rail_unavailable');
  if (product.status !== 'active') return missing('product_active');
  if (setting?.enabled === false || !allowedRailsOf(product, true).includes('x402_solana_usdc')) return missing('rail_enabled');
  if (product.asset !== 'USDC') return missing('price_set');
  if (!product.liveModeConfirmed) return missing('live_mode_confirmed');
  const payTo = payoutWalletOf(product, setting, merchant.walletAddress);
  if (payTo === null) return missing('payout_wallet_set');
  const ata = await associatedTokenAccount(payTo, ctx.config.network.usdcMint);
  const [funds, exists] = await Promise.all([feePayerFunds(ctx), tokenAccountExists(ctx, ata)]);
  if (funds === 'empty') return missing('rail_unavailable');
  // A node that does not answer is no reason to turn a buyer away: his payment would only be refused, not lost.
  if (exists === false) return missing('payout_ata_exists');
  return { ok: true, payTo };
}

export const notReady = (missing: Missing): ApiError =>
  new ApiError('setup_not_ready', { detail: FIXES[missing], meta: { reason: missing, readiness: 'GET /v1/access/setup/readiness' } });

export interface Ask {
  /** What the buyer wanted, as the resource server describes it. */
  resource?: Partial<ResourceInfo>;
  /** Units that are missing for the request at hand. */
  units?: number;
  error?: string;
}

export type Offer = { ok: true; required: PaymentRequired; header: string } | { ok: false; missing: Missing; fix: string };

/** A fresh challenge for one purchase of a product, or what is missing to make one. Costs no write. (contract section 6 "Challenge") */
export async function offerPayment(ctx: Ctx, sale: Sale, { resource = {}, units = 1, error }: Ask = {}): Promise<Offer> {
  const ready = await readyForX402(ctx, sale);
  if (!ready.ok) return { ...ready, fix: FIXES[ready.missing] };
  const { product } = sale;
  const { config } = ctx;
  const quantity = quantityFor(product, units);
  if (quantity === null) return { ok: false, missing: 'units_too_many', fix: FIXES.units_too_many };
  const facts: ChallengeFacts = {
    livemode: product.livemode,
    merchantId: product.merchantId,
    productId: product.id,
    network: config.network.caip2,
    asset: config.network.usdcMint,
    amount: (product.priceAmount * BigInt(quantity)).toString(),
    payTo: ready.payTo,
    feePayer: feePayersOf(config).current,
    quantity,
    units: product.usageUnits,
    days: product.accessPeriodDays,
  };
  const random = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES));
  const memo = newChallenge(facts, { keys: config.CHALLENGE_KEYS!, random, expiresAt: ctx.now + CHALLENGE_SECONDS * SECOND });
  const described = { description: product.name, ...resource, url: resource.url ?? `${ctx.baseUrl}/p/${product.slug}` };
  const required = paymentRequired(described, [requirementsFor(facts, memo)], error);
  return { ok: true, required, header: encodeHeader(required) };
}

const PIECE_UNITS_MAX = 1_000_000_000;
const PIECE_DAYS_MAX = 36_600;

/** How often the product must be bought for these units: a client pays once, so one payment has to be enough. null: it cannot be. */
function quantityFor({ usageUnits, accessPeriodDays, priceAmount }: Sale['product'], units: number): number | null {
  if (usageUnits === null) return 1;
  const quantity = Math.max(1, Math.ceil(units / usageUnits));
  const fits =
    priceAmount * BigInt(quantity) <= UNITS_MAX &&
    (quantity === 1 || (usageUnits * quantity <= PIECE_UNITS_MAX && (accessPeriodDays ?? 0) * quantity <= PIECE_DAYS_MAX));
  return fits ? quantity : null;
}
