import { z } from '@hono/zod-openapi';
import { iso, isoOrNull } from '#core/time.ts';
import type { Membership } from '#platform/db/tables/memberships.ts';
import { given, orNull, Timestamp } from '#platform/http/openapi.ts';
import { MEMBERSHIP } from '#rules/states.ts';

export const MembershipBody = z
  .object({
    membership_id: z.uuid(),
    product_id: z.uuid(),
    customer: z.object({ wallet_address: z.string().optional(), customer_ref: z.string().optional(), email: z.string().optional() }),
    status: z.enum(MEMBERSHIP.states),
    paid_through: orNull(Timestamp),
    grace_until: Timestamp.optional(),
    cancel_at_period_end: z.boolean(),
    cancelled_at: Timestamp.optional(),
    delivery: z.object({ status: z.enum(['not_required', 'pending', 'delivered', 'failed', 'revoked']), attempts: z.int() }),
    last_payment_id: z.uuid(),
    livemode: z.boolean(),
    created_at: Timestamp,
    updated_at: Timestamp,
    version: z.int(),
  })
  .openapi('Membership');

export const toMembershipResource = (membership: Membership): z.infer<typeof MembershipBody> => ({
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
  cancel_at_period_end: false,
  ...given('cancelled_at', isoOrNull(membership.cancelledAt)),
  delivery: { status: 'not_required', attempts: 0 },
  last_payment_id: membership.lastPaymentId,
  livemode: membership.livemode,
  created_at: iso(membership.createdAt),
  updated_at: iso(membership.updatedAt),
  version: membership.version,
});
