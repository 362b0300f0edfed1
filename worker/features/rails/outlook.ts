import { ApiError } from '#core/errors.ts';
import { basisPoints, type Money } from '#core/money.ts';
import { newObstacleError } from '#features/products/selling/fixes.ts';
import { type Obstacle, type Prospect, payoutOf } from '#features/products/selling/obstacles.ts';
import type { Config, Ctx } from '#platform/context.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import { checkoutRailOf, takesPrice } from '#rules/product-rails.ts';
import { RAILS, type RailId } from '#rules/rails.ts';
import { isNative, RENT_EXEMPT_LAMPORTS } from '#solana/assets.ts';
import { dueIn, newOutageError, type Outage } from './quote.ts';

export interface Outlook {
  obstacles: Obstacle[];
  /** Dependency that does not answer. Everything else is then unknown. */
  unavailableDependency: Outage | null;
}

const NOTHING: Outlook = { obstacles: [], unavailableDependency: null };

/** Returns the service fee of a price and its wallet. Null if no fee is configured or it rounds to zero. Throws 503 fee_wallet_missing. */
export function planFee(config: Config, price: Money, recipient: string): { wallet: string; amount: Money } | null {
  if (config.FEE_BPS === 0) return null;
  if (!config.FEE_WALLET) throw new ApiError('fee_wallet_missing');
  const amount = basisPoints(price, config.FEE_BPS);
  // The service's own sale has no fee: two transfers to one account cannot be distinguished.
  return amount.units > 0n && config.FEE_WALLET !== recipient ? { wallet: config.FEE_WALLET, amount } : null;
}

/**
 * Checks whether a payment over a checkout rail would currently work. Calls the price source for an asset other than the price's, and the
 * node for SOL amounts below the rent minimum.
 */
export async function forecast(ctx: Ctx, prospect: Prospect, railId: RailId): Promise<Outlook> {
  const { product } = prospect;
  const recipient = payoutOf(prospect);
  if (product === null || !takesPrice(product, railId)) return NOTHING;
  const due = await dueIn(ctx, { asset: product.asset, units: product.priceAmount }, RAILS[railId].asset, ctx.now);
  if (due.kind !== 'due') return { obstacles: [], unavailableDependency: 'price_unavailable' };
  if (recipient === null || (ctx.config.FEE_BPS > 0 && !ctx.config.FEE_WALLET)) return NOTHING;
  const { asset, units: priceAmount } = due.price;
  const fee = planFee(ctx.config, due.price, recipient);
  return readWallets(ctx, {
    asset,
    priceAmount,
    recipientWallet: recipient,
    feeAmount: fee?.amount.units ?? null,
    feeWallet: fee?.wallet ?? null,
  });
}

/**
 * Refuses a small SOL payment to a wallet without the minimum balance before the buyer signs, because it would fail on the chain. Throws
 * 409 setup_not_ready, 503 fee_wallet_missing, rpc_unavailable.
 */
export async function requireReceivable(ctx: Ctx, payment: Payment, prospect: Prospect): Promise<void> {
  const { obstacles, unavailableDependency } = await readWallets(ctx, payment);
  const [obstacle] = obstacles;
  if (unavailableDependency) throw newOutageError(unavailableDependency);
  if (obstacle) throw newObstacleError(obstacle, checkoutRailOf(payment.asset), prospect);
}

type Legs = Pick<Payment, 'asset' | 'priceAmount' | 'recipientWallet' | 'feeAmount' | 'feeWallet'>;

async function readWallets(ctx: Ctx, { asset, priceAmount, recipientWallet, feeAmount, feeWallet }: Legs): Promise<Outlook> {
  if (!isNative(asset)) return NOTHING;
  const fee = feeAmount ?? 0n;
  const legs: [Obstacle, string | null, bigint][] = [
    ['payout_wallet_empty', recipientWallet, priceAmount - fee],
    ['fee_wallet_empty', feeWallet, fee],
  ];
  const obstacles: Obstacle[] = [];
  for (const [obstacle, wallet, units] of legs) {
    if (wallet === null || units >= RENT_EXEMPT_LAMPORTS) continue;
    const funds = await ctx.chain.balanceOf(wallet);
    if (funds.kind === 'unavailable') {
      ctx.note(`rpc: ${funds.reason}`);
      return { obstacles: [], unavailableDependency: 'rpc_unavailable' };
    }
    if (BigInt(funds.lamports) + units < RENT_EXEMPT_LAMPORTS) obstacles.push(obstacle);
  }
  return { obstacles, unavailableDependency: null };
}
