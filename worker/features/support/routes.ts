import { z } from '@hono/zod-openapi';
import type { MembershipId, PaymentId, TicketMessageId } from '#core/ids.ts';
import { SUPPORT_MESSAGES_MAX, THREAD_MAX, TICKETS_PER_PAGE } from '#core/limits.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import { ShownName, ShownText } from '#platform/http/bodies/own-fields.ts';
import { idOf, ModeQuery, PageQuery, pageOf, positiveInteger } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { TICKET, TICKET_CATEGORIES } from '#rules/states.ts';
import { NewTicketBody, ThreadBody, TicketBody, toMessageResource, toThreadResource, toTicketResource } from './resource.ts';
import { listAllTickets, listTickets } from './store.ts';
import { readThread, requireStaff, scopeOfTicket } from './thread.ts';
import { addMessage, closeTicket, openTicket, resolveTicket } from './ticket.ts';

const Body = ShownText(10_000);

const CreateTicketRequest = z
  .object({
    subject: ShownName(160, 3),
    body: Body,
    category: z.enum(TICKET_CATEGORIES).default('other'),
    payment_id: idOf<PaymentId>().optional(),
    membership_id: idOf<MembershipId>().optional(),
  })
  .openapi('CreateTicketRequest', {
    example: { subject: 'A payment is missing', body: 'The buyer has paid: see the explorer.', category: 'payment' },
  });

export const supportRoutes = routes('Support')
  .write({
    path: 'POST /support/tickets',
    id: 'createTicket',
    summary: 'Create a ticket',
    description: `Text is text, and shown as it was written. An account writes at most ${SUPPORT_MESSAGES_MAX} messages in an hour.`,
    body: CreateTicketRequest,
    returns: NewTicketBody,
    codes: ['not_found'],
    once: ({ scope, actor, body: { payment_id, membership_id, ...input } }, storeAnswer) => {
      const about = { paymentId: payment_id ?? null, membershipId: membership_id ?? null };
      return openTicket(scope, actor, { ...input, ...about }, storeAnswer);
    },
    present: ({ ticket, messages }) => ({ ...toTicketResource(ticket), messages: messages.map(toMessageResource) }),
  })
  .read({
    path: 'GET /support/tickets',
    id: 'listTickets',
    summary: 'List tickets',
    description: 'Tickets, the one somebody wrote to last first.',
    query: {
      ...PageQuery,
      per_page: positiveInteger(TICKETS_PER_PAGE.max)
        .default(TICKETS_PER_PAGE.default)
        .openapi({ type: 'integer', minimum: 1, maximum: TICKETS_PER_PAGE.max, default: TICKETS_PER_PAGE.default }),
      status: z.enum(TICKET.states).optional(),
      scope: z.enum(['mine', 'all']).default('mine').openapi({ description: '`all`: of every account, for staff.' }),
    },
    returns: pageOf(TicketBody, 'SupportTicketPage'),
    answer: async ({ scope, actor, query: { status, scope: whose, ...rest } }) => {
      if (whose === 'all') requireStaff(actor);
      const page = pageRequest(rest);
      const found = whose === 'all' ? await listAllTickets(scope, status, page) : await listTickets(scope, status, page);
      return toPage(page, found, toTicketResource);
    },
  })
  .read({
    path: 'GET /support/tickets/{ticket_id}',
    id: 'getTicket',
    summary: 'Get a ticket',
    description:
      `A ticket, its newest messages (at most ${THREAD_MAX.messages}), and the story of what it is about. Where there are older ones, ` +
      '`messages_before` says what `before` takes to read them.',
    query: {
      ...ModeQuery,
      before: idOf<TicketMessageId>().optional().openapi({ description: 'Only what was written before this message.' }),
    },
    returns: ThreadBody,
    codes: ['not_found'],
    answer: async ({ scope, actor, params, query }) =>
      toThreadResource(await readThread(scope, actor, params.ticket_id, query.before ?? null)),
  })
  .write({
    path: 'POST /support/tickets/{ticket_id}/message',
    id: 'addTicketMessage',
    summary: 'Add a message',
    description: 'Write on a ticket; a resolved one is open again.',
    body: z.object({ body: Body }).openapi('AddMessageRequest'),
    returns: ThreadBody,
    codes: ['not_found', 'ticket_closed', 'state_conflict'],
    shard: ({ scope, actor, params }) => scopeOfTicket(scope, actor, params.ticket_id),
    once: ({ scope, actor, params, body: { body } }, storeAnswer) =>
      addMessage(scope, actor, { ticketId: params.ticket_id, body, storeAnswer }),
    present: toThreadResource,
  })
  .write({
    path: 'POST /support/tickets/{ticket_id}/close',
    id: 'closeTicket',
    summary: 'Close a ticket',
    description: 'Close a ticket for good.',
    returns: ThreadBody,
    codes: ['not_found', 'state_conflict'],
    shard: ({ scope, actor, params }) => scopeOfTicket(scope, actor, params.ticket_id),
    once: ({ scope, actor, params }, storeAnswer) => closeTicket(scope, actor, params.ticket_id, storeAnswer),
    present: toThreadResource,
  })
  .write({
    path: 'POST /support/tickets/{ticket_id}/resolve',
    id: 'resolveTicket',
    summary: 'Resolve a ticket',
    description: 'Staff say that a ticket is answered; silent for 14 days, it is closed.',
    returns: ThreadBody,
    codes: ['not_found', 'ticket_closed', 'state_conflict'],
    check: ({ actor }) => requireStaff(actor),
    shard: ({ scope, actor, params }) => scopeOfTicket(scope, actor, params.ticket_id),
    once: ({ scope, actor, params }, storeAnswer) => resolveTicket(scope, actor, params.ticket_id, storeAnswer),
    present: toThreadResource,
  });
