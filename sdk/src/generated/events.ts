/** Event types that this version knows. */
export const KNOWN_EVENTS = [
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

export type EventType = (typeof KNOWN_EVENTS)[number];

interface EventEnvelope<T extends EventType> {
  id: string;
  type: T;
  test?: true;
  created_at: string;
  livemode: boolean;
  api_version: string;
  account_id: string;
  subject: { type: string; id: string; version: number };
  data: { object: Record<string, unknown>; previous?: Record<string, unknown> };
}

export type SvcEvent = { [T in EventType]: EventEnvelope<T> }[EventType];
export type EventOf<T extends EventType> = Extract<SvcEvent, { type: T }>;
