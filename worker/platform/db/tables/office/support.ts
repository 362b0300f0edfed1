import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountId, MembershipId, PaymentId, ProductId, SandboxSessionId, TicketId, TicketMessageId } from '#core/ids.ts';
import { type MESSAGE_AUTHORS, TICKET, type TICKET_CATEGORIES, type TicketStatus } from '#rules/states.ts';
import { flag, instant, oneOf, uuidBytes } from '../columns.ts';

/** Support requests of merchants, limited to 50 messages an hour. Rows are retained, but their texts are deleted with the account. */
export const supportTickets = sqliteTable(
  'support_tickets',
  {
    id: uuidBytes('id').$type<TicketId>().primaryKey(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    subject: text('subject').notNull(),
    category: text('category').$type<(typeof TICKET_CATEGORIES)[number]>().notNull(),
    status: text('status').$type<TicketStatus>().notNull(),
    paymentId: uuidBytes('payment_id').$type<PaymentId>(),
    membershipId: uuidBytes('membership_id').$type<MembershipId>(),
    productId: uuidBytes('product_id').$type<ProductId>(),
    lastMessageAt: instant('last_message_at').notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: integer('version').notNull(),
    /** Sandbox session of the ticket, which supplies the clock and deletes the ticket at its end. */
    sandboxSessionId: uuidBytes('sandbox_session_id').$type<SandboxSessionId>(),
  },
  (table) => [
    oneOf('support_tickets_status', 'status', TICKET.states),
    index('support_tickets_by_merchant').on(table.merchantId, table.livemode, table.lastMessageAt),
    index('support_tickets_by_status').on(table.merchantId, table.livemode, table.status, table.lastMessageAt),
    index('support_tickets_of_all').on(table.livemode, table.lastMessageAt),
    index('support_tickets_of_all_by_status').on(table.livemode, table.status, table.lastMessageAt),
    index('support_tickets_resolved').on(table.updatedAt).where(sql`status = 'resolved' AND sandbox_session_id IS NULL`),
    index('support_tickets_of_session').on(table.sandboxSessionId).where(sql`sandbox_session_id IS NOT NULL`),
  ],
);

/** Messages of tickets by merchants and staff, erased with the ticket's texts. */
export const supportMessages = sqliteTable(
  'support_messages',
  {
    id: uuidBytes('id').$type<TicketMessageId>().primaryKey(),
    ticketId: uuidBytes('ticket_id').$type<TicketId>().notNull(),
    author: text('author').$type<(typeof MESSAGE_AUTHORS)[number]>().notNull(),
    authorId: uuidBytes('author_id').notNull(),
    body: text('body').notNull(),
    createdAt: instant('created_at').notNull(),
    writtenAt: instant('written_at').notNull(),
  },
  (table) => [
    index('support_messages_of_ticket').on(table.ticketId, table.createdAt),
    index('support_messages_by_author').on(table.authorId, table.writtenAt),
  ],
);

export type Ticket = typeof supportTickets.$inferSelect;

export type TicketMessage = typeof supportMessages.$inferSelect;
