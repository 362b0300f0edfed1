import { type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { DAY, HOUR, MINUTE } from '#core/time.ts';
import { claimsInReach, isOfPaymentInReach } from '#platform/chain/reach.store.ts';
import type { Shard } from '#platform/context.ts';
import { jsonRows } from '#platform/db/among.ts';
import { abortIf, type Write } from '#platform/db/commit.ts';
import { CLAIMED_TRANSACTION, type FateStep, type Watched } from '#platform/db/fate.ts';
import { unmatchedPayments } from '#platform/db/tables/payments.ts';
import { txClaims } from '#platform/db/tables/tx-claims.ts';
import { DOUBT_MS } from '#solana/finality.ts';

/** Where transactions are watched: what is claimed, and money that pays nothing yet. */
export interface Source {
  /** The columns of fates are the same in both tables. */
  table: SQLiteTable & Record<'slot' | 'finalAt' | 'doubtedAt' | 'droppedAt' | 'nextLookAt', SQLiteColumn>;
  subjectId: SQLiteColumn;
  kind: SQL;
  confirmedAt: SQL;
  /** What may be watched at all: the rows of the chain that is asked. */
  isStanding(ctx: Shard): SQL;
}

export const CLAIMS_SOURCE: Source = {
  table: txClaims,
  subjectId: txClaims.subjectId,
  kind: sql.raw('kind'),
  confirmedAt: sql.raw('coalesce(confirmed_at, created_at)'),
  isStanding: claimsInReach,
};

export const UNMATCHED_SOURCE: Source = {
  table: unmatchedPayments,
  subjectId: unmatchedPayments.id,
  kind: sql.raw("'unmatched'"),
  confirmedAt: sql.raw('created_at'),
  isStanding: (ctx) => sql`${isOfPaymentInReach(ctx, 'payment_id')} AND status = 'open'`,
};

/** After it was dropped, a transaction is looked for at these times: nodes may err, and a wallet may send it anew. */
const LATER_LOOKS_MS = [10 * MINUTE, HOUR, DAY, 7 * DAY] as const;
/** Milliseconds until the next look at what has had no answer since `since` (epoch ms): ever more, and at most a day. */
const slowingDown = (now: number, since: SQL, atLeastMs: number): SQL => sql`max(${atLeastMs}, min(${DAY}, (${now} - ${since}) / 8))`;
const DROPPED_AT = sql.raw('dropped_at');
const DOUBTED_AT = sql.raw('doubted_at');

/**
 * Takes what is due and says when it is due again, in one statement, before a node is asked: a crash costs one look, and two sweeps at
 * once take different ones. What no node can tell of is asked about ever more rarely, and never given up.
 */
export const takeDue = (ctx: Shard, source: Source, max: number): Promise<Watched[]> => {
  const { db, now } = ctx;
  return db.all<Watched>(sql`UPDATE ${source.table}
    SET next_look_at = ${now} + CASE WHEN dropped_at IS NOT NULL THEN ${slowingDown(now, DROPPED_AT, HOUR)}
      WHEN doubted_at IS NOT NULL THEN ${slowingDown(now, DOUBTED_AT, DOUBT_MS)} ELSE ${slowingDown(now, source.confirmedAt, MINUTE)} END
    WHERE rowid IN (SELECT rowid FROM ${source.table} WHERE next_look_at IS NOT NULL AND next_look_at <= ${now} AND ${source.isStanding(ctx)}
      ORDER BY next_look_at LIMIT ${max})
    RETURNING ${source.kind} AS kind, ${sql.raw(source.subjectId.name)} AS subjectId, ${CLAIMED_TRANSACTION} AS txSignature, slot, doubted_at AS doubtedAt,
      dropped_at AS droppedAt`);
};

/** What waits for a step, and what the step changes. */
const STEPS = {
  final: {
    awaits: sql.raw('final_at IS NULL AND dropped_at IS NULL'),
    change: (now: number) => ({ finalAt: now, doubtedAt: null, nextLookAt: null }),
  },
  dropped: {
    awaits: sql.raw('final_at IS NULL AND dropped_at IS NULL'),
    change: (now: number) => ({ droppedAt: now, doubtedAt: null, nextLookAt: now + LATER_LOOKS_MS[0] }),
  },
  returned: {
    awaits: sql.raw('dropped_at IS NOT NULL'),
    change: (now: number) => ({ finalAt: now, droppedAt: null, nextLookAt: null }),
  },
};

type Seen = Pick<Watched, 'subjectId' | 'slot'>;
const isAmong = ({ subjectId }: Source): SQL => sql`${subjectId} = j.value ->> 'subjectId'`;
/** It may have landed in another slot than it was first seen in. */
const slotSeen = ({ table }: Source): SQL => sql`coalesce(j.value ->> 'slot', ${table.slot})`;

/** A step that these take together. The second statement fails the batch unless every one of them waited for it. */
export function stepTogether(ctx: Shard, source: Source, seen: readonly Seen[], name: keyof typeof STEPS): FateStep {
  const { table } = source;
  const { awaits, change } = STEPS[name];
  const isWaiting = sql`${isAmong(source)} AND ${awaits} AND ${source.isStanding(ctx)}`;
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

/** What looks brought that ends nothing. */
interface Looks {
  /** On the chain and not final yet. */
  seen: Seen[];
  /** Proven absent for the first time. */
  doubted: Seen[];
  /** Dropped before, and on the chain again, not final yet. */
  seenAgain: Seen[];
  /** Dropped before, and proven absent once more: the next look is one of those that are left. */
  stillAbsent: Seen[];
}

/** May be written twice. */
export function noteLooks({ db, now }: Shard, source: Source, { seen, doubted, seenAgain, stillAbsent }: Looks): Write[] {
  const { doubtedAt, droppedAt, nextLookAt } = source.table;
  const note = (looked: Seen[], change: Partial<Record<'doubtedAt' | 'nextLookAt' | 'slot', SQL | number | null>>) =>
    looked.length === 0
      ? []
      : [
          db
            .update(source.table)
            .set(change)
            .from(jsonRows(looked))
            .where(sql`${isAmong(source)} AND final_at IS NULL`),
        ];
  const left = LATER_LOOKS_MS.slice(1).map((ms) => sql`WHEN ${droppedAt} + ${ms} > ${now} THEN ${droppedAt} + ${ms}`);
  return [
    ...note(seen, { doubtedAt: null, slot: slotSeen(source) }),
    ...note(doubted, { doubtedAt: sql`coalesce(${doubtedAt}, ${now})`, nextLookAt: now + DOUBT_MS }),
    ...note(seenAgain, {
      nextLookAt: sql`CASE WHEN ${droppedAt} IS NULL THEN ${nextLookAt} ELSE ${now + MINUTE} END`,
      slot: slotSeen(source),
    }),
    ...note(stillAbsent, { nextLookAt: sql`CASE WHEN ${droppedAt} IS NULL THEN ${nextLookAt} ${sql.join(left, sql` `)} END` }),
  ];
}
