import { actOfEvent } from '#core/ids.ts';
import { followMerged } from '#features/customers/merge.ts';
import { followLateMemberships } from '#features/customers/merged-memberships.ts';
import {
  emailBuyer,
  emailEndpointDisabled,
  emailEndpointFailing,
  emailRefunded,
  emailSubscriber,
  emailUnmatched,
} from '#features/email-delivery/notices.ts';
import { creditConfirmed, followFinalized, followRefunded, revokeOrphaned } from '#features/entitlements/credit-payments.ts';
import { followSubscriptions, handleCollectionOutcomes } from '#features/entitlements/follow-subscriptions.ts';
import { followMemberships } from '#features/membership-delivery/follow.ts';
import { deliverEvents } from '#features/webhooks/deliveries/fan-out.ts';
import { loadFanOut } from '#features/webhooks/deliveries/store.ts';
import type { Shard } from '#platform/context.ts';
import type { StoredEvent } from '#platform/db/tables/events.ts';
import type { FOLLOWED_EVENT_TYPES } from '#rules/events.ts';

/** Handles events of one type, which arrive at least once, late and in any order. Returns the events that failed, for redelivery. */
type EventHandler = (ctx: Shard, events: StoredEvent[]) => Promise<StoredEvent[]>;

/** Handlers that run before an event's webhook deliveries, in this order. Webhook deliveries follow every event and run last. */
const HANDLERS: { readonly [T in (typeof FOLLOWED_EVENT_TYPES)[number]]: readonly EventHandler[] } = {
  'payment.confirmed': [creditConfirmed],
  'payment.orphaned': [revokeOrphaned, handleCollectionOutcomes],
  'payment.finalized': [followFinalized, handleCollectionOutcomes],
  'payment.refunded': [followRefunded, emailRefunded],
  'payment.unmatched': [emailUnmatched],
  'membership.activated': [followLateMemberships, followMemberships],
  'membership.renewed': [followLateMemberships, followMemberships],
  'membership.expired': [followMemberships],
  'membership.access_revoked': [followMemberships],
  'membership.cancelled': [followMemberships],
  'subscription.authorized': [followSubscriptions],
  'subscription.renewed': [followSubscriptions],
  'subscription.past_due': [followSubscriptions, emailSubscriber],
  'subscription.cancel_requested': [followSubscriptions, emailSubscriber],
  'subscription.cancelled': [followSubscriptions, emailSubscriber],
  'subscription.requires_reapproval': [followSubscriptions, emailSubscriber],
  'receipt.created': [emailBuyer],
  'webhook.endpoint_failing': [emailEndpointFailing],
  'webhook.endpoint_disabled': [emailEndpointDisabled],
  'customer.merged': [followMerged],
};

/**
 * Runs all handlers of stored acts. The batch that creates the deliveries of an act's events also acknowledges the act. A failed event
 * delays its act and later acts of the same payment, so that a merchant who is notified of a payment finds its access. Idempotent. Throws
 * after the other acts are delivered, so that only the failed ones are retried.
 */
export async function followActs(ctx: Shard, actIds: string[]): Promise<void> {
  const { events, endpoints } = await loadFanOut(ctx.db, actIds);
  const failed: StoredEvent[] = [];
  for (const [type, followers] of Object.entries(HANDLERS)) {
    const concerned = events.filter((event) => event.type === type);
    for (const follow of concerned.length > 0 ? followers : []) failed.push(...(await follow(ctx, concerned)));
  }
  const isHeldBy = (event: StoredEvent, other: StoredEvent): boolean =>
    actOfEvent(other.id) === actOfEvent(event.id) || (event.paymentId !== null && other.paymentId === event.paymentId);
  const held = new Set(events.filter((event) => failed.some((other) => isHeldBy(event, other))).map(({ id }) => actOfEvent(id)));
  const followed = events.filter(({ id }) => !held.has(actOfEvent(id)));
  if (followed.length > 0) await deliverEvents(ctx, followed, endpoints);
  if (failed.length > 0) throw new Error(`${failed.length} events could not be processed`);
}
