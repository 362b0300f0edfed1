import { formatErrorChain, objectAway } from '#core/errors.ts';
import { DAY } from '#core/time.ts';
import type { Shard } from '#platform/context.ts';
import { admissionObject } from '#platform/objects.ts';

/** Longer than an unsent message can still land. A landed message fails its simulation. */
const MESSAGE_CLAIMED_MS = DAY;

/** The service signs a message with one signature, so the transaction names it. */
interface Message {
  livemode: boolean;
  txSignature: string;
}

/**
 * Claims a message for this database in a shared object. Each database knows only its own claims, and accounts of several databases may use
 * one wallet. The claim belongs to the database, not the request, so a retry after a crash succeeds.
 */
export const isOfThisDatabase = (ctx: Shard, message: Message): Promise<boolean> =>
  isShared(ctx, message)
    ? askObject(ctx, message, async (object) => {
        const claim = { windowMs: MESSAGE_CLAIMED_MS, now: ctx.wallNow };
        return (await object.claimMessage(ctx.database, claim)) === ctx.database;
      })
    : Promise.resolve(true);

/** True if another database has claimed the message. Claims nothing. */
export const isOfAnotherDatabase = (ctx: Shard, message: Message): Promise<boolean> =>
  isShared(ctx, message)
    ? askObject(ctx, message, async (object) => ![null, ctx.database].includes(await object.messageOwner()))
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
