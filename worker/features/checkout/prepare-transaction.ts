import { ApiError } from '#core/errors.ts';
import { DECIMALS, formatAmount, money, subtract } from '#core/money.ts';
import { memoOf, priceOf, referencesOf } from '#features/payments/resource.ts';
import type { Ctx } from '#platform/context.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import { NATIVE_MINT } from '#solana/assets.ts';
import { buildCheckoutTransaction, type CheckoutTerms } from '#solana/checkout-transaction.ts';

/** Splits a payment over its one or two recipients. `exists`: whether their token accounts exist, from the node. */
export function termsOf(ctx: Ctx, payment: Payment, exists: boolean[] = []): CheckoutTerms {
  const fee = money(payment.asset, payment.feeAmount ?? 0n);
  return {
    memo: memoOf(payment),
    mint: payment.mint,
    decimals: DECIMALS[payment.asset],
    references: referencesOf(ctx, payment),
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
 * Builds the transaction that pays from `buyer`'s wallet, valid as long as its blockhash. The payer creates missing token accounts. Throws
 * 503 rpc_unavailable.
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
 * Returns the Solana Pay URL: a transfer request without a fee, which every wallet supports. With a fee a transaction request, because a
 * plain transfer cannot pay both.
 */
export function solanaPayUrl(ctx: Ctx, payment: Payment): string {
  if (payment.feeWallet) return `solana:${ctx.baseUrl}/v1/pay/${payment.id}/solana-pay`;
  const query = [
    ['amount', formatAmount(priceOf(payment))],
    ...(payment.mint === NATIVE_MINT ? [] : [['spl-token', payment.mint]]),
    ...referencesOf(ctx, payment).map((key) => ['reference', key]),
    ['label', payment.terms.productName],
    ['memo', memoOf(payment)],
  ].map(([name, value]) => `${name}=${encodeURIComponent(value!)}`);
  return `solana:${payment.recipientWallet}?${query.join('&')}`;
}
