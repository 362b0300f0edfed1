import { DAY } from '#core/time.ts';
import type { Shard } from '#platform/context.ts';
import { type Swept, sweepRounds } from '#platform/db/sweeps.ts';
import { TICKET } from '#rules/states.ts';
import { listSilent, moveTogether } from './store.ts';
import { ticketEvent } from './ticket.ts';

export const SILENT_MS = 14 * DAY;
const ROUNDS = { max: 100, roundsMax: 20 };

/** Closes resolved tickets without a new message. A ticket with a concurrent message is left unchanged. */
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
