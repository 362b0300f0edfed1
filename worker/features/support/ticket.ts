import { ApiError, raise } from '#core/errors.ts';
import {
  type AccountId,
  type MembershipId,
  newId,
  type PaymentId,
  type ProductId,
  type TicketId,
  type TicketMessageId,
} from '#core/ids.ts';
import { SUPPORT_MESSAGES_MAX } from '#core/limits.ts';
import { HOUR, SECOND } from '#core/time.ts';
import { getOwner } from '#features/accounts/members/acting.ts';
import { findAccount, getAccount } from '#features/accounts/store.ts';
import { planEmail } from '#features/email/outbox.ts';
import { findMembership } from '#features/memberships/store.ts';
import { findPayment } from '#features/payments/store.ts';
import type { Actor, Ctx, Scope, Shard } from '#platform/context.ts';
import { type Change, commitNew, isAborted, transact, type Write } from '#platform/db/commit.ts';
import { readEach } from '#platform/db/each-database.ts';
import { type StoreAnswer, unchangedWithAnswer, withAnswer } from '#platform/db/once.ts';
import type { Ticket, TicketMessage } from '#platform/db/tables/office/support.ts';
import { hasMail } from '#platform/providers/mail/mail-providers.ts';
import type { EmailFacts, EmailTemplate } from '#rules/emails.ts';
import type { EventType, NewEvent } from '#rules/events.ts';
import { TICKET } from '#rules/states.ts';
import { type Thread, toMessageResource, toTicketResource } from './resource.ts';
import { findTicket, insertMessage, insertTicket, listReachableStaff, listWritten, updateTicket } from './store.ts';
import { loadThread, locateTicket, requireStaff } from './thread.ts';

interface NewTicket {
  subject: string;
  body: string;
  category: Ticket['category'];
  paymentId: PaymentId | null;
  membershipId: MembershipId | null;
}

export const ticketEvent = (type: EventType, ticket: Ticket, message?: TicketMessage): NewEvent => ({
  merchantId: ticket.merchantId,
  livemode: ticket.livemode,
  type,
  subject: { type: 'support_ticket', id: ticket.id, version: ticket.version },
  object: toTicketResource(ticket),
  ...(ticket.productId === null ? {} : { productId: ticket.productId }),
  ...(message ? { related: { message: toMessageResource(message) } } : {}),
});

/** Returns the id that rate limits count. A sandbox session counts by itself and uses up nothing of its merchant's limit. */
const authorIdOf = ({ sandbox }: Ctx, { accountId }: Actor): string => sandbox?.sessionId ?? accountId;

const newMessage = (ctx: Ctx, ticketId: TicketId, actor: Actor, author: TicketMessage['author'], body: string): TicketMessage => ({
  id: newId<TicketMessageId>(ctx.now, ticketId),
  ticketId,
  author,
  authorId: authorIdOf(ctx, actor),
  body,
  createdAt: ctx.now,
  writtenAt: ctx.wallNow,
});

const limitOf = ({ wallNow }: Ctx) => ({ after: wallNow - HOUR, max: SUPPORT_MESSAGES_MAX });

/** Throws 429 rate_limited if the author has written the allowed number of messages. */
async function refuseTooMany(ctx: Shard, actor: Actor): Promise<void> {
  const { after, max } = limitOf(ctx);
  const written = await listWritten(ctx.db, authorIdOf(ctx, actor), after);
  if (written.length < max) return;
  const free = written.at(-max)!.at + HOUR;
  throw new ApiError('rate_limited', {
    detail: `The account has sent ${max} support messages within an hour. Retry later.`,
    retryAfterSeconds: Math.max(1, (free - ctx.wallNow) / SECOND),
  });
}

/** Returns the product of the ticket's subject in the merchant's mode, or null without a subject. Throws 404. */
async function requireLinked(
  ctx: Scope,
  { paymentId, membershipId }: Pick<NewTicket, 'paymentId' | 'membershipId'>,
): Promise<ProductId | null> {
  const isMine = (row: { merchantId: string; livemode: boolean } | undefined) =>
    row?.merchantId === ctx.merchantId && row.livemode === ctx.livemode;
  const payment = paymentId === null ? null : await findPayment(ctx, paymentId);
  if (payment !== null && !isMine(payment)) throw new ApiError('not_found', { meta: { field: 'payment_id' } });
  const membership = membershipId === null ? null : await findMembership(ctx.db, membershipId);
  if (membership !== null && !isMine(membership)) throw new ApiError('not_found', { meta: { field: 'membership_id' } });
  return payment?.productId ?? membership?.productId ?? null;
}

/** Opens a ticket with its first message. Throws 404 for an unknown subject, 429 rate_limited. */
export async function openTicket(ctx: Scope, actor: Actor, input: NewTicket, storeAnswer: StoreAnswer<Thread>): Promise<Thread> {
  const productId = await requireLinked(ctx, input);
  await refuseTooMany(ctx, actor);
  const { body, ...about } = input;
  const ticket: Ticket = {
    id: newId<TicketId>(ctx.now, ctx.merchantId),
    merchantId: ctx.merchantId,
    livemode: ctx.livemode,
    sandboxSessionId: ctx.sandbox?.sessionId ?? null,
    ...about,
    productId,
    status: 'open',
    lastMessageAt: ctx.now,
    createdAt: ctx.now,
    updatedAt: ctx.now,
    version: 1,
  };
  const message = newMessage(ctx, ticket.id, actor, 'merchant', body);
  const change: Change<Thread> = {
    events: [ticketEvent('support.ticket_created', ticket, message)],
    writes: [
      insertTicket(ctx.db, ticket),
      ...insertMessage(ctx, message, limitOf(ctx)),
      ...(await planTicketEmails(ctx, { ticket, by: 'merchant', message })),
    ],
    result: { ticket, messages: [message], hasOlder: false, timeline: [] },
  };
  const store = async () => commitNew(ctx, await withAnswer(change, storeAnswer(change.result)), () => findTicket(ctx.db, ticket.id));
  return refusingTooMany(ctx, actor, store);
}

/** Turns an abort caused by a concurrent last allowed message into 429 rate_limited. */
async function refusingTooMany<T>(ctx: Shard, actor: Actor, store: () => Promise<T>): Promise<T> {
  try {
    return await store();
  } catch (error) {
    const isContended = error instanceof ApiError && error.options.meta?.reason === 'contended';
    if (isAborted(error) || isContended) await refuseTooMany(ctx, actor);
    throw error;
  }
}

/** Transition of a ticket and its event. The version check is also the lock. */
const stepped = (ctx: Ctx, before: Ticket, transition: Parameters<typeof TICKET.next>[1], patch: Partial<Ticket> = {}): Ticket => ({
  ...before,
  ...patch,
  status: before.status === 'closed' ? raise('ticket_closed') : TICKET.next(before.status, transition),
  updatedAt: ctx.now,
  version: before.version + 1,
});

/** A caller acts as merchant on tickets of their own account, even if they are staff. */
const sideOf = (actor: Actor, { merchantId }: Ticket) => (merchantId === actor.accountId ? 'merchant' : 'staff');

/** Throws 409 state_conflict if the account is deleted: no answer would be read, and no text may be stored for it. */
async function refuseDeleted({ db }: Scope, { merchantId }: Ticket): Promise<void> {
  if ((await findAccount(db, merchantId))?.status !== 'deleted') return;
  throw new ApiError('state_conflict', { detail: 'The account of this ticket is deleted.', meta: { reason: 'account_deleted' } });
}

/**
 * Adds a message. A merchant's message makes the ticket open, a staff message makes it pending, also if it was resolved. Throws 404, 409
 * ticket_closed, 409 state_conflict if the account is deleted, 429 rate_limited.
 */
export async function addMessage(
  ctx: Scope,
  actor: Actor,
  { ticketId, body, storeAnswer }: { ticketId: TicketId; body: string; storeAnswer: StoreAnswer<Thread> },
): Promise<Thread> {
  const { scope } = await locateTicket(ctx, actor, ticketId);
  const store = () =>
    transact(scope, { reload: () => locateTicket(ctx, actor, ticketId) }, async ({ ticket }) => {
      const author = sideOf(actor, ticket);
      await refuseDeleted(scope, ticket);
      const after = stepped(scope, ticket, author === 'merchant' ? 'ask' : 'answer', { lastMessageAt: scope.now });
      await refuseTooMany(scope, actor);
      const message = newMessage(scope, ticketId, actor, author, body);
      const isReopened = ticket.status === 'resolved';
      const reopened = { ...after, version: after.version + 1 };
      const stored = isReopened ? reopened : after;
      const thread = await loadThread(scope, stored, { added: [message] });
      const change: Change<Thread> = {
        events: [
          ticketEvent('support.message_added', after, message),
          ...(isReopened ? [{ ...ticketEvent('support.ticket_updated', reopened), previous: { status: ticket.status } }] : []),
        ],
        writes: [
          ...updateTicket(scope, ticket, stored),
          ...insertMessage(scope, message, limitOf(scope)),
          ...(await planTicketEmails(scope, { ticket: stored, by: author, message })),
        ],
        result: thread,
      };
      return withAnswer(change, storeAnswer(thread, { before: { ...thread, ticket } }));
    });
  return refusingTooMany(scope, actor, store);
}

/** Closes a ticket permanently. Idempotent. Throws 404. */
export const closeTicket = (ctx: Scope, actor: Actor, ticketId: TicketId, storeAnswer: StoreAnswer<Thread>): Promise<Thread> =>
  moveTicket(ctx, actor, { ticketId, transition: 'close', type: 'support.ticket_closed', storeAnswer });

/** Resolves a ticket as staff. Idempotent. Throws 403, 404, 409 ticket_closed. */
export async function resolveTicket(ctx: Scope, actor: Actor, ticketId: TicketId, storeAnswer: StoreAnswer<Thread>): Promise<Thread> {
  requireStaff(ctx, actor);
  return moveTicket(ctx, actor, { ticketId, transition: 'resolve', type: 'support.ticket_updated', storeAnswer });
}

interface Move {
  ticketId: TicketId;
  transition: 'close' | 'resolve';
  type: EventType;
  storeAnswer: StoreAnswer<Thread>;
}

async function moveTicket(ctx: Scope, actor: Actor, { ticketId, transition, type, storeAnswer }: Move): Promise<Thread> {
  const { scope } = await locateTicket(ctx, actor, ticketId);
  return transact(scope, { reload: () => locateTicket(ctx, actor, ticketId) }, async ({ ticket }) => {
    if (ticket.status === (transition === 'close' ? 'closed' : 'resolved'))
      return unchangedWithAnswer(await loadThread(scope, ticket), storeAnswer);
    const after = stepped(scope, ticket, transition);
    const thread = await loadThread(scope, after);
    const event = { ...ticketEvent(type, after), previous: { status: ticket.status } };
    const emails = await planTicketEmails(scope, { ticket: after, by: sideOf(actor, ticket) });
    return withAnswer(
      { events: [event], writes: [...updateTicket(scope, ticket, after), ...emails], result: thread },
      storeAnswer(thread, { before: { ...thread, ticket } }),
    );
  });
}

const EMAILS_MAX = 10;
const STAFF_MAX = 20;
const QUOTED_MAX = 1000;
const TICKET_EMAILS = ['ticket_asked', 'ticket_answered', 'ticket_resolved', 'ticket_closed'] as const satisfies EmailTemplate[];
type TicketEmail = (typeof TICKET_EMAILS)[number];

interface TicketNews {
  ticket: Ticket;
  by: 'merchant' | 'staff';
  message?: TicketMessage;
}

/**
 * Email to staff about the merchant's message or the ticket's end, which a merchant who is staff may also resolve. The merchant's text is
 * erased with the account and therefore not quoted.
 */
const staffEmail = ({ ticket, message }: TicketNews): TicketEmailData => {
  const facts = { ticket_id: ticket.id };
  if (message) return { template: 'ticket_asked', facts };
  return { template: ticket.status === 'closed' ? 'ticket_closed' : 'ticket_resolved', facts };
};

function merchantEmail({ ticket, message }: TicketNews): TicketEmailData {
  const facts = { ticket_id: ticket.id, subject: ticket.subject };
  if (message) return { template: 'ticket_answered', facts: { ...facts, message: [...message.body].slice(0, QUOTED_MAX).join('') } };
  return { template: ticket.status === 'closed' ? 'ticket_closed' : 'ticket_resolved', facts };
}

type TicketEmailData = { [N in TicketEmail]: { template: N; facts: EmailFacts[N] } }[TicketEmail];

/**
 * Plans emails to the other side of a ticket, in the batch of the change. Recipients need a verified address and get at most ten an hour.
 * None are sent for sandbox tickets, without configured email, or to a deleted account.
 */
async function planTicketEmails(ctx: Scope, news: TicketNews): Promise<Write[]> {
  const { ticket, by } = news;
  if (!ticket.livemode || !hasMail(ctx)) return [];
  const email = by === 'staff' ? merchantEmail(news) : staffEmail(news);
  const readers = by === 'staff' ? await reachableMerchant(ctx, ticket) : await reachableStaff(ctx, ticket);
  return readers.flatMap((accountId) => {
    const counted = { templates: [...TICKET_EMAILS], accountId, since: ctx.wallNow - HOUR };
    return planEmail<TicketEmail>(ctx, { ...email, accountId }, { counted, max: EMAILS_MAX }).writes;
  });
}

async function reachableMerchant(ctx: Scope, { merchantId }: Ticket): Promise<AccountId[]> {
  const account = await getAccount(ctx.db, merchantId);
  const { email, emailVerified } = await getOwner(ctx, account);
  return account.status === 'active' && emailVerified && email !== null ? [merchantId] : [];
}

async function reachableStaff(ctx: Scope, { merchantId }: Ticket): Promise<AccountId[]> {
  const { found } = await readEach(ctx, ({ db }) => listReachableStaff(db, STAFF_MAX));
  return found
    .flat()
    .filter((accountId) => accountId !== merchantId)
    .slice(0, STAFF_MAX);
}
