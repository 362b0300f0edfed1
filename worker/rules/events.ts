/**
 * Event types. The row of a change's events is lock, audit, timeline and outbox at once. Acts store a type as its position here: add new
 * ones at the end.
 */
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
  'payer.limit_reached',
  'webhook.endpoint_created',
  'webhook.endpoint_changed',
  'customer.updated',
  'customer.merged',
  'customer.erasure_requested',
  'customer.erased',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Event types of every sale. Lists find the others, which are rare, by an index. */
const COMMON_EVENT_TYPES: ReadonlySet<EventType> = new Set<EventType>([
  'payment.created',
  'payment.submitted',
  'payment.confirmed',
  'payment.finalized',
  'payment.failed',
  'receipt.created',
  'membership.activated',
  'membership.renewed',
  'entitlement.granted',
  'metered_session.committed',
]);

export const isRare = (type: EventType): boolean => !COMMON_EVENT_TYPES.has(type);

/** Event types that the service itself acts on. Others wait for the merchant's endpoints alone. */
export const FOLLOWED_EVENT_TYPES = [
  'payment.confirmed',
  'payment.finalized',
  'payment.unmatched',
  'payment.orphaned',
  'payment.refunded',
  'receipt.created',
  'membership.activated',
  'membership.renewed',
  'membership.expired',
  'membership.access_revoked',
  'membership.cancelled',
  'subscription.authorized',
  'subscription.renewed',
  'subscription.past_due',
  'subscription.cancel_requested',
  'subscription.cancelled',
  'subscription.requires_reapproval',
  'webhook.endpoint_failing',
  'webhook.endpoint_disabled',
  'customer.merged',
] as const satisfies readonly EventType[];

export type SubjectType =
  | 'payment'
  | 'unmatched_payment'
  | 'receipt'
  | 'receipt_proof'
  | 'membership'
  | 'product'
  | 'entitlement'
  | 'customer'
  | 'erasure_request'
  | 'subscription'
  | 'metered_session'
  | 'rail'
  | 'account'
  | 'webhook_endpoint'
  | 'support_ticket'
  | 'webhook_test';

export const matchesType = (patterns: readonly string[], type: string): boolean =>
  patterns.some((pattern) => pattern === '*' || pattern === type || (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1))));

export const isTypePattern = (pattern: string): boolean => pattern === '*' || EVENT_TYPES.some((type) => matchesType([pattern], type));

/** Event before storage. `object` has the shape of the GET. `previous` holds the changed fields with their old values. */
export interface NewEvent {
  merchantId: string;
  livemode: boolean;
  type: EventType;
  subject: { type: SubjectType; id: string; version: number };
  object: object;
  previous?: object;
  related?: Record<string, object>;
  productId?: string;
  paymentId?: string;
  membershipId?: string;
  /** False if the service has nothing to do about this event, though it acts on others of its type. */
  isFollowed?: boolean;
  /** True if a write of the same batch aborts unless the subject has the version before this one. */
  isLockedByRow?: boolean;
}

/** JSON paths of personal data in events (text written by a person, provider identity, address), for erasure. */
const NAMED_IN_EVENTS: readonly { types: readonly EventType[]; paths: readonly string[] }[] = [
  {
    types: ['support.ticket_created', 'support.message_added', 'support.ticket_updated', 'support.ticket_closed'],
    paths: ['$.object.subject', '$.message.body'],
  },
  { types: ['receipt.proof_sent'], paths: ['$.proof.email'] },
  {
    types: EVENT_TYPES.filter((type) => /^(membership|delivery)\./.test(type)),
    paths: ['$.object.delivery.identity.provider_user_id', '$.object.delivery.identity.username'],
  },
  { types: ['customer.erasure_requested'], paths: ['$.object.email'] },
  {
    types: ['customer.updated', 'customer.merged'],
    paths: ['$.object', '$.previous'].flatMap((at) =>
      ['emails.email', 'name', 'company.name', 'company.address', 'company.tax_id', 'company.email'].map((field) => `${at}.${field}`),
    ),
  },
  {
    types: EVENT_TYPES.filter((type) => type.startsWith('payment.')),
    paths: ['$.object.buyer_identity.provider_user_id', '$.object.buyer_identity.username'],
  },
];

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Objects at the end of a path. A path goes through each entry of a list. */
const holdersAt = (value: unknown, names: readonly string[]): unknown[] =>
  Array.isArray(value)
    ? value.flatMap((entry) => holdersAt(entry, names))
    : names.length === 0
      ? [value]
      : holdersAt(isObject(value) ? value[names[0]!] : undefined, names.slice(1));

/** Finds the objects in `value` that hold a non-empty text at the end of one of these paths, each with the field's name. */
function textsAt(value: unknown, paths: readonly string[]): { holder: Record<string, unknown>; name: string }[] {
  return paths.flatMap((path) => {
    const names = path.split('.').slice(1);
    const name = names.pop()!;
    const holders = holdersAt(value, names).filter(isObject);
    return holders.flatMap((holder) => (typeof holder[name] === 'string' && holder[name] !== '' ? [{ holder, name }] : []));
  });
}

/** Blanks the texts at these paths. Returns false if all are blank already. */
export function blankAt(value: unknown, paths: readonly string[]): boolean {
  const found = textsAt(value, paths);
  for (const { holder, name } of found) holder[name] = '';
  return found.length > 0;
}

interface TypedData {
  type: EventType;
  data: unknown;
}

const namedPathsOf = (type: EventType): readonly string[] =>
  NAMED_IN_EVENTS.flatMap(({ types, paths }) => (types.includes(type) ? paths : []));

export const hasNames = ({ type, data }: TypedData): boolean => textsAt(data, namedPathsOf(type)).length > 0;

/** Blanks the personal data of an event. Returns false if it has none. */
export const eraseNames = ({ type, data }: TypedData): boolean => blankAt(data, namedPathsOf(type));

/** JSON paths of personal data in payment rows, for erasure. */
export const NAMED_IN_PAYMENTS = ['$.terms.identity.providerUserId', '$.terms.identity.username'] as const;
