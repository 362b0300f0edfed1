import type { Ctx } from '../context.ts';
import { base58 } from '../core/encoding.ts';
import { ApiError } from '../core/errors.ts';
import { newId, type PaymentId, type PaymentSessionId } from '../core/ids.ts';
import { basisPoints, DECIMALS, formatAmount, type Money, money, subtract } from '../core/money.ts';
import { SECOND } from '../core/time.ts';
import { commitNew } from '../db/commit.ts';
import { getOffer, type Sale } from '../products/product.ts';
import { notReady, type Obstacle, obstaclesOf, payoutOf, prospectOf } from '../products/sale.ts';
import { parseWallet } from '../solana/assets.ts';
import { associatedTokenAccount, buildCheckoutTransaction, type CheckoutTerms } from '../solana/checkout-transaction.ts';
import { planCreate } from './payment.ts';
import { memoOf, priceOf } from './resource.ts';
import { findPayment, type Payment } from './store.ts';

export interface Connect {
  slug: string;
  asset?: string;
  walletAddress?: string;
  email?: string;
  customerRef?: string;
}

export interface Checkout {
  payment: Payment;
  /** Unsigned wire transaction, base64; only where the buyer's wallet is known. */
  prepared: { transaction: string; lastValidBlockHeight: bigint } | null;
}

/**
 * Opens a checkout session: a payment with its own nonce and reference key, and what the buyer needs to pay it. 404 for an
 * unknown or archived product, 409 setup_not_ready, 422 invalid_wallet_address, 503 fee_wallet_missing or rpc_unavailable.
 */
export async function connectBuyer(ctx: Ctx, input: Connect): Promise<Checkout> {
  const sale = await getOffer(ctx.db, input.slug);
  const recipient = requireCheckout(ctx, sale, input);
  const life = (sale.product.sessionSeconds ?? ctx.config.SESSION_SECONDS) * SECOND;
  const payment = await newPayment(ctx, sale, recipient, { ...input, expiresAt: ctx.now + life });
  // The node is asked before anything is stored: a session nobody can pay is not worth keeping.
  const prepared = input.walletAddress === undefined ? null : await prepareTransaction(ctx, payment, input.walletAddress);
  await commitNew(ctx, planCreate(ctx, payment), () => findPayment(ctx.db, payment.id));
  return { payment, prepared };
}

/** Not asked of a buyer: the one gates what a merchant's server begins, the other has a code of its own. */
const NOT_FOR_BUYERS: Obstacle[] = ['live_mode_confirmed', 'fee_wallet_configured'];

/** Whom a checkout pays. 409 setup_not_ready, 422 for another asset or a wallet that cannot buy. */
export function requireCheckout(ctx: Ctx, sale: Sale, { asset, walletAddress }: Pick<Connect, 'asset' | 'walletAddress'>): string {
  const { product } = sale;
  const prospect = prospectOf(sale);
  const [obstacle] = obstaclesOf(ctx.config, prospect, 'solana_usdc').filter((one) => !NOT_FOR_BUYERS.includes(one));
  if (obstacle !== 'sandbox' && asset !== undefined && asset !== product.asset) {
    throw new ApiError('validation_error', {
      problems: [{ loc: ['body', 'asset'], msg: `This product is sold for ${product.asset}`, type: 'invalid_value' }],
    });
  }
  if (obstacle) throw notReady(obstacle, 'solana_usdc', prospect);
  const recipient = payoutOf(prospect)!;
  if (walletAddress !== undefined) requireBuyer(walletAddress, recipient);
  return recipient;
}

export function requireBuyer(walletAddress: string, recipient: string): void {
  if (!parseWallet(walletAddress).ok) throw new ApiError('invalid_wallet_address');
  if (walletAddress === recipient) throw new ApiError('invalid_wallet_address', { detail: 'The payout wallet cannot buy from itself.' });
}

/** What is fixed before the payment begins, by the product or by the session of a merchant's server. */
export interface Promised extends Pick<Connect, 'walletAddress' | 'email' | 'customerRef'> {
  priceAmount?: bigint;
  successUrl?: string | null;
  paymentSessionId?: PaymentSessionId;
  expiresAt: number;
}

export async function newPayment(ctx: Ctx, { product, merchant }: Sale, recipient: string, promised: Promised): Promise<Payment> {
  const mint = ctx.config.network.usdcMint;
  const priceAmount = promised.priceAmount ?? product.priceAmount;
  const fee = feeOf(ctx, { asset: product.asset, units: priceAmount }, recipient);
  return {
    id: newId<PaymentId>(ctx.now),
    merchantId: product.merchantId,
    livemode: product.livemode,
    productId: product.id,
    slug: product.slug,
    status: 'PENDING_SIGNATURE',
    failureCode: null,
    nonce: base58.encode(crypto.getRandomValues(new Uint8Array(16))),
    reference: base58.encode(crypto.getRandomValues(new Uint8Array(32))),
    asset: product.asset,
    mint,
    priceAmount,
    recipientWallet: recipient,
    recipientAta: await associatedTokenAccount(recipient, mint),
    feeAmount: fee?.amount.units ?? null,
    feeWallet: fee?.wallet ?? null,
    feeAta: fee ? await associatedTokenAccount(fee.wallet, mint) : null,
    feeOwedAmount: null,
    overpaidAmount: null,
    terms: {
      productName: product.name,
      accessPeriodDays: product.accessPeriodDays,
      usageUnits: product.usageUnits,
      successUrl: promised.successUrl ?? product.successUrl ?? merchant.merchantSettings.default_redirect_url ?? null,
    },
    expectedWallet: promised.walletAddress ?? null,
    customerRef: promised.customerRef ?? null,
    customerWallet: null,
    email: promised.email?.trim().toLowerCase() ?? null,
    payerWallet: null,
    txSignature: null,
    slot: null,
    blockTime: null,
    membershipId: null,
    receiptId: null,
    paymentSessionId: promised.paymentSessionId ?? null,
    recoversPaymentId: null,
    expiresAt: promised.expiresAt,
    confirmedAt: null,
    finalizedAt: null,
    orphanSuspectedAt: null,
    orphanedAt: null,
    createdAt: ctx.now,
    updatedAt: ctx.now,
    version: 1,
  };
}

/** The service's share of a price, if one is configured and comes to anything. */
function feeOf({ config }: Ctx, price: Money, recipient: string): { wallet: string; amount: Money } | null {
  if (config.FEE_BPS === 0) return null;
  if (!config.FEE_WALLET) throw new ApiError('fee_wallet_missing');
  const amount = basisPoints(price, config.FEE_BPS);
  // The service selling for itself: one account cannot be told apart into two legs, and nobody owes himself a fee.
  return amount.units > 0n && config.FEE_WALLET !== recipient ? { wallet: config.FEE_WALLET, amount } : null;
}

/** The split of a payment over its one or two recipients; whether their accounts exist is the node's to say. */
export function termsOf(ctx: Ctx, payment: Payment, exists: boolean[] = []): CheckoutTerms {
  const fee = money(payment.asset, payment.feeAmount ?? 0n);
  return {
    memo: memoOf(payment),
    mint: payment.mint,
    decimals: DECIMALS[payment.asset],
    references: [payment.reference, ctx.config.SERVICE_REFERENCE],
    merchant: {
      wallet: payment.recipientWallet,
      ata: payment.recipientAta,
      units: subtract(priceOf(payment), fee).units,
      ataExists: exists[0] ?? false,
    },
    fee:
      payment.feeWallet && payment.feeAta
        ? { wallet: payment.feeWallet, ata: payment.feeAta, units: fee.units, ataExists: exists[1] ?? false }
        : null,
  };
}

export async function prepareTransaction(ctx: Ctx, payment: Payment, buyer: string): Promise<NonNullable<Checkout['prepared']>> {
  const state = await ctx.chain.prepare(payment.feeAta ? [payment.recipientAta, payment.feeAta] : [payment.recipientAta]);
  if (state.kind === 'unavailable') {
    ctx.note(`rpc: ${state.reason}`);
    throw new ApiError('rpc_unavailable', { retryAfterSeconds: 2 });
  }
  const transaction = await buildCheckoutTransaction(termsOf(ctx, payment, state.exists), buyer, state.lifetime);
  return { transaction, lastValidBlockHeight: state.lifetime.lastValidBlockHeight };
}

/**
 * The Solana Pay URL. Without a fee a transfer request, which every wallet understands; with one a transaction request,
 * because a plain transfer could not pay both. (contract section 3 "Fee")
 */
export function solanaPayUrl(ctx: Ctx, payment: Payment): string {
  if (payment.feeWallet) return `solana:${ctx.baseUrl}/v1/pay/${payment.id}/solana-pay`;
  const query = [
    ['amount', formatAmount(priceOf(payment))],
    ['spl-token', payment.mint],
    ['reference', payment.reference],
    ['reference', ctx.config.SERVICE_REFERENCE],
    ['label', payment.terms.productName],
    ['memo', memoOf(payment)],
  ].map(([name, value]) => `${name}=${encodeURIComponent(value!)}`);
  return `solana:${payment.recipientWallet}?${query.join('&')}`;
}
