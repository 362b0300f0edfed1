import type { Ctx } from '../context.ts';
import { base64 } from '../core/encoding.ts';
import { ApiError } from '../core/errors.ts';
import type { PaymentId, ReceiptId } from '../core/ids.ts';
import { MINUTE, SECOND } from '../core/time.ts';
import { type Change, commit, forEach, isConstraint, transact, unchanged } from '../db/commit.ts';
import { creditPayment } from '../entitlements/entitlement.ts';
import { planPerRequest } from '../payments/per-request.ts';
import { matchPayment } from '../solana/match.ts';
import type { ChainTransaction } from '../solana/transaction.ts';
import { CHALLENGE_SECONDS } from '../x402/challenge.ts';
import {
  claimSettlement,
  endSettlement,
  findSettlement,
  listDueSettlements,
  loadSettlement,
  postponeSettlement,
  type Settlement,
} from './store.ts';

/** What became of a settlement. `pending`: it may land yet, and the service keeps looking by itself. */
export type Outcome = { status: 'settled'; receiptId: ReceiptId } | { status: 'failed'; reason: string } | { status: 'pending' };

/**
 * Claims a message and a signature for one thing, for ever, before anything is sent. Where somebody was faster, his claim is
 * the answer: the caller tells whether it is for the same thing.
 */
export async function claimOnce(ctx: Ctx, settlement: Settlement): Promise<{ settlement: Settlement; isNew: boolean }> {
  try {
    await commit(ctx, { events: [], writes: claimSettlement(ctx.db, settlement), result: null });
    return { settlement, isNew: true };
  } catch (error) {
    const winner = await findSettlement(ctx.db, settlement.messageHash);
    if (winner) return { settlement: winner, isNew: winner.paymentId === settlement.paymentId };
    // Not the message, so the signature: it paid something else before.
    if (isConstraint(error)) throw new ApiError('duplicate_settlement');
    throw error;
  }
}

/** Waits between looks; their sum is how long a caller is kept before he is told to come back. */
const LOOKS_MS = [0, 250, 400, 600, 900, 1300, 1800, 2500];

/**
 * Sees a claimed payment through: broadcasts where asked, looks until the chain shows it or patience ends. The same for the
 * call that claimed it, for others that bring the same payment, and for the sweep.
 */
export async function pursue(ctx: Ctx, settlement: Settlement, options: { send: boolean; patienceMs: number }): Promise<Outcome> {
  if (options.send) {
    const sent = await ctx.chain.sendTransaction(base64.decode(settlement.wire), { preflight: false });
    if (sent.kind !== 'sent') ctx.note(`broadcast: ${sent.reason}`);
  }
  let waited = 0;
  for (const wait of LOOKS_MS) {
    waited += wait;
    if (waited > options.patienceMs) break;
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const sighting = await ctx.chain.findTransaction(settlement.txSignature);
    if (sighting.kind === 'found') return conclude(ctx, settlement, sighting.transaction);
    if (sighting.kind === 'unavailable') ctx.note(`rpc: ${sighting.reason}`);
  }
  return (await canStillLand(ctx, settlement)) ? { status: 'pending' } : endWith(ctx, settlement, 'blockhash_expired');
}

/**
 * Only a final chain past the blockhash's life, on which the transaction is not, proves that it never will be. The height is
 * asked first: what lands between the two questions is seen by the second.
 */
async function canStillLand(ctx: Ctx, settlement: Settlement): Promise<boolean> {
  const answer = await ctx.chain.finalHeight();
  if (answer.kind === 'unavailable' || answer.height <= settlement.lastValidBlockHeight) return true;
  const sighting = await ctx.chain.findTransaction(settlement.txSignature);
  return sighting.kind !== 'not_found';
}

/** The chain has spoken. What it shows is judged once more, as any payment is: we co-signed bytes, the chain moved money. */
async function conclude(ctx: Ctx, settlement: Settlement, transaction: ChainTransaction): Promise<Outcome> {
  const match = matchPayment(transaction, {
    memo: `svc:${settlement.nonce}`,
    mint: settlement.mint,
    destination: settlement.recipientAta,
    priceUnits: settlement.amount,
    fee: null,
    notBeforeSeconds: 0,
    notAfterSeconds: Number.MAX_SAFE_INTEGER,
  });
  if (!match.ok) return endWith(ctx, settlement, match.reason);
  return end(ctx, settlement, () => planSettled(ctx, settlement, transaction));
}

const endWith = (ctx: Ctx, settlement: Settlement, reason: string): Promise<Outcome> =>
  end(ctx, settlement, () => ({
    events: [],
    writes: endSettlement(ctx, settlement, 'fail', reason),
    result: { status: 'failed', reason },
  }));

/** Ends a settlement once. Whoever comes second finds the end the first one gave it. */
function end(ctx: Ctx, settlement: Settlement, plan: () => Change<Outcome>): Promise<Outcome> {
  let isFirst = true;
  return transact(ctx, async () => {
    // What the caller holds is tried as it is; after a lost race, what is stored.
    const known = isFirst ? null : await outcomeOf(ctx, settlement.paymentId);
    isFirst = false;
    return known && known.status !== 'pending' ? unchanged(known) : plan();
  });
}

function planSettled(ctx: Ctx, settlement: Settlement, transaction: ChainTransaction): Change<Outcome> {
  const { terms, txSignature, payerWallet: payer, amount } = settlement;
  const { productId } = settlement as Settlement & { productId: NonNullable<Settlement['productId']> };
  const sale = { ...settlement, ...terms, productId, expiresAt: settlement.createdAt + CHALLENGE_SECONDS * SECOND };
  const { slot, blockTimeSeconds } = transaction;
  const proof = { txSignature, slot, blockTime: blockTimeSeconds! * SECOND, payer, paidUnits: amount, feePaidUnits: 0n };
  const paid = planPerRequest(ctx, sale, proof);
  return {
    events: paid.events,
    writes: [...paid.writes, ...endSettlement(ctx, settlement, 'settle')],
    result: { status: 'settled', receiptId: paid.result.receiptId! },
  };
}

/** As it is stored. */
export async function outcomeOf(ctx: Ctx, paymentId: PaymentId): Promise<Outcome> {
  const stored = await loadSettlement(ctx.db, paymentId);
  if (!stored) throw new ApiError('not_found');
  const { settlement, receiptId } = stored;
  if (settlement.status === 'settled' && receiptId) return { status: 'settled', receiptId };
  return settlement.status === 'failed' ? { status: 'failed', reason: settlement.failureReason ?? 'unknown' } : { status: 'pending' };
}

/** What a settled payment bought, as its entitlement's object takes it. */
export const paidOf = (settlement: Settlement): Parameters<typeof creditPayment>[1] => ({
  ...settlement,
  id: settlement.paymentId,
  productId: settlement.productId!,
  terms: { ...settlement.terms, successUrl: null },
});

const SWEEP_MAX = 50;

/** Payments whose caller went away, or whose outcome nobody knew: looked for, and sent again, until the chain has decided. */
export async function sweepSettlements(ctx: Ctx): Promise<number> {
  const due = await listDueSettlements(ctx.db, ctx.now, SWEEP_MAX);
  return forEach(ctx, due, async (settlement) => {
    // Written down first: a crash costs one look.
    const wait = Math.min(MINUTE, Math.max(5 * SECOND, ctx.now - settlement.createdAt));
    await commit(ctx, { events: [], writes: [postponeSettlement(ctx.db, settlement, ctx.now + wait)], result: null });
    const outcome = await pursue(ctx, settlement, { send: true, patienceMs: 0 });
    if (outcome.status === 'settled') await creditPayment(ctx, paidOf(settlement));
    if (outcome.status === 'failed') ctx.note(`settlement ${settlement.paymentId}: ${outcome.reason}`);
  });
}
