import { unixSeconds } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import {
  type CollectionRoute,
  readSight,
  type Standing,
  type SubscriptionSight,
  sightAddresses,
  standingOf,
} from '#solana/programs/subscriptions/standing.ts';

/** What the chain shows of a subscription, all of one moment, and what it means now. */
export interface SubscriptionLook {
  sight: SubscriptionSight;
  standing: Standing;
}

/** A node answers a hundred accounts at once, and a subscription has five. */
const LOOKS_MAX = 20;

/**
 * Looks at subscriptions, twenty with each call of a node. null where no node answered: nothing is known of those, and nothing may be
 * concluded.
 */
export async function lookAtSubscriptions(ctx: Ctx, routes: readonly CollectionRoute[]): Promise<(SubscriptionLook | null)[]> {
  const groups = Array.from({ length: Math.ceil(routes.length / LOOKS_MAX) }, (_, at) =>
    routes.slice(at * LOOKS_MAX, (at + 1) * LOOKS_MAX),
  );
  return (await Promise.all(groups.map((group) => lookAtGroup(ctx, group)))).flat();
}

async function lookAtGroup(ctx: Ctx, routes: readonly CollectionRoute[]): Promise<(SubscriptionLook | null)[]> {
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
    return { sight, standing: standingOf(sight, route, BigInt(unixSeconds(ctx.now))) };
  });
}
