import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { MeteredSessionId } from '#core/ids.ts';
import { UNOPENED_SESSIONS_MAX } from '#core/limits.ts';
import { HOUR, MINUTE } from '#core/time.ts';
import { clockFilter } from '#platform/chain/clock-filter.store.ts';
import type { Shard } from '#platform/context.ts';
import { amongIds, boundId } from '#platform/db/among.ts';
import type { Write } from '#platform/db/commit.ts';
import { isAmongRows, listDueInTurns } from '#platform/db/sweeps.ts';
import { type MeteredSessionRow, meteredSessions } from '#platform/db/tables/settlements.ts';
import { backstopAt, OPENING_DEAD_MS } from '../store.ts';

/** Vouchers that end within this time are taken first. */
const EXPIRING_MS = HOUR;

/**
 * Classes of due sessions, each with its own index and sweep. `closing`: a payer's grace period may be running, or a voucher ends soon.
 * `active`: open channels. `opening`: openings without a caller. `ended`: closed channels with money or rent left.
 */
const CLASSES = {
  closing: { is: "status = 'closing'", byMerchant: 'metered_sessions_closing_by_merchant' },
  active: { is: "status = 'open'", byMerchant: 'metered_sessions_active_by_merchant' },
  // Without `byTime` the planner takes the unique index of channels.
  opening: {
    is: "status = 'created' AND channel_id IS NOT NULL",
    byTime: 'metered_sessions_opening',
    byMerchant: 'metered_sessions_opening_by_merchant',
  },
  ended: { is: 'ended_at IS NOT NULL', byMerchant: 'metered_sessions_ended_by_merchant' },
} as const;
export type DueClass = keyof typeof CLASSES;

const IS_WAITING = 'next_check_at IS NOT NULL';

function listDue(ctx: Shard, dueClass: DueClass, limit: number): Promise<number[]> {
  const { is, ...indexes } = CLASSES[dueClass];
  const isDue = sql.raw(`${is} AND ${IS_WAITING}`);
  const waiting = { table: meteredSessions, at: meteredSessions.nextCheckAt, isLive: sql`${isDue} AND livemode = 1`, ...indexes };
  return listDueInTurns(ctx, waiting, { matchesClock: sql`${isDue} AND ${clockFilter(ctx)}`, dueBefore: ctx.now, limit });
}

/** Lists sessions with unsettled vouchers by the end of the voucher. An order by `next_check_at` would read all due rows. */
const listExpiring = async (ctx: Shard, limit: number): Promise<number[]> => {
  const rows = await ctx.db.all<{
    id: number;
  }>(sql`SELECT rowid AS id FROM metered_sessions INDEXED BY metered_sessions_expiring
    WHERE status = 'open' AND voucher_ends_at IS NOT NULL AND cumulative <> settled
    AND voucher_ends_at > ${ctx.now} AND voucher_ends_at <= ${ctx.now + EXPIRING_MS} AND next_check_at <= ${ctx.now} AND ${clockFilter(ctx)} ORDER BY voucher_ends_at LIMIT ${limit}`);
  return rows.map(({ id }) => id);
};

/** Takes sessions and postpones them in one statement, so that concurrent sweeps take different ones. */
const takeWhere = ({ db, now }: Shard, condition: SQL): Promise<MeteredSessionRow[]> =>
  db
    .update(meteredSessions)
    .set({ nextCheckAt: backstopAt(now) })
    .where(condition)
    .returning();

/** Takes due sessions of a class, round-robin by merchant. Vouchers that end soon get up to half of the `closing` class. */
export async function takeDueSessions(ctx: Shard, dueClass: DueClass, max: number): Promise<MeteredSessionRow[]> {
  const expiring = dueClass === 'closing' ? await listExpiring(ctx, Math.ceil(max / 2)) : [];
  const due = await listDue(ctx, dueClass, max - expiring.length);
  return takeWhere(ctx, sql`${isAmongRows([...expiring, ...due])} AND next_check_at <= ${ctx.now} AND ${clockFilter(ctx)}`);
}

/** Takes due sessions of every class on one sandbox clock. */
export const takeDueInSandbox = (ctx: Shard, max: number): Promise<MeteredSessionRow[]> =>
  takeWhere(
    ctx,
    sql`id IN (SELECT id FROM metered_sessions WHERE (status <> 'created' OR channel_id IS NOT NULL) AND ${sql.raw(IS_WAITING)}
      AND next_check_at <= ${ctx.now} AND ${clockFilter(ctx)} ORDER BY next_check_at LIMIT ${max})`,
  );

/** Takes the sessions that their objects' alarms named, if anything of their channels is left. */
export const takeSessions = (ctx: Shard, ids: readonly string[]): Promise<MeteredSessionRow[]> =>
  takeWhere(ctx, sql`${amongIds(meteredSessions.id, ids)} AND next_check_at IS NOT NULL`);

/** Sessions that were never opened have no object. Their rows end under a condition that a concurrent opening breaks. */
const UNOPENED = "status = 'created' AND channel_id IS NULL";

const endedAs = (now: number, status: 'closed' | 'expired') => ({
  status,
  endedAt: now,
  nextCheckAt: null,
  updatedAt: now,
  version: sql`version + 1`,
});

const endRows = ({ db, now }: Shard, status: 'closed' | 'expired', condition: SQL) =>
  db.update(meteredSessions).set(endedAs(now, status)).where(condition);

/** Expires up to `max` sessions that were not opened in time. Returns how many. */
export async function expireUnopened(ctx: Shard, max: number): Promise<number> {
  // Without `INDEXED BY` the planner takes the index of channels, where all of these share one key.
  const due = sql`SELECT id FROM metered_sessions INDEXED BY metered_sessions_unopened WHERE ${sql.raw(UNOPENED)} AND next_check_at IS NOT NULL AND next_check_at <= ${ctx.now}
    AND ${clockFilter(ctx)} ORDER BY next_check_at LIMIT ${max}`;
  const { meta } = await endRows(ctx, 'expired', sql`id IN (${due})`).run();
  return meta.changes;
}

/** Closes the oldest unopened sessions of a product beyond `UNOPENED_SESSIONS_MAX`. */
export const closeExcess = (ctx: Shard, { productId }: Pick<MeteredSessionRow, 'productId'>): Write => {
  const beyond = sql`SELECT id FROM metered_sessions INDEXED BY metered_sessions_unopened_by_product WHERE product_id = ${boundId(productId)} AND ${sql.raw(UNOPENED)}
    ORDER BY created_at DESC LIMIT 10 OFFSET ${UNOPENED_SESSIONS_MAX}`;
  return endRows(ctx, 'closed', sql`id IN (${beyond})`);
};

/** Time after which an opening is lost: its blockhash ended, and the watch has read its channel since. */
const OPENING_LOST_MS = OPENING_DEAD_MS + 2 * MINUTE;

/** Closes a session without a channel. Returns null if an opening is under way, or the session is over. */
export async function closeUnopened(ctx: Shard, sessionId: string): Promise<MeteredSessionRow | null> {
  const isFree = sql`status = 'created' AND (channel_id IS NULL OR updated_at <= ${ctx.now - OPENING_LOST_MS})`;
  const [row = null] = await endRows(ctx, 'closed', sql`id = ${sessionId} AND ${isFree}`).returning();
  return row;
}

/** Expires a session that was never opened, unless an opening was noted since the row was read. */
export async function expireOpening(ctx: Shard, { id, channelId, updatedAt }: MeteredSessionRow): Promise<boolean> {
  const isSame = sql`status = 'created' AND channel_id IS ${channelId} AND updated_at = ${updatedAt}`;
  const { meta } = await endRows(ctx, 'expired', and(eq(meteredSessions.id, id as MeteredSessionId), isSame)!).run();
  return meta.changes === 1;
}
