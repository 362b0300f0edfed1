import { eq, sql } from 'drizzle-orm';
import type { MeteredSessionId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { channelPayouts, type MeteredSessionRow, meteredSessions } from '#platform/db/tables/settlements.ts';

/** Of these transactions those whose payout of a channel is written down, or will be: our own, which are claimed before they are sent. */
export async function listBooked(db: Db, channelId: string, signatures: readonly string[]): Promise<Set<string>> {
  const rows = await db.all<{
    signature: string;
  }>(sql`SELECT j.value AS signature FROM json_each(${JSON.stringify(signatures)}) j
    WHERE EXISTS (SELECT 1 FROM channel_payouts p WHERE p.livemode = 1 AND p.tx_signature = j.value AND p.channel_id = ${channelId})
      OR EXISTS (SELECT 1 FROM tx_claims c WHERE c.livemode = 1 AND c.tx_signature = j.value AND c.kind = 'metered')`);
  return new Set(rows.map(({ signature }) => signature));
}

type Booked = Pick<typeof channelPayouts.$inferSelect, 'livemode' | 'channelId' | 'paymentId'>;

/** Fails where one of these transactions is written down already for the channel. */
export const insertPayouts = (
  db: Db,
  { livemode, channelId, paymentId }: Booked,
  payouts: readonly { signature: string; paid: bigint }[],
): Write =>
  db.insert(channelPayouts).select(
    sql`SELECT ${paymentId}, ${livemode}, j.value ->> 0, ${channelId}, j.value ->> 1
      FROM json_each(${JSON.stringify(payouts.map(({ signature, paid }) => [signature, `${paid}`]))}) j`,
  );

type Place = Partial<Pick<MeteredSessionRow, 'payoutSeen' | 'payoutSeenTx' | 'payoutReadTx'>>;

/** How far the transactions of a session's channel were looked up. */
export async function notePlace({ db }: Shard, { sessionId }: { sessionId: string }, place: Place): Promise<void> {
  await db
    .update(meteredSessions)
    .set(place)
    .where(eq(meteredSessions.id, sessionId as MeteredSessionId));
}
