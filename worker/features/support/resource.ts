import { z } from '@hono/zod-openapi';
import { iso } from '#core/time.ts';
import { TimelineItem } from '#features/webhooks/timeline.ts';
import type { Ticket, TicketMessage } from '#platform/db/tables/office/support.ts';
import { given, Livemode, MembershipUuid, PaymentUuid, Timestamp } from '#platform/http/openapi.ts';
import { MESSAGE_AUTHORS, TICKET, TICKET_CATEGORIES } from '#rules/states.ts';

export const MessageBody = z
  .object({
    message_id: z.uuid(),
    author: z.enum(MESSAGE_AUTHORS),
    body: z.string(),
    created_at: Timestamp,
  })
  .openapi('SupportMessage');

export const TicketBody = z
  .object({
    ticket_id: z.uuid(),
    subject: z.string(),
    category: z.enum(TICKET_CATEGORIES),
    status: z.enum(TICKET.states),
    payment_id: PaymentUuid.optional(),
    membership_id: MembershipUuid.optional(),
    created_at: Timestamp,
    updated_at: Timestamp,
    last_message_at: Timestamp,
    livemode: Livemode,
  })
  .openapi('SupportTicket');

export const NewTicketBody = TicketBody.extend({ messages: z.array(MessageBody).describe('Messages, oldest first.') }).openapi(
  'CreatedSupportTicket',
);
export const ThreadBody = NewTicketBody.extend({
  messages_before: z.uuid().optional().describe('Value of `before` that returns older messages. Absent if none exist.'),
  timeline: z.array(TimelineItem).describe('Events of the linked payment or membership, oldest first; empty without one.'),
}).openapi('SupportThread');

export interface Thread {
  ticket: Ticket;
  /** Single page, oldest first. */
  messages: TicketMessage[];
  hasOlder: boolean;
  timeline: z.infer<typeof TimelineItem>[];
}

export const toTicketResource = (ticket: Ticket): z.infer<typeof TicketBody> => ({
  ticket_id: ticket.id,
  subject: ticket.subject,
  category: ticket.category,
  status: ticket.status,
  ...given('payment_id', ticket.paymentId),
  ...given('membership_id', ticket.membershipId),
  created_at: iso(ticket.createdAt),
  updated_at: iso(ticket.updatedAt),
  last_message_at: iso(ticket.lastMessageAt),
  livemode: ticket.livemode,
});

export const toMessageResource = ({ id, author, body, createdAt }: TicketMessage): z.infer<typeof MessageBody> => ({
  message_id: id,
  author,
  body,
  created_at: iso(createdAt),
});

export const toThreadResource = ({ ticket, messages, hasOlder, timeline }: Thread): z.infer<typeof ThreadBody> => ({
  ...toTicketResource(ticket),
  messages: messages.map(toMessageResource),
  ...given('messages_before', hasOlder ? messages[0]!.id : null),
  timeline,
});
