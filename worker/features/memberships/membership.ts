import { type AccountId, type MembershipId, newId, type PaymentId, type ProductId } from '#core/ids.ts';
import { GRACE_HOURS } from '#core/limits.ts';
import { isoOrNull } from '#core/time.ts';
import type { Shard } from '#platform/context.ts';
import { type Change, unchanged } from '#platform/db/commit.ts';
import type { Membership } from '#platform/db/tables/memberships.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { EventType } from '#rules/events.ts';
import { type BoughtPlace, boughtPlaceOf, type DeliverTo, deliverToAfter } from '#rules/members/placement.ts';
import { MEMBERSHIP } from '#rules/states.ts';
import { type BoughtTime, paidThroughAfter } from '#rules/subscriptions/paid-time.ts';
import { graceEndOf, toMembershipResource } from './resource.ts';
import { findMembership, insertMembership, listCarrying, updateMembership } from './store.ts';

export { noteSubscription } from './store.ts';

export interface Purchase extends BoughtPlace, BoughtTime {
  merchantId: AccountId;
  livemode: boolean;
  productId: ProductId;
  paymentId: PaymentId;
  payerWallet: string;
  customerRef: string | null;
  email: string | null;
  /** Hours that delivered access outlives paid time; null: as before. */
  graceHours: number | null;
  /** The native subscription that pays for it, as it stands then; null: another payment. */
  subscription: Pick<Membership, 'authorizationId' | 'subscriptionStatus'> | null;
}

/** One identity keys membership and entitlement: the merchant's reference if one was given, else the wallet that paid. */
const customerKeyOf = ({ customerRef, payerWallet }: Purchase): string =>
  customerRef === null ? `wallet:${payerWallet}` : `ref:${customerRef}`;

/** A first purchase activates a membership; a later one extends it from now or from its paid end, whichever is later. */
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

/** An event of a membership and the row it belongs to. */
export const membershipChange = (ctx: Shard, type: MembershipEvent, before: Membership, patch: Partial<Membership>): Change<Membership> =>
  changeOf(ctx, type, before, { ...before, ...patch, updatedAt: ctx.now, version: before.version + 1 });

/** The row as it is from now on, and the event that says so; nothing was `before` a new one. */
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
      },
    ],
    writes: before ? updateMembership(ctx, before, after) : [insertMembership(ctx.db, after)],
    result: after,
  };
}

/**
 * Takes back what a payment bought whose transaction the chain dropped. What the other payments carry is counted afresh: it
 * stays, shorter or in full; access ends only where nothing carries it any more.
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

/** Gives back what `planRevocation` took: what all payments carry that stand, this one among them again, is counted afresh. */
export async function planReinstatement(ctx: Shard, payment: Reinstated): Promise<Change<null>> {
  const membership = payment.membershipId && (await findMembership(ctx.db, payment.membershipId));
  if (!membership) return unchanged(null);
  const { id, confirmedAt, terms } = payment;
  const others = await listCarrying(ctx.db, membership.id, id);
  const { accessPeriodDays, periodEndsAt } = terms;
  const own = { id, confirmedAt: confirmedAt ?? ctx.now, accessPeriodDays, periodEndsAt, place: boughtPlaceOf(payment) };
  const carrying = [...others, own].sort((one, other) => one.confirmedAt - other.confirmedAt);
  const patch: Partial<Membership> = {
    // One whose time is over by now lapses as any other does, with its grace.
    status: MEMBERSHIP.next(membership.status, 'renew'),
    ...carriedBy(membership, carrying),
    graceUntil: null,
    cancelledAt: null,
  };
  return { ...membershipChange(ctx, 'membership.renewed', membership, patch), result: null };
}

type Reinstated = Pick<Payment, 'id' | 'confirmedAt' | 'customerRef' | 'terms' | 'membershipId'>;
type Carrying = Awaited<ReturnType<typeof listCarrying>>;

/** What these payments make of a membership, as if there had been no others. What archived ones named is not known any more: it is kept. */
function carriedBy({ deliverTo: held }: Membership, carrying: Carrying): Pick<Membership, 'paidThrough' | 'lastPaymentId' | 'deliverTo'> {
  const isKnown = carrying.every(({ place }) => place !== null);
  const deliverTo = carrying.reduce<DeliverTo | null>((to, { place }) => (place ? deliverToAfter(to, place) : to), isKnown ? null : held);
  return { paidThrough: carriedThrough(carrying), lastPaymentId: carrying.at(-1)!.id, deliverTo };
}

/** The same of one that may be in its grace, which follows the end of what is left. */
function stillCarriedBy(membership: Membership, carrying: Carrying): Partial<Membership> {
  const carried = carriedBy(membership, carrying);
  const graceUntil = membership.status === 'grace' ? graceEndOf({ ...membership, ...carried, graceUntil: null }) : membership.graceUntil;
  return { ...carried, graceUntil };
}

/** The end of what these payments bought, one after the other as they were confirmed; null where one bought access without end. */
export const carriedThrough = (payments: (BoughtTime & { confirmedAt: number })[]): number | null =>
  payments.reduce<number | null>((through, payment) => paidThroughAfter(through, payment, payment.confirmedAt), 0);

const newMembership = (now: number, purchase: Purchase): Membership => ({
  id: newId<MembershipId>(now),
  merchantId: purchase.merchantId,
  livemode: purchase.livemode,
  productId: purchase.productId,
  customerKey: customerKeyOf(purchase),
  walletAddress: purchase.payerWallet,
  customerRef: purchase.customerRef,
  email: purchase.email,
  status: MEMBERSHIP.next('pending', 'activate'),
  paidThrough: paidThroughAfter(0, purchase, now),
  graceUntil: null,
  graceHours: purchase.graceHours ?? GRACE_HOURS,
  cancelledAt: null,
  lastPaymentId: purchase.paymentId,
  deliverTo: purchase.deliverTo,
  delivery: null,
  authorizationId: purchase.subscription?.authorizationId ?? null,
  subscriptionStatus: purchase.subscription?.subscriptionStatus ?? null,
  createdAt: now,
  updatedAt: now,
  version: 1,
});

/** A reference that the buyer alone named is unproven: the purchase extends the time, but wallet, e-mail and place in a chat stay those of the customer. */
const renewMembership = (now: number, existing: Membership, purchase: Purchase): Membership => ({
  ...existing,
  // The authorization's own batch writes these.
  ...purchase.subscription,
  ...(purchase.isClaim ? {} : { walletAddress: purchase.payerWallet, email: purchase.email ?? existing.email }),
  deliverTo: deliverToAfter(existing.deliverTo, purchase),
  status: MEMBERSHIP.next(existing.status, 'renew'),
  // Access without an end cannot be extended, and no later purchase takes it away.
  paidThrough: paidThroughAfter(existing.paidThrough, purchase, now),
  graceUntil: null,
  graceHours: purchase.graceHours ?? existing.graceHours,
  cancelledAt: null,
  lastPaymentId: purchase.paymentId,
  updatedAt: now,
  version: existing.version + 1,
});
