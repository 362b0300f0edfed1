import { DAY, HOUR } from '#core/time.ts';
import type { BillingCustomer } from '#platform/db/tables/office/billing.ts';
import { type HeldPlan, type PaidPlan, planRank, type SubscriptionStatus } from '#rules/plans.ts';

export const HANDLED_EVENTS = [
  'checkout.session.completed',
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'invoice.paid',
  'invoice.payment_failed',
] as const;

/** Subscription as read from the processor. Times in epoch ms. */
export interface ShownSubscription {
  id: string;
  status: string;
  priceId: string;
  plan: PaidPlan | null;
  /** Period of the subscription item. */
  periodStart: number;
  periodEnd: number;
  cancelsAtPeriodEnd: boolean;
  createdAt: number;
}

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
const statusOf = ({ status }: ShownSubscription): SubscriptionStatus => STATUSES[status] ?? 'none';

/** Grace period of a past due subscription, and the time allowed after a period's end for news of the next one. */
const PATIENCE_MS = 3 * DAY;

export const unpaidThrough = (pastDueSince: Record<string, number>, subscriptionId: string): number | undefined =>
  pastDueSince[subscriptionId] === undefined ? undefined : pastDueSince[subscriptionId] + PATIENCE_MS;

function heldBy(
  { id, status, periodEnd, cancelsAtPeriodEnd }: ShownSubscription,
  plan: PaidPlan | null,
  pastDueSince: Since,
): HeldPlan | null {
  if (plan === null) return null;
  if (status === 'past_due') return { plan, planThrough: unpaidThrough(pastDueSince, id)! };
  if (status !== 'active' && status !== 'trialing') return null;
  return { plan, planThrough: cancelsAtPeriodEnd ? periodEnd : periodEnd + PATIENCE_MS };
}

type Since = Record<string, number>;
type CustomerState = Omit<BillingCustomer, 'accountId' | 'customerId' | 'erasingSince' | 'createdAt' | 'updatedAt' | 'version'>;
type KnownCustomerState = Pick<CustomerState, 'pastDueSince' | 'soldPlans'>;

const RUNNING: SubscriptionStatus[] = ['active', 'trialing', 'past_due'];

/** True while a subscription is or will be charged, so that no second one may be sold. */
export const isRunning = (status: SubscriptionStatus): boolean => RUNNING.includes(status);

const READ_BEFORE_MS = DAY;

/** Schedules the next processor read without an event: hourly near the end of a plan, daily after it. */
function nextReadAt(ends: number[], now: number): number {
  const end = Math.min(...ends);
  return end <= now ? now + DAY : Math.max(now + HOUR, end - READ_BEFORE_MS);
}

/**
 * Folds a customer's subscriptions: the plans they grant, and the one shown, which is the highest that runs, else the newest. The three
 * days of grace count from the first past due event of this period. A subscription with an unknown price retains the plan that was sold.
 * Pure.
 */
export function foldSubscriptions(
  subscriptions: readonly ShownSubscription[],
  known: KnownCustomerState,
  { now, sign }: { now: number; sign: PastDueSign | null },
): CustomerState & { processorPlans: HeldPlan[] } {
  const sinceOf = ({ id, periodStart }: ShownSubscription): number => {
    const reportedAt = sign?.subscriptionId === id ? sign.at : now;
    return Math.max(periodStart, Math.min(known.pastDueSince[id] ?? now, reportedAt));
  };
  const unpaid = subscriptions.filter(({ status }) => status === 'past_due');
  const pastDueSince = Object.fromEntries(unpaid.map((subscription) => [subscription.id, sinceOf(subscription)]));
  const each = subscriptions.map((subscription) => {
    const sold = known.soldPlans[subscription.id];
    const plan = subscription.plan ?? sold?.plan ?? null;
    const isKnown = subscription.plan !== null || sold?.priceId === subscription.priceId;
    return { ...subscription, plan, isKnown, held: heldBy(subscription, plan, pastDueSince), standing: statusOf(subscription) };
  });
  const running = each.filter(({ standing: state }) => isRunning(state));
  const isHeld = (held: HeldPlan | null) => held !== null && (held.planThrough ?? 0) > now;
  const weightOf = ({ held, standing: state, createdAt }: (typeof each)[number]) => [
    isHeld(held) ? planRank(held!.plan) : 0,
    state === 'none' ? 0 : isRunning(state) ? 2 : 1,
    createdAt,
  ];
  const [shown] = each.toSorted((a, b) => compare(weightOf(b), weightOf(a)));
  const isShown = shown !== undefined && shown.standing !== 'none';
  const sold = running.flatMap(({ id, priceId, plan, isKnown }) => (isKnown ? [[id, { priceId, plan: plan! }] as const] : []));
  const retained = running.flatMap(({ id, isKnown }) => (isKnown || !known.soldPlans[id] ? [] : [[id, known.soldPlans[id]] as const]));
  return {
    processorPlans: each.flatMap(({ held }) => (isHeld(held) ? [held!] : [])),
    subscriptionId: isShown ? shown.id : null,
    subscriptionStatus: isShown ? shown.standing : 'none',
    subscriptionPlan: isShown ? shown.plan : null,
    currentPeriodEnd: isShown ? shown.periodEnd : null,
    cancelsAtPeriodEnd: isShown && shown.cancelsAtPeriodEnd,
    pastDueSince,
    soldPlans: Object.fromEntries([...sold, ...retained]),
    trouble: running.some(({ isKnown }) => !isKnown) ? 'price_unknown' : running.length > 1 ? 'subscribed_twice' : null,
    nextReadAt:
      running.length === 0
        ? null
        : nextReadAt(
            running.map(({ held, periodEnd }) => held?.planThrough ?? periodEnd),
            now,
          ),
  };
}

const compare = (a: number[], b: number[]): number => {
  const at = a.findIndex((value, i) => value !== b[i]);
  return at < 0 ? 0 : a[at]! - b[at]!;
};
