import { SECOND } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import { isInPeriod, type PeriodTimes } from '#rules/subscriptions/schedule.ts';
import type { Operator } from '#solana/programs/own-transaction.ts';
import { buildCollection } from '#solana/programs/subscriptions/collection.ts';
import type { CollectionRoute, Standing } from '#solana/programs/subscriptions/standing.ts';
import type { Period } from '#solana/programs/subscriptions/subscription.ts';
import { lookAtSubscriptions, type SubscriptionLook } from './look.ts';

/** What a collection can begin with. `wire` is signed, and nothing was sent. */
export type PreparedCollection =
  | { kind: 'ready'; wire: Uint8Array; lastValidBlockHeight: number; amount: bigint; period: PeriodTimes }
  /** Why nothing is collected now; whose it is to mend that, the standing tells. */
  | { kind: 'not_now'; standing: Exclude<Standing, { kind: 'collectable' }> }
  /** What is sent now might land in another period. */
  | { kind: 'out_of_time'; period: PeriodTimes }
  /** No node could tell: nothing may be concluded. */
  | { kind: 'unknown' };

type PreparedLifetime = ReturnType<Ctx['chain']['prepare']>;

/** A blockhash lives for a minute and more; one that is so old still leaves what is sent with it time to land. */
const LIFETIME_MS = 10 * SECOND;

/** One blockhash for all that is collected together. */
export function shareLifetime(ctx: Ctx): () => PreparedLifetime {
  let shared: { asked: PreparedLifetime; at: number } | null = null;
  return async () => {
    if (shared === null || ctx.elapsedMs() - shared.at > LIFETIME_MS) shared = { asked: ctx.chain.prepare([]), at: ctx.elapsedMs() };
    const prepared = await shared.asked;
    if (prepared.kind === 'unavailable') shared = null;
    return prepared;
  };
}

/** By what the payment of a collection is found in its transaction. */
interface CollectionMarks {
  memo: string;
  /** Read-only keys. */
  references: readonly string[];
}

/** When a period on the chain begins and ends. */
export const timesOf = ({ startTs, endTs }: Period): PeriodTimes => ({
  startsAt: Number(startTs) * SECOND,
  endsAt: Number(endTs) * SECOND,
});

/**
 * Prepares the collection of the period that runs: looks whether the whole price can be collected, signs, and asks the chain what would
 * come of it, so that what would fail costs no fee. Where the chain refuses what the look had allowed, something happened in between, and
 * a second look says what. At most four calls of a node with the broadcast that follows; one less with a look that is `known` already,
 * and another with a `lifetime` that is shared.
 */
export async function prepareCollection(
  ctx: Ctx,
  route: CollectionRoute,
  marks: CollectionMarks,
  puller: Operator,
  { known, lifetime = () => ctx.chain.prepare([]) }: { known?: SubscriptionLook; lifetime?: () => PreparedLifetime } = {},
): Promise<PreparedCollection> {
  const [look = null] = known ? [known] : await lookAtSubscriptions(ctx, [route]);
  if (look === null) return { kind: 'unknown' };
  const { standing, sight } = look;
  if (standing.kind !== 'collectable') return { kind: 'not_now', standing };
  const period = timesOf(standing.period);
  const hasBegun = sight.subscription?.currentPeriodStartTs === standing.period.startTs;
  if (!isInPeriod(period, ctx.now, hasBegun)) return { kind: 'out_of_time', period };
  const { amount } = sight.subscription!;
  const prepared = await lifetime();
  if (prepared.kind === 'unavailable') return newUnknown(ctx, prepared.reason);
  const wire = buildCollection({ ...marks, route, amount }, prepared.lifetime, puller);
  const simulated = await ctx.chain.simulate(wire);
  if (simulated.kind === 'unavailable') return newUnknown(ctx, simulated.reason);
  if (simulated.kind === 'failed') return explain(ctx, route, simulated.reason);
  return { kind: 'ready', wire, lastValidBlockHeight: simulated.lastValidBlockHeight, amount, period };
}

function newUnknown(ctx: Ctx, reason: string): PreparedCollection {
  ctx.note(`rpc: ${reason}`);
  return { kind: 'unknown' };
}

async function explain(ctx: Ctx, route: CollectionRoute, refusal: string): Promise<PreparedCollection> {
  const [again]: (SubscriptionLook | null | undefined)[] = await lookAtSubscriptions(ctx, [route]);
  if (again && again.standing.kind !== 'collectable') return { kind: 'not_now', standing: again.standing };
  // The accounts allow it and the chain does not: our own doing, the puller's lack of SOL above all.
  ctx.note(`collection refused: ${refusal}`);
  return { kind: 'unknown' };
}
