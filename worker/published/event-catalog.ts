import { z } from '@hono/zod-openapi';
import { VERSION } from '#core/version.ts';
import { PayoutBody } from '#features/accounts/payout.ts';
import { EntitlementBody } from '#features/entitlements/resource.ts';
import { MembershipBody } from '#features/memberships/resource.ts';
import { PaymentBody, UnmatchedBody } from '#features/payments/resource.ts';
import { ReceiptBody } from '#features/receipts/receipt.ts';
import { EndpointBody, EventBody } from '#features/webhooks/resource.ts';
import { EVENT_TYPES, type EventType } from '#rules/events.ts';
import { AT, confirmed, created, endpoint, entitlement, membership, payout, receipt, submitted, unmatched } from './event-examples.ts';

/** What each event means and carries. `object` has the shape of the GET; the tests hold every emitted event against it. */
interface CatalogEntry {
  description: string;
  subject: string;
  object: z.ZodType<object>;
  example: object;
}

const entitled = (description: string, change: Partial<typeof entitlement> = {}): CatalogEntry => ({
  description,
  subject: 'entitlement',
  object: EntitlementBody,
  example: { ...entitlement, ...change },
});

const payment = (description: string, example: object): CatalogEntry => ({ description, subject: 'payment', object: PaymentBody, example });
const member = (description: string, change: Partial<typeof membership> = {}): CatalogEntry => ({
  description,
  subject: 'membership',
  object: MembershipBody,
  example: { ...membership, ...change },
});

const FAILING_SINCE = '2026-11-20T09:00:00.000Z';
const DISABLES_AT = '2026-11-25T09:00:00.000Z';

export const EVENT_CATALOG: Record<EventType, CatalogEntry> = {
  'payment.created': payment('A checkout session began.', created),
  'payment.submitted': payment('A transaction for it was seen or sent; nothing is proven yet.', submitted),
  'payment.confirmed': payment('The money is there. Unlock access now.', confirmed),
  'payment.finalized': payment('The cluster made the transaction final; where it was orphaned before, access is given back.', {
    ...confirmed,
    finalized_at: AT,
    version: 4,
  }),
  'payment.failed': payment('The session ended without a payment, or the buyer’s transaction failed.', {
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
  'payment.orphaned': payment(
    'The chain dropped a confirmed transaction; the access it bought was taken back. Also of a payment that your own x402 server settled ' +
      'through the facilitator: then `tx_signature` names it, and no product of yours does.',
    { ...confirmed, orphaned_at: AT, version: 4 },
  ),
  'receipt.created': { description: 'A signed receipt exists.', subject: 'receipt', object: ReceiptBody, example: receipt },
  'membership.activated': member('A customer bought for the first time.'),
  'membership.renewed': member('A later purchase extended or revived a membership.', { version: 2 }),
  'membership.grace_started': member('The paid time is over; delivered access stays for the grace period.', {
    status: 'grace',
    grace_until: '2026-12-24T09:00:00.000Z',
    version: 3,
  }),
  'membership.expired': member('Paid time and grace are over.', { status: 'expired', version: 4 }),
  'membership.access_revoked': member('Access was taken back because the chain dropped its payment.', { status: 'cancelled', version: 5 }),
  'entitlement.granted': entitled('Units or time were added, by a purchase or by hand.'),
  'entitlement.exhausted': entitled('The last unit was used. (Not said of a unit that is paid for and used in one settle.)', {
    status: 'exhausted',
    used_units: 1000,
    remaining: 0,
    version: 1001,
  }),
  'entitlement.expired': entitled('The time that was paid for is over.', { status: 'expired', paid_through: AT, version: 2 }),
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
    data: z.object({ object: EVENT_CATALOG[type].object, previous: z.record(z.string(), z.unknown()).optional() }),
  });

/** Whom an example is about, as its own object says; some objects do not show their version. */
function subjectOf(type: string, example: object) {
  const { version = 1, ...object } = example as Record<string, unknown>;
  return { type, id: object[`${type.split('_')[0]}_id`] ?? object.endpoint_id, version };
}

export function exampleOf(type: EventType): object {
  const { subject, example } = EVENT_CATALOG[type];
  return {
    id: 'evt_01JD7Q2Z8X3V5W6Y7A8B9C0D1E',
    type,
    created_at: AT,
    livemode: true,
    api_version: VERSION,
    account_id: receipt.document.merchant.account_id,
    subject: subjectOf(subject, example),
    data: { object: example },
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
