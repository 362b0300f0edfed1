import { and, between, desc, eq } from 'drizzle-orm';
import type { AccountId, ProductId } from '#core/ids.ts';
import type { Db, Scope, Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { rowsOf } from '#platform/db/page.ts';
import { accounts } from '#platform/db/tables/accounts.ts';
import { switchedOff } from '#platform/db/tables/operations.ts';
import { products } from '#platform/db/tables/products.ts';
import { railSettings, type Setting } from '#platform/db/tables/rails.ts';
import { type SubscriptionPlanRow, subscriptionPlans } from '#platform/db/tables/subscriptions/plans.ts';
import { casUpdate } from '#platform/db/versioned.ts';
import { X402_RAIL } from '#rules/rails.ts';

export const listSettings = async (scope: Scope): Promise<Setting[]> =>
  scope.db.select().from(railSettings).where(rowsOf(railSettings, scope));

export const findAccountWallet = async (db: Db, merchantId: AccountId): Promise<string | null> =>
  (await db.select({ wallet: accounts.payoutWallet }).from(accounts).where(eq(accounts.id, merchantId)).get())?.wallet ?? null;

/** True if this merchant is paid at this wallet: by the x402 rail, the account, or a product on sale. */
export async function isPayoutWallet(db: Db, merchantId: AccountId, wallet: string): Promise<boolean> {
  const [account, setting, product] = await db.batch([
    db
      .select({ id: accounts.id })
      .from(accounts)
      .where(and(eq(accounts.id, merchantId), eq(accounts.payoutWallet, wallet))),
    db
      .select({ railId: railSettings.railId })
      .from(railSettings)
      .where(
        and(
          eq(railSettings.merchantId, merchantId),
          eq(railSettings.livemode, true),
          eq(railSettings.railId, X402_RAIL),
          eq(railSettings.payoutWallet, wallet),
        ),
      ),
    db
      .select({ id: products.id })
      .from(products)
      .where(
        and(
          eq(products.merchantId, merchantId),
          eq(products.livemode, true),
          eq(products.status, 'active'),
          eq(products.payoutWallet, wallet),
        ),
      )
      .limit(1),
  ]);
  return account.length + setting.length + product.length > 0;
}

export const insertSetting = (db: Db, setting: Setting): Write => db.insert(railSettings).values(setting);

export const updateSetting = (ctx: Shard, before: Setting, after: Setting): Write[] => casUpdate(ctx, railSettings, before, after);

const PLANS_MAX = 100;

export const listPlans = (db: Db, productId: ProductId): Promise<SubscriptionPlanRow[]> =>
  db
    .select()
    .from(subscriptionPlans)
    .where(eq(subscriptionPlans.productId, productId))
    .orderBy(desc(subscriptionPlans.createdAt))
    .limit(PLANS_MAX)
    .all();

/** Upserts a plan. Of a plan that was closed and created again only the latest is retained. */
export const savePlan = (db: Db, plan: SubscriptionPlanRow): Write =>
  db
    .insert(subscriptionPlans)
    .values(plan)
    .onConflictDoUpdate({ target: [subscriptionPlans.livemode, subscriptionPlans.planAddress], set: { publishedAt: plan.publishedAt } });

export const listSwitchedOff = async (db: Db): Promise<string[]> =>
  (await db.select().from(switchedOff).orderBy(switchedOff.subject)).map(({ subject }) => subject);

/** Lists rails alone, because public requests read them and their number does not grow with the products. */
export const listRailsOff = async (db: Db): Promise<string[]> => {
  const rows = await db
    .select()
    .from(switchedOff)
    .where(between(switchedOff.subject, 'rail:', 'rail:~'));
  return rows.map(({ subject }) => subject.slice('rail:'.length));
};

export const switchOff = ({ db, now }: Shard, subject: string) =>
  db.insert(switchedOff).values({ subject, since: now }).onConflictDoNothing();

export const switchOn = (db: Db, subject: string) => db.delete(switchedOff).where(eq(switchedOff.subject, subject));
