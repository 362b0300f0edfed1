import { base64 } from '#core/encoding.ts';
import { creditPayment } from '#features/entitlements/credit-payments.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { forEach } from '#platform/db/commit.ts';
import { emptyOrBound, type Swept } from '#platform/db/sweeps.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import { isSendable } from '#solana/finality.ts';
import { interpretSighting, toPaidPurchase } from './follow-through.ts';
import { takeDueSettlements } from './store.ts';

/** Maximum number of full transactions that a node returns at once. */
const GROUP_MAX = 20;
const LANES = 6;
/** Settlements per invocation. The rest continues in the next one at once. */
const TAKEN_MAX = 100;
/** Subrequests per settlement, its share of the group's calls included. */
const CALLS_EACH = 7;

/**
 * Checks payments with an unknown outcome, sends them again and ends them once the chain decides. Claims only as many as the invocation can
 * check, because a claimed one is due again only later.
 */
export async function sweepSettlements(ctx: Shard): Promise<Swept> {
  const max = ctx.budget.rows(CALLS_EACH, TAKEN_MAX);
  if (max === 0) return { taken: 0, end: 'bound' };
  const due = await takeDueSettlements(ctx, max);
  const reason = due.length > 0 ? await checkSettlements(ctx, due) : null;
  if (reason !== null) ctx.note(`rpc: ${reason}`);
  return { taken: due.length, end: reason === null ? emptyOrBound(due.length < max) : 'paused' };
}

/** Returns why the node could not be asked, or null. */
async function checkSettlements(ctx: Shard, due: Settlement[]): Promise<string | null> {
  const known = await ctx.chain.knows(due.map(({ txSignature }) => txSignature));
  if (known.kind === 'unavailable') return known.reason;
  const { finalHeight, isKnown } = known;
  // A facilitator settlement is sent only by the merchant's own calls, which serve for it. If it landed, it is stored anyway.
  const isUnsent = (one: Settlement, i: number) =>
    one.status === 'pending' && one.purpose !== 'facilitator' && !isKnown[i] && isSendable(one.lastValidBlockHeight, finalHeight);
  await forEach(ctx, due.filter(isUnsent), (settlement) => sendAgain(ctx, settlement), LANES);
  // The other settlements may be gone or in flight: too early to decide.
  const decidable = due.filter((one, i) => isKnown[i] || isUnsent(one, i) || finalHeight > one.lastValidBlockHeight);
  for (let i = 0; i < decidable.length; i += GROUP_MAX) {
    const group = decidable.slice(i, i + GROUP_MAX);
    const readings = await ctx.chain.findTransactions(group.map(({ txSignature }) => txSignature));
    if (readings.kind === 'unavailable') return readings.reason;
    const judgeOne = async ([index, settlement]: [number, Settlement]) => {
      const outcome = await interpretSighting(ctx, settlement, readings.sightings[index]!, readings.finalHeight);
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
