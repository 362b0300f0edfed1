import type { AccountId } from '#core/ids.ts';
import { HOUR } from '#core/time.ts';
import { planLetter } from '#features/mail/outbox.ts';
import type { LetterFacts, LetterName } from '#letters/letter.ts';
import type { Scope } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { shardsOf } from '#platform/db/directory.ts';
import type { Ticket, TicketMessage } from '#platform/db/tables/office/support.ts';
import { hasMail } from '#platform/providers/mail/mail-providers.ts';
import { isReachable, listReachableStaff } from './store.ts';

/** Of all these letters, to one reader in an hour: beyond that they tell nothing new. */
const LETTERS_MAX = 10;
const STAFF_MAX = 20;
/** Characters of a message that its letter quotes. */
const QUOTED_MAX = 1000;
const LETTERS = ['ticket_asked', 'ticket_answered', 'ticket_resolved', 'ticket_closed'] as const satisfies LetterName[];
type TicketLetter = (typeof LETTERS)[number];

/** What was done on a ticket, and by which side. */
export interface TicketNews {
  ticket: Ticket;
  by: 'merchant' | 'staff';
  message?: TicketMessage;
}

/** Of the merchant's message or question, or of the end of their ticket, which one who is staff may resolve too. Their own words are erased with them, and so are not in it. */
const staffLetter = ({ ticket, message }: TicketNews): Told => {
  const facts = { ticket_id: ticket.id };
  if (message) return { letter: 'ticket_asked', facts };
  return { letter: ticket.status === 'closed' ? 'ticket_closed' : 'ticket_resolved', facts };
};

function merchantLetter({ ticket, message }: TicketNews): Told {
  const facts = { ticket_id: ticket.id, subject: ticket.subject };
  if (message) return { letter: 'ticket_answered', facts: { ...facts, message: [...message.body].slice(0, QUOTED_MAX).join('') } };
  return { letter: ticket.status === 'closed' ? 'ticket_closed' : 'ticket_resolved', facts };
}

type Told = { [N in TicketLetter]: { letter: N; facts: LetterFacts[N] } }[TicketLetter];

/**
 * Letters to the other side of a ticket, for the batch of what was done on it: to the merchant of staff's doing, to staff of the merchant's,
 * each at a verified address and at most ten an hour. None of a sandbox, where no mail is configured, and to an account that is over.
 */
export async function planTicketLetters(ctx: Scope, news: TicketNews): Promise<Write[]> {
  const { ticket, by } = news;
  if (!ticket.livemode || !hasMail(ctx)) return [];
  const told = by === 'staff' ? merchantLetter(news) : staffLetter(news);
  const readers = by === 'staff' ? await reachableMerchant(ctx, ticket) : await reachableStaff(ctx, ticket);
  return readers.flatMap((accountId) => {
    const counted = { letters: [...LETTERS], accountId, since: ctx.wallNow - HOUR };
    return planLetter<TicketLetter>(ctx, { ...told, accountId }, { counted, max: LETTERS_MAX }).writes;
  });
}

const reachableMerchant = async ({ db }: Scope, { merchantId }: Ticket): Promise<AccountId[]> =>
  (await isReachable(db, merchantId)) ? [merchantId] : [];

/** In every database; who wrote is not told of it. */
async function reachableStaff(ctx: Scope, { merchantId }: Ticket): Promise<AccountId[]> {
  const found = await Promise.all(shardsOf(ctx).map(({ db }) => listReachableStaff(db, STAFF_MAX)));
  return found
    .flat()
    .filter((accountId) => accountId !== merchantId)
    .slice(0, STAFF_MAX);
}
