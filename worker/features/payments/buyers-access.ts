import { z } from '@hono/zod-openapi';
import type { AuthorizationId } from '#core/ids.ts';
import { isoOrNull } from '#core/time.ts';
import { nextChargeOf } from '#features/authorizations/resource.ts';
import { findAuthorization } from '#features/authorizations/store.ts';
import { toMembershipResource } from '#features/memberships/resource.ts';
import { findMembership } from '#features/memberships/store.ts';
import type { Shard } from '#platform/context.ts';
import type { Membership } from '#platform/db/tables/memberships.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import { given, Timestamp } from '#platform/http/openapi.ts';
import type { ProvenIdentity } from '#rules/payment-terms.ts';
import { AUTHORIZATION, PLACEMENT } from '#rules/states.ts';

const BuyersDeliveryBody = z
  .object({
    status: z.enum(['not_required', ...PLACEMENT.states]),
    invite_url: z.string().optional(),
    last_error: z
      .string()
      .optional()
      .describe('Error of the last attempt, as the platform reports it; `not_a_member`: the buyer was invited and has not joined.'),
  })
  .openapi('BuyersDelivery', { description: 'Access of the buyer. Shown only with the buyer’s `X-Svc-Identity-Session`.' });

type BuyersAccess = Partial<z.infer<z.ZodObject<typeof buyersAccess>>>;
type BuyersDelivery = z.infer<typeof BuyersDeliveryBody>;

export const buyersAccess = {
  access_until: Timestamp.optional().describe(
    'End of the buyer’s access by a confirmed payment, later purchases included. Absent if the access has no end. Buyer view only.',
  ),
  delivery: BuyersDeliveryBody.optional().describe(
    'Access of the buyer to the chat or guild. Shown only with the buyer’s `X-Svc-Identity-Session`.',
  ),
  renewal: z
    .object({
      status: z.enum(AUTHORIZATION.states),
      next_charge_at: Timestamp.optional().describe('Time of the next charge. Absent if nothing further is charged.'),
    })
    .optional()
    .describe('Current state of the native subscription of a confirmed payment. Buyer view only.'),
};

/** Loads the buyer's access: the paid end and the invitation. The invitation requires the identity proven in the payment's own session. */
export async function loadBuyersAccess(ctx: Shard, payment: Payment, shown: string | undefined): Promise<BuyersAccess> {
  const { status, membershipId, terms } = payment;
  const isShown = terms.identitySessionId !== undefined && shown === terms.identitySessionId;
  if (status !== 'CONFIRMED' || !membershipId || payment.orphanedAt !== null) return {};
  const [membership, authorization] = await Promise.all([
    findMembership(ctx.db, membershipId),
    terms.authorizationId === undefined ? null : findAuthorization(ctx.db, terms.authorizationId as AuthorizationId),
  ]);
  const until = membership?.status === 'cancelled' ? null : (membership?.paidThrough ?? null);
  return {
    ...given('access_until', isoOrNull(until)),
    ...given('delivery', isShown ? deliveryTo(membership, terms.identity) : null),
    ...(authorization && {
      renewal: { status: authorization.status, ...given('next_charge_at', isoOrNull(nextChargeOf(authorization))) },
    }),
  };
}

function deliveryTo(membership: Membership | undefined, identity: ProvenIdentity | undefined): BuyersDelivery {
  // A purchase under a reference of another person gives its buyer no chat access.
  if (membership?.deliverTo?.identity.providerUserId !== identity?.providerUserId || !membership) return { status: 'not_required' };
  const { status, invite_url, last_error } = toMembershipResource(membership, { isOwners: true }).delivery;
  return { status, ...given('invite_url', invite_url ?? null), ...given('last_error', last_error ?? null) };
}
