import { and, asc, eq, gt, inArray, isNotNull, lte, ne, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { AccountId } from '#core/ids.ts';
import type { Db } from '#platform/context.ts';
import { boundId, textOfId } from '#platform/db/among.ts';
import { accounts } from '#platform/db/tables/accounts.ts';
import { mails } from '#platform/db/tables/mail.ts';
import { billingCustomers } from '#platform/db/tables/office/billing.ts';
import type { EmailTemplate } from '#rules/emails.ts';
import type { AccountPlans, PlanName, SubscriptionStatus } from '#rules/plans.ts';

export const dueCause = (template: EmailTemplate, accountId: string, at: number): string => `${template} ${accountId} ${at}`;

interface DueWindow {
  after: number;
  until: number;
  last: Ending | null;
  max: number;
}

export interface Ending extends AccountPlans {
  id: AccountId;
  endsAt: number;
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
  and(gt(endsAt, after), lte(endsAt, until), last ? sql`(${endsAt}, ${accounts.id}) > (${last.endsAt}, ${boundId(last.id)})` : undefined);

const hasNoEmail = (template: EmailTemplate, endsAt: SQLiteColumn): SQL =>
  sql`NOT EXISTS (SELECT 1 FROM ${mails} WHERE ${mails.cause} = ${`${template} `} || ${textOfId(sql`${accounts.id}`)} || ' ' || ${endsAt})`;

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
        hasNoEmail('plan_due', accounts.planThrough),
      ),
    )
    .orderBy(asc(accounts.planThrough), asc(accounts.id))
    .limit(window.max);

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
        hasNoEmail(cancels ? 'plan_due' : 'plan_renews', billingCustomers.currentPeriodEnd),
      ),
    )
    .orderBy(asc(billingCustomers.currentPeriodEnd), asc(accounts.id))
    .limit(window.max);
