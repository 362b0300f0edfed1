import { z } from '@hono/zod-openapi';
import { VERSION } from '#core/version.ts';
import { PayoutBody } from '#features/accounts/payout.ts';
import { AuthorizationBody } from '#features/authorizations/resource.ts';
import { EntitlementBody } from '#features/entitlements/resource.ts';
import { MembershipBody } from '#features/memberships/resource.ts';
import { MeteredSessionBody } from '#features/metered/resource.ts';
import { RefundBody } from '#features/payments/refunds/resource.ts';
import { PaymentBody, UnmatchedBody } from '#features/payments/resource.ts';
import { ReceiptBody } from '#features/receipts/receipt.ts';
import { MessageBody, TicketBody } from '#features/support/resource.ts';
import { EndpointBody, EventBody } from '#features/webhooks/resource.ts';
import { EVENT_TYPES, type EventType, type NewEvent, type SubjectType } from '#rules/events.ts';
import {
  AT,
  confirmed,
  created,
  delivered,
  delivery,
  endpoint,
  entitlement,
  membership,
  message,
  meteredSession,
  payout,
  RECEIPT,
  receipt,
  refund,
  submitted,
  subscription,
  ticket,
  unmatched,
} from './event-examples.ts';

/** What each event means and carries. `object` has the shape of the GET; the tests hold every emitted event against it. */
interface CatalogEntry {
  description: string;
  subject: SubjectType;
  object: z.ZodType<object>;
  example: object;
  /** What `data` holds beside the object, with an example of it. */
  beside?: Record<string, { schema: z.ZodType; example: object }>;
}

const ofEntitlement = (description: string, change: Partial<typeof entitlement> = {}): CatalogEntry => ({
  description,
  subject: 'entitlement',
  object: EntitlementBody,
  example: { ...entitlement, ...change },
});

const ofPayment = (description: string, example: object): CatalogEntry => ({
  description,
  subject: 'payment',
  object: PaymentBody,
  example,
});
const ofMembership = (description: string, change: Partial<typeof membership> = {}): CatalogEntry => ({
  description,
  subject: 'membership',
  object: MembershipBody,
  example: { ...membership, ...change },
});

const ofSubscription = (description: string, change: Partial<typeof subscription> = {}): CatalogEntry => ({
  description,
  subject: 'subscription',
  object: AuthorizationBody,
  example: { ...subscription, ...change },
});

const ofMetered = (description: string, change: Partial<typeof meteredSession> = {}): CatalogEntry => ({
  description,
  subject: 'metered_session',
  object: MeteredSessionBody,
  example: { ...meteredSession, ...change },
});

const ofTicket = (description: string, example: z.infer<typeof TicketBody>, { hasMessage = false } = {}): CatalogEntry => ({
  description,
  subject: 'support_ticket',
  object: TicketBody,
  example,
  ...(hasMessage ? { beside: { message: { schema: MessageBody, example: message } } } : {}),
});

const FAILING_SINCE = '2026-11-20T09:00:00.000Z';
const DISABLES_AT = '2026-11-25T09:00:00.000Z';

export const EVENT_CATALOG: Record<EventType, CatalogEntry> = {
  'payment.created': ofPayment('A checkout session began.', created),
  'payment.submitted': ofPayment('A transaction for it was seen or sent; nothing is proven yet.', submitted),
  'payment.confirmed': ofPayment('The money is there. Unlock access now.', confirmed),
  'payment.finalized': ofPayment('The cluster made the transaction final; where it was orphaned before, access is given back.', {
    ...confirmed,
    finalized_at: AT,
    version: 4,
  }),
  'payment.failed': ofPayment('The session ended without a payment, or the buyer’s transaction failed.', {
    ...created,
    status: 'FAILED',
    failure_code: 'session_expired',
    failure_reason: 'The session ended before a payment arrived.',
    version: 2,
    poll_after_ms: null,
  }),
  'payment.unmatched': {
    description:
      'Money arrived late, short, a second time, or from a buyer not identified. Accept it, or agree on something with the buyer.',
    subject: 'unmatched_payment',
    object: UnmatchedBody,
    example: unmatched,
  },
  'payment.orphaned': ofPayment(
    'The chain dropped a confirmed transaction; the access it bought was taken back. Also of a payment that your own x402 server settled ' +
      'through the facilitator: then `tx_signature` names it, and no product of yours does.',
    { ...confirmed, orphaned_at: AT, version: 4 },
  ),
  'payment.refunded': {
    ...ofPayment(
      'Money was paid back to the wallet that paid: `data.refund` says which. Where `previous` has a refund that the object lacks, the chain ' +
        'dropped that one.',
      { ...confirmed, refunded: [refund], version: 4 },
    ),
    beside: { refund: { schema: RefundBody, example: refund } },
  },
  'receipt.created': { description: 'A signed receipt exists.', subject: 'receipt', object: ReceiptBody, example: receipt },
  'receipt.proof_sent': {
    description:
      'You had the public proof of a receipt sent to somebody: `data.proof` says to whom, and the subject is that e-mail. It is queued.',
    subject: 'receipt_proof',
    object: ReceiptBody,
    example: receipt,
    beside: {
      proof: {
        schema: z.object({ message_id: z.uuid(), email: z.string() }),
        example: { message_id: RECEIPT, email: 'buyer@example.com' },
      },
    },
  },
  'membership.activated': ofMembership('A customer bought for the first time.'),
  'membership.renewed': ofMembership('A later purchase extended or revived a membership.', { version: 2 }),
  'membership.grace_started': ofMembership('The paid time is over; delivered access stays for the grace period.', {
    status: 'grace',
    grace_until: '2026-12-24T09:00:00.000Z',
    version: 3,
  }),
  'membership.expired': ofMembership('Paid time and grace are over.', { status: 'expired', version: 4 }),
  'membership.access_revoked': ofMembership(
    'Access was taken back: the chain dropped its payment, a refund said so, or a place in a chat was taken away after its end.',
    { status: 'cancelled', version: 5 },
  ),
  'membership.cancelled': ofMembership('The buyer cancelled the subscription, and the time that was paid for is over.', {
    status: 'cancelled',
    subscription_status: 'cancelled',
    cancelled_at: AT,
    version: 3,
  }),
  'delivery.succeeded': ofMembership('A member was invited to the chat, or given the role in the guild.', {
    delivery: delivered,
    version: 2,
  }),
  'delivery.failed': ofMembership(
    'Access could not be delivered, or not be taken away, and is not tried again by itself: `delivery.last_error` says why. The payment stands.',
    { delivery: { ...delivery, status: 'failed', attempts: 1, last_error: '403 Forbidden: bot was blocked by the user' }, version: 2 },
  ),
  'subscription.authorized': ofSubscription(
    'A buyer subscribed and the first period was collected; or took a cancellation back, or approved again: `previous` says which.',
  ),
  'subscription.renewed': ofSubscription('A further period was collected. Its payment and receipt have events of their own.', {
    version: 3,
  }),
  'subscription.past_due': ofSubscription(
    'A period could not be collected: too little money, or an account that cannot send or receive it. It is tried again while it lasts.',
    { status: 'past_due', last_collection: { at: AT, status: 'failed', code: 'insufficient_funds' }, version: 3 },
  ),
  'subscription.cancel_requested': ofSubscription('The buyer cancelled. What was paid for lasts to its end.', {
    status: 'cancel_requested',
    cancel: { requested_at: AT, effective_at: '2026-12-21T09:00:00.000Z' },
    version: 3,
  }),
  'subscription.cancelled': ofSubscription(
    'It is over: cancelled by the buyer, stopped by you (`stopped_at`), or `expired` after three periods without a payment.',
    {
      status: 'cancelled',
      cancel: { requested_at: AT, effective_at: '2026-12-21T09:00:00.000Z' },
      version: 4,
    },
  ),
  'subscription.requires_reapproval': ofSubscription(
    'Nothing can be collected until the buyer signs again: the approval is gone, or the plan is another. The product’s page mends it.',
    { status: 'requires_reapproval', last_collection: { at: AT, status: 'failed', code: 'subscription_requires_reapproval' }, version: 3 },
  ),
  'entitlement.granted': ofEntitlement('Units or time were added, by a purchase or by hand.'),
  'entitlement.exhausted': ofEntitlement('The last unit was used. (Not said of a unit that is paid for and used in one settle.)', {
    status: 'exhausted',
    used_units: 1000,
    remaining: 0,
    version: 1001,
  }),
  'entitlement.expired': ofEntitlement('The time that was paid for is over.', { status: 'expired', paid_through: AT, version: 2 }),
  'metered_session.opened': ofMetered('A buyer opened the session: the channel stands, vouchers may come.'),
  'metered_session.committed': ofMetered('Vouchers came since this was said last; once for all that came within some seconds.', {
    cumulative: { asset: 'USDC', amount: '0.25', base_units: '250000' },
    version: 42,
  }),
  'metered_session.closed': ofMetered('The channel is closed, and what was promised is settled.', {
    status: 'closed',
    cumulative: { asset: 'USDC', amount: '0.25', base_units: '250000' },
    settled: { asset: 'USDC', amount: '0.25', base_units: '250000' },
    version: 44,
  }),
  'support.ticket_created': ofTicket('A ticket was opened.', ticket, { hasMessage: true }),
  'support.message_added': ofTicket('Somebody wrote on a ticket.', { ...ticket, status: 'pending' }, { hasMessage: true }),
  'support.ticket_updated': ofTicket('A ticket was resolved, or is open again.', { ...ticket, status: 'resolved' }),
  'support.ticket_closed': ofTicket('A ticket was closed, by hand or after 14 silent days.', { ...ticket, status: 'closed' }),
  'payout.changed': {
    description: 'The wallet that a product, a rail or the account pays out to changed. If it was not you, act now.',
    subject: 'product',
    object: PayoutBody,
    example: payout,
  },
  'webhook.test': { description: 'A test you asked for.', subject: 'webhook_test', object: EndpointBody, example: endpoint },
  'webhook.endpoint_failing': {
    description:
      'An endpoint has not succeeded for 24 hours, and once more for 72: at `disables_at` it is given up. Sent to your other endpoints.',
    subject: 'webhook_endpoint',
    object: EndpointBody,
    example: { ...endpoint, failure_streak: 12, last_failure_at: AT, failing_since: FAILING_SINCE, disables_at: DISABLES_AT },
  },
  'webhook.endpoint_disabled': {
    description: 'An endpoint was given up: it said it is gone, or did not succeed for five days.',
    subject: 'webhook_endpoint',
    object: EndpointBody,
    example: {
      ...endpoint,
      status: 'disabled',
      disabled_reason: 'no_success_for_5_days',
      failure_streak: 31,
      failing_since: FAILING_SINCE,
    },
  },
};

/** The whole envelope of a type, with its object's own shape inside. */
export const envelopeOf = (type: EventType) =>
  EventBody.extend({
    type: z.literal(type),
    data: z.object({
      object: EVENT_CATALOG[type].object,
      previous: z.record(z.string(), z.unknown()).optional(),
      ...mapped(type, ({ schema }) => schema),
    }),
  });

const mapped = <T>(type: EventType, of: (beside: { schema: z.ZodType; example: object }) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(EVENT_CATALOG[type].beside ?? {}).map(([name, beside]) => [name, of(beside)]));

/** Whom an example is about, as its own object says; some objects do not show their version. */
function subjectOf(type: SubjectType, example: object): NewEvent['subject'] {
  const { version = 1, ...object } = example as Record<string, string> & { version?: number };
  const id = object[`${type.split('_')[0]}_id`] ?? object[`${type.split('_').at(-1)}_id`] ?? object.endpoint_id ?? object.authorization_id;
  return { type, id: id!, version };
}

export function exampleOf(type: EventType) {
  const { subject, example } = EVENT_CATALOG[type];
  return {
    id: 'evt_01JD7Q2Z8X3V5W6Y7A8B9C0D1E',
    type,
    created_at: AT,
    livemode: true,
    api_version: VERSION,
    account_id: receipt.document.merchant.account_id,
    subject: subjectOf(subject, example),
    data: { object: example, ...mapped(type, ({ example }) => example) },
  };
}

/** Every type with a self-contained JSON Schema (2020-12) of its envelope. */
export const eventTypes = () =>
  EVENT_TYPES.map((type) => ({
    type,
    description: EVENT_CATALOG[type].description,
    schema: z.toJSONSchema(envelopeOf(type), { target: 'draft-2020-12' }) as Record<string, unknown>,
    example: exampleOf(type) as Record<string, unknown>,
  }));
