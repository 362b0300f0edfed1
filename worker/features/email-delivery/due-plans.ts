import { DAY, iso } from '#core/time.ts';
import { planEmail } from '#features/email/outbox.ts';
import type { Shard } from '#platform/context.ts';
import { commit, unchanged, type Write } from '#platform/db/commit.ts';
import { addSwept, type Swept, sweepPages } from '#platform/db/sweeps.ts';
import { hasMail } from '#platform/providers/mail/mail-providers.ts';
import type { EmailTemplate } from '#rules/emails.ts';
import { type PlanName, planLostAt } from '#rules/plans.ts';
import { dueCause, type Ending, listEndingPeriods, listEndingPlans } from './due.store.ts';

export const EMAILED_BEFORE_MS = 3 * DAY;
const PAGES = { pageMax: 200, pagesMax: 10 };

function writesOf(ctx: Shard, template: EmailTemplate & ('plan_due' | 'plan_renews'), { id, endsAt }: Ending, plan: PlanName): Write[] {
  const facts = { plan: `${plan[0]!.toUpperCase()}${plan.slice(1)}`, through: iso(endsAt) };
  return planEmail(ctx, { template, facts, accountId: id, cause: dueCause(template, id, endsAt) }).writes;
}

/** Plans the email about the loss of a plan. Plans nothing if an equal plan continues. Commit in the caller's batch. */
export function planEndingEmail(ctx: Shard, ending: Ending): Write[] {
  const lost = planLostAt(ending, ending.endsAt, ending.goesOn);
  return lost === null ? [] : writesOf(ctx, 'plan_due', ending, lost);
}

/**
 * Emails owners about a plan that ends soon, bought or by a card without another charge, and about each card renewal. Sends once per date.
 * Sends nothing if an equal plan continues by other means.
 */
export async function sweepDuePlans(ctx: Shard): Promise<Swept> {
  if (!hasMail(ctx)) return { taken: 0, end: 'empty' };
  // Bought time ends by business time, a processor period by wall time.
  const bought = { after: ctx.now, until: ctx.now + EMAILED_BEFORE_MS };
  const periods = { after: ctx.wallNow, until: ctx.wallNow + EMAILED_BEFORE_MS };
  const sources: [(page: { last: Ending | null; max: number }) => Promise<Ending[]>, (ending: Ending) => Write[]][] = [
    [(page) => listEndingPlans(ctx.db, { ...bought, ...page }), (ending) => planEndingEmail(ctx, ending)],
    [(page) => listEndingPeriods(ctx.db, { ...periods, ...page, cancels: true }), (ending) => planEndingEmail(ctx, ending)],
    [
      (page) => listEndingPeriods(ctx.db, { ...periods, ...page, cancels: false }),
      (ending) => writesOf(ctx, 'plan_renews', ending, ending.goesOn),
    ],
  ];
  const swept: Swept[] = [];
  for (const [read, planWrites] of sources)
    swept.push(
      await sweepPages<Ending>(
        ctx,
        PAGES,
        (last) => read({ last, max: PAGES.pageMax }),
        async (due) => {
          const writes = due.flatMap(planWrites);
          if (writes.length > 0) await commit(ctx, { ...unchanged(null), writes });
        },
      ),
    );
  return addSwept(...swept);
}
