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

/** One wallet's subscription to one plan, and who collects from it where to. */
export interface CollectionRoute {
  plan: Address;
  subscriber: Address;
  mint: Address;
  puller: Address;
  /** The wallet that is paid, into its associated token account. */
  receiver: Address;
}

/** A token account as far as a collection needs it. */
interface TokenHolding {
  amount: bigint;
  delegate: Address | null;
  delegatedAmount: bigint;
  isFrozen: boolean;
}

/** What stands on the chain of a subscription; null for what does not exist, or is not what should stand there. */
export interface SubscriptionSight {
  subscription: Subscription | null;
  plan: SubscriptionPlan | null;
  authority: SubscriptionAuthority | null;
  holding: TokenHolding | null;
  receiving: TokenHolding | null;
}

/** Why the buyer has to sign again before anything can be collected. */
type ConsentLoss =
  | 'subscription_gone'
  | 'plan_gone'
  | 'plan_ended'
  | 'plan_changed'
  | 'authority_gone'
  | 'authority_renewed'
  | 'delegate_lost';

/** Why nothing arrives although the buyer consents: a matter of money, or of the merchant. */
export type Shortage = 'insufficient_funds' | 'account_frozen' | 'account_missing' | 'receiver_missing' | 'puller_removed';

/** What a subscription's accounts mean at a moment. */
export type Standing =
  /** By the buyer. Nothing is collected any more, even where the program would allow it. */
  | { kind: 'cancelled'; endsAt: bigint }
  | { kind: 'lost'; reason: ConsentLoss }
  /** The period is paid, by us or by the plan's owner. */
  | { kind: 'paid'; period: Period }
  | { kind: 'short'; reason: Shortage; period: Period }
  | { kind: 'collectable'; period: Period };

/** Where the accounts stand that `readSight` takes, in its order. */
export const sightAddresses = ({ plan, subscriber, mint, receiver }: CollectionRoute): Address[] => [
  findSubscriptionAddress(plan, subscriber).address,
  plan,
  findAuthorityAddress(subscriber, mint).address,
  associatedTokenAddress(subscriber, mint, TOKEN_PROGRAM as Address),
  associatedTokenAddress(receiver, mint, TOKEN_PROGRAM as Address),
];

/** Reads the accounts of `sightAddresses`, all of one moment. */
export function readSight([subscription, plan, authority, holding, receiving]: readonly (ChainAccount | null)[]): SubscriptionSight {
  return {
    subscription: owned(subscription, decodeSubscription),
    plan: readPlanAccount(plan),
    authority: owned(authority, decodeAuthority),
    holding: readHolding(holding),
    receiving: readHolding(receiving),
  };
}

/** The plan at an address; null where none stands there. */
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
 * What the accounts of a subscription mean at `now`, in seconds: whether its whole price can be collected, and if not, whose it is to
 * mend that. Says the same as the program would of the collection. (subscriptions program 0.4.0, transferSubscription)
 */
export function standingOf(sight: SubscriptionSight, route: CollectionRoute, now: bigint): Standing {
  const { subscription, plan } = sight;
  if (subscription === null) return { kind: 'lost', reason: 'subscription_gone' };
  if (subscription.expiresAtTs !== 0n) return { kind: 'cancelled', endsAt: subscription.expiresAtTs };
  if (plan === null) return { kind: 'lost', reason: 'plan_gone' };
  const reason = findLoss({ ...sight, subscription, plan }, route, now);
  if (reason !== null) return { kind: 'lost', reason };
  const period = periodAt(subscription, plan, now > subscription.currentPeriodStartTs ? now : subscription.currentPeriodStartTs);
  // The plan's owner may have collected a part of it: what is left is no whole price, and is never asked for.
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
  // Without a token account nothing was taken back: one that is made anew lacks the approval, and is seen then.
  if (holding === null || holding.isFrozen) return null;
  return isDelegate(holding, route, subscription.amount) ? null : 'delegate_lost';
}

const isDelegate = ({ delegate, delegatedAmount }: TokenHolding, { subscriber, mint }: CollectionRoute, amount: bigint): boolean =>
  delegate === findAuthorityAddress(subscriber, mint).address && delegatedAmount >= amount;

/** True where the buyer's authority exists and may move as much as a period costs. */
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
