import { acted, idempotent } from '../../frame/acts.ts';
import { ActForm, ActSection, SelectField, TextField } from '../../frame/fields.tsx';
import { Time } from '../../frame/format.tsx';
import { linkTo } from '../../frame/head.tsx';
import { Facts, listBody } from '../../frame/list.tsx';
import type { Definition } from '../../frame/screen.tsx';

interface Ticket {
  ticket_id: string;
  subject: string;
  category: string;
  status: string;
  payment_id?: string;
  membership_id?: string;
  created_at: string;
  last_message_at: string;
}
interface Thread extends Ticket {
  messages: { message_id: string; author: string; body: string; created_at: string }[];
}

const CATEGORIES = [
  ['other', 'something else'],
  ['payment', 'a payment'],
  ['delivery', 'an invitation'],
  ['webhook', 'a webhook'],
  ['billing', 'the plan'],
] as const;
const AUTHORS: Record<string, string> = { merchant: 'You', staff: 'Support', system: 'The service' };

export const SUPPORT: Definition = {
  path: '/dashboard/support',
  title: 'Support',
  body: listBody<Ticket>({
    operation: 'listTickets',
    filters: [{ name: 'status', label: 'Status', options: ['open', 'pending', 'resolved', 'closed'] }],
    caption: 'Tickets, newest first',
    head: ['Subject', 'About', 'Status', 'Latest message'],
    empty: <p>You have asked nothing yet. Write what you expected, what happened, and the request id if you have one.</p>,
    before: (screen) => (
      <ActSection screen={screen} act="open" title="New ticket">
        <ActForm screen={screen} act="open" submit="New ticket">
          <TextField screen={screen} act="open" name="subject" label="Subject" max={160} />
          <SelectField screen={screen} act="open" name="category" label="About" options={CATEGORIES} />
          <TextField screen={screen} act="open" name="payment_id" label="Payment id" isOptional max={36} />
          <TextField screen={screen} act="open" name="body" label="Message" max={10_000} lines={6} />
        </ActForm>
      </ActSection>
    ),
    row: (ticket, screen) => [
      <a href={linkTo(screen, `/dashboard/support/${ticket.ticket_id}`)}>
        <bdi>{ticket.subject}</bdi>
      </a>,
      ticket.category,
      ticket.status,
      <Time at={ticket.last_message_at} />,
    ],
  }),
  acts: {
    open: {
      needs: 'tickets:write',
      done: 'The ticket is open. The answer comes here and by email.',
      async run({ operations, mode }, form) {
        const body = {
          subject: form.subject?.trim(),
          category: form.category,
          body: form.body?.trim(),
          ...(form.payment_id?.trim() ? { payment_id: form.payment_id.trim() } : {}),
        };
        return acted(await operations.call('createTicket', { query: { mode }, body, ...idempotent(form) }));
      },
    },
  },
};

export const TICKET: Definition = {
  path: '/dashboard/support/:ticket_id',
  title: 'Ticket',
  async body(screen) {
    const { c, operations, mode } = screen;
    const params = { ticket_id: c.req.param('ticket_id') ?? '' };
    const ticket = await operations.call<Thread>('getTicket', { params, query: { mode } });
    if (!ticket.ok) return ticket;
    const { subject, category, status, payment_id: paymentId, messages, created_at: at } = ticket.value;
    return (
      <>
        <section>
          <Facts
            rows={[
              ['Subject', <bdi>{subject}</bdi>],
              ['About', category],
              ['Status', status],
              ['Payment', paymentId && <a href={linkTo(screen, `/dashboard/payments/${paymentId}`)}>{paymentId}</a>],
              ['Opened', <Time at={at} />],
            ]}
          />
        </section>
        {messages.map(({ author, body, created_at: sent }) => (
          <section>
            <h2>
              {AUTHORS[author] ?? author}, <Time at={sent} />
            </h2>
            <p class="said">
              <bdi>{body}</bdi>
            </p>
          </section>
        ))}
        {status !== 'closed' && (
          <section>
            <ActForm screen={screen} act="answer" submit="Answer">
              <TextField screen={screen} act="answer" name="body" label="Message" max={10_000} lines={6} />
            </ActForm>
            <ActForm screen={screen} act="close" submit="Close" />
          </section>
        )}
      </>
    );
  },
  acts: {
    answer: {
      needs: 'tickets:write',
      done: 'The message is sent.',
      run: async ({ c, operations, mode }, form) =>
        acted(
          await operations.call('addTicketMessage', {
            params: { ticket_id: c.req.param('ticket_id') ?? '' },
            query: { mode },
            body: { body: form.body?.trim() },
            ...idempotent(form),
          }),
        ),
    },
    close: {
      needs: 'tickets:write',
      done: 'The ticket is closed.',
      run: async ({ c, operations, mode }, form) =>
        acted(
          await operations.call('closeTicket', {
            params: { ticket_id: c.req.param('ticket_id') ?? '' },
            query: { mode },
            ...idempotent(form),
          }),
        ),
    },
  },
};
