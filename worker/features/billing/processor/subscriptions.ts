import { DAY } from '#core/time.ts';
import type { BillingCustomer } from '#platform/db/tables/office/billing.ts';
import { type HeldPlan, type PaidPlan, planRank, type SubscriptionStatus } from '#rules/plans.ts';

/** What the processor tells of that is read again then. Of every other type nothing follows. */
export const HANDLED_EVENTS = [
  'checkout.session.completed',
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'invoice.paid',
  'invoice.payment_failed',
] as const;

/** A subscription as the processor shows it. Times are epoch ms. */
export interface ShownSubscription {
  id: string;
  /** In the processor's words. */
  status: string;
  /** Of its price; null for a price that is none of ours. */
  plan: PaidPlan | null;
  /** Of its item. */
  periodStart: number;
  periodEnd: number;
  cancelsAtPeriodEnd: boolean;
  createdAt: number;
}

/** An event that shows a subscription unpaid, and when that came about. */
export interface PastDueSign {
  subscriptionId: string;
  at: number;
}

const STATUSES: Record<string, SubscriptionStatus> = {
  active: 'active',
  trialing: 'trialing',
  past_due: 'past_due',
  unpaid: 'past_due',
  canceled: 'cancelled',
};
export const statusOf = ({ status }: ShownSubscription): SubscriptionStatus => STATUSES[status] ?? 'none';

/** How long a subscription that is past due keeps its plan, and how long after a period's end the processor may take to tell of the next. */
const PATIENCE_MS = 3 * DAY;

/** Until when a subscription that is unpaid keeps its plan. */
export const unpaidThrough = (pastDueSince: Record<string, number>, subscriptionId: string): number | undefined =>
  pastDueSince[subscriptionId] === undefined ? undefined : pastDueSince[subscriptionId] + PATIENCE_MS;

/** What one subscription gives; null where it gives nothing. */
function heldBy(subscription: ShownSubscription, pastDueSince: Record<string, number>): HeldPlan | null {
  const { id, status, plan, periodEnd, cancelsAtPeriodEnd } = subscription;
  if (plan === null) return null;
  if (status === 'past_due') return { plan, planThrough: unpaidThrough(pastDueSince, id)! };
  if (status !== 'active' && status !== 'trialing') return null;
  return { plan, planThrough: cancelsAtPeriodEnd ? periodEnd : periodEnd + PATIENCE_MS };
}

type Standing = Pick<
  BillingCustomer,
  'subscriptionId' | 'subscriptionStatus' | 'subscriptionPlan' | 'currentPeriodEnd' | 'cancelsAtPeriodEnd' | 'pastDueSince'
>;

/**
 * What the subscriptions of a customer amount to: the plans that each of them gives, and the one that is shown, which is the highest that
 * runs, else the newest. Three days of being past due count from the first event that showed it, in this period. Pure.
 */
export function foldSubscriptions(
  subscriptions: readonly ShownSubscription[],
  known: Record<string, number>,
  { now, sign }: { now: number; sign: PastDueSign | null },
): Standing & { processorPlans: HeldPlan[] } {
  const sinceOf = ({ id, periodStart }: ShownSubscription): number => {
    const told = sign?.subscriptionId === id ? sign.at : now;
    return Math.max(periodStart, Math.min(known[id] ?? now, told));
  };
  const unpaid = subscriptions.filter(({ status }) => status === 'past_due');
  const pastDueSince = Object.fromEntries(unpaid.map((subscription) => [subscription.id, sinceOf(subscription)]));
  const held = subscriptions.map((subscription) => ({ subscription, held: heldBy(subscription, pastDueSince) }));
  const isRunning = (one: HeldPlan | null) => one !== null && (one.planThrough ?? 0) > now;
  const weightOf = ({ held: one, subscription }: (typeof held)[number]) => [
    isRunning(one) ? planRank(one!.plan) : 0,
    statusOf(subscription) === 'none' || subscription.plan === null ? 0 : 1,
    subscription.createdAt,
  ];
  const [shown] = held.toSorted((a, b) => compare(weightOf(b), weightOf(a))).map(({ subscription }) => subscription);
  const isOurs = shown !== undefined && shown.plan !== null;
  return {
    processorPlans: held.flatMap(({ held: one }) => (isRunning(one) ? [one!] : [])),
    subscriptionId: isOurs ? shown.id : null,
    subscriptionStatus: isOurs ? statusOf(shown) : 'none',
    subscriptionPlan: isOurs ? shown.plan : null,
    currentPeriodEnd: isOurs ? shown.periodEnd : null,
    cancelsAtPeriodEnd: isOurs && shown.cancelsAtPeriodEnd,
    pastDueSince,
  };
}

const compare = (a: number[], b: number[]): number => {
  const at = a.findIndex((value, i) => value !== b[i]);
  return at < 0 ? 0 : a[at]! - b[at]!;
};
