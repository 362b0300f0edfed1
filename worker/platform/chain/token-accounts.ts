import { Memory } from '#core/isolate/memory.ts';
import { MINUTE, SECOND } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';

/** Cache time of an existing token account, which almost never disappears. */
const SEEN_FOR_MS = 10 * MINUTE;
const SEEN_MAX = 10_000;
const seen = new Memory<string, number>(SEEN_MAX);
/** Cache time of a missing token account, which the merchant may be opening. A readiness check clears the entry at once. */
const MISSING_FOR_MS = 30 * SECOND;
const missing = new Memory<string, number>(SEEN_MAX);
/** Timeout of the node call, and pause after a node hangs. */
const AWAY_FOR_MS = 5 * SECOND;
const ASK_MS = 1500;
const away = new Memory<string, number>(SEEN_MAX);

type Trust = 'all' | 'presence' | 'nothing';

/** Checks whether a token account exists. If the node does not answer, returns true if a trusted earlier answer did, else null. */
export async function tokenAccountExists(ctx: Ctx, ata: string, trust: Trust): Promise<boolean | null> {
  const cacheKey = `${ctx.chain.cachePrefix} ${ata}`;
  if (trust !== 'nothing' && ctx.wallNow - (seen.get(cacheKey) ?? Number.NEGATIVE_INFINITY) < SEEN_FOR_MS) return true;
  if (trust === 'all' && ctx.wallNow < (missing.get(cacheKey) ?? 0)) return false;
  const asLastSeen = seen.has(cacheKey) && trust !== 'nothing' ? true : null;
  if (trust !== 'nothing' && ctx.wallNow < (away.get(cacheKey) ?? 0)) return asLastSeen;
  const answer = await ctx.chain.within(ASK_MS).prepare([ata]);
  if (answer.kind === 'unavailable') {
    ctx.note(`rpc: ${answer.reason}`);
    away.set(cacheKey, ctx.wallNow + AWAY_FOR_MS);
    return asLastSeen;
  }
  away.delete(cacheKey);
  const exists = answer.exists[0] === true;
  if (exists) {
    seen.set(cacheKey, ctx.wallNow);
    missing.delete(cacheKey);
  } else {
    seen.delete(cacheKey);
    if (trust === 'all') missing.set(cacheKey, ctx.wallNow + MISSING_FOR_MS);
    else missing.delete(cacheKey);
  }
  return exists;
}

export const payoutAccountExists = async (ctx: Ctx, wallet: string, trust: Trust): Promise<boolean | null> =>
  tokenAccountExists(ctx, await associatedTokenAccount(wallet, ctx.config.network.usdcMint), trust);
