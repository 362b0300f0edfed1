import type { Ctx } from '../context.ts';
import { base64 } from '../core/encoding.ts';
import { ApiError } from '../core/errors.ts';
import { MINUTE, SECOND } from '../core/time.ts';
import { commit, forEach, isConstraint, type Write } from '../db/commit.ts';
import { creditPayment } from '../entitlements/entitlement.ts';
import { conclude, endWith, type Outcome } from './conclude.ts';
import { claimSettlement, findSettlement, listDueSettlements, postponeSettlement, type Settlement } from './store.ts';

export { type Outcome, outcomeOf } from './conclude.ts';

/**
 * Claims a message and a signature for one thing, for ever, before anything is sent. Where somebody was faster, his claim is
 * the answer: the caller tells whether it is for the same thing. `vetoes` refuse the claim in its own batch, so that no two at
 * once can pass them together; what they refuse looks like a signature that is taken.
 */
export async function claimOnce(
  ctx: Ctx,
  settlement: Settlement,
  vetoes: Write[] = [],
): Promise<{ settlement: Settlement; isNew: boolean }> {
  try {
    await commit(ctx, { events: [], writes: [...vetoes, ...claimSettlement(ctx.db, settlement)], result: null });
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
    const outcome = sighting.kind === 'found' ? await conclude(ctx, settlement, sighting.transaction) : null;
    // Pending although it is on the chain: others were storing at the same moment, so it is tried again like a look.
    if (outcome && outcome.status !== 'pending') return outcome;
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
    // What a merchant's server asked for is sent by its own calls alone, which serve for it: where those died nobody would, and
    // the buyer was told so. What has landed is stored all the same, and whoever comes back with it is served.
    const send = settlement.purpose !== 'facilitator';
    const outcome = await pursue(ctx, settlement, { send, patienceMs: 0 });
    if (outcome.status === 'settled' && settlement.purpose === 'access') await creditPayment(ctx, paidOf(settlement));
    if (outcome.status === 'failed') ctx.note(`settlement ${settlement.paymentId}: ${outcome.reason}`);
  });
}
