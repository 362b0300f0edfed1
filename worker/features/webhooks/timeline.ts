import { z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import { TIMELINE } from '#core/limits.ts';
import { iso } from '#core/time.ts';
import type { Scope } from '#platform/context.ts';
import { orNull, positiveInteger, Timestamp } from '#platform/http/openapi.ts';
import { loadTimeline } from './events.store.ts';

export const TimelineItem = z.object({
  at: Timestamp.describe('Time of the event or delivery.'),
  kind: z.enum(['event', 'delivery']),
  type: z.string(),
  event_id: z.string().optional().describe('Identifier of the event. Use it to process each event once.'),
  delivery_id: z.int().optional(),
  status: z.string().optional(),
});

type Item = z.infer<typeof TimelineItem>;

/** Lists events and their deliveries, oldest first. */
export function toTimelineItems(found: Awaited<ReturnType<typeof loadTimeline>>): Item[] {
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
  // Stable sort: items of the same millisecond stay in storage order, events before their deliveries.
  items.sort((a, b) => a.at - b.at);
  return items.map((item) => ({ ...item, at: iso(item.at) }));
}

interface TimelinePage {
  order: 'asc' | 'desc';
  after?: string | undefined;
  limit: number;
}

export const TimelineLimit = positiveInteger(TIMELINE.max)
  .default(TIMELINE.default)
  .openapi({ type: 'integer', minimum: 1, maximum: TIMELINE.max, default: TIMELINE.default })
  .describe('Maximum number of entries.');

export const TimelineBody = z
  .object({
    items: z.array(TimelineItem),
    next: orNull(z.string()).describe('Cursor of the next page; null on the last page.'),
  })
  .openapi('WebhookTimeline');

const cursorOf = ({ event_id, delivery_id }: Item): string => String(delivery_id ?? event_id);

/** Returns one page of a timeline. Null if the subject is not this merchant's. Throws 422 for an unknown cursor. */
export async function readTimeline(
  ctx: Scope,
  about: { paymentId: string } | { membershipId: string },
  { order, after, limit }: TimelinePage,
): Promise<{ items: Item[]; next: string | null } | null> {
  const items = toTimelineItems(await loadTimeline(ctx, about));
  if (items.length === 0) return null;
  if (order === 'desc') items.reverse();
  const from = after === undefined ? 0 : items.findIndex((item) => cursorOf(item) === after) + 1;
  if (after !== undefined && from === 0) {
    const problem = {
      loc: ['query', 'after'],
      msg: 'Expected the next of a previous page',
      type: 'not_found',
    };
    throw new ApiError('validation_error', { problems: [problem] });
  }
  const page = items.slice(from, from + limit);
  return { items: page, next: from + limit < items.length ? cursorOf(page.at(-1)!) : null };
}
