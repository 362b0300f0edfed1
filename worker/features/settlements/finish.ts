import { ApiError, storyOf, unreachable } from '#core/errors.ts';
import type { PaymentId, ReceiptId } from '#core/ids.ts';
import { DAY, MINUTE, SECOND } from '#core/time.ts';
import { changeAccount } from '#features/accounts/change-account.ts';
import { planPerRequest } from '#features/payments/settled-payment.ts';
import { planActivation } from '#features/plans/buy-plan.ts';
import { getHolding } from '#features/plans/holding.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { type Change, transact, unchanged } from '#platform/db/commit.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import { CHALLENGE_SECONDS } from '#protocols/x402/challenge.ts';
import { ANY_TIME, type Expectation, matchPayment } from '#solana/match.ts';
import type { ChainTransaction } from '#solana/transaction.ts';
import { noteFailedFee } from './fee-budget.ts';
import { endSettlement, loadSettlement, settleSettlement } from './store.ts';

export { assignSuccess, claimSuccess } from './store.ts';

/** Outcome of a settlement, `pending` while it may land yet. What a merchant sold with us as facilitator has no receipt. */
export type SettlementOutcome =
  | { status: 'settled'; receiptId: ReceiptId | null }
  | { status: 'failed'; reason: string }
  | { status: 'pending' };

const OWED_BY: Partial<Record<Settlement['purpose'], Expectation['owedBy']>> = { metered: 'channel', subscription: 'plan' };

/** The chain has spoken. What it shows is judged once more, as any payment is: we co-signed bytes, the chain moved money. */
export async function finishSettlement(ctx: Shard, settlement: Settlement, transaction: ChainTransaction): Promise<SettlementOutcome> {
  const match = matchPayment(transaction, {
    // A merchant's own server has a memo of its own; there the signature, which is ours, correlates.
    memo: settlement.purpose === 'facilitator' ? null : `svc:${settlement.nonce}`,
    mint: settlement.mint,
    destination: settlement.recipientAta,
    priceUnits: settlement.amount,
    fee: null,
    owedBy: OWED_BY[settlement.purpose],
    ...ANY_TIME,
  });
  // Anyone may distribute a channel, so that ours pays out more or less than it was built for: what arrived is what is written down.
  if (settlement.purpose === 'metered' && 'payment' in match && (match.ok || match.reason === 'underpaid'))
    return storeEnd(ctx, settlement, () => planSold(ctx, { ...settlement, amount: match.payment.paidUnits }, transaction));
  // A fork may reverse a failure as it may a payment, so it is looked at again.
  if (!match.ok) {
    const { outcome, isMine } = await endOnce(ctx, settlement, () =>
      planFailure(ctx, settlement, match.reason, nextLookAtFailed(ctx, settlement)),
    );
    // Once for each payment, however many calls see it fail at the same moment.
    if (isMine && settlement.status === 'pending') await noteFailedFee(ctx, settlement);
    return outcome;
  }
  switch (settlement.purpose) {
    case 'access':
    case 'metered':
      return storeEnd(ctx, settlement, () => planSold(ctx, settlement, transaction));
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

/** After a minute, when it is usually final, and after a day. */
function nextLookAtFailed({ now }: Ctx, { status, createdAt }: Settlement): number | null {
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
 * Ends a settlement once. A second call finds the end that the first one stored. `isMine`: this call stored it and knows so; none
 * does where the answer of the database was lost.
 */
async function endOnce(ctx: Shard, settlement: Settlement, plan: PlanEnd): Promise<{ outcome: SettlementOutcome; isMine: boolean }> {
  let isMine = true;
  // What the caller holds is tried as it is; after a lost race, what is stored.
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

/** A merchant's product: payment, receipt and their events. */
function planSold(ctx: Shard, settlement: Settlement, transaction: ChainTransaction): Change<SettlementOutcome> {
  const { productId } = settlement as Settlement & { productId: NonNullable<Settlement['productId']> };
  const sale = {
    ...settlement,
    ...settlement.terms,
    productId,
    isMetered: settlement.purpose === 'metered',
    expiresAt: settlement.createdAt + CHALLENGE_SECONDS * SECOND,
  };
  const paid = planPerRequest(ctx, sale, proofOf(settlement, transaction));
  return {
    events: paid.events,
    writes: [...paid.writes, ...settleSettlement(ctx, settlement, transaction.slot)],
    result: { status: 'settled', receiptId: paid.result.receiptId! },
  };
}

/** A further period of a native subscription: payment, receipt, membership and the authorization after it. */
async function planPeriod(ctx: Shard, settlement: Settlement, transaction: ChainTransaction): Promise<Change<SettlementOutcome>> {
  const { terms, paymentId, nonce } = settlement;
  const proof = proofOf(settlement, transaction);
  // Loaded with the first period: a cold start answers agents, who never need it.
  const { planRenewal } = await import('#features/payments/collected-period.ts');
  const renewed = await planRenewal(ctx, terms.authorizationId!, { paymentId, nonce, period: terms.period!, proof, isOwners: false });
  return {
    events: renewed.events,
    writes: [...renewed.writes, ...settleSettlement(ctx, settlement, transaction.slot)],
    result: { status: 'settled', receiptId: renewed.result.receiptId },
  };
}

/** The merchant's own server keeps the books: nothing but the end of the settlement. */
const planFacilitated = (ctx: Shard, settlement: Settlement, { slot }: ChainTransaction): Change<SettlementOutcome> => ({
  events: [],
  writes: settleSettlement(ctx, settlement, slot),
  result: { status: 'settled', receiptId: null },
});

/**
 * A plan of ours: the account changes in the same batch, and its limits with it. What hinders that is never the payer's loss:
 * the payment is claimed and on the chain, so it stays pending, and the next look stores it.
 */
async function finishActivation(ctx: Shard, settlement: Settlement, transaction: ChainTransaction): Promise<SettlementOutcome> {
  if (!settlement.livemode) return finishTestActivation(ctx, settlement, transaction);
  const hasEnded = async () => (await getOutcome(ctx, settlement.paymentId)).status !== settlement.status;
  try {
    await changeAccount(ctx, settlement.merchantId, async (account, attempt) => {
      if (attempt > 1 && (await hasEnded())) return null;
      const held = await getHolding(ctx.db, account, settlement);
      const { receiptId: _, ...change } = planActivated(ctx, settlement, transaction, held);
      // Two payments at once change an account alike: only the settlement tells whether this one was stored.
      return { ...change, wasStored: hasEnded };
    });
    return await getOutcome(ctx, settlement.paymentId);
  } catch (error) {
    ctx.note(`activation: ${storyOf(error)}`);
    return { status: 'pending' };
  }
}

/** Test money buys the answer, the receipt and the event of a plan: the account and its limits stay as they are. */
async function finishTestActivation(ctx: Shard, settlement: Settlement, transaction: ChainTransaction): Promise<SettlementOutcome> {
  const held = await getHolding(ctx.db, { id: settlement.merchantId, plan: 'free', planThrough: null }, settlement);
  return storeEnd(ctx, settlement, () => {
    const { events, writes, receiptId } = planActivated(ctx, settlement, transaction, held);
    return { events, writes, result: { status: 'settled', receiptId } };
  });
}

function planActivated(ctx: Shard, settlement: Settlement, transaction: ChainTransaction, held: Awaited<ReturnType<typeof getHolding>>) {
  const activated = planActivation(ctx, settlement, transaction, held);
  return { ...activated, writes: [...activated.writes, ...settleSettlement(ctx, settlement, transaction.slot)] };
}

/** Why a settled sale serves no request: the chain dropped its money. It serves again once the money is back. */
const ORPHANED = 'transaction_orphaned';

/** As it is stored; the word of a success is given for no money that the chain dropped meanwhile. */
export async function getOutcome(ctx: Shard, paymentId: PaymentId): Promise<SettlementOutcome> {
  const stored = await loadSettlement(ctx, paymentId);
  if (!stored) throw new ApiError('not_found');
  const { settlement, receiptId, isLost } = stored;
  if (settlement.status === 'settled' && isLost && settlement.purpose !== 'activation') return { status: 'failed', reason: ORPHANED };
  if (settlement.status === 'settled') return { status: 'settled', receiptId };
  return settlement.status === 'failed' ? { status: 'failed', reason: settlement.failureReason ?? 'unknown' } : { status: 'pending' };
}
