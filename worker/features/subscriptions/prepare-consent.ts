import type { Address, Instruction } from '@solana/kit';
import { getAddMemoInstruction } from '@solana-program/memo';
import { base64 } from '#core/encoding.ts';
import { err, ok, type Result } from '#core/errors.ts';
import { MINUTE, SECOND, unixSeconds } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import { MEMO_PROGRAM } from '#solana/assets.ts';
import { buildUnsigned, type Lifetime } from '#solana/checkout-transaction.ts';
import { cancelInstruction } from '#solana/programs/subscriptions/instructions.ts';
import type { CollectionRoute, SubscriptionSight } from '#solana/programs/subscriptions/standing.ts';
import { approvalStep, buyerSteps, type StepKind } from '#solana/programs/subscriptions/steps.ts';
import { cancellationEnd, sameTerms } from '#solana/programs/subscriptions/subscription.ts';
import { lookAtSubscriptions, type SubscriptionLook } from './look.ts';

/** What a buyer signs next. A step that needs the one before it to have landed has no transaction yet. */
interface PreparedStep {
  kind: StepKind;
  /** Unsigned, base64; the buyer pays for it. */
  transaction: string | null;
  lastValidBlockHeight: bigint | null;
}

/**
 * `plan_missing`: there is nothing to subscribe to, or it takes no subscribers any more. `refused`: the chain would refuse the next step,
 * most often for want of SOL to pay for it. `ending`: what was cancelled cannot be resumed, and has to be over before another begins.
 * `unavailable`: no node answered.
 */
type StepsProblem = 'plan_missing' | 'refused' | 'ending' | 'unavailable';

/**
 * `memo`: what each step carries. `isUnproven`: the wallet has to sign once more although it is subscribed, because nothing shows yet for whom;
 * it approves again, which changes nothing on the chain.
 */
interface StepsOptions {
  known?: SubscriptionLook;
  memo?: string;
  isUnproven?: boolean;
}

/**
 * What a wallet has left to sign to be subscribed, as the chain stands now; nothing where it can be collected from already. The chain is
 * asked what would come of the next step, so that no wallet opens for one that fails.
 */
export async function prepareSteps(
  ctx: Ctx,
  route: CollectionRoute,
  { known, memo, isUnproven = false }: StepsOptions = {},
): Promise<Result<PreparedStep[], StepsProblem>> {
  const [look = null] = known ? [known] : await lookAtSubscriptions(ctx, [route]);
  if (look === null) return err('unavailable');
  const { plan } = look.sight;
  if (plan === null) return err('plan_missing');
  const left = buyerSteps(look.sight, plan, route, BigInt(unixSeconds(ctx.now)));
  const steps = left.length === 0 && isUnproven && look.standing.kind !== 'cancelled' ? [approvalStep(look.sight, route)] : left;
  const isSubscribing = steps.some(({ kind }) => kind === 'subscribe');
  if (isSubscribing && plan.status === 'sunset') return err('plan_missing');
  if (steps.length === 0) return look.standing.kind === 'cancelled' ? err('ending') : ok([]);
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

/** Shorter than a blockhash lives. */
const SIGNED_WITHIN_MS = MINUTE;

/** The transaction by which a buyer's wallet ends its subscription, and when that takes effect. Times in milliseconds. */
export interface PreparedCancellation {
  /** Unsigned, base64; the buyer pays for it. */
  transaction: string;
  expiresAt: number;
  effectiveAt: number;
}

/** `cancelled`: it is already. `nothing_left`: there is no subscription on the chain to cancel. */
export type CancellationProblem = 'cancelled' | 'nothing_left' | 'unavailable';

/** Changes nothing: what counts is what the buyer's wallet sends. `known`: a look that was just made. */
export async function prepareCancellation(
  ctx: Ctx,
  route: CollectionRoute,
  known?: SubscriptionLook,
): Promise<Result<PreparedCancellation, CancellationProblem>> {
  const [look = null] = known ? [known] : await lookAtSubscriptions(ctx, [route]);
  if (look === null) return err('unavailable');
  const { subscription } = look.sight;
  if (subscription === null) return err('nothing_left');
  if (subscription.expiresAtTs !== 0n) return err('cancelled');
  const lifetime = await freshLifetime(ctx);
  if (lifetime === null) return err('unavailable');
  return ok({
    transaction: buildUnsigned(route.subscriber, [cancelInstruction(route)], lifetime),
    expiresAt: ctx.now + SIGNED_WITHIN_MS,
    effectiveAt: effectiveAt(ctx, look.sight),
  });
}

/** At the end of the period that runs; at once where the plan is gone or another by now. */
function effectiveAt({ now }: Ctx, { subscription, plan }: SubscriptionSight): number {
  const standing = plan !== null && sameTerms(plan, subscription!) ? plan : null;
  return Number(cancellationEnd(subscription!, standing, BigInt(unixSeconds(now)))) * SECOND;
}

async function freshLifetime(ctx: Ctx): Promise<Lifetime | null> {
  const prepared = await ctx.chain.prepare([]);
  if (prepared.kind === 'ready') return prepared.lifetime;
  ctx.note(`rpc: ${prepared.reason}`);
  return null;
}
