import { z } from '@hono/zod-openapi';
import { iso } from '#core/time.ts';
import type { Scope } from '#platform/context.ts';
import { Timestamp } from '#platform/http/openapi.ts';
import { loadTimeline } from './events.store.ts';

export const TimelineItem = z.object({
  at: Timestamp,
  kind: z.enum(['event', 'delivery']),
  type: z.string(),
  event_id: z.string().optional(),
  delivery_id: z.int().optional(),
  status: z.string().optional(),
});

/** The story of a payment or membership of a merchant, oldest first: its events and their deliveries. */
export async function readTimeline(
  ctx: Scope,
  about: { paymentId: string } | { membershipId: string },
  limit: number,
): Promise<z.infer<typeof TimelineItem>[]> {
  const found = await loadTimeline(ctx, about, limit);
  const items = [
    ...found.events.map(({ createdAt: at, type, id }) => ({ at, kind: 'event' as const, type, event_id: id })),
    ...found.deliveries.map((delivery) => ({
      at: delivery.completedAt ?? delivery.createdAt,
      kind: 'delivery' as const,
      type: delivery.eventType,
      event_id: delivery.eventId,
      delivery_id: delivery.id,
      status: delivery.status,
    })),
  ];
  // Stable: what happened in the same millisecond keeps the order in which it was stored, events before their deliveries.
  items.sort((a, b) => a.at - b.at);
  return items.slice(0, limit).map((item) => ({ ...item, at: iso(item.at) }));
}
