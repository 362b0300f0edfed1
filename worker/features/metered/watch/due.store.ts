import { type SQL, sql } from 'drizzle-orm';
import { HOUR } from '#core/time.ts';
import { inReach } from '#platform/chain/reach.store.ts';
import type { Shard } from '#platform/context.ts';
import { type MeteredSessionRow, meteredSessions } from '#platform/db/tables/settlements.ts';
import { backstopAt } from '../store.ts';

/** A voucher that ends within this time is settled before others are looked at. */
const EXPIRING_MS = HOUR;

/**
 * Classes of work, each with an index and a sweep of its own. `closing`: channels whose payer's grace period may be running, and vouchers
 * that end soon. `standing`: open channels. `opening`: openings whose caller went away. `ended`: what a closed channel has left.
 */
const CLASSES = {
  closing: "status = 'closing'",
  standing: "status = 'open'",
  opening: "status = 'created' AND channel_id IS NOT NULL",
  ended: 'ended_at IS NOT NULL',
} as const;
export type DueClass = keyof typeof CLASSES;

const dueIn = (ctx: Shard, condition: string, hint = ''): SQL =>
  sql`SELECT id, next_look_at FROM metered_sessions ${sql.raw(hint)} WHERE ${sql.raw(condition)} AND next_look_at IS NOT NULL AND next_look_at <= ${ctx.now}
    AND ${inReach(ctx)}`;

const expiring = (ctx: Shard): SQL =>
  sql`SELECT id, next_look_at FROM metered_sessions WHERE status = 'open' AND voucher_ends_at IS NOT NULL
    AND voucher_ends_at <= ${ctx.now + EXPIRING_MS} AND next_look_at <= ${ctx.now} AND ${inReach(ctx)}`;

/** Takes sessions and puts them off in one statement: a crash costs one look, and two sweeps at once take different ones. */
const takeWhere = ({ db, now }: Shard, condition: SQL): Promise<MeteredSessionRow[]> =>
  db
    .update(meteredSessions)
    .set({ nextLookAt: backstopAt(now) })
    .where(condition)
    .returning();

const takeFirst = (ctx: Shard, due: SQL, max: number): Promise<MeteredSessionRow[]> =>
  takeWhere(ctx, sql`id IN (SELECT id FROM (${due}) ORDER BY next_look_at LIMIT ${max})`);

export const takeDueSessions = (ctx: Shard, dueClass: DueClass, max: number): Promise<MeteredSessionRow[]> => {
  // The planner would take the unique index of channels for any live row that has one.
  const due = dueIn(ctx, CLASSES[dueClass], dueClass === 'opening' ? 'INDEXED BY metered_sessions_opening' : '');
  return takeFirst(ctx, dueClass === 'closing' ? sql`${due} UNION ALL ${expiring(ctx)}` : due, max);
};

/** The same of one clock of the sandbox, where no payer closes behind our back. */
export const takeDueInSandbox = (ctx: Shard, max: number): Promise<MeteredSessionRow[]> =>
  takeFirst(ctx, dueIn(ctx, "(status <> 'created' OR channel_id IS NOT NULL)"), max);

/** The sessions whose objects ask for a look, as far as anything of them is left to look at. */
export const takeSessions = (ctx: Shard, ids: readonly string[]): Promise<MeteredSessionRow[]> =>
  takeWhere(ctx, sql`id IN (SELECT value FROM json_each(${JSON.stringify(ids)})) AND next_look_at IS NOT NULL`);
