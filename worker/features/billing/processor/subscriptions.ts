import { DAY, HOUR } from '#core/time.ts';
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
  priceId: string;
  /** The plan its price buys; null for a price that names none. */
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
const statusOf = ({ status }: ShownSubscription): SubscriptionStatus => STATUSES[status] ?? 'none';

/** How long a subscription that is past due keeps its plan, and how long after a period's end the processor may take to tell of the next. */
const PATIENCE_MS = 3 * DAY;

/** Until when a subscription that is unpaid keeps its plan. */
export const unpaidThrough = (pastDueSince: Record<string, number>, subscriptionId: string): number | undefined =>
  pastDueSince[subscriptionId] === undefined ? undefined : pastDueSince[subscriptionId] + PATIENCE_MS;

/** What one subscription gives; null where it gives nothing. */
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
type Standing = Omit<BillingCustomer, 'accountId' | 'customerId' | 'erasingSince' | 'createdAt' | 'updatedAt' | 'version'>;
type KnownStanding = Pick<Standing, 'pastDueSince' | 'soldPlans'>;

const RUNNING: SubscriptionStatus[] = ['active', 'trialing', 'past_due'];

/** True while a subscription is charged, or will be again: no second one may be sold meanwhile. */
export const isRunning = (status: SubscriptionStatus): boolean => RUNNING.includes(status);

/** The processor is read again so long before a plan ends. */
const READ_BEFORE_MS = DAY;

/** When the processor is read again, though no event came: near the end of a plan by the hour, and by the day once that is past. */
function nextReadAt(ends: number[], now: number): number {
  const end = Math.min(...ends);
  return end <= now ? now + DAY : Math.max(now + HOUR, end - READ_BEFORE_MS);
}

/**
 * What the subscriptions of a customer amount to: the plans that each of them gives, and the one that is shown, which is the highest that
 * runs, else the newest. Three days of being past due count from the first event that showed it, in this period. One whose price tells no
 * plan any more keeps the plan that it was sold with. Pure.
 */
export function foldSubscriptions(
  subscriptions: readonly ShownSubscription[],
  known: KnownStanding,
  { now, sign }: { now: number; sign: PastDueSign | null },
): Standing & { processorPlans: HeldPlan[] } {
  const sinceOf = ({ id, periodStart }: ShownSubscription): number => {
    const told = sign?.subscriptionId === id ? sign.at : now;
    return Math.max(periodStart, Math.min(known.pastDueSince[id] ?? now, told));
  };
  const unpaid = subscriptions.filter(({ status }) => status === 'past_due');
  const pastDueSince = Object.fromEntries(unpaid.map((subscription) => [subscription.id, sinceOf(subscription)]));
  const each = subscriptions.map((subscription) => {
    const sold = known.soldPlans[subscription.id];
    const plan = subscription.plan ?? sold?.plan ?? null;
    const isKnown = subscription.plan !== null || sold?.priceId === subscription.priceId;
    return { ...subscription, plan, isKnown, held: heldBy(subscription, plan, pastDueSince), standing: statusOf(subscription) };
  });
  const running = each.filter(({ standing }) => isRunning(standing));
  const isHeld = (held: HeldPlan | null) => held !== null && (held.planThrough ?? 0) > now;
  const weightOf = ({ held, standing, createdAt }: (typeof each)[number]) => [
    isHeld(held) ? planRank(held!.plan) : 0,
    standing === 'none' ? 0 : isRunning(standing) ? 2 : 1,
    createdAt,
  ];
  const [shown] = each.toSorted((a, b) => compare(weightOf(b), weightOf(a)));
  const isShown = shown !== undefined && shown.standing !== 'none';
  const sold = running.flatMap(({ id, priceId, plan, isKnown }) => (isKnown ? [[id, { priceId, plan: plan! }] as const] : []));
  const kept = running.flatMap(({ id, isKnown }) => (isKnown || !known.soldPlans[id] ? [] : [[id, known.soldPlans[id]] as const]));
  return {
    processorPlans: each.flatMap(({ held }) => (isHeld(held) ? [held!] : [])),
    subscriptionId: isShown ? shown.id : null,
    subscriptionStatus: isShown ? shown.standing : 'none',
    subscriptionPlan: isShown ? shown.plan : null,
    currentPeriodEnd: isShown ? shown.periodEnd : null,
    cancelsAtPeriodEnd: isShown && shown.cancelsAtPeriodEnd,
    pastDueSince,
    soldPlans: Object.fromEntries([...sold, ...kept]),
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
