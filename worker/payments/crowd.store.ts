import { sql } from 'drizzle-orm';
import type { Ctx, Db } from '../context.ts';
import { ApiError } from '../core/errors.ts';
import type { ProductId } from '../core/ids.ts';
import { vetoIf, type Write } from '../db/commit.ts';

/** How many sessions of a product may be open before a stranger can begin no other. */
const OPEN_SESSIONS_MAX = 1000;

const isCrowded = (productId: ProductId) =>
  sql`EXISTS (SELECT 1 FROM open_sessions WHERE product_id = ${productId} AND count >= ${OPEN_SESSIONS_MAX})`;

/** A statement, not an effect: refuses one more session while so many of the product are open. */
export const vetoCrowd = (ctx: Ctx, productId: ProductId): Write => vetoIf(ctx, isCrowded(productId));

/** What the veto of a crowded product means to a buyer. 429 rate_limited. */
export async function requireRoom(db: Db, productId: ProductId): Promise<void> {
  const crowd = await db.get<{ isCrowded: number }>(sql`SELECT ${isCrowded(productId)} AS isCrowded`);
  if (crowd.isCrowded === 0) return;
  throw new ApiError('rate_limited', {
    detail: 'Too many checkouts of this product are open. One ends every moment; try again.',
    retryAfterSeconds: 30,
    meta: { reason: 'open_sessions', limit: OPEN_SESSIONS_MAX },
  });
}
