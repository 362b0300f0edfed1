import { ApiError, raise } from '#core/errors.ts';
import type { TicketId, TicketMessageId } from '#core/ids.ts';
import { THREAD_MAX, TIMELINE } from '#core/limits.ts';
import { HOUR } from '#core/time.ts';
import { readTimeline } from '#features/webhooks/timeline.ts';
import { loadScope } from '#platform/chain/scope.ts';
import type { Actor, Ctx, Scope } from '#platform/context.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import { hasStaffEntry } from '#platform/db/audit/recorded.ts';
import { commit } from '#platform/db/commit.ts';
import { homeOf } from '#platform/db/directory.ts';
import type { Ticket, TicketMessage } from '#platform/db/tables/office/support.ts';
import { requireStaffFactor } from '#platform/http/callers.ts';
import type { Thread } from './resource.ts';
import { findTicket, listMessages } from './store.ts';

/** A key may use staff routes with its `admin` permission while its creator is staff. Checked on every call. */
const isStaff = ({ via, isStaff, permissions }: Actor): boolean => isStaff && (via === 'jwt' || permissions.includes('admin'));

/** Throws 403 for non-staff callers, and for staff without a factor that was proven in the past hours. */
export function requireStaff(ctx: Ctx, actor: Actor): void {
  if (!isStaff(actor)) {
    const detail = 'Only staff of this deployment may do this.';
    throw new ApiError('invalid_authorization', { status: 403, detail, meta: { reason: 'staff_required' } });
  }
  requireStaffFactor(ctx, actor);
}

/**
 * Returns the scope of a ticket's database, where its changes and their stored answers are written. Throws 404 if the caller may not see
 * the ticket.
 */
export const scopeOfTicket = async (ctx: Scope, actor: Actor, ticketId: TicketId): Promise<Scope> =>
  (await locateTicket(ctx, actor, ticketId)).scope;

/** Finds a ticket that the caller may see: their own, or any merchant's for staff. Throws 404. */
export async function locateTicket(ctx: Scope, actor: Actor, ticketId: TicketId): Promise<{ scope: Scope; ticket: Ticket }> {
  const found = isStaff(actor) ? await findTicket(homeOf(ctx, ticketId).db, ticketId) : await findTicket(ctx.db, ticketId);
  if (!found || found.livemode !== actor.livemode) return raise('not_found');
  const isMine = found.merchantId === actor.accountId;
  if (!isMine) {
    if (!isStaff(actor)) return raise('not_found');
    requireStaffFactor(ctx, actor);
  }
  return { scope: isMine ? ctx : await loadScope(ctx, found), ticket: found };
}

/**
 * Cuts messages (newest first) to one page, oldest first. Answers to changes contain only a page, because they are stored for their
 * Idempotency-Key and a long thread would exceed the limit.
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

export async function loadThread(
  ctx: Scope,
  ticket: Ticket,
  { added = [], before = null }: { added?: TicketMessage[]; before?: TicketMessageId | null } = {},
): Promise<Thread> {
  const { paymentId, membershipId } = ticket;
  const about = paymentId !== null ? { paymentId } : membershipId !== null ? { membershipId } : null;
  const [messages, timeline] = await Promise.all([
    listMessages(ctx.db, ticket.id, before, THREAD_MAX.messages + 1),
    about ? readTimeline(ctx, about, { order: 'asc', limit: TIMELINE.default }) : null,
  ]);
  return { ticket, ...pageOf([...added, ...messages]), timeline: timeline?.items ?? [] };
}

/** Stores the entry of the first read of a ticket by a person of staff in an hour, before the person sees it. */
async function recordRead(ctx: Scope, { personId, accountId }: Actor, { id, merchantId, livemode }: Ticket): Promise<void> {
  const action = 'ticket.read';
  const isKnown = hasStaffEntry({ merchantId, action, since: ctx.wallNow - HOUR, by: personId ?? accountId }, id);
  const entry = recordAction(ctx, { merchantId, livemode }, { action, subject: { type: 'ticket', id } }, isKnown);
  await commit(ctx, { events: [], writes: [entry], result: null });
}

/** Returns a ticket with a page of its thread. Throws 404. */
export async function readThread(ctx: Scope, actor: Actor, ticketId: TicketId, before: TicketMessageId | null): Promise<Thread> {
  const { scope, ticket } = await locateTicket(ctx, actor, ticketId);
  if (ticket.merchantId !== actor.accountId) await recordRead(scope, actor, ticket);
  return loadThread(scope, ticket, { before });
}
