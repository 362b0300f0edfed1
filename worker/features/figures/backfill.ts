import { listWhereverKept } from '#features/payments/store.ts';
import type { Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import type { FigureCursor } from '#platform/db/tables/office/figures.ts';
import { type Movement, movementsOf, reversed } from '#rules/figures/figures.ts';
import { listEarlierMoves, listMembers, listPaymentEvents, listPaymentIds } from './backfill.store.ts';
import { type FigureCursors, stepFigureCursor, steppedCursor } from './cursors.store.ts';
import { activeMoveOf, factsOfRow, memberMoveOf, movementsOfEvent } from './movements.ts';

type Fold = (ctx: Shard, steps: Write[], movements: readonly Movement[]) => Promise<void>;

const PAGE_MAX = 200;

/**
 * A page of what was there before there were figures. Each row counts as it is now, less what its events behind that moment moved, which
 * are folded as all others are: so a payment that is paid while this goes on is counted once. Rows are read in the order of their ids
 * over all places they may be in, so that one which goes to the archive meanwhile is neither missed nor met again. 0: all is counted.
 */
export async function countEarlier(ctx: Shard, { live, sandbox }: FigureCursors, fold: Fold): Promise<number> {
  if (live.phase === null) return 0;
  const { movements, taken, last } = await PHASES[live.phase](ctx, live);
  const after = taken < PAGE_MAX ? { phase: NEXT[live.phase], after: '' } : { after: last };
  // The fold of live events of the same round stepped the cursor. Rows of both modes are counted, so both cursors guard them.
  await fold(ctx, [...stepFigureCursor(ctx, steppedCursor(live), after), ...stepFigureCursor(ctx, sandbox)], movements);
  return Math.max(1, taken);
}

type Phase = NonNullable<FigureCursor['phase']>;
const NEXT: Record<Phase, Phase | null> = { payments: 'memberships', memberships: 'moves', moves: null };

interface Page {
  movements: Movement[];
  taken: number;
  last: string;
}

const PHASES: Record<Phase, (ctx: Shard, cursor: FigureCursor) => Promise<Page>> = {
  payments: async (ctx, { after, beganAt }) => {
    for (;;) {
      const { ids, end } = await listPaymentIds(ctx.db, after, PAGE_MAX);
      const payments = await listWhereverKept(ctx, ids);
      const since = await listPaymentEvents(ctx.db, ids, beganAt);
      // One of them has changed while they were read, so that its row may have been read before that, or after.
      if (since.some(({ seq }) => seq > end)) continue;
      const now = payments.flatMap((payment) => movementsOf(factsOfRow(payment)));
      return { movements: [...now, ...reversed(since.flatMap(movementsOfEvent))], taken: ids.length, last: ids.at(-1) ?? '' };
    }
  },
  memberships: async (ctx, { after, beganAt }) => {
    const { members, since } = await listMembers(ctx.db, after, beganAt, PAGE_MAX);
    const active = members.filter(({ status }) => status === 'active');
    const movements = active.map(({ merchantId, livemode, createdAt: at }) => ({
      merchantId,
      livemode,
      at,
      counts: { members_active: 1n },
    }));
    return { movements: [...movements, ...reversed(since.flatMap(activeMoveOf))], taken: members.length, last: members.at(-1)?.id ?? '' };
  },
  // What is older than the events that are kept lies before every window that a merchant asks for day by day.
  moves: async (ctx, { after, beganAt }) => {
    const moves = await listEarlierMoves(ctx.db, Number(after), beganAt, PAGE_MAX);
    return { movements: moves.flatMap(memberMoveOf), taken: moves.length, last: String(moves.at(-1)?.seq ?? '') };
  },
};
