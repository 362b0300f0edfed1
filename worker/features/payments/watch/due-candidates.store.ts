import { and, eq, lte, sql } from 'drizzle-orm';
import { isOfPaymentInReach } from '#platform/chain/reach.store.ts';
import type { Db, Shard } from '#platform/context.ts';
import { type Candidate, paymentCandidates } from '#platform/db/tables/candidates.ts';

/**
 * Candidates of one origin that are due. Where more are due than fit, half of the places go round among the merchants, so that the flood of
 * one takes no other's share, and half to those due longest, so that each comes to its turn.
 */
export async function listDueCandidates(
  ctx: Shard,
  origin: Exclude<Candidate['origin'], 'judged'>,
  dueBefore: number,
  limit: number,
): Promise<Candidate[]> {
  const longest = await listDueLongest(ctx, origin, dueBefore, limit);
  if (longest.length < limit || origin === 'sent' || ctx.sandbox !== null) return longest;
  const shared = await listDueShared(ctx.db, origin, dueBefore, Math.floor(limit / 2));
  const nameOf = ({ paymentId, txSignature }: Candidate) => `${paymentId} ${txSignature}`;
  return [...new Map([...shared, ...longest].map((one) => [nameOf(one), one])).values()].slice(0, limit);
}

/** Merchants that one read goes round among, and rows it takes of each. */
const MERCHANTS_MAX = 1000;
const OF_MERCHANT_MAX = 10;

/** The first of each merchant, then the second of each: about three rows are read for a merchant, and one for each that it has due. */
function listDueShared(db: Db, origin: 'found' | 'named', dueBefore: number, limit: number): Promise<Candidate[]> {
  // As the index has it, word for word.
  const isOf = sql`livemode = 1 AND origin IN ('found', 'named') AND origin = ${origin}`;
  const from = sql`FROM payment_candidates WHERE ${isOf}`;
  const first = sql`SELECT rowid ${from} AND merchant_id = m.id AND next_check_at <= ${dueBefore} ORDER BY next_check_at LIMIT ${OF_MERCHANT_MAX}`;
  const turns = sql`WITH RECURSIVE m(id) AS (SELECT (SELECT min(merchant_id) ${from})
      UNION ALL SELECT (SELECT min(merchant_id) ${from} AND merchant_id > m.id) FROM m WHERE m.id IS NOT NULL LIMIT ${MERCHANTS_MAX})
    SELECT c.rowid FROM m CROSS JOIN payment_candidates c ON c.rowid IN (${first})
    ORDER BY row_number() OVER (PARTITION BY m.id ORDER BY c.next_check_at), c.next_check_at LIMIT ${limit}`;
  return db.select().from(paymentCandidates).where(sql`rowid IN (${turns})`).all();
}

const listDueLongest = (ctx: Shard, origin: Candidate['origin'], dueBefore: number, limit: number): Promise<Candidate[]> =>
  ctx.db
    .select()
    .from(paymentCandidates)
    .where(and(eq(paymentCandidates.origin, origin), lte(paymentCandidates.nextCheckAt, dueBefore), isOfPaymentInReach(ctx, 'payment_id')))
    .orderBy(paymentCandidates.nextCheckAt)
    .limit(limit)
    .all();
