import { ApiError } from '#core/errors.ts';
import { DECIMALS, formatAmount, money, subtract } from '#core/money.ts';
import { memoOf, priceOf } from '#features/payments/resource.ts';
import type { Ctx } from '#platform/context.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import { NATIVE_MINT } from '#solana/assets.ts';
import { buildCheckoutTransaction, type CheckoutTerms } from '#solana/checkout-transaction.ts';

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

/** Unsigned wire transaction, base64. */
export interface Prepared {
  transaction: string;
  lastValidBlockHeight: bigint;
}

/**
 * The transaction that pays this payment from `buyer`'s wallet, for as long as the chain takes its blockhash; the payer creates
 * the token accounts that are missing. 503 rpc_unavailable.
 */
export async function prepareTransaction(ctx: Ctx, payment: Payment, buyer: string): Promise<Prepared> {
  const tokenAccounts = payment.feeAta ? [payment.recipientAta, payment.feeAta] : [payment.recipientAta];
  const state = await ctx.chain.prepare(payment.mint === NATIVE_MINT ? [] : tokenAccounts);
  if (state.kind === 'unavailable') {
    ctx.note(`rpc: ${state.reason}`);
    throw new ApiError('rpc_unavailable', { retryAfterSeconds: 2 });
  }
  const transaction = await buildCheckoutTransaction(termsOf(ctx, payment, state.exists), buyer, state.lifetime);
  return { transaction, lastValidBlockHeight: state.lifetime.lastValidBlockHeight };
}

/**
 * The Solana Pay URL. Without a fee a transfer request, which every wallet understands; with one a transaction request,
 * because a plain transfer could not pay both.
 */
export function solanaPayUrl(ctx: Ctx, payment: Payment): string {
  if (payment.feeWallet) return `solana:${ctx.baseUrl}/v1/pay/${payment.id}/solana-pay`;
  const query = [
    ['amount', formatAmount(priceOf(payment))],
    ...(payment.mint === NATIVE_MINT ? [] : [['spl-token', payment.mint]]),
    ['reference', payment.reference],
    ['reference', ctx.config.SERVICE_REFERENCE],
    ['label', payment.terms.productName],
    ['memo', memoOf(payment)],
  ].map(([name, value]) => `${name}=${encodeURIComponent(value!)}`);
  return `solana:${payment.recipientWallet}?${query.join('&')}`;
}
