import type { Shard } from '#platform/context.ts';
import { mayGoOn, type Swept, sweepRounds } from '#platform/db/sweeps.ts';
import type { MeteredSessionRow } from '#platform/db/tables/settlements.ts';
import { type DueClass, expireUnopened, takeDueInSandbox, takeDueSessions } from './due.store.ts';
import { watchPage } from './watch-channels.ts';

/** Channels that a node shows at once. */
const PAGE_MAX = 100;
/** Calls that one session takes where its channel is sealed; most take three. */
const CALLS_EACH = 40;

/** Sessions of one class that no alarm of their objects has put off, which is hardly ever any. */
export const sweepChannels =
  (dueClass: DueClass) =>
  (ctx: Shard): Promise<Swept> =>
    sweepTaken(ctx, (max) => takeDueSessions(ctx, dueClass, max));

/** Takes only as much as the invocation can finish: what was taken is taken again only after a while. */
async function sweepTaken(ctx: Shard, take: (max: number) => Promise<MeteredSessionRow[]>): Promise<Swept> {
  let taken = 0;
  while (mayGoOn(ctx)) {
    const max = ctx.budget.rows(CALLS_EACH, PAGE_MAX);
    if (max === 0) break;
    const rows = await take(max);
    taken += rows.length;
    await watchPage(ctx, rows);
    if (rows.length < max) return { taken, isFinished: true };
  }
  return { taken, isFinished: false };
}

const UNOPENED = { max: 500, roundsMax: 30 };

/** Ends sessions that were not opened in time, many by one statement. */
export const sweepUnopened = (ctx: Shard): Promise<Swept> => sweepRounds(ctx, UNOPENED, (max) => expireUnopened(ctx, max));

/** Work that has fallen due in one clock of the sandbox. */
export async function sweepSandboxSessions(ctx: Shard): Promise<void> {
  await sweepUnopened(ctx);
  await sweepTaken(ctx, (max) => takeDueInSandbox(ctx, max));
}
