import type { Config, Ctx } from '../context.ts';
import { ApiError } from '../core/errors.ts';
import { type Asset, convert, formatRate, type Money } from '../core/money.ts';
import { MINUTE, SECOND } from '../core/time.ts';
import type { PriceQuote } from '../db/terms.ts';
import { solPrice } from '../providers/price.ts';
import { RENT_EXEMPT_LAMPORTS } from '../solana/assets.ts';
import type { Payment } from './store.ts';

/** A rate is kept so long, and the session with it. (contract section 3 "Session life") */
const QUOTE_MS = 5 * MINUTE;

/** What is to be paid, and until when. `quote` where the price had to be converted into the asset that is paid. */
export interface Due {
  price: Money;
  quote: PriceQuote | null;
  expiresAt: number;
}

/**
 * A price in the asset a buyer wants to pay in. Its own asset needs no source; another one is quoted, for five minutes, or
 * for as long as the session would have lasted if that is less. 503 price_unavailable, 422 for more than the chain can count.
 */
export async function quotePrice(ctx: Ctx, price: Money, asset: Asset, expiresAt: number): Promise<Due> {
  if (price.asset === asset) return { price, quote: null, expiresAt };
  const { PRICE_URL } = ctx.config;
  if (!PRICE_URL) {
    const detail = `This service has no source for the price of SOL: pay in ${price.asset}.`;
    throw new ApiError('price_unavailable', { detail, meta: { missing: ['PRICE_URL'] } });
  }
  const answer = await solPrice(PRICE_URL, ctx.now);
  if (answer.kind === 'unavailable') {
    ctx.note(`price: ${answer.reason}`);
    throw new ApiError('price_unavailable', { retryAfterSeconds: 5 });
  }
  const { rate, source, asOf } = answer.price;
  const due = convert(price, asset, rate);
  if (!due) {
    // Not the rate's fault: it is within its bounds, or it would not be here.
    const problem = { loc: ['body', 'asset'], msg: `The price in ${asset} is more than the chain can count`, type: 'out_of_range' };
    throw new ApiError('validation_error', { problems: [problem] });
  }
  return { price: due, quote: { rate: formatRate(rate), source, asOf }, expiresAt: Math.min(expiresAt, ctx.now + QUOTE_MS) };
}

/**
 * Until when we send a payment ourselves, in epoch ms. A quote is shown, prepared and sent to its end and no further; whether
 * what is on the chain came in time is for its block time to say, and late grace is the same for every session.
 * (contract section 3 "Session life")
 */
export const sendableUntil = ({ terms, expiresAt }: Pick<Payment, 'terms' | 'expiresAt'>, { LATE_GRACE_SECONDS }: Config): number =>
  terms.quote ? expiresAt : expiresAt + LATE_GRACE_SECONDS * SECOND;

/**
 * An account on chain holds a least amount or does not exist: a small payment to a wallet that has never held SOL would fail,
 * whoever sends it. Said before anybody signs. 409 setup_not_ready, 503 fee_wallet_missing, rpc_unavailable.
 */
export async function requireReceivable(ctx: Ctx, payment: Payment): Promise<void> {
  if (payment.asset !== 'SOL') return;
  const fee = payment.feeAmount ?? 0n;
  await requireRent(ctx, payment.recipientWallet, payment.priceAmount - fee, () => {
    const detail =
      'The payout wallet holds too little SOL to receive so small a payment: an account on chain holds at least 0.00089088 SOL. ' +
      'The merchant has to send it some SOL first, or to ask for more.';
    return new ApiError('setup_not_ready', { detail, meta: { reason: 'payout_wallet_empty' } });
  });
  if (!payment.feeWallet) return;
  await requireRent(ctx, payment.feeWallet, fee, () => {
    const detail = 'The fee wallet holds too little SOL to receive so small a fee.';
    return new ApiError('fee_wallet_missing', { detail, meta: { reason: 'fee_wallet_empty' } });
  });
}

async function requireRent(ctx: Ctx, wallet: string, units: bigint, refusal: () => ApiError): Promise<void> {
  if (units >= RENT_EXEMPT_LAMPORTS) return;
  const funds = await ctx.chain.balanceOf(wallet);
  if (funds.kind === 'unavailable') {
    ctx.note(`rpc: ${funds.reason}`);
    throw new ApiError('rpc_unavailable', { retryAfterSeconds: 2 });
  }
  if (BigInt(funds.lamports) + units < RENT_EXEMPT_LAMPORTS) throw refusal();
}
