import type { z } from '@hono/zod-openapi';
import { AuthorizationBody } from '#features/authorizations/resource.ts';
import { EntitlementBody } from '#features/entitlements/resource.ts';
import { MembershipBody } from '#features/memberships/resource.ts';
import { MeteredSessionBody } from '#features/metered/resource.ts';
import { PaymentBody } from '#features/payments/resource.ts';
import { MessageBody, TicketBody } from '#features/support/resource.ts';
import type { SubjectType } from '#rules/events.ts';
import { entitlement, membership, message, meteredSession, subscription } from './event-examples.ts';

/** What each event means and carries. `object` has the shape of the GET; the tests hold every emitted event against it. */
export interface CatalogEntry {
  description: string;
  subject: SubjectType;
  object: z.ZodType<object>;
  example: object;
  /** What `data` holds beside the object, with an example of it. */
  beside?: Record<string, { schema: z.ZodType; example: object }>;
}

export const ofEntitlement = (description: string, change: Partial<typeof entitlement> = {}): CatalogEntry => ({
  description,
  subject: 'entitlement',
  object: EntitlementBody,
  example: { ...entitlement, ...change },
});

export const ofPayment = (description: string, example: object): CatalogEntry => ({
  description,
  subject: 'payment',
  object: PaymentBody,
  example,
});
export const ofMembership = (description: string, change: Partial<typeof membership> = {}): CatalogEntry => ({
  description,
  subject: 'membership',
  object: MembershipBody,
  example: { ...membership, ...change },
});

export const ofSubscription = (description: string, change: Partial<typeof subscription> = {}): CatalogEntry => ({
  description,
  subject: 'subscription',
  object: AuthorizationBody,
  example: { ...subscription, ...change },
});

export const ofMetered = (description: string, change: Partial<typeof meteredSession> = {}): CatalogEntry => ({
  description,
  subject: 'metered_session',
  object: MeteredSessionBody,
  example: { ...meteredSession, ...change },
});

export const ofTicket = (description: string, example: z.infer<typeof TicketBody>, { hasMessage = false } = {}): CatalogEntry => ({
  description,
  subject: 'support_ticket',
  object: TicketBody,
  example,
  ...(hasMessage ? { beside: { message: { schema: MessageBody, example: message } } } : {}),
});
