import type { Actor, Ctx } from '../context.ts';
import { ApiError, raise } from '../core/errors.ts';
import type { AccountId } from '../core/ids.ts';
import { findReceiptOfTransaction, type Receipt } from '../receipts/receipt.ts';
import { svcMemos } from '../solana/transaction.ts';
import { confirmPayment } from './confirm.ts';
import { findPaymentByNonce } from './store.ts';

/**
 * The receipt of a transaction that paid this merchant. If the payment is still open, the confirmation runs first and its
 * refusals apply. Anything without the memo of one of this merchant's sessions is 404: nothing is claimed by asking.
 */
export async function claimReceipt(ctx: Ctx, actor: Actor, txSignature: string): Promise<Receipt> {
  const merchantId = actor.accountId as AccountId;
  const known = await findReceiptOfTransaction(ctx.db, merchantId, actor.livemode, txSignature);
  if (known) return known;
  const sighting = await ctx.chain.findTransaction(txSignature);
  if (sighting.kind === 'unavailable') throw new ApiError('rpc_unavailable', { retryAfterSeconds: 2 });
  const [memo, ...more] = sighting.kind === 'found' ? svcMemos(sighting.transaction.memos) : [];
  if (memo === undefined || more.length > 0) throw new ApiError('not_found');
  const payment = (await findPaymentByNonce(ctx.db, merchantId, actor.livemode, memo.slice('svc:'.length))) ?? raise('not_found');
  await confirmPayment(ctx, { paymentId: payment.id, txSignature, viewer: actor });
  return (await findReceiptOfTransaction(ctx.db, merchantId, actor.livemode, txSignature)) ?? raise('not_found');
}
