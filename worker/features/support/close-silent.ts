import { DAY } from '#core/time.ts';
import type { Shard } from '#platform/context.ts';
import { type Swept, sweepRounds } from '#platform/db/sweeps.ts';
import { TICKET } from '#rules/states.ts';
import { listSilent, moveTogether } from './store.ts';
import { ticketEvent } from './ticket.ts';

/** So long after it was resolved, a ticket of which nothing is heard is closed. */
export const SILENT_MS = 14 * DAY;
const ROUNDS = { max: 100, roundsMax: 20 };

/** Closes what was resolved and stayed silent. One that is written to at this moment stays as that message makes it. */
export const sweepTickets = (ctx: Shard): Promise<Swept> =>
  sweepRounds(ctx, ROUNDS, async (max) => {
    const silent = await listSilent(ctx, ctx.now - SILENT_MS, max);
    const steps = silent.map((ticket) => {
      const status = TICKET.next(ticket.status, 'close');
      const after = { ...ticket, status, updatedAt: ctx.now, version: ticket.version + 1 };
      const event = { ...ticketEvent('support.ticket_closed', after), previous: { status: ticket.status } };
      return { event, values: { status, updatedAt: ctx.now } };
    });
    await moveTogether(ctx, steps);
    return silent.length;
  });
