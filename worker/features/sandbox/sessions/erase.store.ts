import { eq, type SQL, sql } from 'drizzle-orm';
import { MOVING_TYPES } from '#features/figures/movements.ts';
import { claimsInReach, inReach, isOfPaymentInReach } from '#platform/chain/reach.store.ts';
import { causeOf } from '#platform/chain/scope.ts';
import type { Scope } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { paymentCandidates } from '#platform/db/tables/candidates.ts';
import { endedSessions, paymentSessions } from '#platform/db/tables/checkout.ts';
import { entitlements } from '#platform/db/tables/entitlements.ts';
import { events, type StoredEvent } from '#platform/db/tables/events.ts';
import { memberships } from '#platform/db/tables/memberships.ts';
import { placements } from '#platform/db/tables/office/placements.ts';
import { supportMessages, supportTickets } from '#platform/db/tables/office/support.ts';
import { payments, refunds, unmatchedPayments } from '#platform/db/tables/payments.ts';
import { products } from '#platform/db/tables/products.ts';
import { receiptMetadata, receipts } from '#platform/db/tables/receipts.ts';
import { sandboxAccounts, sandboxSessions, sandboxTransactions } from '#platform/db/tables/sandbox.ts';
import { meteredSessions, settlements } from '#platform/db/tables/settlements.ts';
import { subscriptionAuthorizations, subscriptionCollections } from '#platform/db/tables/subscriptions/authorizations.ts';
import { subscriptionPlans } from '#platform/db/tables/subscriptions/plans.ts';
import { txClaims } from '#platform/db/tables/tx-claims.ts';
import { webhookDeliveries } from '#platform/db/tables/webhooks.ts';

/** Events of a session that have moved figures. */
export const listSessionMoving = (scope: Scope): Promise<StoredEvent[]> =>
  scope.db
    .select()
    .from(events)
    .where(sql`${eventsOfSession(scope)} AND +type IN ${[...MOVING_TYPES]}`);

/** By the index of its events, so that no other event of the merchant is read. */
const eventsOfSession = ({ merchantId, sandbox }: Scope): SQL =>
  sql`livemode = 0 AND +merchant_id = ${merchantId} AND request_id = ${causeOf(sandbox!.sessionId!)}`;

/** Statements, not effects: delete the rows of everything a session made, and then of the session itself. */
export function sessionErasure(scope: Scope): Write[] {
  const { db } = scope;
  const sessionId = scope.sandbox!.sessionId!;
  const theirs = eventsOfSession(scope);
  const ofPayments = isOfPaymentInReach(scope, 'payment_id');
  return [
    db.delete(webhookDeliveries).where(sql`event_id IN (SELECT id FROM events WHERE ${theirs})`),
    db.delete(events).where(theirs),
    db.delete(receiptMetadata).where(sql`receipt_id IN (SELECT id FROM receipts WHERE ${ofPayments})`),
    db.delete(receipts).where(ofPayments),
    db.delete(unmatchedPayments).where(ofPayments),
    db.delete(paymentCandidates).where(ofPayments),
    db.delete(txClaims).where(claimsInReach(scope)),
    db.delete(txClaims).where(sql`livemode = 0 AND subject_id IN (SELECT payment_id FROM settlements WHERE ${inReach(scope)})`),
    db.delete(refunds).where(ofPayments),
    db.delete(settlements).where(inReach(scope)),
    db.delete(placements).where(inReach(scope)),
    db.delete(meteredSessions).where(inReach(scope)),
    db.delete(subscriptionCollections).where(sql`authorization_id IN (SELECT id FROM subscription_authorizations WHERE ${inReach(scope)})`),
    db.delete(subscriptionAuthorizations).where(inReach(scope)),
    db.delete(memberships).where(inReach(scope)),
    db.delete(entitlements).where(inReach(scope)),
    db.delete(paymentSessions).where(inReach(scope)),
    db.delete(payments).where(inReach(scope)),
    db.delete(endedSessions).where(inReach(scope)),
    db.delete(supportMessages).where(sql`ticket_id IN (SELECT id FROM support_tickets WHERE sandbox_session_id = ${sessionId})`),
    db.delete(supportTickets).where(eq(supportTickets.sandboxSessionId, sessionId)),
    db.delete(sandboxTransactions).where(eq(sandboxTransactions.sessionId, sessionId)),
    db.delete(sandboxAccounts).where(sql`session_id <> '' AND session_id = ${sessionId}`),
    db.delete(subscriptionPlans).where(sql`product_id IN (SELECT id FROM products WHERE sandbox_session_id = ${sessionId})`),
    db.delete(products).where(eq(products.sandboxSessionId, sessionId)),
    db.delete(sandboxSessions).where(eq(sandboxSessions.id, sessionId)),
  ];
}
