/** What can happen, by name. An event row is lock, audit, timeline and outbox at once. */
export const EVENT_TYPES = [
  'payment.created',
  'payment.submitted',
  'payment.confirmed',
  'payment.finalized',
  'payment.failed',
  'payment.unmatched',
  'payment.orphaned',
  'payment.refunded',
  'receipt.created',
  'receipt.proof_sent',
  'membership.activated',
  'membership.renewed',
  'membership.grace_started',
  'membership.expired',
  'membership.access_revoked',
  'membership.cancelled',
  'delivery.succeeded',
  'delivery.failed',
  'subscription.authorized',
  'subscription.renewed',
  'subscription.past_due',
  'subscription.cancel_requested',
  'subscription.cancelled',
  'subscription.requires_reapproval',
  'entitlement.granted',
  'entitlement.exhausted',
  'entitlement.expired',
  'metered_session.opened',
  'metered_session.committed',
  'metered_session.closed',
  'support.ticket_created',
  'support.message_added',
  'support.ticket_updated',
  'support.ticket_closed',
  'payout.changed',
  'webhook.test',
  'webhook.endpoint_failing',
  'webhook.endpoint_disabled',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export type SubjectType =
  | 'payment'
  | 'unmatched_payment'
  | 'receipt'
  | 'receipt_proof'
  | 'membership'
  | 'product'
  | 'entitlement'
  | 'subscription'
  | 'metered_session'
  | 'rail'
  | 'account'
  | 'webhook_endpoint'
  | 'support_ticket'
  | 'webhook_test';

/** A subscription's pattern: one type, all of a group (`payment.*`), or everything. */
export const matchesType = (patterns: readonly string[], type: string): boolean =>
  patterns.some((pattern) => pattern === '*' || pattern === type || (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1))));

export const isTypePattern = (pattern: string): boolean => pattern === '*' || EVENT_TYPES.some((type) => matchesType([pattern], type));

/** An event before it is stored. `object` has the shape of the GET; `previous` holds what changed, as it was. */
export interface NewEvent {
  merchantId: string;
  livemode: boolean;
  type: EventType;
  subject: { type: SubjectType; id: string; version: number };
  object: object;
  previous?: object;
  /** What the event is about beside its object, under a name of its own in `data`. */
  beside?: Record<string, object>;
  /** What the event belongs to: timelines and product filters are searched by these. */
  productId?: string;
  paymentId?: string;
  membershipId?: string;
}

/** Where events of these types repeat what a person wrote, who they are elsewhere, or an address: places in what they tell, from `$` on. */
export const NAMED_IN_EVENTS: readonly { types: readonly EventType[]; paths: readonly string[] }[] = [
  {
    types: ['support.ticket_created', 'support.message_added', 'support.ticket_updated', 'support.ticket_closed'],
    paths: ['$.object.subject', '$.message.body'],
  },
  { types: ['receipt.proof_sent'], paths: ['$.proof.email'] },
  {
    types: EVENT_TYPES.filter((type) => /^(membership|delivery)\./.test(type)),
    paths: ['$.object.delivery.identity.provider_user_id', '$.object.delivery.identity.username'],
  },
  {
    types: EVENT_TYPES.filter((type) => type.startsWith('payment.')),
    paths: ['$.object.buyer_identity.provider_user_id', '$.object.buyer_identity.username'],
  },
];

/** The same of the row of a payment. */
export const NAMED_IN_PAYMENTS = ['$.terms.identity.providerUserId', '$.terms.identity.username'] as const;
