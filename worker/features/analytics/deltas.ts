import { FACILITATED_PRODUCT_ID } from '#core/ids.ts';
import type { PaymentResource } from '#features/payments/resource.ts';
import type { StoredEvent } from '#platform/db/tables/events.ts';
import { type Counts, countsOf, deltasBetween, type MetricDelta, type PaymentFacts } from '#rules/analytics/metrics.ts';
import type { EventType } from '#rules/events.ts';
import { isSession } from '#rules/payment-terms.ts';

type EventPayment = Pick<
  PaymentResource,
  'product_id' | 'status' | 'price' | 'overpaid' | 'fee' | 'fee_owed' | 'references' | 'failure_code' | 'refunded' | 'created_at'
> &
  Partial<Pick<PaymentResource, 'receipt_id' | 'orphaned_at' | 'confirmed_at' | 'recovers_payment_id'>>;

const unitsOf = (money: { base_units: string } | undefined): bigint => BigInt(money?.base_units ?? 0);
const refundedOf = (refunds: EventPayment['refunded'] = []): bigint => refunds.reduce((sum, { amount }) => sum + unitsOf(amount), 0n);

function factsFromEvent({ merchantId, livemode }: StoredEvent, payment: EventPayment): PaymentFacts {
  return {
    merchantId,
    livemode,
    productId: payment.product_id,
    isSession: isSession({ recoversPaymentId: payment.recovers_payment_id ?? null, reference: payment.references[0] ?? '' }),
    status: payment.status,
    failureCode: payment.failure_code ?? null,
    asset: payment.price.asset,
    grossUnits: unitsOf(payment.price) + unitsOf(payment.overpaid),
    feeUnits: unitsOf(payment.fee) - unitsOf(payment.fee_owed),
    refundedUnits: refundedOf(payment.refunded),
    hasReceipt: payment.receipt_id !== undefined,
    isOrphaned: payment.orphaned_at !== undefined,
    createdAt: Date.parse(payment.created_at),
    confirmedAt: payment.confirmed_at === undefined ? null : Date.parse(payment.confirmed_at),
  };
}

type Before = (after: PaymentFacts, previous: Record<string, unknown>) => PaymentFacts | null;

const beforeItsEnd: Before = (after) =>
  after.isSession ? { ...after, status: 'PENDING_SIGNATURE', confirmedAt: null, hasReceipt: false } : null;

const BEFORE: { readonly [T in EventType]?: Before } = {
  'payment.created': () => null,
  'payment.confirmed': beforeItsEnd,
  'payment.failed': beforeItsEnd,
  'payment.orphaned': (after) => ({ ...after, isOrphaned: false }),
  'payment.finalized': (after, previous) => ({ ...after, isOrphaned: 'orphaned_at' in previous }),
  'payment.refunded': (after, previous) => ({ ...after, refundedUnits: refundedOf(previous.refunded as EventPayment['refunded']) }),
};

const MEMBER_COUNTS: { readonly [T in EventType]?: string } = {
  'membership.activated': 'members_new',
  'membership.renewed': 'members_renewed',
  'membership.expired': 'members_expired',
};

const isActive = (payment: unknown): bigint => ((payment as { status?: string } | undefined)?.status === 'active' ? 1n : 0n);

function memberCounts({ type, data }: StoredEvent): Counts {
  const name = MEMBER_COUNTS[type];
  return countsOf(name === undefined ? {} : { [name]: 1n }, { members_active: isActive(data.object) - isActive(data.previous) });
}

/** Returns what an event adds to its merchant's metrics. The deltas of all events of a payment add up to that payment. */
export function deltasFromEvent(event: StoredEvent): MetricDelta[] {
  if (event.subjectType === 'membership') {
    const { merchantId, livemode, createdAt: at } = event;
    return [{ merchantId, livemode, at, counts: memberCounts(event) }];
  }
  const before = BEFORE[event.type];
  const payment = event.data.object as EventPayment;
  if (!before || payment.product_id === FACILITATED_PRODUCT_ID) return [];
  const after = factsFromEvent(event, payment);
  return deltasBetween(before(after, (event.data.previous ?? {}) as Record<string, unknown>), after);
}

export const METRIC_EVENT_TYPES: readonly EventType[] = [
  ...(Object.keys(BEFORE) as EventType[]),
  ...(Object.keys(MEMBER_COUNTS) as EventType[]),
  'membership.grace_started',
  'membership.access_revoked',
];
