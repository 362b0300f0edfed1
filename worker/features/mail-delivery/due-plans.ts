import { DAY, iso } from '#core/time.ts';
import { planLetter } from '#features/mail/outbox.ts';
import type { Shard } from '#platform/context.ts';
import { commit, unchanged, type Write } from '#platform/db/commit.ts';
import { type Swept, sweepPages } from '#platform/db/sweeps.ts';
import { hasMail } from '#platform/providers/mail/mail-providers.ts';
import type { LetterName } from '#rules/letters.ts';
import { type PlanName, planLostAt } from '#rules/plans.ts';
import { dueCause, type Ending, listEndingPeriods, listEndingPlans } from './due.store.ts';

/** So long before its end the owner of a plan is told. */
const BEFORE_MS = 3 * DAY;
const PAGES = { pageMax: 200, pagesMax: 10 };

/** The letter about one end of a plan or one renewal, written once. */
function writesOf(ctx: Shard, letter: LetterName & ('plan_due' | 'plan_renews'), { id, endsAt }: Ending, plan: PlanName): Write[] {
  const facts = { plan: `${plan[0]!.toUpperCase()}${plan.slice(1)}`, through: iso(endsAt) };
  return planLetter(ctx, { letter, facts, accountId: id, cause: dueCause(letter, id, endsAt) }).writes;
}

/** The letter to who loses a plan at an end of it; nothing where another plan as high goes on. Belongs into a batch. */
export function planEndingLetter(ctx: Shard, ending: Ending): Write[] {
  const lost = planLostAt(ending, ending.endsAt, ending.goesOn);
  return lost === null ? [] : writesOf(ctx, 'plan_due', ending, lost);
}

/**
 * One letter for each end of a plan that comes near, bought or by a card that will not be charged again, and for each renewal by card; told
 * again only where it moved to another day. Who keeps a plan as high by other means is told of no end.
 */
export async function sweepDuePlans(ctx: Shard): Promise<Swept> {
  if (!hasMail(ctx)) return { taken: 0, isFinished: true };
  // Bought time ends by the clock of business, and a period of the processor by wall time.
  const bought = { after: ctx.now, until: ctx.now + BEFORE_MS };
  const periods = { after: ctx.wallNow, until: ctx.wallNow + BEFORE_MS };
  const sources: [(page: { last: Ending | null; max: number }) => Promise<Ending[]>, (ending: Ending) => Write[]][] = [
    [(page) => listEndingPlans(ctx.db, { ...bought, ...page }), (ending) => planEndingLetter(ctx, ending)],
    [(page) => listEndingPeriods(ctx.db, { ...periods, ...page, cancels: true }), (ending) => planEndingLetter(ctx, ending)],
    [
      (page) => listEndingPeriods(ctx.db, { ...periods, ...page, cancels: false }),
      (ending) => writesOf(ctx, 'plan_renews', ending, ending.goesOn),
    ],
  ];
  const swept: Swept[] = [];
  for (const [read, tell] of sources)
    swept.push(
      await sweepPages<Ending>(
        ctx,
        PAGES,
        (last) => read({ last, max: PAGES.pageMax }),
        async (due) => {
          const writes = due.flatMap(tell);
          if (writes.length > 0) await commit(ctx, { ...unchanged(null), writes });
        },
      ),
    );
  return { taken: swept.reduce((sum, { taken }) => sum + taken, 0), isFinished: swept.every(({ isFinished }) => isFinished) };
}
