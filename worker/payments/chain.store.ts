import { and, asc, eq, inArray, lte, sql } from 'drizzle-orm';
import type { Ctx, Db } from '../context.ts';
import { cursors } from '../db/candidates.ts';
import { payments } from '../db/commerce.ts';
import { vetoUnlessChanged, type Write } from '../db/commit.ts';

export type Cursor = typeof cursors.$inferSelect;

/** How far the transactions with the service's reference key are read: `newest` from the top, `backlog` what its walks did not get to. */
export interface Walks {
  newest: Cursor;
  backlog: Cursor;
}

const NEWEST = 'service-reference';
const BACKLOG = 'service-reference-backlog';

export async function loadWalks(db: Db): Promise<Walks> {
  const known = await db
    .select()
    .from(cursors)
    .where(inArray(cursors.name, [NEWEST, BACKLOG]));
  const named = (name: string): Cursor =>
    known.find((cursor) => cursor.name === name) ?? {
      name,
      until: null,
      walkTop: null,
      walkBefore: null,
      walkStartedAt: null,
      passedAt: 0,
      version: 0,
    };
  return { newest: named(NEWEST), backlog: named(BACKLOG) };
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
 * Unfinished sessions that are certainly over at `endedBy` (epoch ms), late grace included, oldest first, with what came in for
 * them. Those for which something was found and has no verdict are left alone, until they ended before `abandonedBefore`.
 */
export function listExpired(
  db: Db,
  { endedBy, graceMs, abandonedBefore }: { endedBy: number; graceMs: number; abandonedBefore: number },
  limit: number,
) {
  const isUnfinished = sql`status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION')`;
  // The `+` has the database search the few candidates of the payment, and not all rows of that origin.
  const isCertain = sql`(expires_at + late_grace_seconds * 1000 <= ${endedBy}
    AND NOT EXISTS (SELECT 1 FROM payment_candidates c WHERE c.payment_id = payments.id AND +c.origin = 'found'))`;
  return db
    .select({
      id: payments.id,
      isShort: sql<number>`EXISTS (SELECT 1 FROM unmatched_payments u WHERE u.payment_id = payments.id AND u.reason = 'underpaid')`,
    })
    .from(payments)
    .where(
      and(
        isUnfinished,
        // Bounds the search; which grace a session has is its own.
        lte(payments.expiresAt, Math.max(endedBy - graceMs, abandonedBefore)),
        sql`(${payments.expiresAt} <= ${abandonedBefore} OR ${isCertain})`,
      ),
    )
    .orderBy(asc(payments.expiresAt))
    .limit(limit);
}
