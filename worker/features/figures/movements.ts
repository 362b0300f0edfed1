import { FACILITATED_PRODUCT_ID } from '#core/ids.ts';
import type { PaymentResource } from '#features/payments/resource.ts';
import type { StoredEvent } from '#platform/db/tables/events.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { EventType } from '#rules/events.ts';
import { type Movement, movementsBetween, type PaymentFacts } from '#rules/figures/figures.ts';
import { isSession } from '#rules/payment-terms.ts';

/** What a payment's row says, and a resource as an event tells it, are the same facts. */
export const factsOfRow = (payment: Payment): PaymentFacts => ({
  merchantId: payment.merchantId,
  livemode: payment.livemode,
  productId: payment.productId,
  isSession: isSession(payment),
  status: payment.status,
  failureCode: payment.failureCode,
  asset: payment.asset,
  grossUnits: payment.priceAmount + (payment.overpaidAmount ?? 0n),
  feeUnits: (payment.feeAmount ?? 0n) - (payment.feeOwedAmount ?? 0n),
  refundedUnits: (payment.refunds ?? []).reduce((sum, { units }) => sum + BigInt(units), 0n),
  hasReceipt: payment.receiptId !== null,
  isOrphaned: payment.orphanedAt !== null,
  createdAt: payment.createdAt,
  confirmedAt: payment.confirmedAt,
});

type ToldPayment = Pick<
  PaymentResource,
  'product_id' | 'status' | 'price' | 'overpaid' | 'fee' | 'fee_owed' | 'references' | 'failure_code' | 'refunded' | 'created_at'
> &
  Partial<Pick<PaymentResource, 'receipt_id' | 'orphaned_at' | 'confirmed_at' | 'recovers_payment_id'>>;

const unitsOf = (money: { base_units: string } | undefined): bigint => BigInt(money?.base_units ?? 0);
const refundedOf = (refunds: ToldPayment['refunded'] = []): bigint => refunds.reduce((sum, { amount }) => sum + unitsOf(amount), 0n);

function factsOfTold({ merchantId, livemode }: StoredEvent, told: ToldPayment): PaymentFacts {
  return {
    merchantId,
    livemode,
    productId: told.product_id,
    isSession: isSession({ recoversPaymentId: told.recovers_payment_id ?? null, reference: told.references[0] ?? '' }),
    status: told.status,
    failureCode: told.failure_code ?? null,
    asset: told.price.asset,
    grossUnits: unitsOf(told.price) + unitsOf(told.overpaid),
    feeUnits: unitsOf(told.fee) - unitsOf(told.fee_owed),
    refundedUnits: refundedOf(told.refunded),
    hasReceipt: told.receipt_id !== undefined,
    isOrphaned: told.orphaned_at !== undefined,
    createdAt: Date.parse(told.created_at),
    confirmedAt: told.confirmed_at === undefined ? null : Date.parse(told.confirmed_at),
  };
}

type Before = (after: PaymentFacts, previous: Record<string, unknown>) => PaymentFacts | null;

/** Not confirmed yet: a checkout that is under way, or nothing at all, where a payment is born confirmed. */
const beforeItsEnd: Before = (after) =>
  after.isSession ? { ...after, status: 'PENDING_SIGNATURE', confirmedAt: null, hasReceipt: false } : null;

/** What a payment was before each event of it that moves figures. */
const BEFORE: { readonly [T in EventType]?: Before } = {
  'payment.created': () => null,
  'payment.confirmed': beforeItsEnd,
  'payment.failed': beforeItsEnd,
  'payment.orphaned': (after) => ({ ...after, isOrphaned: false }),
  'payment.finalized': (after, previous) => ({ ...after, isOrphaned: 'orphaned_at' in previous }),
  'payment.refunded': (after, previous) => ({ ...after, refundedUnits: refundedOf(previous.refunded as ToldPayment['refunded']) }),
};

const MEMBER_MOVES: { readonly [T in EventType]?: string } = {
  'membership.activated': 'members_new',
  'membership.renewed': 'members_renewed',
  'membership.expired': 'members_expired',
};

const isActive = (told: unknown): bigint => ((told as { status?: string } | undefined)?.status === 'active' ? 1n : 0n);

/** What a membership's event changes of how many members are active. */
export const activeMoveOf = ({ merchantId, livemode, createdAt: at, data }: StoredEvent): Movement[] => {
  const change = isActive(data.object) - isActive(data.previous);
  return change === 0n ? [] : [{ merchantId, livemode, at, counts: { members_active: change } }];
};

/** What a membership's event counts as. */
export function memberMoveOf({ type, merchantId, livemode, createdAt: at }: StoredEvent): Movement[] {
  const name = MEMBER_MOVES[type];
  return name === undefined ? [] : [{ merchantId, livemode, at, counts: { [name]: 1n } }];
}

/** What an event adds to the figures of its merchant. Pure: all events of a payment folded are what the payment adds. */
export function movementsOfEvent(event: StoredEvent): Movement[] {
  if (event.subjectType === 'membership') return [...memberMoveOf(event), ...activeMoveOf(event)];
  const before = BEFORE[event.type];
  const told = event.data.object as ToldPayment;
  // What a merchant's own server sold with the service as its facilitator stands in that server's books.
  if (!before || told.product_id === FACILITATED_PRODUCT_ID) return [];
  const after = factsOfTold(event, told);
  return movementsBetween(before(after, (event.data.previous ?? {}) as Record<string, unknown>), after);
}

/** Types of events that move figures. */
export const MOVING_TYPES: readonly EventType[] = [
  ...(Object.keys(BEFORE) as EventType[]),
  ...(Object.keys(MEMBER_MOVES) as EventType[]),
  'membership.grace_started',
  'membership.access_revoked',
];
