import { ApiError } from '#core/errors.ts';
import { newId, newNonce, type PaymentId, type RefundId } from '#core/ids.ts';
import { DECIMALS, formatAmount, type Money, parseAmount } from '#core/money.ts';
import type { Scope, Shard } from '#platform/context.ts';
import { isAborted, transact } from '#platform/db/commit.ts';
import { type StoreAnswer, withAnswer } from '#platform/db/once.ts';
import type { Payment, RefundRow } from '#platform/db/tables/payments.ts';
import { NATIVE_MINT } from '#solana/assets.ts';
import { buildCheckoutTransaction, deriveAccount, type Lifetime } from '#solana/checkout-transaction.ts';
import { LANDS_WITHIN_MS } from '#solana/finality.ts';
import { REFUND_MEMO } from '#solana/refund.ts';
import { getPayment } from '../store.ts';
import { readPassedAt } from '../watch/reference-scan.store.ts';
import { hasUnderWay, hasUnlapsed, insertRefund, noteLapsed, restoreArchived } from './store.ts';

export interface PreparedRefund {
  /** Unsigned, base64. */
  transaction: string;
  refund: RefundRow;
}

interface RefundRequest {
  amount?: { asset: Payment['asset']; amount: string } | undefined;
  revokesAccess: boolean;
  storeAnswer: StoreAnswer<PreparedRefund>;
}

const refundedUnits = ({ refunds }: Payment): bigint => (refunds ?? []).reduce((sum, { units }) => sum + BigInt(units), 0n);

export const refundableOf = (payment: Payment): bigint => payment.priceAmount + (payment.overpaidAmount ?? 0n) - refundedUnits(payment);

function requireRefundable(payment: Payment): void {
  const refuse = (detail: string, reason: string) => new ApiError('state_conflict', { detail, meta: { reason } });
  if (payment.status !== 'CONFIRMED')
    throw refuse('The payment is not confirmed. Only a confirmed payment can be refunded.', 'not_confirmed');
  if (payment.orphanedAt !== null) throw refuse('The chain dropped the payment. Nothing can be refunded.', 'transaction_orphaned');
  if (refundableOf(payment) === 0n) throw refuse('The payment is fully refunded.', 'refunded');
}

const inFlight = (): ApiError =>
  new ApiError('state_conflict', {
    detail:
      'A prepared refund of this payment may still land, and both would be paid. Repeat when it has landed or expired, a few minutes after it was made.',
    meta: { reason: 'in_flight' },
    retryable: true,
    retryAfterSeconds: 30,
  });

/** Parses the requested amount in base units. Throws 422 at `body.amount` for a malformed one, another asset, or more than is left. */
function unitsOf(payment: Payment, asked: RefundRequest['amount']): bigint {
  const left: Money = { asset: payment.asset, units: refundableOf(payment) };
  if (asked === undefined) return left.units;
  const refuse = (msg: string, type: string) => new ApiError('validation_error', { problems: [{ loc: ['body', 'amount'], msg, type }] });
  if (asked.asset !== payment.asset) throw refuse(`Expected ${payment.asset}, the asset of the payment`, 'asset_mismatch');
  const parsed = parseAmount(asked.asset, asked.amount);
  if (!parsed.ok) throw refuse(`Expected a decimal of at most ${DECIMALS[asked.asset]} places`, parsed.reason);
  if (parsed.value.units === 0n) throw refuse('Expected more than zero', 'too_small');
  if (parsed.value.units > left.units) throw refuse(`Expected at most ${formatAmount(left)} ${payment.asset}`, 'too_much');
  return parsed.value.units;
}

/** Reference key of all refunds: the service's first one. */
const referenceOf = ({ config }: Shard): string => config.SERVICE_REFERENCE[0]!;

/** Returns the time up to which the chain was scanned: a refund that lapsed before and was not seen has not landed. */
export async function readUntil(ctx: Shard): Promise<number> {
  // A simulated chain has no lag, so no scan is needed.
  if (ctx.sandbox !== null) return ctx.now;
  return Math.min(ctx.now, await readPassedAt(ctx, [referenceOf(ctx)]));
}

/**
 * Throws 409 `in_flight` while a prepared refund may have landed or may still land. Only the finalized chain past its last valid height,
 * scanned to that point, proves otherwise. The local clock and a silent node prove nothing.
 */
async function refuseUnderWay(ctx: Shard, paymentId: PaymentId): Promise<void> {
  if (await hasUnlapsed(ctx.db, paymentId)) {
    const known = await ctx.chain.knows([]);
    if (known.kind === 'known') await noteLapsed(ctx, paymentId, known.finalHeight);
    else ctx.note(`rpc: ${known.reason}`);
  }
  if (await hasUnderWay(ctx.db, paymentId, await readUntil(ctx))) throw inFlight();
}

/** Builds the unsigned refund from the merchant's wallet to the payer's. */
export async function prepareRefund(ctx: Scope, known: Payment, request: RefundRequest): Promise<PreparedRefund> {
  const { revokesAccess, storeAnswer } = request;
  requireRefundable(known);
  unitsOf(known, request.amount);
  await refuseUnderWay(ctx, known.id);
  const destination = await deriveAccount(known.payerWallet!, known.mint);
  const state = await ctx.chain.prepare(known.mint === NATIVE_MINT ? [] : [destination]);
  if (state.kind === 'unavailable') {
    ctx.note(`rpc: ${state.reason}`);
    throw new ApiError('rpc_unavailable', { retryAfterSeconds: 2 });
  }
  const { lifetime, exists } = state;
  try {
    return await transact(ctx, { reload: () => restorePaymentRow(ctx, known.id) }, async (payment) => {
      requireRefundable(payment);
      const refund = newRefund(ctx, payment, { units: unitsOf(payment, request.amount), revokesAccess, lifetime });
      const terms = {
        memo: REFUND_MEMO + refund.nonce,
        mint: payment.mint,
        decimals: DECIMALS[payment.asset],
        references: [referenceOf(ctx)],
        merchant: { wallet: payment.payerWallet!, ata: destination, units: refund.amount, ataExists: exists[0] ?? false },
        fee: null,
      };
      const transaction = await buildCheckoutTransaction(terms, payment.recipientWallet, lifetime);
      const prepared = { transaction, refund };
      return withAnswer(
        { events: [], writes: insertRefund(ctx, payment, refund, await readUntil(ctx)), result: prepared },
        storeAnswer(prepared),
      );
    });
  } catch (error) {
    const isContended = error instanceof ApiError && error.options.meta?.reason === 'contended';
    throw isAborted(error) || isContended ? inFlight() : error;
  }
}

export async function restorePaymentRow(ctx: Shard, paymentId: PaymentId): Promise<Payment> {
  await restoreArchived(ctx, paymentId);
  return getPayment(ctx, paymentId);
}

const newRefund = (
  { now }: Shard,
  payment: Payment,
  { units, revokesAccess, lifetime }: { units: bigint; revokesAccess: boolean; lifetime: Lifetime },
): RefundRow => ({
  id: newId<RefundId>(now, payment.merchantId),
  nonce: newNonce(payment.merchantId),
  paymentId: payment.id,
  merchantId: payment.merchantId,
  livemode: payment.livemode,
  amount: units,
  revokesAccess,
  expiresAt: now + LANDS_WITHIN_MS,
  lastValidBlockHeight: Number(lifetime.lastValidBlockHeight),
  lapsedAt: null,
  txSignature: null,
  seenAt: null,
  blockTime: null,
  createdAt: now,
});
