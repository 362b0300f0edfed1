import { eq, sql } from 'drizzle-orm';
import type { MeteredSessionId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import { channelClaim } from '#platform/db/fate.ts';
import { type MeteredSessionRow, meteredSessions } from '#platform/db/tables/settlements.ts';

/** Of these transactions those whose payout of a channel is written down, or will be: our own, which are claimed before they are sent. */
export async function listBooked(db: Db, channelId: string, signatures: readonly string[]): Promise<Set<string>> {
  const listed = signatures.map((signature) => ({ signature, claim: channelClaim(signature, channelId) }));
  const rows = await db.all<{
    signature: string;
  }>(sql`SELECT j.value ->> 'signature' AS signature FROM json_each(${JSON.stringify(listed)}) j
    WHERE EXISTS (SELECT 1 FROM tx_claims c WHERE c.livemode = 1 AND c.kind = 'metered'
      AND (c.message_hash = j.value ->> 'claim' OR (c.tx_signature = j.value ->> 'signature' AND instr(c.message_hash, ':') = 0)))`);
  return new Set(rows.map(({ signature }) => signature));
}

type Place = Partial<Pick<MeteredSessionRow, 'payoutSeen' | 'payoutSeenTx' | 'payoutReadTx'>>;

/** How far the transactions of a session's channel were looked up. */
export async function notePlace({ db }: Shard, { sessionId }: { sessionId: string }, place: Place): Promise<void> {
  await db
    .update(meteredSessions)
    .set(place)
    .where(eq(meteredSessions.id, sessionId as MeteredSessionId));
}
