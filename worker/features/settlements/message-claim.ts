import { formatErrorChain, objectAway } from '#core/errors.ts';
import { type AccountId, partitionOf } from '#core/ids.ts';
import { DAY } from '#core/time.ts';
import type { Shard } from '#platform/context.ts';
import { admissionObject } from '#platform/objects.ts';

/** Longer than an unsent message can still land. A landed message fails its simulation. */
const MESSAGE_CLAIMED_MS = DAY;

/** The service signs a message with one signature, so the transaction names it. */
interface Message {
  merchantId: AccountId;
  livemode: boolean;
  txSignature: string;
}

/** The claim belongs to the partition, not the request, so a retry succeeds after a crash, and after the partition has moved. */
const ownerOf = ({ merchantId }: Message): string => `partition ${partitionOf(merchantId)}`;

/**
 * Claims a message for the partition of its merchant in a shared object. Each database knows only its own claims, and accounts of several
 * databases may use one wallet.
 */
export const isOfThisPartition = (ctx: Shard, message: Message): Promise<boolean> =>
  isShared(ctx, message)
    ? askObject(ctx, message, async (object) => {
        const claim = { windowMs: MESSAGE_CLAIMED_MS, now: ctx.wallNow };
        return (await object.claimMessage(ownerOf(message), claim)) === ownerOf(message);
      })
    : Promise.resolve(true);

/** True if another partition has claimed the message. Claims nothing. */
export const isOfAnotherPartition = (ctx: Shard, message: Message): Promise<boolean> =>
  isShared(ctx, message)
    ? askObject(ctx, message, async (object) => ![null, ownerOf(message)].includes(await object.messageOwner()))
    : Promise.resolve(false);

const isShared = (ctx: Shard, { livemode }: Message): boolean => livemode && ctx.databases.length > 1;

async function askObject<T>(
  ctx: Shard,
  { txSignature }: Message,
  ask: (object: ReturnType<typeof admissionObject>) => Promise<T>,
): Promise<T> {
  try {
    return await ask(admissionObject(ctx, `message:${txSignature}`));
  } catch (error) {
    ctx.note(`object: ${formatErrorChain(error)}`);
    throw objectAway(error);
  }
}
