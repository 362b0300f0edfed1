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

/** What would stop a payment before it is made: what the node says of the wallets, and the source of the price. */
export interface Outlook {
  obstacles: Obstacle[];
  /** Which service does not answer; then nothing is known of the rest. */
  silent: Outage | null;
}

const NOTHING: Outlook = { obstacles: [], silent: null };

/** The service's fee of a price, and the wallet it goes to; null where none is configured or it rounds to zero. 503 fee_wallet_missing. */
export function planFee(config: Config, price: Money, recipient: string): { wallet: string; amount: Money } | null {
  if (config.FEE_BPS === 0) return null;
  if (!config.FEE_WALLET) throw new ApiError('fee_wallet_missing');
  const amount = basisPoints(price, config.FEE_BPS);
  // The service sells for itself: two legs to one account cannot be told apart, and it owes itself no fee.
  return amount.units > 0n && config.FEE_WALLET !== recipient ? { wallet: config.FEE_WALLET, amount } : null;
}

/**
 * Whether a payment over a rail of the hosted checkout would work this moment, once it has no other obstacle. The source of the price
 * is asked for another asset than that of the price, the node for SOL in amounts below what an account has to hold.
 */
export async function lookAhead(ctx: Ctx, prospect: Prospect, railId: RailId): Promise<Outlook> {
  const { product } = prospect;
  const recipient = payoutOf(prospect);
  if (product === null || !takesPrice(product, railId)) return NOTHING;
  const due = await dueIn(ctx, { asset: product.asset, units: product.priceAmount }, RAILS[railId].asset, ctx.now);
  if (due.kind !== 'due') return { obstacles: [], silent: 'price_unavailable' };
  // A fee without a wallet for it is an obstacle of its own.
  if (recipient === null || (ctx.config.FEE_BPS > 0 && !ctx.config.FEE_WALLET)) return NOTHING;
  const { asset, units: priceAmount } = due.price;
  const fee = planFee(ctx.config, due.price, recipient);
  return lookAtWallets(ctx, {
    asset,
    priceAmount,
    recipientWallet: recipient,
    feeAmount: fee?.amount.units ?? null,
    feeWallet: fee?.wallet ?? null,
  });
}

/**
 * An account on chain holds a least amount or does not exist: a small payment to a wallet that has never held SOL would fail,
 * whichever wallet sends it. Refused before the buyer signs. 409 setup_not_ready, 503 fee_wallet_missing, rpc_unavailable.
 */
export async function requireReceivable(ctx: Ctx, payment: Payment, prospect: Prospect): Promise<void> {
  const { obstacles, silent } = await lookAtWallets(ctx, payment);
  const [obstacle] = obstacles;
  if (silent) throw newOutageError(silent);
  if (obstacle) throw newObstacleError(obstacle, checkoutRailOf(payment.asset), prospect);
}

type Legs = Pick<Payment, 'asset' | 'priceAmount' | 'recipientWallet' | 'feeAmount' | 'feeWallet'>;

async function lookAtWallets(ctx: Ctx, { asset, priceAmount, recipientWallet, feeAmount, feeWallet }: Legs): Promise<Outlook> {
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
      return { obstacles: [], silent: 'rpc_unavailable' };
    }
    if (BigInt(funds.lamports) + units < RENT_EXEMPT_LAMPORTS) obstacles.push(obstacle);
  }
  return { obstacles, silent: null };
}
