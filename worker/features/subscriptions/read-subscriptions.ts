import { SECOND, unixSeconds } from '#core/time.ts';
import { factsOf } from '#features/authorizations/authorization.ts';
import type { Ctx } from '#platform/context.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import type { ConsentSeen } from '#rules/subscriptions/authorization.ts';
import type { Subscription } from '#solana/programs/subscriptions/subscription.ts';
import {
  type CollectionRoute,
  readSight,
  type SubscriptionSight,
  type SubscriptionState,
  sightAddresses,
  subscriptionStateOf,
} from '#solana/programs/subscriptions/subscription-state.ts';

/** Accounts of a subscription, read in one slot, and their meaning at that moment. */
export interface SubscriptionReading {
  sight: SubscriptionSight;
  state: SubscriptionState;
}

/** A node returns a hundred accounts at once, and a subscription has five. */
const GROUP_SIZE = 20;

/** Reads subscriptions, twenty with each call of a node. An item is null if no node answered. Nothing may be concluded from it. */
export async function readSubscriptions(ctx: Ctx, routes: readonly CollectionRoute[]): Promise<(SubscriptionReading | null)[]> {
  const groups = Array.from({ length: Math.ceil(routes.length / GROUP_SIZE) }, (_, at) =>
    routes.slice(at * GROUP_SIZE, (at + 1) * GROUP_SIZE),
  );
  return (await Promise.all(groups.map((group) => readGroup(ctx, group)))).flat();
}

async function readGroup(ctx: Ctx, routes: readonly CollectionRoute[]): Promise<(SubscriptionReading | null)[]> {
  const addresses = routes.map(sightAddresses);
  const read = await ctx.chain.readAccounts(addresses.flat());
  if (read.kind === 'unavailable') {
    ctx.note(`rpc: ${read.reason}`);
    return routes.map(() => null);
  }
  let from = 0;
  return routes.map((route, at) => {
    const sight = readSight(read.accounts.slice(from, from + addresses[at]!.length));
    from += addresses[at]!.length;
    return { sight, state: subscriptionStateOf(sight, route, BigInt(unixSeconds(ctx.now))) };
  });
}

/** True if the subscription has the terms that the checkout offered. */
export const isAgreed = (row: AuthorizationRow, { amount, periodHours }: Subscription): boolean =>
  amount === row.amount && periodHours === BigInt(row.periodHours);

/**
 * True if the account is the subscription that the authorization collects from. A later one at the same address starts its periods at other
 * moments.
 */
export function isSameSubscription(row: AuthorizationRow, subscription: Subscription): boolean {
  const { startedAt, periodMs } = factsOf(row);
  const passed = Number(subscription.currentPeriodStartTs) * SECOND - startedAt;
  return isAgreed(row, subscription) && passed % periodMs === 0;
}

/** Derives the buyer's consent to an authorization from its accounts. */
export function consentIn(row: AuthorizationRow, { sight, state }: SubscriptionReading): ConsentSeen {
  if (sight.subscription === null || !isSameSubscription(row, sight.subscription)) return 'lost';
  return state.kind === 'cancelled' || state.kind === 'lost' ? state.kind : 'given';
}
