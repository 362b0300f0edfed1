import { createRoute, z } from '@hono/zod-openapi';
import type { MembershipId, PaymentId, TicketId, TicketMessageId } from '#core/ids.ts';
import { SUPPORT_MESSAGES_MAX, THREAD_MAX, TICKETS_PER_PAGE } from '#core/limits.ts';
import type { StoreAnswer } from '#platform/db/once.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import { ShownName, ShownText } from '#platform/http/bodies/own-fields.ts';
import { merchantErrors, merchantRoute, merchantWriteErrors, writeRoute } from '#platform/http/callers.ts';
import { answerOnce, OptionalIdempotencyHeader, sendStored } from '#platform/http/idempotency-key.ts';
import { idOf, idParam, jsonBody, ModeQuery, ok, PageQuery, pageOf, positiveInteger, router } from '#platform/http/openapi.ts';
import { TICKET, TICKET_CATEGORIES } from '#rules/states.ts';
import { NewTicketBody, type Thread, ThreadBody, TicketBody, toMessageResource, toThreadResource, toTicketResource } from './resource.ts';
import { listAllTickets, listTickets } from './store.ts';
import { readThread, requireStaff, scopeOfTicket } from './thread.ts';
import { addMessage, closeTicket, openTicket, resolveTicket } from './ticket.ts';

const tags = ['Support'];
const Body = ShownText(10_000);
const params = idParam('ticket_id', idOf<TicketId>());
const query = z.object(ModeQuery);

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

const create = createRoute({
  method: 'post',
  path: '/support/tickets',
  operationId: 'createTicket',
  tags,
  summary: 'Create a ticket',
  description: `Text is text, and shown as it was written. An account writes at most ${SUPPORT_MESSAGES_MAX} messages in an hour.`,
  ...writeRoute,
  request: { headers: OptionalIdempotencyHeader, query, ...jsonBody(CreateTicketRequest) },
  responses: { ...ok(NewTicketBody), ...merchantWriteErrors('not_found') },
});

const list = createRoute({
  method: 'get',
  path: '/support/tickets',
  operationId: 'listTickets',
  tags,
  summary: 'List tickets',
  description: 'Tickets, the one somebody wrote to last first.',
  ...merchantRoute('read'),
  request: {
    query: z.object({
      ...PageQuery,
      per_page: positiveInteger(TICKETS_PER_PAGE.max)
        .default(TICKETS_PER_PAGE.default)
        .openapi({ type: 'integer', minimum: 1, maximum: TICKETS_PER_PAGE.max, default: TICKETS_PER_PAGE.default }),
      status: z.enum(TICKET.states).optional(),
      scope: z.enum(['mine', 'all']).default('mine').openapi({ description: '`all`: of every account, for staff.' }),
      ...ModeQuery,
    }),
  },
  responses: { ...ok(pageOf(TicketBody, 'SupportTicketPage')), ...merchantErrors() },
});

const read = createRoute({
  method: 'get',
  path: '/support/tickets/{ticket_id}',
  operationId: 'getTicket',
  tags,
  summary: 'Get a ticket',
  description:
    `A ticket, its newest messages (at most ${THREAD_MAX.messages}), and the story of what it is about. Where there are older ones, ` +
    '`messages_before` says what `before` takes to read them.',
  ...merchantRoute('read'),
  request: {
    params,
    query: query.extend({
      before: idOf<TicketMessageId>().optional().openapi({ description: 'Only what was written before this message.' }),
    }),
  },
  responses: { ...ok(ThreadBody), ...merchantErrors('not_found') },
});

const message = createRoute({
  method: 'post',
  path: '/support/tickets/{ticket_id}/message',
  operationId: 'addTicketMessage',
  tags,
  summary: 'Add a message',
  description: 'Write on a ticket; a resolved one is open again.',
  ...writeRoute,
  request: { headers: OptionalIdempotencyHeader, params, query, ...jsonBody(z.object({ body: Body }).openapi('AddMessageRequest')) },
  responses: { ...ok(ThreadBody), ...merchantWriteErrors('not_found', 'ticket_closed', 'state_conflict') },
});

const close = createRoute({
  method: 'post',
  path: '/support/tickets/{ticket_id}/close',
  operationId: 'closeTicket',
  tags,
  summary: 'Close a ticket',
  description: 'Close a ticket for good.',
  ...writeRoute,
  request: { headers: OptionalIdempotencyHeader, params, query },
  responses: { ...ok(ThreadBody), ...merchantWriteErrors('not_found', 'state_conflict') },
});

const resolve = createRoute({
  method: 'post',
  path: '/support/tickets/{ticket_id}/resolve',
  operationId: 'resolveTicket',
  tags,
  summary: 'Resolve a ticket',
  description: 'Staff say that a ticket is answered; silent for 14 days, it is closed.',
  ...writeRoute,
  request: { headers: OptionalIdempotencyHeader, params, query },
  responses: { ...ok(ThreadBody), ...merchantWriteErrors('not_found', 'ticket_closed', 'state_conflict') },
});

const present = (thread: Thread) => ({ status: 200, body: toThreadResource(thread) });

export const supportRoutes = router()
  .openapi(create, async (c) => {
    const { payment_id, membership_id, ...input } = c.req.valid('json');
    const about = { paymentId: payment_id ?? null, membershipId: membership_id ?? null };
    const run = (storeAnswer: StoreAnswer<Thread>) => openTicket(c.var.scope, c.var.actor, { ...input, ...about }, storeAnswer);
    const answer = await answerOnce(c, run, ({ ticket, messages }) => ({
      status: 200,
      body: { ...toTicketResource(ticket), messages: messages.map(toMessageResource) },
    }));
    return sendStored(c, answer);
  })
  .openapi(list, async (c) => {
    const { actor, scope: ctx } = c.var;
    const { status, scope, ...rest } = c.req.valid('query');
    if (scope === 'all') requireStaff(actor);
    const page = pageRequest(rest);
    const found = scope === 'all' ? await listAllTickets(ctx, status, page) : await listTickets(ctx, status, page);
    return c.json(toPage(page, found, toTicketResource), 200);
  })
  .openapi(read, async (c) => {
    const ticketId = c.req.valid('param').ticket_id;
    return c.json(toThreadResource(await readThread(c.var.scope, c.var.actor, ticketId, c.req.valid('query').before ?? null)), 200);
  })
  .openapi(message, async (c) => {
    const { actor, scope: ctx } = c.var;
    const ticketId = c.req.valid('param').ticket_id;
    c.set('shard', await scopeOfTicket(ctx, actor, ticketId));
    const { body } = c.req.valid('json');
    return sendStored(c, await answerOnce<Thread>(c, (storeAnswer) => addMessage(ctx, actor, { ticketId, body, storeAnswer }), present));
  })
  .openapi(close, async (c) => {
    const { actor, scope: ctx } = c.var;
    const ticketId = c.req.valid('param').ticket_id;
    c.set('shard', await scopeOfTicket(ctx, actor, ticketId));
    return sendStored(c, await answerOnce<Thread>(c, (storeAnswer) => closeTicket(ctx, actor, ticketId, storeAnswer), present));
  })
  .openapi(resolve, async (c) => {
    const { actor, scope: ctx } = c.var;
    requireStaff(actor);
    const ticketId = c.req.valid('param').ticket_id;
    c.set('shard', await scopeOfTicket(ctx, actor, ticketId));
    return sendStored(c, await answerOnce<Thread>(c, (storeAnswer) => resolveTicket(ctx, actor, ticketId, storeAnswer), present));
  });
