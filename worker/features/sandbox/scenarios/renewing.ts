import type { EventType } from '#rules/events.ts';
import { untilFinal } from './actions.ts';
import type { Scenario } from './script.ts';
import {
  cancelSteps,
  RENEWING,
  revokeApproval,
  spendAll,
  subscribeSteps,
  untilChecked,
  untilCollected,
  untilGranted,
  untilOver,
} from './subscribers.ts';

const COLLECTED: EventType[] = [
  'payment.confirmed',
  'membership.renewed',
  'receipt.created',
  'subscription.renewed',
  'entitlement.granted',
];
const SUBSCRIBED: EventType[] = [
  'payment.created',
  'payment.submitted',
  'payment.confirmed',
  'membership.activated',
  'receipt.created',
  'subscription.authorized',
  'entitlement.granted',
];
const ENDED: EventType[] = ['membership.grace_started', 'entitlement.expired'];

export const RENEWING_SCENARIOS = {
  subscription_authorized: {
    description: 'A buyer subscribes to a product that renews automatically: the wallet consents, and the first period is collected.',
    wares: RENEWING,
    options: ['price'],
    expected: SUBSCRIBED,
    script: subscribeSteps,
  },
  subscription_renewed: {
    description: 'The next period is collected when it begins, without the buyer.',
    wares: RENEWING,
    options: ['price'],
    expected: [...SUBSCRIBED, 'payment.finalized', ...COLLECTED, 'payment.finalized'],
    script: [...subscribeSteps, untilCollected, untilGranted, untilFinal],
  },
  subscription_past_due: {
    description:
      'The wallet is empty when the next period begins: the collection is retried, and grace begins at the end of the paid time.',
    wares: RENEWING,
    options: ['price'],
    expected: [...SUBSCRIBED, 'payment.finalized', 'subscription.past_due', ...ENDED],
    script: [...subscribeSteps, spendAll, untilCollected],
  },
  subscription_cancelled: {
    description: 'The buyer’s wallet cancels: nothing further is collected, and access lasts until the end of the paid time.',
    wares: RENEWING,
    options: ['price'],
    expected: [
      ...SUBSCRIBED,
      'subscription.cancel_requested',
      'payment.finalized',
      'subscription.cancelled',
      'membership.cancelled',
      'entitlement.expired',
    ],
    script: [...subscribeSteps, ...cancelSteps, untilOver],
  },
  subscription_requires_reapproval: {
    description: 'The wallet revokes its approval: the buyer must approve again before anything is collected.',
    wares: RENEWING,
    options: ['price'],
    expected: [...SUBSCRIBED, 'payment.finalized', 'subscription.requires_reapproval'],
    script: [...subscribeSteps, revokeApproval, untilChecked],
  },
} as const satisfies Record<string, Scenario>;
