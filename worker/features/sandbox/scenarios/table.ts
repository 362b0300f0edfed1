import { DAY, SECOND } from '#core/time.ts';
import { postAttempt } from '#features/webhooks/deliveries/post.ts';
import type { EventType } from '#rules/events.ts';
import { listSessionDeliveries } from '../sessions/store.ts';
import { advanceStep, buySteps, confirmStep, connectSteps, GRANTED, paySteps, untilExpired, untilFinal, untilLapsed } from './actions.ts';
import { askStep, settleStep, signStep, useUp } from './agent.ts';
import { CHAT, joinSteps } from './members.ts';
import { closeStep, meterSteps, topUpStep, useStep } from './metered.ts';
import { refundSteps, ticketSteps } from './office.ts';
import { RENEWING_SCENARIOS } from './renewing.ts';
import { done, later, type ProductDefaults, type Scenario, type Step } from './script.ts';

/** Waits until the endpoints were tried with this event, or returns at once if no endpoint wants the event. */
const waitForDelivery = (type: EventType): Step => ({
  action: 'deliver',
  run: async ({ scope, session }) => {
    const deliveries = await listSessionDeliveries(scope.db, session, type);
    return deliveries.some(({ delivery }) => delivery.attempt === 0 && delivery.status === 'pending') ? later : done();
  },
});

/** Simulates a sender that crashed between sending and recording: repeats the attempt with the same bytes. */
const redeliver = (type: EventType): Step => ({
  action: 'deliver_again',
  run: async ({ scope, session }) => {
    const deliveries = await listSessionDeliveries(scope.db, session, type);
    for (const { delivery, endpoint, event } of deliveries)
      if (endpoint.status === 'enabled')
        await postAttempt(scope, { delivery: { ...delivery, attempt: delivery.attempt - 1 }, endpoint, event });
    return done('sent');
  },
});

const release: Step = {
  action: 'deliver',
  run: async ({ notes }) => {
    notes.released = 'true';
    return done('sent');
  },
};

const [ONE_CALL, CALLS] = [1, 3].map((usage_units) => ({ usage_units, access_period_days: null })) as [ProductDefaults, ProductDefaults];
const MONTH = { usage_units: null, access_period_days: 30 };
const PAYS = ['price', 'delaySeconds'] as const;

const BEGUN: EventType[] = ['payment.created'];
const BOUGHT: EventType[] = [
  ...BEGUN,
  'payment.submitted',
  'payment.confirmed',
  'membership.activated',
  'receipt.created',
  'entitlement.granted',
];
const RENEWED = BOUGHT.map((type) => (type === 'membership.activated' ? 'membership.renewed' : type));
const SETTLED: EventType[] = ['payment.confirmed', 'receipt.created', 'entitlement.granted'];

const OPENED: EventType[] = ['metered_session.opened'];
const COMMITTED: EventType = 'metered_session.committed';
const CLOSED: EventType[] = ['payment.confirmed', 'receipt.created', 'metered_session.closed'];

/** Shorter than the service's own first check, so that the repeated call brings the success. */
const LATER_MS = 20 * SECOND;

const TABLE = {
  payment_confirmed: {
    description: 'A buyer pays in time: the payment is confirmed, then finalized.',
    wares: MONTH,
    options: PAYS,
    expected: [...BOUGHT, 'payment.finalized'],
    script: [...buySteps(), untilFinal],
  },
  payment_failed: {
    description: 'The buyer’s transaction fails on the chain; with `failure: session_expired` the session expires instead.',
    wares: MONTH,
    options: [...PAYS, 'failure'],
    expected: [...BEGUN, 'payment.failed'],
    script: ({ failure }) =>
      failure === 'session_expired'
        ? [...connectSteps(), untilExpired()]
        : [...connectSteps(), ...paySteps('paid', { hasFailed: true }), confirmStep(['payment.failed'])],
  },
  payment_expired: {
    description: 'The session expires without a payment.',
    wares: MONTH,
    options: ['price'],
    expected: [...BEGUN, 'payment.failed'],
    script: [...connectSteps(), untilExpired()],
  },
  payment_late: {
    description: 'The money arrives after the end of the session: it is unmatched until you accept it.',
    wares: MONTH,
    options: PAYS,
    expected: [...BEGUN, 'payment.failed', 'payment.unmatched'],
    script: [...connectSteps(), untilExpired(), ...paySteps('paid'), confirmStep(['payment.unmatched'])],
  },
  payment_underpaid: {
    description: 'Half of the price arrives: it is unmatched until you accept it, and the session stays open.',
    wares: MONTH,
    options: PAYS,
    expected: [...BEGUN, 'payment.unmatched'],
    script: [...connectSteps(), ...paySteps('underpaid'), confirmStep(['payment.unmatched'])],
  },
  payment_overpaid: {
    description: 'More than the price arrives: the payment is confirmed with the overpaid amount.',
    wares: MONTH,
    options: PAYS,
    expected: [...BOUGHT, 'payment.finalized'],
    script: [...connectSteps(), ...paySteps('overpaid'), confirmStep(GRANTED), untilFinal],
  },
  payment_refunded: {
    description: 'The merchant refunds a buyer in full; the access remains.',
    wares: MONTH,
    options: PAYS,
    expected: [...BOUGHT, 'payment.refunded'],
    script: [...buySteps(), ...refundSteps],
  },
  payment_duplicate_signature: {
    description: 'The transaction of one payment is submitted for another, which it does not pay.',
    wares: MONTH,
    options: PAYS,
    expected: [...BOUGHT, ...BEGUN],
    script: [...buySteps(), ...connectSteps('second'), confirmStep([], { noteKey: 'second', signedAs: 'payment' })],
  },
  membership_renewed: {
    description: 'A customer renews a day before the end: the time is added to the remaining time.',
    wares: MONTH,
    options: PAYS,
    expected: [...BOUGHT, 'payment.finalized', ...RENEWED],
    script: [...buySteps(), advanceStep(29 * DAY), ...buySteps('second')],
  },
  membership_grace_expired: {
    description: 'The paid time ends, grace begins, and grace ends.',
    wares: MONTH,
    options: PAYS,
    expected: [...BOUGHT, 'payment.finalized', 'membership.grace_started', 'entitlement.expired', 'membership.expired'],
    script: [...buySteps(), untilLapsed('paidThrough'), untilLapsed('graceUntil')],
  },
  delivery_failed_then_retried: {
    description: 'The first invitation of a member to a chat fails, and a requested retry succeeds. The payment remains valid throughout.',
    wares: { ...MONTH, ...CHAT },
    options: PAYS,
    expected: [...BOUGHT, 'delivery.failed', 'delivery.succeeded'],
    script: joinSteps,
  },
  ...RENEWING_SCENARIOS,
  entitlement_exhausted: {
    description: 'A customer consumes all purchased units.',
    wares: CALLS,
    options: PAYS,
    expected: [...BOUGHT, 'entitlement.exhausted'],
    script: [...buySteps(), useUp],
  },
  x402_settled: {
    description: 'An agent requests a resource, receives a challenge, pays it, and is served.',
    wares: ONE_CALL,
    options: ['price'],
    expected: SETTLED,
    script: [askStep, signStep(), settleStep('first', GRANTED)],
  },
  x402_settlement_pending: {
    description: 'The chain is slow: settle returns 202 first, and the same call again succeeds.',
    wares: ONE_CALL,
    options: ['price'],
    expected: SETTLED,
    script: [
      askStep,
      signStep({ landsAfterMs: LATER_MS }),
      settleStep('first', []),
      advanceStep(LATER_MS + SECOND),
      settleStep('first', GRANTED),
    ],
  },
  x402_duplicate: {
    description: 'A payment is submitted twice, under two keys: the second call must not serve anything.',
    wares: ONE_CALL,
    options: ['price'],
    expected: SETTLED,
    script: [askStep, signStep(), settleStep('first', GRANTED), settleStep('second', [])],
  },
  metered_session_full: {
    description:
      'A buyer opens a metered session, pays for two deliveries by vouchers, tops it up between them, and closes it: both are settled.',
    wares: MONTH,
    options: [],
    expected: [...OPENED, COMMITTED, COMMITTED, ...CLOSED],
    script: [...meterSteps, useStep(1), topUpStep, useStep(2), closeStep],
  },
  metered_voucher_replay: {
    description:
      'A voucher is submitted again: for the same delivery the first response is repeated, for another delivery it pays nothing.',
    wares: MONTH,
    options: [],
    expected: [...OPENED, COMMITTED, ...CLOSED],
    script: [...meterSteps, useStep(1), useStep(1, []), useStep(2, [], 1), closeStep],
  },
  support_ticket_cycle: {
    description: 'A ticket with messages from both sides is resolved by staff, and closed after two weeks without a message.',
    wares: MONTH,
    options: [],
    expected: [
      'support.ticket_created',
      'support.message_added',
      'support.message_added',
      'support.ticket_updated',
      'support.ticket_closed',
    ],
    script: ticketSteps,
  },
  webhook_duplicate: {
    description: 'Your endpoint receives `payment.confirmed` twice: the same bytes, delivery id and attempt.',
    wares: MONTH,
    options: PAYS,
    expected: BOUGHT,
    script: [...buySteps(), waitForDelivery('payment.confirmed'), redeliver('payment.confirmed')],
  },
  webhook_out_of_order: {
    description: 'Your endpoint receives `payment.confirmed` before `payment.submitted`.',
    wares: MONTH,
    options: PAYS,
    expected: BOUGHT,
    script: [...buySteps(), waitForDelivery('payment.confirmed'), release],
    heldBack: 'payment.submitted',
  },
} as const satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof TABLE;
export const SCENARIOS: Readonly<Record<string, Scenario>> = TABLE;
export const SCENARIO_NAMES = Object.keys(TABLE) as [ScenarioName, ...ScenarioName[]];
