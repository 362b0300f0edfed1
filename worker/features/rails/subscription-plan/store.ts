import { desc, eq } from 'drizzle-orm';
import type { ProductId } from '#core/ids.ts';
import type { Db } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { type SubscriptionPlanRow, subscriptionPlans } from '#platform/db/tables/subscriptions/plans.ts';

const PLANS_MAX = 100;

/** The plans a product was sold by, newest first. */
export const listPlans = (db: Db, productId: ProductId): Promise<SubscriptionPlanRow[]> =>
  db
    .select()
    .from(subscriptionPlans)
    .where(eq(subscriptionPlans.productId, productId))
    .orderBy(desc(subscriptionPlans.createdAt))
    .limit(PLANS_MAX)
    .all();

/** A statement, not an effect. Of a plan that was closed and made again only the latest is kept. */
export const savePlan = (db: Db, plan: SubscriptionPlanRow): Write =>
  db
    .insert(subscriptionPlans)
    .values(plan)
    .onConflictDoUpdate({ target: [subscriptionPlans.livemode, subscriptionPlans.planAddress], set: { publishedAt: plan.publishedAt } });
