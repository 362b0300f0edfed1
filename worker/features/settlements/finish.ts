import { ApiError, formatErrorChain, unreachable } from '#core/errors.ts';
import type { PaymentId, ReceiptId } from '#core/ids.ts';
import { DAY, MINUTE, SECOND } from '#core/time.ts';
import { changeAccount } from '#features/accounts/change-account.ts';
import { planSessionlessPayment } from '#features/payments/sessionless-payment.ts';
import { planActivation } from '#features/plans/buy-plan.ts';
import { getHolding } from '#features/plans/holding.ts';
import { type Anchor, loadAnchor } from '#features/receipts/hash-chain.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { type Change, transact, unchanged } from '#platform/db/commit.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import { CHALLENGE_SECONDS } from '#protocols/x402/challenge.ts';
import { ANY_TIME, type Expectation, matchPayment } from '#solana/match.ts';
import type { ChainTransaction } from '#solana/transaction.ts';
import { noteFailedFee } from './fee-budget.ts';
import { endSettlement, loadSettlement, replaceSettlement, settleSettlement } from './store.ts';

export { assignSuccess, claimSuccess } from './store.ts';

/** Outcome of a settlement, `pending` while it may still land. A facilitator sale has no receipt. */
export type SettlementOutcome =
  | { status: 'settled'; receiptId: ReceiptId | null; settledAt: number }
  | { status: 'failed'; reason: string }
  | { status: 'pending' };

const OWED_BY: Partial<Record<Settlement['purpose'], Expectation['owedBy']>> = { metered: 'channel', subscription: 'plan' };

/**
 * Ends a settlement with its chain transaction. The transaction is verified again like any payment: the service co-signed bytes, but the
 * chain moved the money. `anchor`: that of a sale's receipt, if it was read before.
 */
export async function finishSettlement(
  ctx: Shard,
  settlement: Settlement,
  transaction: ChainTransaction,
  anchor: Anchor | null = null,
): Promise<SettlementOutcome> {
  const match = matchPayment(transaction, {
    // A merchant's server sets its own memo. The service's signature correlates the payment there.
    memo: settlement.purpose === 'facilitator' ? null : `svc:${settlement.nonce}`,
    mint: settlement.mint,
    destination: settlement.recipientAta,
    priceUnits: settlement.amount,
    fee: null,
    owedBy: OWED_BY[settlement.purpose],
    ...ANY_TIME,
  });
  // Anyone may distribute a channel, so the payout may differ from the built transaction. The amount that arrived is recorded.
  if (settlement.purpose === 'metered' && 'payment' in match && (match.ok || match.reason === 'underpaid'))
    return storeEnd(ctx, settlement, () => planSold(ctx, { ...settlement, amount: match.payment.paidUnits }, transaction));
  // A fork may reverse a failure like a success, so the settlement is checked again.
  if (!match.ok) {
    const { outcome, isMine } = await endOnce(ctx, settlement, () =>
      planFailure(ctx, settlement, match.reason, nextFinalityCheck(ctx, settlement)),
    );
    // Counted once per payment, however many calls see the failure at the same time.
    if (isMine && settlement.status === 'pending') await noteFailedFee(ctx, settlement);
    return outcome;
  }
  switch (settlement.purpose) {
    case 'access':
    case 'metered':
      return storeEnd(ctx, settlement, () => planSold(ctx, settlement, transaction, anchor));
    case 'subscription':
      return storeEnd(ctx, settlement, () => planPeriod(ctx, settlement, transaction));
    case 'activation':
      return finishActivation(ctx, settlement, transaction);
    case 'facilitator':
      return storeEnd(ctx, settlement, () => planFacilitated(ctx, settlement, transaction));
    default:
      return unreachable(settlement.purpose);
  }
}

/** Returns the next check of a failed settlement: after a minute, when the block is usually final, then after a day. */
function nextFinalityCheck({ now }: Ctx, { status, createdAt }: Settlement): number | null {
  if (status === 'pending') return now + MINUTE;
  return now < createdAt + DAY ? createdAt + DAY : null;
}

export const failSettlement = (
  ctx: Shard,
  settlement: Settlement,
  reason: string,
  nextCheckAt: number | null,
): Promise<SettlementOutcome> => storeEnd(ctx, settlement, () => planFailure(ctx, settlement, reason, nextCheckAt));

type PlanEnd = () => Change<SettlementOutcome> | Promise<Change<SettlementOutcome>>;

const planFailure = (ctx: Shard, settlement: Settlement, reason: string, nextCheckAt: number | null): Change<SettlementOutcome> => ({
  events: [],
  writes: endSettlement(ctx, settlement, 'fail', reason, nextCheckAt),
  result: { status: 'failed', reason },
});

const storeEnd = async (ctx: Shard, settlement: Settlement, plan: PlanEnd): Promise<SettlementOutcome> =>
  (await endOnce(ctx, settlement, plan)).outcome;

/**
 * Ends a settlement once. A later call returns the stored outcome. `isMine`: this call stored the end and knows so. False for every call if
 * the database's answer was lost.
 */
async function endOnce(ctx: Shard, settlement: Settlement, plan: PlanEnd): Promise<{ outcome: SettlementOutcome; isMine: boolean }> {
  let isMine = true;
  const ends = { known: null, reload: () => getOutcome(ctx, settlement.paymentId) };
  const outcome = await transact<SettlementOutcome | null, SettlementOutcome>(ctx, ends, (ended) => {
    isMine = ended === null || ended.status === settlement.status;
    return isMine ? plan() : unchanged(ended!);
  });
  return { outcome, isMine };
}

const proofOf = ({ txSignature, payerWallet: payer, amount: paidUnits }: Settlement, { slot, blockTimeSeconds }: ChainTransaction) => ({
  txSignature,
  slot,
  blockTime: blockTimeSeconds! * SECOND,
  payer,
  paidUnits,
  feePaidUnits: 0n,
});

async function planSold(
  ctx: Shard,
  settlement: Settlement,
  transaction: ChainTransaction,
  known: Anchor | null = null,
): Promise<Change<SettlementOutcome>> {
  const { productId } = settlement as Settlement & { productId: NonNullable<Settlement['productId']> };
  const sale = {
    ...settlement,
    ...settlement.terms,
    productId,
    isMetered: settlement.purpose === 'metered',
    expiresAt: settlement.createdAt + CHALLENGE_SECONDS * SECOND,
  };
  const anchor = known ?? (await loadAnchor(ctx, { ...settlement, isPaidByOwner: false }));
  const paid = planSessionlessPayment(ctx, sale, proofOf(settlement, transaction), anchor);
  return {
    events: paid.events,
    writes: [...paid.writes, ...replaceSettlement(ctx, settlement, transaction.slot)],
    result: { status: 'settled', receiptId: paid.result.receiptId!, settledAt: ctx.now },
  };
}

async function planPeriod(ctx: Shard, settlement: Settlement, transaction: ChainTransaction): Promise<Change<SettlementOutcome>> {
  const { terms, paymentId, nonce } = settlement;
  const proof = proofOf(settlement, transaction);
  // Lazy import: a cold start serves agents, who never need renewals.
  const { planRenewal } = await import('#features/payments/collected-period.ts');
  const renewed = await planRenewal(ctx, terms.authorizationId!, { paymentId, nonce, period: terms.period!, proof, isOwners: false });
  return {
    events: renewed.events,
    writes: [...renewed.writes, ...replaceSettlement(ctx, settlement, transaction.slot)],
    result: { status: 'settled', receiptId: renewed.result.receiptId, settledAt: ctx.now },
  };
}

/** Ends the settlement only. The merchant's own server records the sale. */
const planFacilitated = (ctx: Shard, settlement: Settlement, { slot }: ChainTransaction): Change<SettlementOutcome> => ({
  events: [],
  writes: settleSettlement(ctx, settlement, slot),
  result: { status: 'settled', receiptId: null, settledAt: ctx.now },
});

/**
 * Activates a plan: account and limits change in the batch of the payment. A failure must not cost the payer: the payment is claimed and on
 * chain, so it stays pending until the next check stores it.
 */
async function finishActivation(ctx: Shard, settlement: Settlement, transaction: ChainTransaction): Promise<SettlementOutcome> {
  if (!settlement.livemode) return finishTestActivation(ctx, settlement, transaction);
  const hasEnded = async () => (await getOutcome(ctx, settlement.paymentId)).status !== settlement.status;
  try {
    await changeAccount(ctx, settlement.merchantId, async (account, attempt) => {
      if (attempt > 1 && (await hasEnded())) return null;
      const held = await getHolding(ctx.db, account, settlement);
      const { receiptId: _, ...change } = await planActivated(ctx, settlement, transaction, held);
      // Two concurrent payments change the account identically. Only the settlement shows if this one was stored.
      return { ...change, wasStored: hasEnded };
    });
    return await getOutcome(ctx, settlement.paymentId);
  } catch (error) {
    ctx.note(`activation: ${formatErrorChain(error)}`);
    return { status: 'pending' };
  }
}

/** Stores answer, receipt and event of a test purchase. Account and limits stay unchanged. */
async function finishTestActivation(ctx: Shard, settlement: Settlement, transaction: ChainTransaction): Promise<SettlementOutcome> {
  const held = await getHolding(ctx.db, { id: settlement.merchantId, plan: 'free', planThrough: null }, settlement);
  return storeEnd(ctx, settlement, async () => {
    const { events, writes, receiptId } = await planActivated(ctx, settlement, transaction, held);
    return { events, writes, result: { status: 'settled', receiptId, settledAt: ctx.now } };
  });
}

async function planActivated(
  ctx: Shard,
  settlement: Settlement,
  transaction: ChainTransaction,
  held: Awaited<ReturnType<typeof getHolding>>,
) {
  const anchor = await loadAnchor(ctx, { ...settlement, isPaidByOwner: true });
  const activated = planActivation(ctx, settlement, transaction, held, anchor);
  return { ...activated, writes: [...activated.writes, ...settleSettlement(ctx, settlement, transaction.slot)] };
}

/** Reason why a settled sale serves no request: the chain dropped its transaction. The sale serves again if the money lands again. */
const ORPHANED = 'transaction_orphaned';

/** Returns the stored outcome. A success is not returned if the chain dropped its transaction meanwhile. */
export async function getOutcome(ctx: Shard, paymentId: PaymentId): Promise<SettlementOutcome> {
  const stored = await loadSettlement(ctx, paymentId);
  if (!stored) throw new ApiError('not_found');
  const { settlement, receiptId, settledAt, isLost } = stored;
  if (settlement.status === 'settled' && isLost && settlement.purpose !== 'activation') return { status: 'failed', reason: ORPHANED };
  if (settlement.status === 'settled') return { status: 'settled', receiptId, settledAt };
  return settlement.status === 'failed' ? { status: 'failed', reason: settlement.failureReason ?? 'unknown' } : { status: 'pending' };
}
