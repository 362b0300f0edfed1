import type { Scope } from '#platform/context.ts';
import type { MeteredSessionRow } from '#platform/db/tables/settlements.ts';
import type { ChainAccount } from '#solana/chain.ts';
import { openFromChain } from '../buyer/open.ts';
import type { Look } from '../channel/look.ts';
import { releaseChannel } from '../session.ts';
import { isNoted, OPENING_DEAD_MS } from '../store.ts';
import { expireOpening } from './unopened.store.ts';

interface Opening {
  ctx: Scope;
  row: MeteredSessionRow;
  channelId: string | null;
  look: Look | null;
  account: ChainAccount | null;
}

/**
 * An opening that was noted and whose caller went away: its channel opens the session, or its session ends with the time to open it. The
 * row ends first, under a condition that a later opening breaks, so that nothing is sent for a session that is over.
 */
export async function followOpening({ ctx, row, channelId, look, account }: Opening): Promise<void> {
  if (account && isNoted(row) && (await openFromChain(ctx, row, account))) return;
  const mayLand = look === null || ctx.now < row.updatedAt + OPENING_DEAD_MS;
  if (ctx.now < row.expiresAt || (row.livemode && mayLand)) return;
  // What was broadcast and never landed is claimed still.
  if ((await expireOpening(ctx, row)) && channelId !== null)
    await releaseChannel(ctx, { sessionId: row.id, livemode: row.livemode }, channelId);
}
