import type { Ctx } from '../context.ts';
import { base58 } from '../core/encoding.ts';
import { ApiError } from '../core/errors.ts';
import { newId, type PaymentId } from '../core/ids.ts';
import { basisPoints, DECIMALS, formatAmount, type Money, money, subtract } from '../core/money.ts';
import { SECOND } from '../core/time.ts';
import { commitNew } from '../db/commit.ts';
import { getOffer, type Product } from '../products/product.ts';
import { payoutWalletOf } from '../rails.ts';
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
  const { product, merchant, setting } = await getOffer(ctx.db, input.slug);
  if (!product.livemode) {
    const next = 'Sandbox products never touch the chain. Use a live product, or simulate a payment with POST /v1/testing/sessions.';
    throw new ApiError('setup_not_ready', { detail: next, meta: { reason: 'sandbox', next: 'POST /v1/testing/sessions' } });
  }
  if (input.asset !== undefined && input.asset !== product.asset) {
    throw new ApiError('validation_error', {
      problems: [{ loc: ['body', 'asset'], msg: `This product is sold for ${product.asset}`, type: 'invalid_value' }],
    });
  }
  const isOffered = setting?.enabled !== false && (product.allowedRails?.includes('solana_usdc') ?? true);
  if (!isOffered) {
    throw new ApiError('setup_not_ready', { detail: 'The merchant does not sell this by checkout.', meta: { reason: 'rail_disabled' } });
  }
  const recipient = payoutWalletOf(product, setting, merchant.walletAddress);
  if (!recipient) {
    throw new ApiError('setup_not_ready', {
      detail: 'The merchant has not set a payout wallet yet.',
      meta: { reason: 'payout_wallet_missing' },
    });
  }
  if (input.walletAddress !== undefined) requireBuyer(input.walletAddress, recipient);

  const payment = await newPayment(ctx, product, recipient, input, merchant.merchantSettings.default_redirect_url ?? null);
  // The node is asked before anything is stored: a session nobody can pay is not worth keeping.
  const prepared = input.walletAddress === undefined ? null : await prepareTransaction(ctx, payment, input.walletAddress);
  await commitNew(ctx, planCreate(ctx, payment), () => findPayment(ctx.db, payment.id));
  return { payment, prepared };
}

export function requireBuyer(walletAddress: string, recipient: string): void {
  if (!parseWallet(walletAddress).ok) throw new ApiError('invalid_wallet_address');
  if (walletAddress === recipient) throw new ApiError('invalid_wallet_address', { detail: 'The payout wallet cannot buy from itself.' });
}

async function newPayment(ctx: Ctx, product: Product, recipient: string, input: Connect, redirectDefault: string | null): Promise<Payment> {
  const mint = ctx.config.network.usdcMint;
  const fee = feeOf(ctx, { asset: product.asset, units: product.priceAmount }, recipient);
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
    priceAmount: product.priceAmount,
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
      successUrl: product.successUrl ?? redirectDefault,
    },
    expectedWallet: input.walletAddress ?? null,
    customerRef: input.customerRef ?? null,
    customerWallet: null,
    email: input.email?.trim().toLowerCase() ?? null,
    payerWallet: null,
    txSignature: null,
    slot: null,
    blockTime: null,
    membershipId: null,
    receiptId: null,
    paymentSessionId: null,
    recoversPaymentId: null,
    expiresAt: ctx.now + (product.sessionSeconds ?? ctx.config.SESSION_SECONDS) * SECOND,
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
