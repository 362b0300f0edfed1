import { storyOf } from '#core/errors.ts';
import type { MembershipId } from '#core/ids.ts';
import { findCommunity } from '#features/communities/store.ts';
import { addressOf, type Shard } from '#platform/context.ts';
import { globalOf } from '#platform/db/directory.ts';
import { PLATFORMS } from '#platform/providers/messaging/registry.ts';
import { communityOf, type DeliveryPlace, type IdentityProvider } from '#rules/payment-terms.ts';

/** Delivery goes by wall time; in a session of the sandbox by its clock. */
export const timeOf = ({ sandbox, now, wallNow }: Shard): number => (sandbox ? now : wallNow);

/** Waits between attempts. */
export const retrySecondsOf = ({ config }: Shard): number[] => config.DELIVERY_RETRY_SECONDS.split(',').map(Number);

/** True where this account claimed the chat or guild of a place. What a sandbox names exists nowhere. */
export async function isOwnPlace(ctx: Shard, accountId: string, livemode: boolean, place: DeliveryPlace): Promise<boolean> {
  if (!livemode) return true;
  return (await findCommunity(globalOf(ctx).db, place.provider, communityOf(place)))?.accountId === accountId;
}

const MESSAGES_MAX = 100;

/** Hands placements to the queues of their platforms. What is lost here the sweep finds. */
export async function sendPlacements(
  ctx: Shard,
  due: readonly { membershipId: MembershipId; provider: IdentityProvider }[],
): Promise<void> {
  for (const provider of new Set(due.map((one) => one.provider))) {
    const theirs = due.filter((one) => one.provider === provider);
    const messages = theirs.map(({ membershipId }) => ({ body: { membershipId, requestId: ctx.cause, ...addressOf(ctx) } }));
    for (let from = 0; from < messages.length; from += MESSAGES_MAX)
      await ctx.env[PLATFORMS[provider].queue]
        .sendBatch(messages.slice(from, from + MESSAGES_MAX))
        .catch((error: unknown) => ctx.note(`queue of ${provider}: ${storyOf(error)}`));
  }
}
