import { ApiError, raise } from '#core/errors.ts';
import { findReceiptOfTransaction, type Receipt } from '#features/receipts/receipt.ts';
import type { Scope } from '#platform/context.ts';
import { PAYMENT } from '#rules/states.ts';
import { confirmFound, findNamedSession } from './confirm/confirm.ts';

/**
 * The receipt of a transaction that paid this merchant. If the payment is still open, the confirmation runs first and its
 * refusals apply. Anything without the memo of one of this merchant's sessions is 404: nothing is claimed by asking.
 */
export async function claimReceipt(ctx: Scope, txSignature: string): Promise<Receipt> {
  const findMine = () => findReceiptOfTransaction(ctx, txSignature);
  const known = await findMine();
  if (known) return known;
  const sighting = await ctx.chain.findTransaction(txSignature);
  if (sighting.kind === 'unavailable' || sighting.kind === 'unreadable') throw new ApiError('rpc_unavailable', { retryAfterSeconds: 2 });
  const payment = sighting.kind === 'found' ? await findNamedSession(ctx, sighting.transaction) : null;
  if (!payment || payment === 'none') throw new ApiError('not_found');
  const isOpen = !PAYMENT.isTerminal(payment.status);
  try {
    await confirmFound(ctx, { paymentId: payment.id, txSignature, viewer: ctx }, sighting);
  } catch (error) {
    // It may have become the receipt of a recovered payment; of a session that was over before, there is no more to say.
    const made = await findMine();
    if (made) return made;
    if (isOpen || !(error instanceof ApiError)) throw error;
  }
  return (await findMine()) ?? raise('not_found');
}
