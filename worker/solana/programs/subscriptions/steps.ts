import { type Address, createNoopSigner, type Instruction } from '@solana/kit';
import { getCreateAssociatedTokenIdempotentInstruction } from '@solana-program/token';
import { TOKEN_PROGRAM } from '../../assets.ts';
import { associatedTokenAddress } from '../derived-address.ts';
import { cancelInstruction, initAuthorityInstruction, resumeInstruction, revokeInstruction, subscribeInstruction } from './instructions.ts';
import { type CollectionRoute, isApproved, type SubscriptionSight } from './standing.ts';
import { type Subscription, type SubscriptionPlan, sameTerms } from './subscription.ts';

/**
 * What a buyer signs on the way to a subscription. `approve`: the authority, once for all subscriptions; `revoke`: the end of one that
 * cannot go on.
 */
export type StepKind = 'approve' | 'subscribe' | 'resume' | 'revoke';

interface BuyerStep {
  kind: StepKind;
  /** null until the step before it has landed: consent names the slot in which the authority was made. */
  instructions: Instruction[] | null;
}

/**
 * What a wallet has left to sign until its subscription to a plan can be collected from, in that order, as the accounts stand at `now`, in
 * seconds; nothing where all is signed. `plan` is published, and takes subscribers. One whose authority was made anew is ended by `revoke`,
 * and subscribes again once its period is over. (subscriptions program 0.4.0)
 */
export function buyerSteps(sight: SubscriptionSight, plan: SubscriptionPlan, route: CollectionRoute, now: bigint): BuyerStep[] {
  const { subscription } = sight;
  const approve: BuyerStep[] = isApproved(sight, route, plan.amount) ? [] : [approvalStep(sight, route)];
  if (subscription === null) return [...approve, subscribing(sight, plan, route, [])];
  const hasTerms = sameTerms(plan, subscription);
  const isStale = sight.authority?.initId !== subscription.initId;
  if (subscription.expiresAtTs === 0n) {
    // The program ends it at once where the plan is another one by now.
    if (!hasTerms) return [...approve, subscribing(sight, plan, route, [cancelInstruction(route), revocation(subscription)])];
    return isStale ? [{ kind: 'revoke', instructions: [cancelInstruction(route)] }] : approve;
  }
  if (now >= subscription.expiresAtTs) return [...approve, subscribing(sight, plan, route, [revocation(subscription)])];
  const canResume = hasTerms && !isStale;
  return canResume ? [...approve, { kind: 'resume', instructions: [resumeInstruction(route, route.mint)] }] : [];
}

/** The approval by itself: given once more where it stands already, it changes nothing. */
export const approvalStep = (sight: SubscriptionSight, route: CollectionRoute): BuyerStep => ({
  kind: 'approve',
  instructions: approval(sight, route),
});

/** Makes the authority the delegate of the buyer's token account, and both where they are missing. */
function approval({ holding }: SubscriptionSight, { subscriber, mint }: CollectionRoute): Instruction[] {
  const tokenProgram = TOKEN_PROGRAM as Address;
  const payer = createNoopSigner(subscriber);
  const ata = associatedTokenAddress(subscriber, mint, tokenProgram);
  const opening = getCreateAssociatedTokenIdempotentInstruction({ payer, ata, owner: subscriber, mint });
  // As all others here: by whom it is signed, and with nothing to sign it with.
  const unsigned = { ...opening, accounts: opening.accounts.map(({ address, role }) => ({ address, role })) };
  return [...(holding === null ? [unsigned] : []), initAuthorityInstruction({ user: subscriber, mint, tokenProgram })];
}

/** The rent goes back to who paid it. */
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
