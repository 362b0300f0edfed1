import { and, asc, eq, gt, inArray, isNotNull, lte, ne, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { AccountId } from '#core/ids.ts';
import type { Db } from '#platform/context.ts';
import { accounts } from '#platform/db/tables/accounts.ts';
import { mails } from '#platform/db/tables/mail.ts';
import { billingCustomers } from '#platform/db/tables/office/billing.ts';
import type { LetterName } from '#rules/letters.ts';
import type { AccountPlans, PlanName, SubscriptionStatus } from '#rules/plans.ts';

/** What the letter about one end of a plan, or one renewal of it, is known by. */
export const dueCause = (letter: LetterName, accountId: string, at: number): string => `${letter} ${accountId} ${at}`;

/** Moments, of which the last belongs to them, and the row after which a page begins. */
interface DueWindow {
  after: number;
  until: number;
  last: Ending | null;
  max: number;
}

/** An account of which something ends or renews, and when. */
export interface Ending extends AccountPlans {
  id: AccountId;
  endsAt: number;
  /** What its subscription gives that renews itself, if it has one. */
  goesOn: PlanName;
}

const RUNNING: SubscriptionStatus[] = ['active', 'trialing'];
const renews = and(
  inArray(billingCustomers.subscriptionStatus, RUNNING),
  eq(billingCustomers.cancelsAtPeriodEnd, false),
  isNotNull(billingCustomers.subscriptionPlan),
);
const held = {
  id: accounts.id,
  plan: accounts.plan,
  planThrough: accounts.planThrough,
  processorPlans: accounts.processorPlans,
  goesOn: sql<PlanName>`CASE WHEN ${renews} THEN ${billingCustomers.subscriptionPlan} ELSE 'free' END`,
};

const inWindow = (endsAt: SQLiteColumn, { after, until, last }: DueWindow): SQL | undefined =>
  and(gt(endsAt, after), lte(endsAt, until), last ? sql`(${endsAt}, ${accounts.id}) > (${last.endsAt}, ${last.id})` : undefined);

const isUntold = (letter: LetterName, endsAt: SQLiteColumn): SQL =>
  sql`NOT EXISTS (SELECT 1 FROM ${mails} WHERE ${mails.cause} = ${`${letter} `} || ${accounts.id} || ' ' || ${endsAt})`;

/** Accounts whose bought plan ends within a window, and that were not told of that end. */
export const listEndingPlans = (db: Db, window: DueWindow): Promise<Ending[]> =>
  db
    .select({ ...held, endsAt: sql<number>`${accounts.planThrough}` })
    .from(accounts)
    .leftJoin(billingCustomers, eq(billingCustomers.accountId, accounts.id))
    .where(
      and(
        inWindow(accounts.planThrough, window),
        ne(accounts.plan, 'free'),
        eq(accounts.status, 'active'),
        isUntold('plan_due', accounts.planThrough),
      ),
    )
    .orderBy(asc(accounts.planThrough), asc(accounts.id))
    .limit(window.max);

/** The same of subscriptions that run, by the end of their period: those that end with it, or those that renew. */
export const listEndingPeriods = (db: Db, { cancels, ...window }: DueWindow & { cancels: boolean }): Promise<Ending[]> =>
  db
    .select({ ...held, endsAt: sql<number>`${billingCustomers.currentPeriodEnd}` })
    .from(billingCustomers)
    .innerJoin(accounts, eq(accounts.id, billingCustomers.accountId))
    .where(
      and(
        inWindow(billingCustomers.currentPeriodEnd, window),
        eq(billingCustomers.cancelsAtPeriodEnd, cancels),
        isNotNull(billingCustomers.subscriptionPlan),
        inArray(billingCustomers.subscriptionStatus, RUNNING),
        eq(accounts.status, 'active'),
        isUntold(cancels ? 'plan_due' : 'plan_renews', billingCustomers.currentPeriodEnd),
      ),
    )
    .orderBy(asc(billingCustomers.currentPeriodEnd), asc(accounts.id))
    .limit(window.max);
