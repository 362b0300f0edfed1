import type { Address, ReadonlyUint8Array } from '@solana/kit';
import { AccountState, getTokenDecoder, getTokenSize } from '@solana-program/token';
import { TOKEN_PROGRAM } from '../../assets.ts';
import type { ChainAccount } from '../../chain.ts';
import { associatedTokenAddress } from '../derived-address.ts';
import {
  decodeAuthority,
  decodePlan,
  decodeSubscription,
  findAuthorityAddress,
  findSubscriptionAddress,
  type Period,
  periodAt,
  SUBSCRIPTIONS_PROGRAM,
  type Subscription,
  type SubscriptionAuthority,
  type SubscriptionPlan,
  sameTerms,
} from './subscription.ts';

export interface CollectionRoute {
  plan: Address;
  subscriber: Address;
  mint: Address;
  puller: Address;
  receiver: Address;
}

interface TokenHolding {
  amount: bigint;
  delegate: Address | null;
  delegatedAmount: bigint;
  isFrozen: boolean;
}

/** Accounts of a subscription as read from the chain. Null if missing or of another kind. */
export interface SubscriptionSight {
  subscription: Subscription | null;
  plan: SubscriptionPlan | null;
  authority: SubscriptionAuthority | null;
  holding: TokenHolding | null;
  receiving: TokenHolding | null;
}

type ConsentLoss =
  | 'subscription_gone'
  | 'plan_gone'
  | 'plan_ended'
  | 'plan_changed'
  | 'authority_gone'
  | 'authority_renewed'
  | 'delegate_lost';

/** Reason why a collection fails despite consent: money, or the merchant's setup. */
export type Shortage = 'insufficient_funds' | 'account_frozen' | 'account_missing' | 'receiver_missing' | 'puller_removed';

export type SubscriptionState =
  /** Cancelled by the buyer. Nothing is collected, even if the program would allow it. */
  | { kind: 'cancelled'; endsAt: bigint }
  | { kind: 'lost'; reason: ConsentLoss }
  | { kind: 'paid'; period: Period }
  | { kind: 'short'; reason: Shortage; period: Period }
  | { kind: 'collectable'; period: Period };

/** Addresses of the accounts for `readSight`, in its order. */
export const sightAddresses = ({ plan, subscriber, mint, receiver }: CollectionRoute): Address[] => [
  findSubscriptionAddress(plan, subscriber).address,
  plan,
  findAuthorityAddress(subscriber, mint).address,
  associatedTokenAddress(subscriber, mint, TOKEN_PROGRAM as Address),
  associatedTokenAddress(receiver, mint, TOKEN_PROGRAM as Address),
];

/** Decodes the accounts of `sightAddresses`, read at one slot. */
export function readSight([subscription, plan, authority, holding, receiving]: readonly (ChainAccount | null)[]): SubscriptionSight {
  return {
    subscription: owned(subscription, decodeSubscription),
    plan: readPlanAccount(plan),
    authority: owned(authority, decodeAuthority),
    holding: readHolding(holding),
    receiving: readHolding(receiving),
  };
}

export const readPlanAccount = (account: ChainAccount | null | undefined): SubscriptionPlan | null => owned(account, decodePlan);

function owned<T>(
  account: ChainAccount | null | undefined,
  decode: (data: ReadonlyUint8Array) => { ok: true; value: T } | { ok: false; reason: string },
): T | null {
  if (account?.owner !== SUBSCRIPTIONS_PROGRAM) return null;
  const decoded = decode(account.data);
  return decoded.ok ? decoded.value : null;
}

function readHolding(account: ChainAccount | null | undefined): TokenHolding | null {
  if (account?.owner !== TOKEN_PROGRAM || account.data.length !== getTokenSize()) return null;
  const { amount, delegate, delegatedAmount, state } = getTokenDecoder().decode(account.data);
  return {
    amount,
    delegate: delegate.__option === 'Some' ? delegate.value : null,
    delegatedAmount,
    isFrozen: state === AccountState.Frozen,
  };
}

/**
 * State of a subscription at `now` (seconds): whether its full price can be collected, and if not, who has to act. Mirrors the program's
 * own checks. (subscriptions program 0.4.0, transferSubscription)
 */
export function subscriptionStateOf(sight: SubscriptionSight, route: CollectionRoute, now: bigint): SubscriptionState {
  const { subscription, plan } = sight;
  if (subscription === null) return { kind: 'lost', reason: 'subscription_gone' };
  if (subscription.expiresAtTs !== 0n) return { kind: 'cancelled', endsAt: subscription.expiresAtTs };
  if (plan === null) return { kind: 'lost', reason: 'plan_gone' };
  const reason = findLoss({ ...sight, subscription, plan }, route, now);
  if (reason !== null) return { kind: 'lost', reason };
  const period = periodAt(subscription, plan, now > subscription.currentPeriodStartTs ? now : subscription.currentPeriodStartTs);
  // The plan's owner may have collected a part. The remainder is not the full price and is never collected.
  if (period.amountPulled > 0n) return { kind: 'paid', period };
  const shortage = findShortage(sight, plan, route, subscription.amount);
  return shortage === null ? { kind: 'collectable', period } : { kind: 'short', reason: shortage, period };
}

type Subscribed = SubscriptionSight & { subscription: Subscription; plan: SubscriptionPlan };

function findLoss({ subscription, plan, authority, holding }: Subscribed, route: CollectionRoute, now: bigint): ConsentLoss | null {
  if (!sameTerms(plan, subscription) || plan.mint !== route.mint) return 'plan_changed';
  if (plan.endTs !== 0n && now > plan.endTs) return 'plan_ended';
  if (authority === null) return 'authority_gone';
  if (authority.initId !== subscription.initId) return 'authority_renewed';
  // A missing token account does not withdraw consent: a recreated one lacks the approval and is detected then.
  if (holding === null || holding.isFrozen) return null;
  return isDelegate(holding, route, subscription.amount) ? null : 'delegate_lost';
}

const isDelegate = ({ delegate, delegatedAmount }: TokenHolding, { subscriber, mint }: CollectionRoute, amount: bigint): boolean =>
  delegate === findAuthorityAddress(subscriber, mint).address && delegatedAmount >= amount;

export const isApproved = ({ authority, holding }: SubscriptionSight, route: CollectionRoute, amount: bigint): boolean =>
  authority !== null && holding !== null && isDelegate(holding, route, amount);

function findShortage(
  { holding, receiving }: SubscriptionSight,
  plan: SubscriptionPlan,
  { puller, receiver }: CollectionRoute,
  amount: bigint,
): Shortage | null {
  const isListed = plan.destinations.length === 0 || plan.destinations.includes(receiver);
  if (receiving === null || receiving.isFrozen || !isListed) return 'receiver_missing';
  if (!plan.pullers.includes(puller) && plan.owner !== puller) return 'puller_removed';
  if (holding === null) return 'account_missing';
  if (holding.isFrozen) return 'account_frozen';
  return holding.amount < amount ? 'insufficient_funds' : null;
}
