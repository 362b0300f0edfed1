import { ApiError, raise } from '#core/errors.ts';
import type { TicketId, TicketMessageId } from '#core/ids.ts';
import { THREAD_MAX, TIMELINE } from '#core/limits.ts';
import { readTimeline } from '#features/webhooks/timeline.ts';
import { scopeOf } from '#platform/chain/scope.ts';
import type { Actor, Scope } from '#platform/context.ts';
import { findAnywhere } from '#platform/db/directory.ts';
import type { Ticket, TicketMessage } from '#platform/db/tables/office/support.ts';
import type { Thread } from './resource.ts';
import { findTicket, listMessages } from './store.ts';

/** A key opens staff routes by its `admin` permission, as long as its maker is staff. Every call asks that. */
const isStaff = ({ via, isStaff, permissions }: Actor): boolean => isStaff && (via === 'jwt' || permissions.includes('admin'));

/** 403 for all who are not staff. */
export function requireStaff(actor: Actor): void {
  if (isStaff(actor)) return;
  const detail = 'Only staff of this deployment may do this.';
  throw new ApiError('invalid_authorization', { status: 403, detail, meta: { reason: 'staff_required' } });
}

/** Where a ticket is stored that this caller may see: there its changes are kept, and their answers beside them. 404. */
export const scopeOfTicket = async (ctx: Scope, actor: Actor, ticketId: TicketId): Promise<Scope> =>
  (await locateTicket(ctx, actor, ticketId)).scope;

/** Where a ticket is that this caller may see: their own, or of any merchant for staff. 404. */
export async function locateTicket(ctx: Scope, actor: Actor, ticketId: TicketId): Promise<{ scope: Scope; ticket: Ticket }> {
  const found = isStaff(actor) ? await findAnywhere(ctx, ({ db }) => findTicket(db, ticketId)) : await findTicket(ctx.db, ticketId);
  if (!found || found.livemode !== actor.livemode) return raise('not_found');
  const isMine = found.merchantId === actor.accountId;
  if (!isMine && !isStaff(actor)) return raise('not_found');
  return { scope: isMine ? ctx : await scopeOf(ctx, found), ticket: found };
}

/**
 * Of messages, newest first, those of one page, oldest first, and whether there are older ones. Every answer to a change holds a page
 * alone: it is kept for its Idempotency-Key, and a long thread would not fit there.
 */
function pageOf(messages: readonly TicketMessage[]): { messages: TicketMessage[]; hasOlder: boolean } {
  let characters = 0;
  const isOver = ({ body }: TicketMessage, i: number) => {
    characters += body.length;
    return i > 0 && (i >= THREAD_MAX.messages || characters > THREAD_MAX.characters);
  };
  const end = messages.findIndex(isOver);
  return end < 0 ? { messages: messages.toReversed(), hasOlder: false } : { messages: messages.slice(0, end).reverse(), hasOlder: true };
}

/** A ticket as it is shown, with a message that is being stored; the newest of its messages, or those before one of them. */
export async function threadOf(
  ctx: Scope,
  ticket: Ticket,
  { added = [], before = null }: { added?: TicketMessage[]; before?: TicketMessageId | null } = {},
): Promise<Thread> {
  const { paymentId, membershipId } = ticket;
  const about = paymentId !== null ? { paymentId } : membershipId !== null ? { membershipId } : null;
  const [messages, story] = await Promise.all([
    listMessages(ctx.db, ticket.id, before, THREAD_MAX.messages + 1),
    about ? readTimeline(ctx, about, { order: 'asc', limit: TIMELINE.default }) : null,
  ]);
  return { ticket, ...pageOf([...added, ...messages]), timeline: story?.items ?? [] };
}

/** A ticket with a page of its thread: the newest messages, or those before one of them. 404. */
export async function readThread(ctx: Scope, actor: Actor, ticketId: TicketId, before: TicketMessageId | null): Promise<Thread> {
  const { scope, ticket } = await locateTicket(ctx, actor, ticketId);
  return threadOf(scope, ticket, { before });
}
