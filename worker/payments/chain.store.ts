import { and, asc, eq, inArray, lte, sql } from 'drizzle-orm';
import type { Ctx, Db } from '../context.ts';
import { cursors, paymentCandidates, payments } from '../db/commerce.ts';
import { vetoUnlessChanged, type Write } from '../db/commit.ts';

export type Cursor = typeof cursors.$inferSelect;

export async function getCursor(db: Db, name: string): Promise<Cursor> {
  const known = await db.select().from(cursors).where(eq(cursors.name, name)).get();
  return known ?? { name, until: null, walkTop: null, walkBefore: null, walkStartedAt: null, passedAt: 0, version: 0 };
}

/** Statements, not effects: the step fails its batch where another walker was faster. */
export const stepCursor = (ctx: Ctx, before: Cursor, after: Cursor): Write[] => [
  ctx.db
    .insert(cursors)
    .values({ ...after, version: before.version + 1 })
    .onConflictDoUpdate({
      target: cursors.name,
      set: { ...after, version: before.version + 1 },
      setWhere: eq(cursors.version, before.version),
    }),
  vetoUnlessChanged(ctx),
];

/**
 * A statement, not an effect: transactions the chain showed us become candidates of the sessions their memos name, unless
 * they were already claimed or recorded. Any number in one parameter.
 */
export const insertFound = (ctx: Ctx, found: { signature: string; nonce: string }[], dueAt: number): Write =>
  ctx.db
    .insert(paymentCandidates)
    .select(
      sql`SELECT p.id, j.value ->> 'signature', 'found', 0, ${dueAt}, ${ctx.now}
        FROM json_each(${JSON.stringify(found)}) j JOIN payments p ON p.nonce = j.value ->> 'nonce' AND p.recovers_payment_id IS NULL AND p.reference <> ''
        WHERE NOT EXISTS (SELECT 1 FROM tx_claims c WHERE c.tx_signature = j.value ->> 'signature' AND c.livemode = p.livemode)
          AND NOT EXISTS (SELECT 1 FROM unmatched_payments u WHERE u.tx_signature = j.value ->> 'signature')`,
    )
    .onConflictDoUpdate({
      target: [paymentCandidates.paymentId, paymentCandidates.txSignature],
      set: { origin: 'found', attempt: 0, nextCheckAt: dueAt, createdAt: ctx.now },
    });

/** Unfinished sessions past `expiredBefore`, oldest first, with what came in for them; those still being looked at are left alone. */
export const listExpired = (db: Db, expiredBefore: number, abandonedBefore: number, limit: number) =>
  db
    .select({
      id: payments.id,
      isShort: sql<number>`EXISTS (SELECT 1 FROM unmatched_payments u WHERE u.payment_id = payments.id AND u.reason = 'underpaid')`,
    })
    .from(payments)
    .where(
      and(
        inArray(payments.status, ['PENDING_SIGNATURE', 'PENDING_CONFIRMATION']),
        lte(payments.expiresAt, expiredBefore),
        sql`(${payments.expiresAt} <= ${abandonedBefore} OR NOT EXISTS (SELECT 1 FROM payment_candidates c WHERE c.payment_id = payments.id AND c.origin = 'found'))`,
      ),
    )
    .orderBy(asc(payments.expiresAt))
    .limit(limit);
