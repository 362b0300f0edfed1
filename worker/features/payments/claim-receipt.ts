import { ApiError, raise } from '#core/errors.ts';
import { findReceiptOfTransaction, type Receipt } from '#features/receipts/receipt.ts';
import type { Scope } from '#platform/context.ts';
import { PAYMENT } from '#rules/states.ts';
import { confirmFound, findNamedSession } from './confirm/confirm.ts';

/**
 * Returns the receipt of a transaction that paid this merchant. Confirms an open payment first and throws its refusals. Throws 404 for a
 * transaction without the memo of one of this merchant's sessions. The request itself claims nothing.
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
    const made = await findMine();
    if (made) return made;
    if (isOpen || !(error instanceof ApiError)) throw error;
  }
  return (await findMine()) ?? raise('not_found');
}
