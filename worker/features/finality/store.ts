import { type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { DAY, HOUR, MINUTE } from '#core/time.ts';
import { clockFilterForClaims, clockFilterForPayment } from '#platform/chain/clock-filter.store.ts';
import type { Shard } from '#platform/context.ts';
import { amongIds, fieldAs, jsonRows, textOfId } from '#platform/db/among.ts';
import { abortIf, type Write } from '#platform/db/commit.ts';
import { CLAIMED_TRANSACTION, type OutcomeStep, type Watched } from '#platform/db/outcome.ts';
import { unmatchedPayments } from '#platform/db/tables/payments.ts';
import { txClaims } from '#platform/db/tables/tx-claims.ts';
import { DOUBT_MS } from '#solana/finality.ts';

export interface Source {
  table: SQLiteTable & Record<'slot' | 'finalAt' | 'doubtedAt' | 'droppedAt' | 'nextCheckAt', SQLiteColumn>;
  subjectId: SQLiteColumn;
  /** Identifies a row among those of one mode. */
  key: SQLiteColumn;
  kind: SQL;
  confirmedAt: SQL;
  clockFilter(ctx: Shard): SQL;
}

export const CLAIMS_SOURCE: Source = {
  table: txClaims,
  subjectId: txClaims.subjectId,
  key: txClaims.txKey,
  kind: sql.raw('kind'),
  confirmedAt: sql.raw('confirmed_at'),
  clockFilter: clockFilterForClaims,
};

export const UNMATCHED_SOURCE: Source = {
  table: unmatchedPayments,
  subjectId: unmatchedPayments.id,
  key: unmatchedPayments.id,
  kind: sql.raw("'unmatched'"),
  confirmedAt: sql.raw('created_at'),
  clockFilter: (ctx) => sql`${clockFilterForPayment(ctx, 'payment_id')} AND status = 'open'`,
};

/** Checks after a drop: nodes may err, and a wallet may send the transaction again. */
const LATER_CHECKS_MS = [10 * MINUTE, HOUR, DAY, 7 * DAY] as const;
/** Backoff in milliseconds for a transaction without an answer since `since` (epoch ms), at most a day. */
const slowingDown = (now: number, since: SQL, atLeastMs: number): SQL => sql`max(${atLeastMs}, min(${DAY}, (${now} - ${since}) / 8))`;
const DROPPED_AT = sql.raw('dropped_at');
const DOUBTED_AT = sql.raw('doubted_at');

/** Lists due transactions, and writes nothing: nearly all are final at their first check. */
export const listDueTransactions = (ctx: Shard, source: Source, max: number): Promise<Watched[]> =>
  ctx.db.all<Watched>(sql`SELECT ${source.kind} AS kind, ${textOfId(sql.raw(source.subjectId.name))} AS subjectId, ${textOfId(sql.raw(source.key.name))} AS key,
    ${CLAIMED_TRANSACTION} AS txSignature, slot, doubted_at AS doubtedAt, dropped_at AS droppedAt FROM ${source.table}
    WHERE next_check_at IS NOT NULL AND next_check_at <= ${ctx.now} AND ${source.clockFilter(ctx)} ORDER BY next_check_at LIMIT ${max}`);

/** Reschedules checked transactions that are due still. Unknown ones are checked less and less often, and never given up. */
export const postponeDue = (ctx: Shard, source: Source, checked: readonly Watched[]): Write => {
  const { db, now } = ctx;
  return db
    .update(source.table)
    .set({
      nextCheckAt: sql`${now} + CASE WHEN dropped_at IS NOT NULL THEN ${slowingDown(now, DROPPED_AT, HOUR)}
        WHEN doubted_at IS NOT NULL THEN ${slowingDown(now, DOUBTED_AT, DOUBT_MS)} ELSE ${slowingDown(now, source.confirmedAt, MINUTE)} END`,
    })
    .where(
      sql`${amongIds(
        source.key,
        checked.map(({ key }) => key),
      )} AND next_check_at IS NOT NULL AND next_check_at <= ${now} AND ${source.clockFilter(ctx)}`,
    );
};

const STEPS = {
  final: {
    awaits: sql.raw('final_at IS NULL AND dropped_at IS NULL'),
    change: (now: number) => ({ finalAt: now, doubtedAt: null, nextCheckAt: null }),
  },
  dropped: {
    awaits: sql.raw('final_at IS NULL AND dropped_at IS NULL'),
    change: (now: number) => ({ droppedAt: now, doubtedAt: null, nextCheckAt: now + LATER_CHECKS_MS[0] }),
  },
  returned: {
    awaits: sql.raw('dropped_at IS NOT NULL'),
    change: (now: number) => ({ finalAt: now, droppedAt: null, nextCheckAt: null }),
  },
};

type Seen = Pick<Watched, 'key' | 'slot'>;
const isAmong = ({ key }: Source): SQL => sql`${key} = ${fieldAs(key, 'key')}`;
/** The transaction may have landed in another slot than first seen. */
const slotSeen = ({ table }: Source): SQL => sql`coalesce(j.value ->> 'slot', ${table.slot})`;

/** Steps a group together. The second write aborts the batch unless all of them wait for this step. */
export function stepTogether(ctx: Shard, source: Source, seen: readonly Seen[], name: keyof typeof STEPS): OutcomeStep {
  const { table } = source;
  const { awaits, change } = STEPS[name];
  const isWaiting = sql`${isAmong(source)} AND ${awaits} AND ${source.clockFilter(ctx)}`;
  return {
    writes: [
      ctx.db
        .update(table)
        .set({ ...change(ctx.now), slot: slotSeen(source) })
        .from(jsonRows(seen))
        .where(isWaiting),
      abortIf(ctx, sql`changes() <> ${seen.length}`),
    ],
    isOver: async () => (await ctx.db.all(sql`SELECT 1 FROM ${table}, ${jsonRows(seen)} WHERE ${isWaiting} LIMIT 1`)).length === 0,
  };
}

interface Readings {
  /** On the chain, not final yet. */
  seen: Seen[];
  /** Proven absent for the first time. */
  doubted: Seen[];
  /** Dropped before, on the chain again, not final yet. */
  seenAgain: Seen[];
  /** Dropped before and proven absent again. The next of the remaining checks is scheduled. */
  stillAbsent: Seen[];
}

export function noteReadings(ctx: Shard, source: Source, { seen, doubted, seenAgain, stillAbsent }: Readings): Write[] {
  const { db, now } = ctx;
  const { doubtedAt, droppedAt, nextCheckAt } = source.table;
  const note = (rows: Seen[], change: Partial<Record<'doubtedAt' | 'nextCheckAt' | 'slot', SQL | number | null>>) =>
    rows.length === 0
      ? []
      : [
          db
            .update(source.table)
            .set(change)
            .from(jsonRows(rows))
            .where(sql`${isAmong(source)} AND final_at IS NULL AND ${source.clockFilter(ctx)}`),
        ];
  const left = LATER_CHECKS_MS.slice(1).map((ms) => sql`WHEN ${droppedAt} + ${ms} > ${now} THEN ${droppedAt} + ${ms}`);
  return [
    ...note(seen, { doubtedAt: null, slot: slotSeen(source) }),
    ...note(doubted, { doubtedAt: sql`coalesce(${doubtedAt}, ${now})`, nextCheckAt: now + DOUBT_MS }),
    ...note(seenAgain, {
      nextCheckAt: sql`CASE WHEN ${droppedAt} IS NULL THEN ${nextCheckAt} ELSE ${now + MINUTE} END`,
      slot: slotSeen(source),
    }),
    ...note(stillAbsent, { nextCheckAt: sql`CASE WHEN ${droppedAt} IS NULL THEN ${nextCheckAt} ${sql.join(left, sql` `)} END` }),
  ];
}
