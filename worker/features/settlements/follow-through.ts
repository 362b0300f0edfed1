import { base64 } from '#core/encoding.ts';
import { ApiError, objectAway, storyOf } from '#core/errors.ts';
import { DAY, MINUTE, SECOND } from '#core/time.ts';
import type { creditPayment } from '#features/entitlements/credit-payments.ts';
import type { Shard } from '#platform/context.ts';
import { commit, isAborted, isConstraint, type Write } from '#platform/db/commit.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import { admissionObject } from '#platform/objects.ts';
import { DOUBT_MS } from '#solana/finality.ts';
import type { Sighting } from '#solana/node-answers.ts';
import { spendFee } from './fee-budget.ts';
import { failSettlement, finishSettlement, getOutcome, type SettlementOutcome } from './finish.ts';
import { abortIfPayerBusy, claimSettlement, EXPIRED, findSettlement, noteLook, readPayerLimits } from './store.ts';

export { getOutcome, type SettlementOutcome } from './finish.ts';

/**
 * Claims a message and a signature for one thing, for ever, before anything is sent. Where another request was faster, its claim
 * is the answer: the caller tells whether it is for the same thing. What may cost us a fee is paid for by its merchant's budget and
 * limited per payer: 429. 409 duplicate_settlement where the signature, or the message in another database, is claimed. `guards` refuse the claim in its own batch too, so that no two at once can pass them together.
 */
export async function claimOnce(
  ctx: Shard,
  settlement: Settlement,
  guards: Write[] = [],
): Promise<{ settlement: Settlement; isNew: boolean }> {
  if (!(await isOfThisDatabase(ctx, settlement))) throw new ApiError('duplicate_settlement');
  const giveBack = await spendFee(ctx, settlement);
  try {
    const writes = [...guards, abortIfPayerBusy(ctx, settlement), ...claimSettlement(ctx.db, settlement)];
    await commit(ctx, { events: [], writes, result: null });
    return { settlement, isNew: true };
  } catch (error) {
    const winner = await findSettlement(ctx, settlement.messageHash);
    const isOurs = winner?.paymentId === settlement.paymentId;
    if (!isOurs && (winner || isConstraint(error))) await giveBack();
    if (winner) return { settlement: winner, isNew: isOurs };
    if (isAborted(error)) throw await newBusyPayerError(ctx, settlement);
    // Not the message, so the signature: it paid something else before.
    if (isConstraint(error)) throw new ApiError('duplicate_settlement');
    throw error;
  }
}

/** Longer than a message that has not landed can land; one that has landed passes no simulation. */
const MESSAGE_CLAIMED_MS = DAY;

/**
 * Claims of one database know nothing of another, and accounts of both may be paid to one wallet. So where there are several, an object
 * tells to which of them a message belongs, before it is claimed there. It is no request's: one that crashes here may come again.
 */
async function isOfThisDatabase(ctx: Shard, { livemode, messageHash }: Settlement): Promise<boolean> {
  if (!livemode || ctx.databases.length === 1) return true;
  try {
    const claim = { windowMs: MESSAGE_CLAIMED_MS, now: ctx.wallNow };
    return (await admissionObject(ctx, `message:${messageHash}`).claimMessage(ctx.database, claim)) === ctx.database;
  } catch (error) {
    ctx.note(`object: ${storyOf(error)}`);
    throw objectAway(error);
  }
}

/** Claims what the service sends by itself, with what is stored beside it. False where a rival was faster. No merchant's budget pays for it. */
export async function claimOwn(ctx: Shard, settlement: Settlement, beside: Write[]): Promise<boolean> {
  try {
    await commit(ctx, { events: [], writes: [...beside, ...claimSettlement(ctx.db, settlement)], result: null });
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

/** Waits between looks; their sum is how long a caller is kept before being told to come back. */
const LOOKS_MS = [0, 250, 400, 600, 900, 1300, 1800, 2500];

const CALL_MS = 3 * SECOND;

/**
 * Sees a claimed payment through: broadcasts where asked, looks until the chain shows it or patience ends. The same for the
 * call that claimed it and for others that bring the same payment. It may have been sent by now, so whatever goes wrong here
 * leaves the outcome unknown, and is never a refusal.
 */
const broadcastAndWatch = (ctx: Shard, settlement: Settlement, options: WatchOptions): Promise<SettlementOutcome> =>
  broadcastAndLook(ctx, settlement, options).catch((error: unknown) => {
    ctx.note(`not stored: ${storyOf(error)}`);
    return { status: 'pending' };
  });

/** By then the call that claimed it has sent it or crashed: the next call that brings it sends the same bytes, while their blockhash is valid. */
const RESEND_AFTER_MS = 5 * SECOND;

/** The outcome for a request that brings a payment, the one that claimed it (`isNew`) or a later one: none depends on another that may be gone. */
export function followThrough(ctx: Shard, settlement: Settlement, { isNew }: { isNew: boolean }): Promise<SettlementOutcome> {
  if (settlement.status !== 'pending') return getOutcome(ctx, settlement.paymentId);
  const send = isNew || ctx.now >= settlement.createdAt + RESEND_AFTER_MS;
  return broadcastAndWatch(ctx, settlement, { send, patienceMs: ctx.config.SETTLE_PATIENCE_MS });
}

interface WatchOptions {
  send: boolean;
  patienceMs: number;
}

async function broadcastAndLook(ctx: Shard, settlement: Settlement, options: WatchOptions): Promise<SettlementOutcome> {
  const chain = ctx.chain.within(CALL_MS, 2);
  if (options.send) {
    const sent = await chain.sendTransaction(base64.decode(settlement.wire), { preflight: false });
    if (sent.kind !== 'sent') ctx.note(`broadcast: ${sent.reason}`);
  }
  let waited = 0;
  for (const wait of LOOKS_MS) {
    waited += wait;
    if (waited > options.patienceMs) break;
    if (ctx.leftMs() <= wait) return { status: 'pending' };
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const sighting = await chain.findTransaction(settlement.txSignature);
    const outcome = sighting.kind === 'found' ? await interpretSighting(ctx, settlement, sighting, null) : null;
    // Pending although it is on the chain: others were storing at the same moment, so it is tried again like a look.
    if (outcome && outcome.status !== 'pending') return outcome;
    if (sighting.kind === 'unavailable') ctx.note(`rpc: ${sighting.reason}`);
  }
  const last = await chain.findTransactions([settlement.txSignature]);
  return last.kind === 'unavailable' ? { status: 'pending' } : interpretSighting(ctx, settlement, last.sightings[0]!, last.finalHeight);
}

/** Blocks past the end we estimated for it: our node may have been behind the one that knew the blockhash. */
const MARGIN_BLOCKS = 150;
const LATER_LOOK_MS = 10 * MINUTE;

/** Past this final height a settlement cannot land, if the chain is without it. */
export const deadAfter = ({ lastValidBlockHeight }: Settlement): number => lastValidBlockHeight + MARGIN_BLOCKS;

/**
 * Applies one look at the chain. Only what is absent twice from a final chain past its blockhash's life is given up; and even
 * that is looked for again after ten minutes and after a day, because nodes may lie and the money would be out of sight.
 */
export async function interpretSighting(
  ctx: Shard,
  settlement: Settlement,
  sighting: Sighting,
  finalHeight: number | null,
): Promise<SettlementOutcome> {
  if (sighting.kind === 'found') return finishSettlement(ctx, settlement, sighting.transaction);
  const { status, doubtedAt, failureReason } = settlement;
  const note = (seen: Parameters<typeof noteLook>[2]) =>
    commit(ctx, { events: [], writes: [noteLook(ctx.db, settlement, seen)], result: null });
  const isGone = sighting.kind === 'not_found' && finalHeight !== null && finalHeight > deadAfter(settlement);
  if (status === 'failed') {
    if (isGone && ctx.now >= settlement.createdAt + DAY) await note({ nextCheckAt: null });
    return { status, reason: failureReason ?? 'unknown' };
  }
  if (isGone && doubtedAt !== null && ctx.now >= doubtedAt + DOUBT_MS) {
    // That one node does not know it is not enough where there are others.
    const [isUnknown] = await ctx.chain.areUnknownEverywhere([settlement.txSignature]);
    return isUnknown ? failSettlement(ctx, settlement, EXPIRED, ctx.now + LATER_LOOK_MS) : { status: 'pending' };
  }
  if (isGone && doubtedAt === null) await note({ doubtedAt: ctx.now });
  // Misses must be consecutive; seeing the transaction again resets the first one.
  if (sighting.kind === 'seen' && doubtedAt !== null) await note({ doubtedAt: null });
  return { status: 'pending' };
}

/** What a settled payment bought, as its entitlement's object takes it. */
export const toPaidPurchase = (settlement: Settlement): Parameters<typeof creditPayment>[1] => ({
  ...settlement,
  id: settlement.paymentId,
  productId: settlement.productId!,
  terms: { ...settlement.terms, successUrl: null },
});
