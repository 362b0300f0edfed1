import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { MeteredSessionId } from '#core/ids.ts';
import { OPEN_SESSIONS_MAX } from '#core/limits.ts';
import { HOUR, MINUTE } from '#core/time.ts';
import { inReach } from '#platform/chain/reach.store.ts';
import type { Shard } from '#platform/context.ts';
import { amongIds } from '#platform/db/among.ts';
import type { Write } from '#platform/db/commit.ts';
import { isAmongRows, listDueInTurns } from '#platform/db/sweeps.ts';
import { type MeteredSessionRow, meteredSessions } from '#platform/db/tables/settlements.ts';
import { backstopAt, OPENING_DEAD_MS } from '../store.ts';

/** A voucher that ends within this time is settled before others are looked at. */
const EXPIRING_MS = HOUR;

/**
 * Classes of work, each with an index and a sweep of its own. `closing`: channels whose payer's grace period may be running, and vouchers
 * that end soon. `standing`: open channels. `opening`: openings whose caller went away. `ended`: what a closed channel has left.
 */
const CLASSES = {
  closing: { is: "status = 'closing'", byMerchant: 'metered_sessions_closing_by_merchant' },
  standing: { is: "status = 'open'", byMerchant: 'metered_sessions_standing_by_merchant' },
  // The planner would take the unique index of channels for any live row that has one.
  opening: {
    is: "status = 'created' AND channel_id IS NOT NULL",
    byTime: 'metered_sessions_opening',
    byMerchant: 'metered_sessions_opening_by_merchant',
  },
  ended: { is: 'ended_at IS NOT NULL', byMerchant: 'metered_sessions_ended_by_merchant' },
} as const;
export type DueClass = keyof typeof CLASSES;

const IS_WAITING = 'next_look_at IS NOT NULL';

function listDue(ctx: Shard, dueClass: DueClass, limit: number): Promise<number[]> {
  const { is, ...indexes } = CLASSES[dueClass];
  const isDue = sql.raw(`${is} AND ${IS_WAITING}`);
  const waiting = { table: meteredSessions, at: meteredSessions.nextLookAt, isLive: sql`${isDue} AND livemode = 1`, ...indexes };
  return listDueInTurns(ctx, waiting, { isInReach: sql`${isDue} AND ${inReach(ctx)}`, dueBefore: ctx.now, limit });
}

/** Vouchers that are not settled, those that end first before others; by time of the next look, all that are due would be read. */
const listExpiring = async (ctx: Shard, limit: number): Promise<number[]> => {
  const rows = await ctx.db.all<{
    id: number;
  }>(sql`SELECT rowid AS id FROM metered_sessions INDEXED BY metered_sessions_expiring
    WHERE status = 'open' AND voucher_ends_at IS NOT NULL AND cumulative <> settled
    AND voucher_ends_at > ${ctx.now} AND voucher_ends_at <= ${ctx.now + EXPIRING_MS} AND next_look_at <= ${ctx.now} AND ${inReach(ctx)} ORDER BY voucher_ends_at LIMIT ${limit}`);
  return rows.map(({ id }) => id);
};

/** Takes sessions and puts them off in one statement: a crash costs one look, and two sweeps at once take different ones. */
const takeWhere = ({ db, now }: Shard, condition: SQL): Promise<MeteredSessionRow[]> =>
  db
    .update(meteredSessions)
    .set({ nextLookAt: backstopAt(now) })
    .where(condition)
    .returning();

/** Takes sessions of a class that are due, in turns of their merchants. Vouchers that end soon have half of the places of what closes. */
export async function takeDueSessions(ctx: Shard, dueClass: DueClass, max: number): Promise<MeteredSessionRow[]> {
  const expiring = dueClass === 'closing' ? await listExpiring(ctx, Math.ceil(max / 2)) : [];
  const due = await listDue(ctx, dueClass, max - expiring.length);
  return takeWhere(ctx, sql`${isAmongRows([...expiring, ...due])} AND next_look_at <= ${ctx.now} AND ${inReach(ctx)}`);
}

/** The same of one clock of the sandbox, where no payer closes behind our back. */
export const takeDueInSandbox = (ctx: Shard, max: number): Promise<MeteredSessionRow[]> =>
  takeWhere(
    ctx,
    sql`id IN (SELECT id FROM metered_sessions WHERE (status <> 'created' OR channel_id IS NOT NULL) AND ${sql.raw(IS_WAITING)}
      AND next_look_at <= ${ctx.now} AND ${inReach(ctx)} ORDER BY next_look_at LIMIT ${max})`,
  );

/** The sessions whose objects ask for a look, as far as anything of them is left to look at. */
export const takeSessions = (ctx: Shard, ids: readonly string[]): Promise<MeteredSessionRow[]> =>
  takeWhere(ctx, sql`${amongIds('id', ids)} AND next_look_at IS NOT NULL`);

/** Sessions that were never opened: no object knows them, so their rows alone are ended, each by a condition that an opening breaks. */
const UNOPENED = "status = 'created' AND channel_id IS NULL";

const endedAs = (now: number, status: 'closed' | 'expired') => ({
  status,
  endedAt: now,
  nextLookAt: null,
  updatedAt: now,
  version: sql`version + 1`,
});

const ending = ({ db, now }: Shard, status: 'closed' | 'expired', condition: SQL) =>
  db.update(meteredSessions).set(endedAs(now, status)).where(condition);

/** Ends up to so many that were not opened in time. Answers how many. */
export async function expireUnopened(ctx: Shard, max: number): Promise<number> {
  // Else the planner takes the index of channels, where all of these have the same place.
  const due = sql`SELECT id FROM metered_sessions INDEXED BY metered_sessions_unopened WHERE ${sql.raw(UNOPENED)} AND next_look_at IS NOT NULL AND next_look_at <= ${ctx.now}
    AND ${inReach(ctx)} ORDER BY next_look_at LIMIT ${max}`;
  const { meta } = await ending(ctx, 'expired', sql`id IN (${due})`).run();
  return meta.changes;
}

/** The oldest unopened session of a product gives way to one more than it may have. */
export const giveWay = (ctx: Shard, { productId }: Pick<MeteredSessionRow, 'productId'>): Write => {
  const beyond = sql`SELECT id FROM metered_sessions INDEXED BY metered_sessions_unopened_by_product WHERE product_id = ${productId} AND ${sql.raw(UNOPENED)}
    ORDER BY created_at DESC LIMIT 10 OFFSET ${OPEN_SESSIONS_MAX}`;
  return ending(ctx, 'closed', sql`id IN (${beyond})`);
};

/** The watch has looked for an opening by then, long after its blockhash ended. */
const OPENING_LOST_MS = OPENING_DEAD_MS + 2 * MINUTE;

/** Closes a session that no channel was opened for. null where one is on its way, or it is over. */
export async function closeUnopened(ctx: Shard, sessionId: string): Promise<MeteredSessionRow | null> {
  const isFree = sql`status = 'created' AND (channel_id IS NULL OR updated_at <= ${ctx.now - OPENING_LOST_MS})`;
  const [row = null] = await ending(ctx, 'closed', sql`id = ${sessionId} AND ${isFree}`).returning();
  return row;
}

/** Ends a session that was never opened, unless another was noted since the row was read. */
export async function expireOpening(ctx: Shard, { id, channelId, updatedAt }: MeteredSessionRow): Promise<boolean> {
  const isSame = sql`status = 'created' AND channel_id IS ${channelId} AND updated_at = ${updatedAt}`;
  const { meta } = await ending(ctx, 'expired', and(eq(meteredSessions.id, id as MeteredSessionId), isSame)!).run();
  return meta.changes === 1;
}
