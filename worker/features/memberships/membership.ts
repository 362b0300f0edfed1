import { type AccountId, type MembershipId, newId, type PaymentId, type ProductId } from '#core/ids.ts';
import { GRACE_HOURS } from '#core/limits.ts';
import { isoOrNull } from '#core/time.ts';
import type { Shard } from '#platform/context.ts';
import { type Change, unchanged } from '#platform/db/commit.ts';
import type { Membership } from '#platform/db/tables/memberships.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { EventType } from '#rules/events.ts';
import { type DeliverTo, deliverToAfter, type PurchasedDelivery, purchasedDeliveryOf } from '#rules/members/placement.ts';
import { MEMBERSHIP } from '#rules/states.ts';
import { type BoughtTime, paidThroughAfter } from '#rules/subscriptions/paid-time.ts';
import { graceEndOf, toMembershipResource } from './resource.ts';
import { findMembership, insertMembership, listCarrying, updateMembership } from './store.ts';

export { noteSubscription } from './store.ts';

export interface Purchase extends PurchasedDelivery, BoughtTime {
  merchantId: AccountId;
  livemode: boolean;
  productId: ProductId;
  paymentId: PaymentId;
  payerWallet: string;
  customerRef: string | null;
  email: string | null;
  /** Hours of grace after paid time. Null: unchanged. */
  graceHours: number | null;
  subscription: Pick<Membership, 'authorizationId' | 'subscriptionStatus'> | null;
}

const customerKeyOf = ({ customerRef, payerWallet }: Purchase): string =>
  customerRef === null ? `wallet:${payerWallet}` : `ref:${customerRef}`;

/** Plans a purchase: the first activates a membership, a later one extends it from now or from its paid end, whichever is later. */
export const planMembership = (ctx: Shard, existing: Membership | null, purchase: Purchase): Change<Membership> =>
  existing
    ? changeOf(ctx, 'membership.renewed', existing, renewMembership(ctx.now, existing, purchase))
    : changeOf(ctx, 'membership.activated', null, newMembership(ctx.now, purchase));

export type MembershipEvent =
  | 'membership.renewed'
  | 'membership.grace_started'
  | 'membership.expired'
  | 'membership.cancelled'
  | 'membership.access_revoked'
  | 'delivery.succeeded'
  | 'delivery.failed';

export const membershipChange = (ctx: Shard, type: MembershipEvent, before: Membership, patch: Partial<Membership>): Change<Membership> =>
  changeOf(ctx, type, before, { ...before, ...patch, updatedAt: ctx.now, version: before.version + 1 });

function changeOf(ctx: Shard, type: EventType, before: Membership | null, after: Membership): Change<Membership> {
  return {
    events: [
      {
        merchantId: after.merchantId,
        livemode: after.livemode,
        type,
        subject: { type: 'membership', id: after.id, version: after.version },
        object: toMembershipResource(after),
        ...(before ? { previous: { status: before.status, paid_through: isoOrNull(before.paidThrough) } } : {}),
        productId: after.productId,
        paymentId: after.lastPaymentId,
        membershipId: after.id,
        isLockedByRow: before !== null,
      },
    ],
    writes: before ? updateMembership(ctx, before, after) : [insertMembership(ctx.db, after)],
    result: after,
  };
}

/**
 * Takes back what a dropped or refunded payment bought. Recomputes the time from the remaining payments: the membership may remain, shorter
 * or in full, and ends only if no payment is left.
 */
export async function planRevocation(ctx: Shard, payment: { id: PaymentId; membershipId: MembershipId | null }): Promise<Change<null>> {
  const membership = payment.membershipId && (await findMembership(ctx.db, payment.membershipId));
  if (!membership || membership.status === 'cancelled') return unchanged(null);
  const carrying = await listCarrying(ctx.db, membership.id, payment.id);
  const patch: Partial<Membership> =
    carrying.length > 0
      ? stillCarriedBy(membership, carrying)
      : { status: MEMBERSHIP.next(membership.status, 'revoke'), paidThrough: ctx.now, graceUntil: null, cancelledAt: ctx.now };
  return { ...membershipChange(ctx, 'membership.access_revoked', membership, patch), result: null };
}

/** Reverses `planRevocation`: recomputes the time from all valid payments including this one. Nothing of before an erasure comes back. */
export async function planReinstatement(ctx: Shard, payment: Reinstated): Promise<Change<null>> {
  const membership = payment.membershipId && (await findMembership(ctx.db, payment.membershipId));
  const { id, confirmedAt, terms } = payment;
  if (!membership || terms.isErased) return unchanged(null);
  const others = await listCarrying(ctx.db, membership.id, id);
  const { accessPeriodDays, periodEndsAt } = terms;
  const own = { id, confirmedAt: confirmedAt ?? ctx.now, accessPeriodDays, periodEndsAt, purchased: purchasedDeliveryOf(payment) };
  const carrying = [...others, own].sort((one, other) => one.confirmedAt - other.confirmedAt);
  const patch: Partial<Membership> = {
    // A membership that is past its end lapses normally, with its grace.
    status: MEMBERSHIP.next(membership.status, 'renew'),
    ...carriedBy(membership, carrying),
    graceUntil: null,
    cancelledAt: null,
  };
  return { ...membershipChange(ctx, 'membership.renewed', membership, patch), result: null };
}

type Reinstated = Pick<Payment, 'id' | 'confirmedAt' | 'customerRef' | 'terms' | 'membershipId'>;
type Carrying = Awaited<ReturnType<typeof listCarrying>>;

/** Recomputes a membership from these payments alone. The delivery target of archived payments is unknown, so the current one remains. */
function carriedBy({ deliverTo: held }: Membership, carrying: Carrying): Pick<Membership, 'paidThrough' | 'lastPaymentId' | 'deliverTo'> {
  const isKnown = carrying.every(({ purchased }) => purchased !== null);
  const deliverTo = carrying.reduce<DeliverTo | null>(
    (to, { purchased }) => (purchased ? deliverToAfter(to, purchased) : to),
    isKnown ? null : held,
  );
  return { paidThrough: carriedThrough(carrying), lastPaymentId: carrying.at(-1)!.id, deliverTo };
}

function stillCarriedBy(membership: Membership, carrying: Carrying): Partial<Membership> {
  const carried = carriedBy(membership, carrying);
  const graceUntil = membership.status === 'grace' ? graceEndOf({ ...membership, ...carried, graceUntil: null }) : membership.graceUntil;
  return { ...carried, graceUntil };
}

/** Returns the end of consecutive paid times in order of confirmation, or null if one bought unlimited access. */
export const carriedThrough = (payments: (BoughtTime & { confirmedAt: number })[]): number | null =>
  payments.reduce<number | null>((through, payment) => paidThroughAfter(through, payment, payment.confirmedAt), 0);

const newMembership = (now: number, purchase: Purchase): Membership => ({
  id: newId<MembershipId>(now, purchase.merchantId),
  merchantId: purchase.merchantId,
  livemode: purchase.livemode,
  productId: purchase.productId,
  customerKey: customerKeyOf(purchase),
  walletAddress: purchase.payerWallet,
  customerRef: purchase.customerRef,
  email: purchase.email,
  isClaimed: purchase.isClaim,
  status: MEMBERSHIP.next('pending', 'activate'),
  paidThrough: paidThroughAfter(0, purchase, now),
  graceUntil: null,
  graceHours: purchase.graceHours ?? GRACE_HOURS,
  cancelledAt: null,
  cancelReason: null,
  lastPaymentId: purchase.paymentId,
  deliverTo: purchase.deliverTo,
  delivery: null,
  authorizationId: purchase.subscription?.authorizationId ?? null,
  subscriptionStatus: purchase.subscription?.subscriptionStatus ?? null,
  createdAt: now,
  updatedAt: now,
  version: 1,
});

/**
 * Renews a membership. A reference that only the buyer named is unproven: the purchase extends the time, but wallet, email and chat access
 * remain the previous customer's.
 */
const renewMembership = (now: number, existing: Membership, purchase: Purchase): Membership => ({
  ...existing,
  ...purchase.subscription,
  ...(purchase.isClaim
    ? {}
    : { walletAddress: purchase.payerWallet, email: purchase.email ?? (existing.isClaimed ? null : existing.email) }),
  isClaimed: existing.isClaimed && purchase.isClaim,
  deliverTo: deliverToAfter(existing.deliverTo, purchase),
  status: MEMBERSHIP.next(existing.status, 'renew'),
  // Unlimited access cannot be extended or shortened by a later purchase.
  paidThrough: paidThroughAfter(existing.paidThrough, purchase, now),
  graceUntil: null,
  graceHours: purchase.graceHours ?? existing.graceHours,
  cancelledAt: null,
  cancelReason: null,
  lastPaymentId: purchase.paymentId,
  updatedAt: now,
  version: existing.version + 1,
});
