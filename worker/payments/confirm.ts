import type { Actor, Ctx } from '../context.ts';
import { ApiError, unreachable } from '../core/errors.ts';
import { SECOND } from '../core/time.ts';
import { type Change, transact, unchanged } from '../db/commit.ts';
import { planMembership } from '../memberships/membership.ts';
import { planReceipt } from '../receipts/receipt.ts';
import { matchPayment, type Payment as PaidTransfer } from '../solana/match.ts';
import type { Sighting } from '../solana/rpc.ts';
import { type ChainTransaction, svcMemos } from '../solana/transaction.ts';
import { rememberCandidate } from './candidates.ts';
import { expectationOf, memoOf, planFail, planSubmit, requireViewer, stepPayment } from './payment.ts';
import { dropCandidates, getPayment, insertClaim, loadConfirmation, type Payment, updatePayment } from './store.ts';

export interface ConfirmPayment {
  paymentId: Payment['id'];
  txSignature: string;
  viewer: Actor | null;
}

export interface Confirmation {
  payment: Payment;
  alreadyConfirmed: boolean;
}

type Loaded = NonNullable<Awaited<ReturnType<typeof loadConfirmation>>>;
type Verdict = { outcome: 'already' | 'done' | 'unknown' };

/**
 * The one way a payment is confirmed, whoever brings the signature. Asks the chain itself, then stores payment, claim,
 * membership and receipt in one batch, or nothing. A transaction that does not pay this session is refused and changes
 * nothing: a stranger can neither fail nor lock a payment. (contract section 3 "confirm")
 */
export async function confirmPayment(ctx: Ctx, input: ConfirmPayment): Promise<Confirmation> {
  const sighting = await ctx.chain.findTransaction(input.txSignature);
  let verdict: Verdict;
  try {
    verdict = await transact(ctx, () => planConfirmation(ctx, input, sighting));
  } catch (error) {
    // Too many purchases of one customer at once: nothing is lost, the service goes on by itself.
    if (!(error instanceof ApiError && error.options.meta?.reason === 'contended')) throw error;
    verdict = { outcome: 'unknown' };
  }
  if (verdict.outcome === 'unknown') await rememberCandidate(ctx, input.paymentId, input.txSignature, 'named');
  if (sighting.kind === 'unavailable' && verdict.outcome === 'unknown') {
    ctx.note(`rpc: ${sighting.reason}`);
    throw new ApiError('rpc_unavailable', { retryAfterSeconds: 2 });
  }
  const payment = await getPayment(ctx.db, input.paymentId);
  return { payment, alreadyConfirmed: verdict.outcome === 'already' };
}

/** Replay, exists, allowed, state, amounts, then effects: in this order. */
async function planConfirmation(
  ctx: Ctx,
  { paymentId, txSignature, viewer }: ConfirmPayment,
  sighting: Sighting,
): Promise<Change<Verdict>> {
  const loaded = await loadConfirmation(ctx.db, paymentId, txSignature, sighting.kind === 'found' ? payersOf(sighting.transaction) : []);
  if (!loaded) throw new ApiError('not_found');
  const { payment } = loaded;
  requireViewer(payment, viewer);
  if (payment.status === 'CONFIRMED') {
    if (payment.txSignature === txSignature) return unchanged({ outcome: 'already' });
    throw new ApiError('payment_transaction_conflict');
  }
  if (payment.status === 'FAILED') throw failureOf(payment);
  switch (sighting.kind) {
    case 'unavailable':
    case 'not_found':
      return unchanged({ outcome: 'unknown' });
    case 'seen':
      if (payment.status === 'PENDING_CONFIRMATION') return unchanged({ outcome: 'unknown' });
      return { ...planSubmit(ctx, payment, txSignature), result: { outcome: 'unknown' } };
    case 'found':
      return planVerified(ctx, loaded, sighting.transaction);
    default:
      return unreachable(sighting);
  }
}

export const failureOf = (payment: Payment): ApiError =>
  new ApiError(payment.failureCode === 'session_expired' ? 'session_expired' : 'payment_failed');

function planVerified(ctx: Ctx, loaded: Loaded, transaction: ChainTransaction): Change<Verdict> {
  const { payment, claim } = loaded;
  const match = matchPayment(transaction, expectationOf(payment, ctx.config));
  if (!match.ok) {
    if (match.reason === 'transaction_failed' && isOwnFailure(payment, transaction)) {
      return {
        ...planFail(ctx, payment, { failureCode: 'transaction_failed', txSignature: transaction.signature }),
        result: { outcome: 'done' },
      };
    }
    if (match.reason === 'late') throw new ApiError('session_expired', { meta: { reason: 'late' } });
    throw new ApiError('payment_mismatch', { meta: { reason: match.reason } });
  }
  if (claim) throw new ApiError('payment_mismatch', { meta: { reason: 'transaction_already_used' } });
  // From here the confirmation must succeed, or a rival's already has.
  return planConfirmed(ctx, loaded, transaction, match.payment);
}

function planConfirmed(
  ctx: Ctx,
  { payment, memberships, merchantName }: Loaded,
  transaction: ChainTransaction,
  paid: PaidTransfer,
): Change<Verdict> {
  const { signature: txSignature, slot } = transaction;
  const blockTime = transaction.blockTimeSeconds! * SECOND;
  const submit = payment.status === 'PENDING_SIGNATURE' ? stepPayment(ctx, payment, 'submit', { txSignature }) : null;
  const existing = memberships.find(({ customerKey }) => payment.customerRef !== null || customerKey === `wallet:${paid.payer}`) ?? null;
  const membership = planMembership(ctx, existing, {
    ...payment,
    paymentId: payment.id,
    payerWallet: paid.payer,
    accessPeriodDays: payment.terms.accessPeriodDays,
  });
  const receipt = planReceipt(ctx, payment.id, {
    txSignature,
    slot,
    blockTime,
    payer: paid.payer,
    recipient: payment.recipientWallet,
    amount: { asset: payment.asset, units: payment.priceAmount + paid.overpaidUnits },
    fee: payment.feeAmount === null ? null : { asset: payment.asset, units: payment.feeAmount },
    productId: payment.productId,
    productName: payment.terms.productName,
    merchant: { accountId: payment.merchantId, displayName: merchantName },
    memo: memoOf(payment),
    livemode: payment.livemode,
  });
  const confirm = stepPayment(ctx, submit?.after ?? payment, 'confirm', {
    txSignature,
    slot,
    blockTime,
    payerWallet: paid.payer,
    overpaidAmount: paid.overpaidUnits > 0n ? paid.overpaidUnits : null,
    feeOwedAmount: paid.feeOwedUnits > 0n ? paid.feeOwedUnits : null,
    membershipId: membership.result.id,
    receiptId: receipt.result.id,
    confirmedAt: ctx.now,
  });
  return {
    events: [...(submit ? [submit.event] : []), confirm.event, ...membership.events, ...receipt.events],
    writes: [
      insertClaim(ctx.db, payment, txSignature, ctx.now),
      updatePayment(ctx.db, payment, confirm.after),
      ...membership.writes,
      ...receipt.writes,
      dropCandidates(ctx.db, payment.id),
    ],
    result: { outcome: 'done' },
  };
}

/** Who may have paid: authorities of the transfers. A handful; a transaction with more of them is nobody's checkout. */
const PAYERS_MAX = 8;
const payersOf = ({ transfers }: ChainTransaction): string[] =>
  [...new Set(transfers.map(({ authority }) => authority))].slice(0, PAYERS_MAX);

/**
 * Only the buyer's own transaction can fail a payment: signed and paid for by the very wallet the session was opened for,
 * carrying its memo, and meant for this recipient. Anybody else's failure is refused like any other mismatch.
 */
const isOwnFailure = (payment: Payment, transaction: ChainTransaction): boolean =>
  payment.expectedWallet !== null &&
  transaction.feePayer === payment.expectedWallet &&
  svcMemos(transaction.memos).join() === memoOf(payment) &&
  transaction.transfers.some(({ destination, authority }) => destination === payment.recipientAta && authority === payment.expectedWallet);
