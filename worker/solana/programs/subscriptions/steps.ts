import { type Address, createNoopSigner, type Instruction } from '@solana/kit';
import { getCreateAssociatedTokenIdempotentInstruction } from '@solana-program/token';
import { TOKEN_PROGRAM } from '../../assets.ts';
import { associatedTokenAddress } from '../derived-address.ts';
import { cancelInstruction, initAuthorityInstruction, resumeInstruction, revokeInstruction, subscribeInstruction } from './instructions.ts';
import { type Subscription, type SubscriptionPlan, sameTerms } from './subscription.ts';
import { type CollectionRoute, isApproved, type SubscriptionSight } from './subscription-state.ts';

/**
 * Signatures of a buyer on the way to a subscription. `approve`: the authority, once for all subscriptions. `revoke`: the end of a
 * subscription that cannot continue.
 */
export type StepKind = 'approve' | 'subscribe' | 'resume' | 'revoke';

interface BuyerStep {
  kind: StepKind;
  /** Null until the previous step has landed: the consent names the slot in which the authority was created. */
  instructions: Instruction[] | null;
}

/**
 * Remaining steps for a wallet until its subscription can be collected, in order, at `now` (seconds). Empty if none. `plan` is published
 * and accepts subscribers. A subscription with a recreated authority is ended by `revoke` and made again after its period. (subscriptions
 * program 0.4.0)
 */
export function buyerSteps(sight: SubscriptionSight, plan: SubscriptionPlan, route: CollectionRoute, now: bigint): BuyerStep[] {
  const { subscription } = sight;
  const approve: BuyerStep[] = isApproved(sight, route, plan.amount) ? [] : [approvalStep(sight, route)];
  if (subscription === null) return [...approve, subscribing(sight, plan, route, [])];
  const hasTerms = sameTerms(plan, subscription);
  const isStale = sight.authority?.initId !== subscription.initId;
  if (subscription.expiresAtTs === 0n) {
    // The program ends the subscription at once if the plan was replaced.
    if (!hasTerms) return [...approve, subscribing(sight, plan, route, [cancelInstruction(route), revocation(subscription)])];
    return isStale ? [{ kind: 'revoke', instructions: [cancelInstruction(route)] }] : approve;
  }
  if (now >= subscription.expiresAtTs) return [...approve, subscribing(sight, plan, route, [revocation(subscription)])];
  const canResume = hasTerms && !isStale;
  return canResume ? [...approve, { kind: 'resume', instructions: [resumeInstruction(route, route.mint)] }] : [];
}

export const approvalStep = (sight: SubscriptionSight, route: CollectionRoute): BuyerStep => ({
  kind: 'approve',
  instructions: approval(sight, route),
});

function approval({ holding }: SubscriptionSight, { subscriber, mint }: CollectionRoute): Instruction[] {
  const tokenProgram = TOKEN_PROGRAM as Address;
  const payer = createNoopSigner(subscriber);
  const ata = associatedTokenAddress(subscriber, mint, tokenProgram);
  const opening = getCreateAssociatedTokenIdempotentInstruction({ payer, ata, owner: subscriber, mint });
  // Removes the signer objects, so that the buyer's wallet signs like for the other instructions.
  const unsigned = { ...opening, accounts: opening.accounts.map(({ address, role }) => ({ address, role })) };
  return [...(holding === null ? [unsigned] : []), initAuthorityInstruction({ user: subscriber, mint, tokenProgram })];
}

const revocation = ({ subscriber, plan, payer }: Subscription): Instruction =>
  revokeInstruction({ subscriber, plan }, payer === subscriber ? undefined : payer);

function subscribing(
  { authority }: SubscriptionSight,
  asked: SubscriptionPlan,
  { subscriber }: CollectionRoute,
  before: Instruction[],
): BuyerStep {
  if (authority === null) return { kind: 'subscribe', instructions: null };
  return { kind: 'subscribe', instructions: [...before, subscribeInstruction({ subscriber, asked, initId: authority.initId })] };
}
