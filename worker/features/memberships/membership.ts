import { type AccountId, type MembershipId, newId, type PaymentId, type ProductId } from '#core/ids.ts';
import { addDays, isoOrNull } from '#core/time.ts';
import type { Shard } from '#platform/context.ts';
import { type Change, unchanged } from '#platform/db/commit.ts';
import type { Membership } from '#platform/db/tables/memberships.ts';
import { MEMBERSHIP } from '#rules/states.ts';
import { toMembershipResource } from './resource.ts';
import { findMembership, insertMembership, listCarrying, updateMembership } from './store.ts';

export interface Purchase {
  merchantId: AccountId;
  livemode: boolean;
  productId: ProductId;
  paymentId: PaymentId;
  payerWallet: string;
  customerRef: string | null;
  isClaim: boolean;
  email: string | null;
  /** Days bought; null for access without an end. */
  accessPeriodDays: number | null;
}

/** One identity keys membership and entitlement: the merchant's reference if one was given, else the wallet that paid. */
const customerKeyOf = ({ customerRef, payerWallet }: Purchase): string =>
  customerRef === null ? `wallet:${payerWallet}` : `ref:${customerRef}`;

/** A first purchase activates, a later one extends from whichever is later: now, or what is already paid. */
export function planMembership(ctx: Shard, existing: Membership | null, purchase: Purchase): Change<Membership> {
  const membership = existing ? renewMembership(ctx.now, existing, purchase) : newMembership(ctx.now, purchase);
  const type = existing ? 'membership.renewed' : 'membership.activated';
  return {
    events: [
      {
        merchantId: membership.merchantId,
        livemode: membership.livemode,
        type,
        subject: { type: 'membership', id: membership.id, version: membership.version },
        object: toMembershipResource(membership),
        ...(existing ? { previous: { status: existing.status, paid_through: isoOrNull(existing.paidThrough) } } : {}),
        productId: membership.productId,
        paymentId: purchase.paymentId,
        membershipId: membership.id,
      },
    ],
    writes: [existing ? updateMembership(ctx.db, membership) : insertMembership(ctx.db, membership)],
    result: membership,
  };
}

/** An event of a membership and the row it belongs to. */
export function membershipChange(
  ctx: Shard,
  type: 'membership.renewed' | 'membership.grace_started' | 'membership.expired' | 'membership.access_revoked',
  before: Membership,
  patch: Partial<Membership>,
): Change<Membership> {
  const after = { ...before, ...patch, updatedAt: ctx.now, version: before.version + 1 };
  return {
    events: [
      {
        merchantId: after.merchantId,
        livemode: after.livemode,
        type,
        subject: { type: 'membership', id: after.id, version: after.version },
        object: toMembershipResource(after),
        previous: { status: before.status, paid_through: isoOrNull(before.paidThrough) },
        productId: after.productId,
        paymentId: after.lastPaymentId,
        membershipId: after.id,
      },
    ],
    writes: [updateMembership(ctx.db, after)],
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
      ? { paidThrough: carriedThrough(carrying), lastPaymentId: carrying.at(-1)!.id }
      : { status: MEMBERSHIP.next(membership.status, 'revoke'), paidThrough: ctx.now, graceUntil: null, cancelledAt: ctx.now };
  return { ...membershipChange(ctx, 'membership.access_revoked', membership, patch), result: null };
}

/** Gives back what `planRevocation` took: what all payments carry that stand, this one among them again, is counted afresh. */
export async function planReinstatement(ctx: Shard, payment: Carrying & { membershipId: MembershipId | null }): Promise<Change<null>> {
  const membership = payment.membershipId && (await findMembership(ctx.db, payment.membershipId));
  if (!membership) return unchanged(null);
  const { id, confirmedAt, terms } = payment;
  const others = await listCarrying(ctx.db, membership.id, id);
  const carrying = [...others, { id, confirmedAt: confirmedAt ?? ctx.now, accessPeriodDays: terms.accessPeriodDays }].sort(
    (one, other) => one.confirmedAt - other.confirmedAt,
  );
  const patch: Partial<Membership> = {
    // One whose time is over by now lapses as any other does, with its grace.
    status: MEMBERSHIP.next(membership.status, 'renew'),
    paidThrough: carriedThrough(carrying),
    lastPaymentId: carrying.at(-1)!.id,
    graceUntil: null,
    cancelledAt: null,
  };
  return { ...membershipChange(ctx, 'membership.renewed', membership, patch), result: null };
}

type Carrying = { id: PaymentId; confirmedAt: number | null; terms: { accessPeriodDays: number | null } };

/** The end of what these payments bought, one after the other as they were confirmed; null where one bought access without end. */
export function carriedThrough(payments: { confirmedAt: number; accessPeriodDays: number | null }[]): number | null {
  let through = 0;
  for (const { confirmedAt, accessPeriodDays } of payments) {
    if (accessPeriodDays === null) return null;
    through = addDays(Math.max(confirmedAt, through), accessPeriodDays);
  }
  return through;
}

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
  paidThrough: purchase.accessPeriodDays === null ? null : addDays(now, purchase.accessPeriodDays),
  graceUntil: null,
  cancelledAt: null,
  lastPaymentId: purchase.paymentId,
  createdAt: now,
  updatedAt: now,
  version: 1,
});

const extendPaidThrough = (now: number, paidThrough: number | null, days: number | null): number | null =>
  paidThrough === null || days === null ? null : addDays(Math.max(now, paidThrough), days);

/** A claim is a reference that the buyer named alone: it gives time, and takes nothing. Wallet and e-mail stay those of the customer. */
const renewMembership = (now: number, existing: Membership, purchase: Purchase): Membership => ({
  ...existing,
  ...(purchase.isClaim ? {} : { walletAddress: purchase.payerWallet, email: purchase.email ?? existing.email }),
  status: MEMBERSHIP.next(existing.status, 'renew'),
  // Access without an end cannot be extended, and no later purchase takes it away.
  paidThrough: extendPaidThrough(now, existing.paidThrough, purchase.accessPeriodDays),
  graceUntil: null,
  cancelledAt: null,
  lastPaymentId: purchase.paymentId,
  updatedAt: now,
  version: existing.version + 1,
});
