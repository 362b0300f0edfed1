import { Memory } from '#core/isolate/memory.ts';
import { MINUTE, SECOND } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';

/** A token account that was there stays, all but always; so it is asked for again only after a while. */
const SEEN_FOR_MS = 10 * MINUTE;
const SEEN_MAX = 10_000;
const seen = new Memory<string, number>(SEEN_MAX);
/** One that is not there is asked for again soon: its merchant may be opening it. A readiness check forgets it at once, so that the next denial asks the node again. */
const MISSING_FOR_MS = 30 * SECOND;
const missing = new Memory<string, number>(SEEN_MAX);
/** A node that hangs is not asked for a while, and a request waits only this long for it. */
const AWAY_FOR_MS = 5 * SECOND;
const ASK_MS = 1500;
const away = new Memory<string, number>(SEEN_MAX);

/** What is believed of an earlier answer: whatever it was, only that the account was there, or nothing. */
type Trust = 'all' | 'presence' | 'nothing';

/** Whether this token account exists. Where the node does not answer: true if an earlier answer said so and is trusted, else null. */
export async function tokenAccountExists(ctx: Ctx, ata: string, trust: Trust): Promise<boolean | null> {
  const place = `${ctx.chain.place} ${ata}`;
  if (trust !== 'nothing' && ctx.wallNow - (seen.get(place) ?? Number.NEGATIVE_INFINITY) < SEEN_FOR_MS) return true;
  if (trust === 'all' && ctx.wallNow < (missing.get(place) ?? 0)) return false;
  const asLastSeen = seen.has(place) && trust !== 'nothing' ? true : null;
  if (trust !== 'nothing' && ctx.wallNow < (away.get(place) ?? 0)) return asLastSeen;
  const answer = await ctx.chain.within(ASK_MS).prepare([ata]);
  if (answer.kind === 'unavailable') {
    ctx.note(`rpc: ${answer.reason}`);
    away.set(place, ctx.wallNow + AWAY_FOR_MS);
    return asLastSeen;
  }
  away.delete(place);
  const exists = answer.exists[0] === true;
  if (exists) {
    seen.set(place, ctx.wallNow);
    missing.delete(place);
  } else {
    seen.delete(place);
    if (trust === 'all') missing.set(place, ctx.wallNow + MISSING_FOR_MS);
    else missing.delete(place);
  }
  return exists;
}

export const payoutAccountExists = async (ctx: Ctx, wallet: string, trust: Trust): Promise<boolean | null> =>
  tokenAccountExists(ctx, await associatedTokenAccount(wallet, ctx.config.network.usdcMint), trust);
