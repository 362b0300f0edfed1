import { z } from '@hono/zod-openapi';
import type { MembershipId, PaymentId, TicketMessageId } from '#core/ids.ts';
import { SUPPORT_MESSAGES_MAX, THREAD_MAX, TICKETS_PER_PAGE } from '#core/limits.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import { ShownName, ShownText } from '#platform/http/bodies/own-fields.ts';
import { idOf, ModeQuery, PageQuery, pageOf, positiveInteger } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { TICKET, TICKET_CATEGORIES } from '#rules/states.ts';
import { NewTicketBody, type Thread, ThreadBody, TicketBody, toMessageResource, toThreadResource, toTicketResource } from './resource.ts';
import { listAllTickets, listTickets } from './store.ts';
import { readThread, requireStaff, scopeOfTicket } from './thread.ts';
import { addMessage, closeTicket, openTicket, resolveTicket } from './ticket.ts';

const Body = ShownText(10_000);

const CreateTicketRequest = z
  .object({
    subject: ShownName(160, 3),
    body: Body.describe('Text of the message, 1 to 10,000 characters.'),
    category: z.enum(TICKET_CATEGORIES).default('other'),
    payment_id: idOf<PaymentId>().optional().describe('Identifier of the payment. It grants access to the payment’s status.'),
    membership_id: idOf<MembershipId>().optional(),
  })
  .openapi('CreateTicketRequest', {
    example: { subject: 'A payment is missing', body: 'The buyer has paid: see the explorer.', category: 'payment' },
  });

/** Fields of a ticket in the audit log: no text of it. */
const recordedTicket = ({ ticket: { id, livemode, status, category } }: Thread) => ({ id, livemode, status, category });

export const supportRoutes = routes('Support', 'tickets')
  .write({
    path: 'POST /support/tickets',
    id: 'createTicket',
    sdk: 'tickets.create',
    summary: 'Create a ticket',
    description: `Creates a ticket. Text is shown exactly as written. An account can send at most ${SUPPORT_MESSAGES_MAX} messages per hour.`,
    body: CreateTicketRequest,
    returns: NewTicketBody,
    codes: ['not_found'],
    once: ({ scope, actor, body: { payment_id, membership_id, ...input } }, storeAnswer) => {
      const about = { paymentId: payment_id ?? null, membershipId: membership_id ?? null };
      return openTicket(scope, actor, { ...input, ...about }, storeAnswer);
    },
    audit: { action: 'ticket.opened', subject: 'ticket', fields: recordedTicket },
    present: ({ ticket, messages }) => ({ ...toTicketResource(ticket), messages: messages.map(toMessageResource) }),
  })
  .read({
    path: 'GET /support/tickets',
    id: 'listTickets',
    sdk: 'tickets.list',
    summary: 'List tickets',
    description: 'Lists tickets, ordered by the latest message, newest first.',
    query: {
      ...PageQuery,
      per_page: positiveInteger(TICKETS_PER_PAGE.max)
        .default(TICKETS_PER_PAGE.default)
        .openapi({ type: 'integer', minimum: 1, maximum: TICKETS_PER_PAGE.max, default: TICKETS_PER_PAGE.default })
        .describe('Number of entries per page.'),
      status: z.enum(TICKET.states).optional().describe('Return only objects with this status.'),
      scope: z.enum(['mine', 'all']).default('mine').describe('Scope of the list. `all`: tickets of all accounts, for staff.'),
    },
    returns: pageOf(TicketBody, 'SupportTicketPage'),
    answer: async ({ scope, actor, query: { status, scope: visibility, ...rest } }) => {
      if (visibility === 'all') requireStaff(scope, actor);
      const page = pageRequest(rest);
      const found = visibility === 'all' ? await listAllTickets(scope, status, page) : await listTickets(scope, status, page);
      return toPage(page, found, toTicketResource);
    },
  })
  .read({
    path: 'GET /support/tickets/{ticket_id}',
    id: 'getTicket',
    sdk: 'tickets.get',
    summary: 'Get a ticket',
    description: `Returns a ticket with its newest messages (at most ${THREAD_MAX.messages}) and the timeline of its subject. \`messages_before\` is the value of \`before\` for older ones.`,
    query: {
      ...ModeQuery,
      before: idOf<TicketMessageId>().optional().describe('Return only messages before this one.'),
    },
    returns: ThreadBody,
    codes: ['not_found'],
    answer: async ({ scope, actor, params, query }) =>
      toThreadResource(await readThread(scope, actor, params.ticket_id, query.before ?? null)),
  })
  .write({
    path: 'POST /support/tickets/{ticket_id}/message',
    id: 'addTicketMessage',
    sdk: 'tickets.addMessage',
    summary: 'Add a message',
    description: 'Adds a message to a ticket. A resolved ticket is reopened.',
    body: z.object({ body: Body.describe('Text of the message, 1 to 10,000 characters.') }).openapi('AddMessageRequest'),
    returns: ThreadBody,
    codes: ['not_found', 'ticket_closed', 'state_conflict'],
    shard: ({ scope, actor, params }) => scopeOfTicket(scope, actor, params.ticket_id),
    once: ({ scope, actor, params, body: { body } }, storeAnswer) =>
      addMessage(scope, actor, { ticketId: params.ticket_id, body, storeAnswer }),
    audit: { action: 'ticket.answered', subject: 'ticket', fields: recordedTicket },
    present: toThreadResource,
  })
  .write({
    path: 'POST /support/tickets/{ticket_id}/close',
    id: 'closeTicket',
    sdk: 'tickets.close',
    summary: 'Close a ticket',
    description: 'Closes a ticket permanently.',
    returns: ThreadBody,
    codes: ['not_found', 'state_conflict'],
    shard: ({ scope, actor, params }) => scopeOfTicket(scope, actor, params.ticket_id),
    once: ({ scope, actor, params }, storeAnswer) => closeTicket(scope, actor, params.ticket_id, storeAnswer),
    audit: { action: 'ticket.closed', subject: 'ticket', fields: recordedTicket },
    present: toThreadResource,
  })
  .write({
    path: 'POST /support/tickets/{ticket_id}/resolve',
    id: 'resolveTicket',
    sdk: 'tickets.resolve',
    summary: 'Resolve a ticket',
    description: 'Marks a ticket as resolved, for staff. It is closed after 14 days without a message.',
    returns: ThreadBody,
    codes: ['not_found', 'ticket_closed', 'state_conflict'],
    check: ({ scope, actor }) => requireStaff(scope, actor),
    shard: ({ scope, actor, params }) => scopeOfTicket(scope, actor, params.ticket_id),
    once: ({ scope, actor, params }, storeAnswer) => resolveTicket(scope, actor, params.ticket_id, storeAnswer),
    audit: { action: 'ticket.resolved', subject: 'ticket', fields: recordedTicket },
    present: toThreadResource,
  });
