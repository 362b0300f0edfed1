import { sql } from 'drizzle-orm';
import { ApiError } from '#core/errors.ts';
import type { ProductId } from '#core/ids.ts';
import { OPEN_SESSIONS_MAX } from '#core/limits.ts';
import type { Db, Shard } from '#platform/context.ts';
import { vetoIf, type Write } from '#platform/db/commit.ts';

const isCrowded = (productId: ProductId) =>
  sql`EXISTS (SELECT 1 FROM open_sessions WHERE product_id = ${productId} AND count >= ${OPEN_SESSIONS_MAX})`;

/** Refuses one more session while so many of the product are open. */
export const vetoCrowd = (ctx: Shard, productId: ProductId): Write => vetoIf(ctx, isCrowded(productId));

/** What the veto of a crowded product means to a buyer. 429 plan_limit_reached. */
export async function requireRoom(db: Db, productId: ProductId): Promise<void> {
  const crowd = await db.get<{ isCrowded: number }>(sql`SELECT ${isCrowded(productId)} AS isCrowded`);
  if (crowd.isCrowded === 0) return;
  throw new ApiError('plan_limit_reached', {
    detail: 'Too many checkouts of this product are open. There is room again when some of them end.',
    meta: { reason: 'open_sessions', limit: OPEN_SESSIONS_MAX, used: OPEN_SESSIONS_MAX },
  });
}
