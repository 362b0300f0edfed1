import { z } from '@hono/zod-openapi';
import { HOUR, iso, isoOrNull } from '#core/time.ts';
import type { Membership } from '#platform/db/tables/memberships.ts';
import { given, Livemode, MembershipUuid, ObjectVersion, orNull, PaidThrough, ProductUuid, Timestamp } from '#platform/http/openapi.ts';
import { IDENTITY_PROVIDERS } from '#rules/payment-terms.ts';
import { AUTHORIZATION, MEMBERSHIP, PLACEMENT } from '#rules/states.ts';

const DeliveryBody = z
  .object({
    status: z.enum(['not_required', ...PLACEMENT.states]),
    provider: z.enum(IDENTITY_PROVIDERS).optional(),
    attempts: z.int(),
    identity: z
      .object({
        provider_user_id: z.string().describe('Buyer’s user id on the messaging platform.'),
        username: z.string().optional().describe('Buyer’s user name on the messaging platform.'),
      })
      .optional(),
    invite_url: z.string().optional().describe('Invitation of this member. Events never contain it.'),
    last_error: z
      .string()
      .optional()
      .describe('Error of the last attempt, as the platform reports it; `not_a_member`: the buyer was invited and has not joined.'),
    delivered_at: Timestamp.optional(),
  })
  .openapi('MembershipDelivery', { description: 'Access to a chat or guild. Independent of the payment.' });

export const MembershipBody = z
  .object({
    membership_id: MembershipUuid,
    product_id: ProductUuid,
    customer: z
      .object({
        wallet_address: z.string().optional(),
        customer_ref: z
          .string()
          .optional()
          .describe(
            'Your own name for the customer: 1 to 180 characters, no control characters, no leading or trailing space. Compared after Unicode NFC.',
          ),
        email: z.string().optional(),
      })
      .describe('Customer: a wallet, or your own name for the customer. Requests name exactly one.'),
    status: z.enum(MEMBERSHIP.states),
    paid_through: PaidThrough,
    grace_until: Timestamp.optional().describe('Time until which delivered access continues after the paid time.'),
    expires_at: orNull(Timestamp).describe('End of delivered access: paid time plus grace; null: no end.'),
    authorization_id: z.string().optional().describe('Identifier of the native subscription that pays for the membership.'),
    subscription_status: z.enum(AUTHORIZATION.states).optional(),
    cancel_at_period_end: z.boolean().describe('True if the subscription ends with the paid period.'),
    cancelled_at: Timestamp.optional(),
    cancel_reason: z.enum(['merged']).optional(),
    delivery: DeliveryBody,
    last_payment_id: z.uuid().describe('Identifier of the payment that last extended the membership.'),
    livemode: Livemode,
    created_at: Timestamp,
    updated_at: Timestamp,
    version: ObjectVersion,
  })
  .openapi('Membership');

/** Formats the delivery. Only the member and the owner see invitations, because events go to servers and archives. */
function toDeliveryResource({ deliverTo, delivery }: Membership, { isOwners }: { isOwners: boolean }): z.infer<typeof DeliveryBody> {
  if (!deliverTo) return { status: 'not_required', attempts: 0 };
  const { providerUserId, username } = deliverTo.identity;
  return {
    status: delivery?.status ?? 'pending',
    provider: deliverTo.target.provider,
    attempts: delivery?.attempts ?? 0,
    identity: { provider_user_id: providerUserId, ...given('username', username) },
    ...given('invite_url', (isOwners && delivery?.inviteUrl) || null),
    ...given('last_error', delivery?.lastError ?? null),
    ...given('delivered_at', isoOrNull(delivery?.deliveredAt ?? null)),
  };
}

/** Returns the end of delivered access in milliseconds: paid time plus grace. Null for unlimited access. */
export const graceEndOf = (membership: Membership): number | null => {
  const { paidThrough, graceUntil, graceHours } = membership;
  return graceUntil ?? (paidThrough === null || isCancelled(membership) ? paidThrough : paidThrough + graceHours * HOUR);
};

/** True if ended, or cancelled by the subscriber with paid time left: such access ends without grace. */
export const isCancelled = ({ status, subscriptionStatus }: Pick<Membership, 'status' | 'subscriptionStatus'>): boolean =>
  status === 'cancelled' || subscriptionStatus === 'cancel_requested' || subscriptionStatus === 'cancelled';

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
  ...given('cancel_reason', membership.status === 'cancelled' ? membership.cancelReason : null),
  delivery: toDeliveryResource(membership, { isOwners }),
  last_payment_id: membership.lastPaymentId,
  livemode: membership.livemode,
  created_at: iso(membership.createdAt),
  updated_at: iso(membership.updatedAt),
  version: membership.version,
});
