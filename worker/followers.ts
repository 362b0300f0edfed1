import { creditConfirmed, followFinalized, followRefunded, revokeOrphaned } from '#features/entitlements/credit-payments.ts';
import { followCollectionFates, followSubscriptions } from '#features/entitlements/follow-subscriptions.ts';
import {
  tellBuyer,
  tellEndpointDisabled,
  tellEndpointFailing,
  tellRefunded,
  tellSubscriber,
  tellUnmatched,
} from '#features/mail-delivery/notices.ts';
import { followMemberships } from '#features/placements/follow.ts';
import { deliverEvents } from '#features/webhooks/deliveries/fan-out.ts';
import { loadFanOut } from '#features/webhooks/deliveries/store.ts';
import type { Shard } from '#platform/context.ts';
import type { StoredEvent } from '#platform/db/tables/events.ts';
import type { EventType } from '#rules/events.ts';

/** Acts on events of one type, which come at least once, late and in any order. Answers those it could not follow: they come again. */
type Follower = (ctx: Shard, events: StoredEvent[]) => Promise<StoredEvent[]>;

/** What follows an event before its merchant is told of it, in this order; webhooks follow every event, and come last. */
const FOLLOWERS: { readonly [T in EventType]?: readonly Follower[] } = {
  'payment.confirmed': [creditConfirmed],
  'payment.orphaned': [revokeOrphaned, followCollectionFates],
  'payment.finalized': [followFinalized, followCollectionFates],
  'payment.refunded': [followRefunded, tellRefunded],
  'payment.unmatched': [tellUnmatched],
  'membership.activated': [followMemberships],
  'membership.renewed': [followMemberships],
  'membership.expired': [followMemberships],
  'membership.access_revoked': [followMemberships],
  'membership.cancelled': [followMemberships],
  'subscription.authorized': [followSubscriptions],
  'subscription.renewed': [followSubscriptions],
  'subscription.past_due': [followSubscriptions, tellSubscriber],
  'subscription.cancel_requested': [followSubscriptions, tellSubscriber],
  'subscription.cancelled': [followSubscriptions, tellSubscriber],
  'subscription.requires_reapproval': [followSubscriptions, tellSubscriber],
  'receipt.created': [tellBuyer],
  'webhook.endpoint_failing': [tellEndpointFailing],
  'webhook.endpoint_disabled': [tellEndpointDisabled],
};

/**
 * Brings stored events to all that follow them. An event is acknowledged in the batch that makes its deliveries, after every follower of
 * its type did its work. One that could not be followed waits, and with it whatever else happened to the same payment, so that a
 * merchant who is told of a payment finds its access there. Harmless doubled. Throws after the others are delivered, so that those that
 * wait, and no others, come again.
 */
export async function followEvents(ctx: Shard, eventIds: string[]): Promise<void> {
  const { events, endpoints } = await loadFanOut(ctx.db, eventIds);
  const failed: StoredEvent[] = [];
  for (const [type, followers] of Object.entries(FOLLOWERS)) {
    const concerned = events.filter((event) => event.type === type);
    for (const follow of concerned.length > 0 ? followers : []) failed.push(...(await follow(ctx, concerned)));
  }
  const isHeld = ({ id, paymentId }: StoredEvent): boolean =>
    failed.some((other) => other.id === id || (paymentId !== null && other.paymentId === paymentId));
  const followed = events.filter((event) => !isHeld(event));
  if (followed.length > 0) await deliverEvents(ctx, followed, endpoints);
  if (failed.length > 0) throw new Error(`${failed.length} events could not be processed`);
}
