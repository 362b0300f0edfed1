import { z } from '@hono/zod-openapi';
import { VERSION } from '#core/version.ts';
import { PayoutBody } from '#features/accounts/payout.ts';
import { AuthorizationBody } from '#features/authorizations/resource.ts';
import { CustomerRecordBody, ErasureRequestBody } from '#features/customers/resource.ts';
import { EntitlementBody } from '#features/entitlements/resource.ts';
import { MembershipBody } from '#features/memberships/resource.ts';
import { MeteredSessionBody } from '#features/metered/resource.ts';
import { PayerLimitBody } from '#features/pay-per-request/payer-limit.ts';
import { RefundBody } from '#features/payments/refunds/resource.ts';
import { PaymentBody, UnmatchedBody } from '#features/payments/resource.ts';
import { ReceiptBody } from '#features/receipts/receipt.ts';
import { MessageBody, TicketBody } from '#features/support/resource.ts';
import { EndpointBody, EventBody, MakerBody, PreviousValues } from '#features/webhooks/resource.ts';
import type { EventType, NewEvent, SubjectType } from '#rules/events.ts';
import {
  AT,
  confirmed,
  created,
  customer,
  delivered,
  delivery,
  endpoint,
  entitlement,
  erasedCustomer,
  membership,
  message,
  meteredSession,
  payerLimit,
  payout,
  RECEIPT,
  receipt,
  refund,
  submitted,
  subscription,
  ticket,
  unmatched,
} from './event-examples.ts';

/** Meaning and payload of an event type. `object` is the GET schema of its object. Tests check every emitted event against it. */
interface CatalogEntry {
  description: string;
  subject: SubjectType;
  object: z.ZodType<object>;
  example: object;
  /** Further fields of `data`, with schema and example. */
  extras?: Record<string, { schema: z.ZodType; example: object }>;
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
  ...(hasMessage ? { extras: { message: { schema: MessageBody, example: message } } } : {}),
});

const ofEndpoint = (description: string, change: Partial<typeof endpoint> = {}): CatalogEntry => ({
  description,
  subject: 'webhook_endpoint',
  object: EndpointBody,
  example: { ...endpoint, ...change },
  extras: { by: { schema: MakerBody, example: endpoint.created_by } },
});

const FAILING_SINCE = '2026-11-20T09:00:00.000Z';
const DISABLES_AT = '2026-11-25T09:00:00.000Z';

export const EVENT_CATALOG: Record<EventType, CatalogEntry> = {
  'payment.created': ofPayment('A checkout session started.', created),
  'payment.submitted': ofPayment('A transaction of the payment was found or sent. It is not confirmed yet.', submitted),
  'payment.confirmed': ofPayment('The payment is confirmed on the chain. Unlock access now.', confirmed),
  'payment.finalized': ofPayment('The transaction is final on the chain. If it was orphaned before, access is restored.', {
    ...confirmed,
    finalized_at: AT,
    version: 4,
  }),
  'payment.failed': ofPayment('The session ended without a payment, or the transaction failed.', {
    ...created,
    status: 'FAILED',
    failure_code: 'session_expired',
    failure_reason: 'The session ended before a payment arrived.',
    version: 2,
    poll_after_ms: null,
  }),
  'payment.unmatched': {
    description: 'Money arrived late, short, a second time, or from an unidentified buyer. Accept it, or contact the buyer.',
    subject: 'unmatched_payment',
    object: UnmatchedBody,
    example: unmatched,
  },
  'payment.orphaned': ofPayment(
    'The chain dropped a confirmed transaction, and the access it bought was revoked. Also sent for a payment that your own x402 server settled ' +
      'through the facilitator: it has a `tx_signature` and no product.',
    { ...confirmed, orphaned_at: AT, version: 4 },
  ),
  'payment.refunded': {
    ...ofPayment(
      'A refund to the paying wallet was found: `data.refund`. If `previous` has a refund that the object lacks, the chain ' +
        'dropped it.',
      { ...confirmed, refunded: [refund], version: 4 },
    ),
    extras: { refund: { schema: RefundBody.describe('Refund of the payment, as found on the chain.'), example: refund } },
  },
  'receipt.created': { description: 'A receipt was issued and signed.', subject: 'receipt', object: ReceiptBody, example: receipt },
  'receipt.proof_sent': {
    description: 'You sent the public proof of a receipt by email. `data.proof` has the recipient, and the subject is the queued email.',
    subject: 'receipt_proof',
    object: ReceiptBody,
    example: receipt,
    extras: {
      proof: {
        schema: z.object({ message_id: z.uuid(), email: z.string() }),
        example: { message_id: RECEIPT, email: 'buyer@example.com' },
      },
    },
  },
  'membership.activated': ofMembership('A customer bought the product for the first time.'),
  'membership.renewed': ofMembership('A later purchase extended or reactivated the membership.', { version: 2 }),
  'membership.grace_started': ofMembership('The paid time has ended. Delivered access continues for the grace period.', {
    status: 'grace',
    grace_until: '2026-12-24T09:00:00.000Z',
    version: 3,
  }),
  'membership.expired': ofMembership('Paid time and grace period have ended.', { status: 'expired', version: 4 }),
  'membership.access_revoked': ofMembership(
    'Access was revoked: the chain dropped the payment, a refund revoked it, or the member was removed from the chat after the end.',
    { status: 'cancelled', version: 5 },
  ),
  'membership.cancelled': ofMembership('The buyer cancelled the subscription, and the paid time has ended.', {
    status: 'cancelled',
    subscription_status: 'cancelled',
    cancelled_at: AT,
    version: 3,
  }),
  'delivery.succeeded': ofMembership('A member was invited to the chat, or got the role in the guild.', {
    delivery: delivered,
    version: 2,
  }),
  'delivery.failed': ofMembership(
    'Access could not be delivered or revoked, and is not retried automatically. `delivery.last_error` has the reason. The payment remains valid.',
    { delivery: { ...delivery, status: 'failed', attempts: 1, last_error: '403 Forbidden: bot was blocked by the user' }, version: 2 },
  ),
  'subscription.authorized': ofSubscription(
    'A buyer subscribed and the first period was collected, or the buyer withdrew a cancellation or approved again: `previous` has the previous state.',
  ),
  'subscription.renewed': ofSubscription('A further period was collected. Payment and receipt have their own events.', {
    version: 3,
  }),
  'subscription.past_due': ofSubscription(
    'A period could not be collected: the wallet holds too little, or an account cannot send or receive it. It is retried until the period ends.',
    { status: 'past_due', last_collection: { at: AT, status: 'failed', code: 'insufficient_funds' }, version: 3 },
  ),
  'subscription.cancel_requested': ofSubscription('The buyer cancelled. Access continues until the end of the paid time.', {
    status: 'cancel_requested',
    cancel: { requested_at: AT, effective_at: '2026-12-21T09:00:00.000Z' },
    version: 3,
  }),
  'subscription.cancelled': ofSubscription(
    'The subscription ended: cancelled by the buyer, stopped by you (`stopped_at`), or `expired` after three unpaid periods.',
    {
      status: 'cancelled',
      cancel: { requested_at: AT, effective_at: '2026-12-21T09:00:00.000Z' },
      version: 4,
    },
  ),
  'subscription.requires_reapproval': ofSubscription(
    'Nothing can be collected until the buyer signs again, because the approval was revoked or the plan changed. Send the buyer to the product’s page.',
    { status: 'requires_reapproval', last_collection: { at: AT, status: 'failed', code: 'subscription_requires_reapproval' }, version: 3 },
  ),
  'entitlement.granted': ofEntitlement('Units or time were added, by a purchase or a grant.'),
  'entitlement.exhausted': ofEntitlement('The last unit was consumed. Not sent for units that are paid and consumed in one settle call.', {
    status: 'exhausted',
    used_units: 1000,
    remaining: 0,
    version: 1001,
  }),
  'entitlement.expired': ofEntitlement('The paid time has ended.', { status: 'expired', paid_through: AT, version: 2 }),
  'metered_session.opened': ofMetered('A buyer opened the session: the payment channel exists and vouchers are accepted.'),
  'metered_session.committed': ofMetered(
    'Vouchers arrived since the last event of this type. Sent once for all vouchers within some seconds.',
    {
      cumulative: { asset: 'USDC', amount: '0.25', base_units: '250000' },
      version: 42,
    },
  ),
  'metered_session.closed': ofMetered('The channel is closed, and the promised amount is settled.', {
    status: 'closed',
    cumulative: { asset: 'USDC', amount: '0.25', base_units: '250000' },
    settled: { asset: 'USDC', amount: '0.25', base_units: '250000' },
    version: 44,
  }),
  'support.ticket_created': ofTicket('A ticket was opened.', ticket, { hasMessage: true }),
  'support.message_added': ofTicket('A message was added to a ticket.', { ...ticket, status: 'pending' }, { hasMessage: true }),
  'support.ticket_updated': ofTicket('A ticket was resolved or reopened.', { ...ticket, status: 'resolved' }),
  'support.ticket_closed': ofTicket('A ticket was closed, manually or after 14 days without a message.', { ...ticket, status: 'closed' }),
  'payout.changed': {
    description: 'The payout wallet of a product, a rail or the account changed. If you did not change it, act now.',
    subject: 'product',
    object: PayoutBody,
    example: payout,
  },
  'payer.limit_reached': {
    description: 'A payer was refused at `max_per_payer_per_day`: probably an agent in a loop. Sent once per payer, product and day (UTC).',
    subject: 'product',
    object: PayerLimitBody,
    example: payerLimit,
  },
  'webhook.test': { description: 'A test that you requested.', subject: 'webhook_test', object: EndpointBody, example: endpoint },
  'webhook.endpoint_failing': {
    description:
      'An endpoint has failed for 24 hours, and again for 72 hours. It is disabled at `disables_at`. Sent to your other endpoints.',
    subject: 'webhook_endpoint',
    object: EndpointBody,
    example: { ...endpoint, failure_streak: 12, last_failure_at: AT, failing_since: FAILING_SINCE, disables_at: DISABLES_AT },
  },
  'webhook.endpoint_disabled': {
    description: 'An endpoint was disabled: it returned 410, or failed for five days.',
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
  'webhook.endpoint_created': ofEndpoint('An endpoint or hook was created. Sent to your other endpoints.'),
  'webhook.endpoint_changed': ofEndpoint('The URL or secret of an endpoint changed. Sent to your other endpoints.', {
    changed_by: endpoint.created_by,
  }),
  'customer.updated': {
    description: 'Details of a customer changed.',
    subject: 'customer',
    object: CustomerRecordBody,
    example: customer,
  },
  'customer.merged': {
    description: 'A customer was merged into another one.',
    subject: 'customer',
    object: CustomerRecordBody,
    example: { ...customer, merged_from: ['0f7a51c2-6b3e-8d14-9000-2ac4e6819d05'] },
  },
  'customer.erased': {
    description: 'A customer was erased.',
    subject: 'customer',
    object: CustomerRecordBody,
    example: erasedCustomer,
  },
  'customer.erasure_requested': {
    description: 'A buyer asked for the erasure of personal data.',
    subject: 'erasure_request',
    object: ErasureRequestBody,
    example: { erasure_id: RECEIPT, customer_ids: [customer.customer_id], email: 'ada@example.com', requested_at: AT },
  },
};

/** `payment.confirmed` → `PaymentConfirmed`. */
export const pascalOf = (type: EventType): string => type.replace(/(?:^|[._])(\w)/g, (_, initial: string) => initial.toUpperCase());

export const envelopeOf = (type: EventType) =>
  EventBody.extend({
    type: z.literal(type),
    data: z.object({
      object: EVENT_CATALOG[type].object,
      previous: PreviousValues.optional(),
      ...mapped(type, ({ schema }) => schema),
    }),
  });

const mapped = <T>(type: EventType, of: (extras: { schema: z.ZodType; example: object }) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(EVENT_CATALOG[type].extras ?? {}).map(([name, extras]) => [name, of(extras)]));

/** Derives an example's subject from its object. Some objects do not show their version. */
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
