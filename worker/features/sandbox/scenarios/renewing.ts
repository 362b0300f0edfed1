import type { EventType } from '#rules/events.ts';
import type { Scenario } from './script.ts';
import { cancelSteps, RENEWING, revokeApproval, spendAll, subscribeSteps, untilCollected, untilOver } from './subscribers.ts';

const SUBSCRIBED: EventType[] = [
  'payment.created',
  'payment.submitted',
  'payment.confirmed',
  'membership.activated',
  'subscription.authorized',
  'receipt.created',
  'entitlement.granted',
];
const COLLECTED: EventType[] = [
  'payment.confirmed',
  'membership.renewed',
  'subscription.renewed',
  'receipt.created',
  'entitlement.granted',
];

/** What can be tried with what renews itself: rows of the table of scenarios. */
export const RENEWING_SCENARIOS = {
  subscription_authorized: {
    description: 'A buyer subscribes to what renews itself: the wallet consents, and the first period is collected.',
    wares: RENEWING,
    options: ['price'],
    expected: SUBSCRIBED,
    script: subscribeSteps,
  },
  subscription_renewed: {
    description: 'The next period is collected as soon as it begins, without the buyer.',
    wares: RENEWING,
    options: ['price'],
    expected: [...SUBSCRIBED, 'payment.finalized', ...COLLECTED],
    script: [...subscribeSteps, untilCollected],
  },
  subscription_past_due: {
    description: 'The wallet is empty when the next period begins: it is tried again, and what was paid comes to its end meanwhile.',
    wares: RENEWING,
    options: ['price'],
    expected: [...SUBSCRIBED, 'payment.finalized', 'subscription.past_due'],
    script: [...subscribeSteps, spendAll, untilCollected],
  },
  subscription_cancelled: {
    description: 'The buyer’s wallet cancels: nothing is collected any more, and the access lasts as long as it is paid.',
    wares: RENEWING,
    options: ['price'],
    expected: [...SUBSCRIBED, 'subscription.cancel_requested', 'payment.finalized', 'subscription.cancelled'],
    script: [...subscribeSteps, ...cancelSteps, untilOver],
  },
  subscription_requires_reapproval: {
    description: 'The wallet takes its approval back without a word: the buyer has to approve again before anything is collected.',
    wares: RENEWING,
    options: ['price'],
    expected: [...SUBSCRIBED, 'payment.finalized', 'subscription.requires_reapproval'],
    script: [...subscribeSteps, revokeApproval, untilOver],
  },
} as const satisfies Record<string, Scenario>;
