import type { Address, Instruction } from '@solana/kit';
import { getAddMemoInstruction } from '@solana-program/memo';
import { base64 } from '#core/encoding.ts';
import { err, ok, type Result } from '#core/errors.ts';
import { MINUTE, SECOND, unixSeconds } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import { MEMO_PROGRAM } from '#solana/assets.ts';
import { buildUnsigned, type Lifetime } from '#solana/checkout-transaction.ts';
import { cancelInstruction } from '#solana/programs/subscriptions/instructions.ts';
import { approvalStep, buyerSteps, type StepKind } from '#solana/programs/subscriptions/steps.ts';
import { cancellationEnd, sameTerms } from '#solana/programs/subscriptions/subscription.ts';
import type { CollectionRoute, SubscriptionSight } from '#solana/programs/subscriptions/subscription-state.ts';
import { readSubscriptions, type SubscriptionReading } from './read-subscriptions.ts';

/** `transaction`: unsigned, base64. Null until the step before it has landed. The buyer pays for it. */
interface PreparedStep {
  kind: StepKind;
  transaction: string | null;
  lastValidBlockHeight: bigint | null;
}

/**
 * `plan_missing`: no plan, or one that takes no subscribers. `refused`: the simulation failed, most often for lack of SOL. `ending`: a
 * cancelled subscription that cannot be resumed has to end first. `unavailable`: no node answered.
 */
type StepsProblem = 'plan_missing' | 'refused' | 'ending' | 'unavailable';

/** `memo`: added to each step. `isUnproven`: a subscribed wallet approves again, to show that this checkout is its own. */
interface StepsOptions {
  known?: SubscriptionReading;
  memo?: string;
  isUnproven?: boolean;
}

/** Prepares what a wallet has left to sign to be subscribed. Simulates the next step, so that no wallet opens for one that fails. */
export async function prepareSteps(
  ctx: Ctx,
  route: CollectionRoute,
  { known, memo, isUnproven = false }: StepsOptions = {},
): Promise<Result<PreparedStep[], StepsProblem>> {
  const [reading = null] = known ? [known] : await readSubscriptions(ctx, [route]);
  if (reading === null) return err('unavailable');
  const { plan } = reading.sight;
  if (plan === null) return err('plan_missing');
  const left = buyerSteps(reading.sight, plan, route, BigInt(unixSeconds(ctx.now)));
  const steps = left.length === 0 && isUnproven && reading.state.kind !== 'cancelled' ? [approvalStep(reading.sight, route)] : left;
  const isSubscribing = steps.some(({ kind }) => kind === 'subscribe');
  if (isSubscribing && plan.status === 'sunset') return err('plan_missing');
  if (steps.length === 0) return reading.state.kind === 'cancelled' ? err('ending') : ok([]);
  const lifetime = await freshLifetime(ctx);
  if (lifetime === null) return err('unavailable');
  const marks = memo === undefined ? [] : [memoInstruction(memo)];
  const prepared = steps.map(({ kind, instructions }) => ({
    kind,
    ...unsignedOf(route, instructions && [...marks, ...instructions], lifetime),
  }));
  const problem = await findRefusal(ctx, prepared[0]!);
  return problem === null ? ok(prepared) : err(problem);
}

const memoInstruction = (memo: string): Instruction => getAddMemoInstruction({ memo }, { programAddress: MEMO_PROGRAM as Address });

async function findRefusal(ctx: Ctx, { transaction }: PreparedStep): Promise<'refused' | 'unavailable' | null> {
  if (transaction === null) return null;
  const simulated = await ctx.chain.simulate(base64.decode(transaction));
  if (simulated.kind === 'passed') return null;
  ctx.note(`step ${simulated.kind}: ${simulated.reason}`);
  return simulated.kind === 'failed' ? 'refused' : 'unavailable';
}

function unsignedOf({ subscriber }: CollectionRoute, instructions: Instruction[] | null, lifetime: Lifetime): Omit<PreparedStep, 'kind'> {
  if (instructions === null) return { transaction: null, lastValidBlockHeight: null };
  return { transaction: buildUnsigned(subscriber, instructions, lifetime), lastValidBlockHeight: lifetime.lastValidBlockHeight };
}

/** Validity of a prepared cancellation, shorter than its blockhash's. */
const SIGNED_WITHIN_MS = MINUTE;

/** `transaction`: unsigned, base64. The buyer pays for it. */
export interface PreparedCancellation {
  transaction: string;
  expiresAt: number;
  effectiveAt: number;
}

/** `cancelled`: already cancelled. `nothing_left`: no subscription is on the chain. */
export type CancellationProblem = 'cancelled' | 'nothing_left' | 'unavailable';

/** Prepares a cancellation and changes nothing: the buyer's wallet decides. */
export async function prepareCancellation(
  ctx: Ctx,
  route: CollectionRoute,
  known?: SubscriptionReading,
): Promise<Result<PreparedCancellation, CancellationProblem>> {
  const [reading = null] = known ? [known] : await readSubscriptions(ctx, [route]);
  if (reading === null) return err('unavailable');
  const { subscription } = reading.sight;
  if (subscription === null) return err('nothing_left');
  if (subscription.expiresAtTs !== 0n) return err('cancelled');
  const lifetime = await freshLifetime(ctx);
  if (lifetime === null) return err('unavailable');
  return ok({
    transaction: buildUnsigned(route.subscriber, [cancelInstruction(route)], lifetime),
    expiresAt: ctx.now + SIGNED_WITHIN_MS,
    effectiveAt: effectiveAt(ctx, reading.sight),
  });
}

/** Returns the end of the running period, or now if the plan is gone or has other terms. */
function effectiveAt({ now }: Ctx, { subscription, plan }: SubscriptionSight): number {
  const current = plan !== null && sameTerms(plan, subscription!) ? plan : null;
  return Number(cancellationEnd(subscription!, current, BigInt(unixSeconds(now)))) * SECOND;
}

async function freshLifetime(ctx: Ctx): Promise<Lifetime | null> {
  const prepared = await ctx.chain.prepare([]);
  if (prepared.kind === 'ready') return prepared.lifetime;
  ctx.note(`rpc: ${prepared.reason}`);
  return null;
}
