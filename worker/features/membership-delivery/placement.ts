import { formatErrorChain } from '#core/errors.ts';
import type { MembershipId } from '#core/ids.ts';
import { findCommunity } from '#features/connected-chats/store.ts';
import type { Shard } from '#platform/context.ts';
import { globalOf } from '#platform/db/directory.ts';
import { PLATFORMS } from '#platform/providers/messaging/registry.ts';
import { communityOf, type DeliveryTarget, type IdentityProvider } from '#rules/payment-terms.ts';

/** Clock of deliveries: wall time, or the clock of a sandbox session. */
export const timeOf = ({ sandbox, now, wallNow }: Shard): number => (sandbox ? now : wallNow);

export const retrySecondsOf = ({ config }: Shard): number[] => config.DELIVERY_RETRY_SECONDS.split(',').map(Number);

/** True if this account claimed the chat or guild. In a sandbox the target need not exist. */
export async function isOwnTarget(ctx: Shard, accountId: string, livemode: boolean, target: DeliveryTarget): Promise<boolean> {
  if (!livemode) return true;
  return (await findCommunity(globalOf(ctx).db, target.provider, communityOf(target)))?.accountId === accountId;
}

const MESSAGES_MAX = 100;

export async function sendPlacements(
  ctx: Shard,
  due: readonly { membershipId: MembershipId; provider: IdentityProvider }[],
): Promise<void> {
  for (const provider of new Set(due.map((one) => one.provider))) {
    const theirs = due.filter((one) => one.provider === provider);
    const messages = theirs.map(({ membershipId }) => ({ body: { membershipId, requestId: ctx.cause } }));
    for (let from = 0; from < messages.length; from += MESSAGES_MAX)
      await ctx.env[PLATFORMS[provider].queue]
        .sendBatch(messages.slice(from, from + MESSAGES_MAX))
        .catch((error: unknown) => ctx.note(`queue of ${provider}: ${formatErrorChain(error)}`));
  }
}
