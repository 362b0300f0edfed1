import type { Shard } from '#platform/context.ts';
import type { Swept } from '#platform/db/sweeps.ts';
import { missingForDelivery } from '#platform/providers/messaging/platforms.ts';
import { IDENTITY_PROVIDERS } from '#rules/payment-terms.ts';
import { attemptPlacement } from './attempt.ts';
import { sendPlacements } from './placement.ts';
import { listDue, listDueInSandbox } from './store.ts';

const DUE_MAX = 1000;

/** Places whose time has come are handed to the queues of their platforms: those that failed before, and those whose message was lost. */
export async function sweepPlacements(ctx: Shard): Promise<Swept> {
  let taken = 0;
  for (const provider of IDENTITY_PROVIDERS) {
    if (missingForDelivery(ctx.config, provider).length > 0) continue;
    const due = await listDue(ctx.db, provider, ctx.wallNow, DUE_MAX);
    await sendPlacements(
      ctx,
      due.map(({ id }) => ({ membershipId: id, provider })),
    );
    taken += due.length;
  }
  // What is on its way is still due: the next cron takes what is left.
  return { taken, isFinished: true };
}

const SANDBOX_MAX = 100;

/** The same in one clock of a sandbox, done at once: no platform is asked. */
export async function sweepSandboxPlacements(scope: Shard): Promise<void> {
  for (const { id } of await listDueInSandbox(scope, SANDBOX_MAX)) await attemptPlacement(scope, id);
}
