import type { Ctx } from '../context.ts';
import { MINUTE } from '../core/time.ts';
import { associatedTokenAccount } from '../solana/checkout-transaction.ts';

/** A token account that was there stays, all but always; so it is asked for again only after a while. */
const SEEN_FOR_MS = 10 * MINUTE;
const SEEN_MAX = 10_000;
const seen = new Map<string, number>();

/** Does this token account exist? null where the node does not answer. `isFresh`: asked now, whatever was seen before. */
export async function tokenAccountExists(ctx: Ctx, ata: string, isFresh = false): Promise<boolean | null> {
  const place = `${ctx.config.RPC_URL} ${ata}`;
  if (!isFresh && ctx.now - (seen.get(place) ?? Number.NEGATIVE_INFINITY) < SEEN_FOR_MS) return true;
  const answer = await ctx.chain.prepare([ata]);
  if (answer.kind === 'unavailable') {
    ctx.note(`rpc: ${answer.reason}`);
    return null;
  }
  const exists = answer.exists[0] === true;
  if (seen.size >= SEEN_MAX) seen.clear();
  if (exists) seen.set(place, ctx.now);
  else seen.delete(place);
  return exists;
}

export const payoutAccountExists = async (ctx: Ctx, wallet: string, isFresh = false): Promise<boolean | null> =>
  tokenAccountExists(ctx, await associatedTokenAccount(wallet, ctx.config.network.usdcMint), isFresh);
