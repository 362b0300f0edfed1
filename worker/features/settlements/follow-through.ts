import { base64 } from '#core/encoding.ts';
import { ApiError, formatErrorChain } from '#core/errors.ts';
import { DAY, MINUTE, SECOND } from '#core/time.ts';
import type { creditPayment } from '#features/entitlements/credit-payments.ts';
import type { Anchor } from '#features/receipts/hash-chain.ts';
import type { Shard } from '#platform/context.ts';
import { commit, isAborted, isConstraint, type Write } from '#platform/db/commit.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import { DOUBT_MS } from '#solana/finality.ts';
import type { Sighting } from '#solana/node-answers.ts';
import { spendFee } from './fee-budget.ts';
import { failSettlement, finishSettlement, getOutcome, type SettlementOutcome } from './finish.ts';
import { isOfThisPartition } from './message-claim.ts';
import { isIdentifierLost, newIdentifierConflict } from './payment-identifier.ts';
import { abortIfPayerBusy, claimSettlement, EXPIRED, findSettlement, noteReading, readPayerLimits } from './store.ts';

export { getOutcome, type SettlementOutcome } from './finish.ts';

/**
 * Claims a message and a signature permanently before sending. Returns a faster request's claim, and the caller checks its purpose. `guards`
 * abort in the batch of the claim. Throws 429 for fee budget and payer limits, 409 duplicate_settlement if the signature, or the message in
 * another partition, is claimed, 409 idempotency_conflict if another transaction has the identifier.
 */
export async function claimOnce(
  ctx: Shard,
  settlement: Settlement,
  guards: Write[] = [],
): Promise<{ settlement: Settlement; isNew: boolean }> {
  if (!(await isOfThisPartition(ctx, settlement))) throw new ApiError('duplicate_settlement');
  const giveBack = await spendFee(ctx, settlement);
  try {
    const writes = [...guards, abortIfPayerBusy(ctx, settlement), ...claimSettlement(ctx.db, settlement)];
    await commit(ctx, { events: [], writes, result: null });
    return { settlement, isNew: true };
  } catch (error) {
    const winner = await findSettlement(ctx, settlement.txSignature);
    const isOurs = winner?.paymentId === settlement.paymentId;
    if (!isOurs && (winner || isConstraint(error))) await giveBack();
    if (winner) return { settlement: winner, isNew: isOurs };
    if (isAborted(error)) throw await newBusyPayerError(ctx, settlement);
    if (isConstraint(error) && (await isIdentifierLost(ctx, settlement))) throw newIdentifierConflict();
    // The conflict is the signature's: it paid something else before.
    if (isConstraint(error)) throw new ApiError('duplicate_settlement');
    throw error;
  }
}

/**
 * Claims a settlement that the service sends itself, together with `writes`. Returns false if a concurrent run was faster. Charges no
 * merchant's budget.
 */
export async function claimOwn(ctx: Shard, settlement: Settlement, writes: Write[]): Promise<boolean> {
  try {
    await commit(ctx, { events: [], writes: [...writes, ...claimSettlement(ctx.db, settlement)], result: null });
    return true;
  } catch (error) {
    if (isAborted(error) || isConstraint(error)) return false;
    throw error;
  }
}

async function newBusyPayerError(ctx: Shard, settlement: Settlement): Promise<ApiError> {
  return new ApiError('rate_limited', {
    detail: 'The payer has too many open or failed payments. Send the same payment again later.',
    retryAfterSeconds: BUSY_SECONDS,
    meta: { reason: 'payer_busy', ...(await readPayerLimits(ctx, settlement)) },
  });
}
const BUSY_SECONDS = 5;

/** Delays between polls. Their sum is the longest wait before a caller gets `pending`. */
const POLL_DELAYS_MS = [0, 250, 400, 600, 900, 1300, 1800, 2500];

const CALL_MS = 3 * SECOND;

/**
 * Watches a claimed payment: broadcasts if asked and polls the chain until an outcome or the time limit. Used by the claiming call and by
 * retries. The transaction may have been sent already, so any error leaves the outcome unknown and is never a refusal.
 */
const broadcastAndWatch = (ctx: Shard, settlement: Settlement, options: WatchOptions): Promise<SettlementOutcome> =>
  sendAndWatch(ctx, settlement, options).catch((error: unknown) => {
    ctx.note(`not stored: ${formatErrorChain(error)}`);
    return { status: 'pending' };
  });

/**
 * After this time the claiming call has sent the transaction or crashed. The next call sends the same bytes while their blockhash is valid.
 */
const RESEND_AFTER_MS = 5 * SECOND;

/**
 * Returns the outcome for a request, the claiming one (`isNew`) or a later one. Neither depends on the other's survival. `anchor`: that of a
 * sale's receipt, if the caller has read it.
 */
export function followThrough(
  ctx: Shard,
  settlement: Settlement,
  { isNew, anchor = null }: { isNew: boolean; anchor?: Anchor | null },
): Promise<SettlementOutcome> {
  if (settlement.status !== 'pending') return getOutcome(ctx, settlement.paymentId);
  const send = isNew || ctx.now >= settlement.createdAt + RESEND_AFTER_MS;
  return broadcastAndWatch(ctx, settlement, { send, anchor, patienceMs: ctx.config.SETTLE_PATIENCE_MS });
}

interface WatchOptions {
  send: boolean;
  anchor: Anchor | null;
  patienceMs: number;
}

async function sendAndWatch(ctx: Shard, settlement: Settlement, { anchor, ...options }: WatchOptions): Promise<SettlementOutcome> {
  const chain = ctx.chain.within(CALL_MS, 2);
  if (options.send) {
    const sent = await chain.sendTransaction(base64.decode(settlement.wire), { preflight: false });
    if (sent.kind !== 'sent') ctx.note(`broadcast: ${sent.reason}`);
  }
  let waited = 0;
  for (const wait of POLL_DELAYS_MS) {
    waited += wait;
    if (waited > options.patienceMs) break;
    if (ctx.leftMs() <= wait) return { status: 'pending' };
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const sighting = await chain.findTransaction(settlement.txSignature);
    const outcome = sighting.kind === 'found' ? await interpretSighting(ctx, settlement, sighting, null, anchor) : null;
    // Landed but pending: concurrent calls collided while storing, so the loop retries.
    if (outcome && outcome.status !== 'pending') return outcome;
    if (sighting.kind === 'unavailable') ctx.note(`rpc: ${sighting.reason}`);
  }
  const last = await chain.findTransactions([settlement.txSignature]);
  return last.kind === 'unavailable'
    ? { status: 'pending' }
    : interpretSighting(ctx, settlement, last.sightings[0]!, last.finalHeight, anchor);
}

const LATER_CHECK_MS = 10 * MINUTE;

/**
 * Applies one reading of the chain. A settlement expires only if absent twice from a final chain past its blockhash. Even then it is
 * checked again after ten minutes and after a day, because a node may lie and the money would be lost from sight.
 */
export async function interpretSighting(
  ctx: Shard,
  settlement: Settlement,
  sighting: Sighting,
  finalHeight: number | null,
  anchor: Anchor | null = null,
): Promise<SettlementOutcome> {
  if (sighting.kind === 'found') return finishSettlement(ctx, settlement, sighting.transaction, anchor);
  const { status, doubtedAt, failureReason } = settlement;
  const note = (seen: Parameters<typeof noteReading>[2]) =>
    commit(ctx, { events: [], writes: [noteReading(ctx.db, settlement, seen)], result: null });
  const isGone = sighting.kind === 'not_found' && finalHeight !== null && finalHeight > settlement.lastValidBlockHeight;
  if (status === 'failed') {
    if (isGone && ctx.now >= settlement.createdAt + DAY) await note({ nextCheckAt: null });
    return { status, reason: failureReason ?? 'unknown' };
  }
  if (isGone && doubtedAt !== null && ctx.now >= doubtedAt + DOUBT_MS) {
    // With several nodes configured, absence on one of them is not enough.
    const [isUnknown] = await ctx.chain.areUnknownEverywhere([settlement.txSignature]);
    return isUnknown ? failSettlement(ctx, settlement, EXPIRED, ctx.now + LATER_CHECK_MS) : { status: 'pending' };
  }
  if (isGone && doubtedAt === null) await note({ doubtedAt: ctx.now });
  // Misses must be consecutive. A sighting resets the first one.
  if (sighting.kind === 'seen' && doubtedAt !== null) await note({ doubtedAt: null });
  return { status: 'pending' };
}

export const toPaidPurchase = (settlement: Settlement): Parameters<typeof creditPayment>[1] => ({
  ...settlement,
  id: settlement.paymentId,
  productId: settlement.productId!,
  terms: { ...settlement.terms, successUrl: null },
});
