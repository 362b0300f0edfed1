import { z } from '@hono/zod-openapi';
import { HOUR, iso, isoOrNull } from '#core/time.ts';
import type { Membership } from '#platform/db/tables/memberships.ts';
import { given, orNull, Timestamp } from '#platform/http/openapi.ts';
import { IDENTITY_PROVIDERS } from '#rules/payment-terms.ts';
import { AUTHORIZATION, MEMBERSHIP, PLACEMENT } from '#rules/states.ts';

const DeliveryBody = z
  .object({
    status: z.enum(['not_required', ...PLACEMENT.states]),
    provider: z.enum(IDENTITY_PROVIDERS).optional(),
    attempts: z.int(),
    identity: z.object({ provider_user_id: z.string(), username: z.string().optional() }).optional(),
    invite_url: z.string().optional().openapi({ description: 'The member’s own invitation. It is in no event.' }),
    last_error: z.string().optional(),
    delivered_at: Timestamp.optional(),
  })
  .openapi('MembershipDelivery', { description: 'Access to a chat or guild. It never touches the payment.' });

export const MembershipBody = z
  .object({
    membership_id: z.uuid(),
    product_id: z.uuid(),
    customer: z.object({ wallet_address: z.string().optional(), customer_ref: z.string().optional(), email: z.string().optional() }),
    status: z.enum(MEMBERSHIP.states),
    paid_through: orNull(Timestamp),
    grace_until: Timestamp.optional(),
    expires_at: orNull(Timestamp).openapi({ description: 'When delivered access ends: paid time and its grace; null: never.' }),
    authorization_id: z.string().optional().openapi({ description: 'The native subscription that pays for it.' }),
    subscription_status: z.enum(AUTHORIZATION.states).optional(),
    cancel_at_period_end: z.boolean(),
    cancelled_at: Timestamp.optional(),
    delivery: DeliveryBody,
    last_payment_id: z.uuid(),
    livemode: z.boolean(),
    created_at: Timestamp,
    updated_at: Timestamp,
    version: z.int(),
  })
  .openapi('Membership');

/** What is delivered to whom. Invitations are for the member and the owner's own view: events go to servers and archives. */
function toDeliveryResource({ deliverTo, delivery }: Membership, { isOwners }: { isOwners: boolean }): z.infer<typeof DeliveryBody> {
  if (!deliverTo) return { status: 'not_required', attempts: 0 };
  const { providerUserId, username } = deliverTo.identity;
  return {
    status: delivery?.status ?? 'pending',
    provider: deliverTo.place.provider,
    attempts: delivery?.attempts ?? 0,
    identity: { provider_user_id: providerUserId, ...given('username', username) },
    ...given('invite_url', (isOwners && delivery?.inviteUrl) || null),
    ...given('last_error', delivery?.lastError ?? null),
    ...given('delivered_at', isoOrNull(delivery?.deliveredAt ?? null)),
  };
}

/** When delivered access ends, in milliseconds: paid time and the grace after it; null for access without an end. */
export const graceEndOf = (membership: Membership): number | null => {
  const { paidThrough, graceUntil, graceHours } = membership;
  return graceUntil ?? (paidThrough === null || isCancelled(membership) ? paidThrough : paidThrough + graceHours * HOUR);
};

/** Ended, or cancelled by its subscriber with paid time left: the buyer wants it to end with that, without a grace. */
export const isCancelled = ({ status, subscriptionStatus }: Pick<Membership, 'status' | 'subscriptionStatus'>): boolean =>
  status === 'cancelled' || subscriptionStatus === 'cancel_requested' || subscriptionStatus === 'cancelled';

/** `isOwners`: for the member or the owner themselves, with the invitation. */
export const toMembershipResource = (
  membership: Membership,
  { isOwners = false }: { isOwners?: boolean } = {},
): z.infer<typeof MembershipBody> => ({
  membership_id: membership.id,
  product_id: membership.productId,
  customer: {
    ...given('wallet_address', membership.walletAddress),
    ...given('customer_ref', membership.customerRef),
    ...given('email', membership.email),
  },
  status: membership.status,
  paid_through: isoOrNull(membership.paidThrough),
  ...given('grace_until', isoOrNull(membership.graceUntil)),
  expires_at: isoOrNull(graceEndOf(membership)),
  ...given('authorization_id', membership.authorizationId),
  ...given('subscription_status', membership.subscriptionStatus),
  cancel_at_period_end: membership.subscriptionStatus === 'cancel_requested',
  ...given('cancelled_at', isoOrNull(membership.cancelledAt)),
  delivery: toDeliveryResource(membership, { isOwners }),
  last_payment_id: membership.lastPaymentId,
  livemode: membership.livemode,
  created_at: iso(membership.createdAt),
  updated_at: iso(membership.updatedAt),
  version: membership.version,
});
