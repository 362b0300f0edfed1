import { base64 } from '#core/encoding.ts';
import { creditPayment } from '#features/entitlements/credit-payments.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { forEach } from '#platform/db/commit.ts';
import type { Swept } from '#platform/db/sweeps.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import { deadAfter, interpretSighting, toPaidPurchase } from './follow-through.ts';
import { takeDueSettlements } from './store.ts';

/** A node shows so many whole transactions at once. */
const GROUP_MAX = 20;
/** Connections at once. */
const LANES = 6;
/** Of one invocation. What is left over goes on in the next, at once. */
const TAKEN_MAX = 100;
/** Calls that one settlement may take, its part of the calls for its group included. */
const CALLS_EACH = 7;

/**
 * Follows payments whose caller went away or whose outcome was unknown: looks for them, and sends them again, until the chain has decided.
 * Takes only as many as the invocation can look at, because what was taken is due again only after a while.
 */
export async function sweepSettlements(ctx: Shard): Promise<Swept> {
  const max = ctx.budget.rows(CALLS_EACH, TAKEN_MAX);
  if (max === 0) return { taken: 0, isFinished: false };
  const due = await takeDueSettlements(ctx, max);
  const reason = due.length > 0 ? await lookAtSettlements(ctx, due) : null;
  if (reason !== null) ctx.note(`rpc: ${reason}`);
  return { taken: due.length, isFinished: reason !== null || due.length < max };
}

/** Why the node could not be asked, or null. */
async function lookAtSettlements(ctx: Shard, due: Settlement[]): Promise<string | null> {
  const known = await ctx.chain.knows(due.map(({ txSignature }) => txSignature));
  if (known.kind === 'unavailable') return known.reason;
  const { finalHeight, isKnown } = known;
  // What a merchant's server asked for is sent by its own calls alone, which serve for it; what landed is stored all the same.
  const isUnsent = (one: Settlement, i: number) =>
    one.status === 'pending' && one.purpose !== 'facilitator' && !isKnown[i] && finalHeight <= one.lastValidBlockHeight;
  await forEach(ctx, due.filter(isUnsent), (settlement) => sendAgain(ctx, settlement), LANES);
  // Whether the rest is gone or only on its way cannot be told yet.
  const telling = due.filter((one, i) => isKnown[i] || isUnsent(one, i) || finalHeight > deadAfter(one));
  for (let i = 0; i < telling.length; i += GROUP_MAX) {
    const group = telling.slice(i, i + GROUP_MAX);
    const looks = await ctx.chain.findTransactions(group.map(({ txSignature }) => txSignature));
    if (looks.kind === 'unavailable') return looks.reason;
    const judgeOne = async ([index, settlement]: [number, Settlement]) => {
      const outcome = await interpretSighting(ctx, settlement, looks.sightings[index]!, looks.finalHeight);
      if (outcome.status === 'settled' && settlement.purpose === 'access') await creditPayment(ctx, toPaidPurchase(settlement));
      if (outcome.status === 'failed') ctx.note(`settlement ${settlement.paymentId}: ${outcome.reason}`);
    };
    await forEach(ctx, [...group.entries()], judgeOne, LANES);
  }
  return null;
}

async function sendAgain(ctx: Ctx, { wire }: Settlement): Promise<void> {
  const sent = await ctx.chain.sendTransaction(base64.decode(wire), { preflight: false });
  if (sent.kind !== 'sent') ctx.note(`broadcast: ${sent.reason}`);
}
