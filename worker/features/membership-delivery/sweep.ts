import type { Shard } from '#platform/context.ts';
import { addSwept, type Swept } from '#platform/db/sweeps.ts';
import { missingForDelivery } from '#platform/providers/messaging/platforms.ts';
import { IDENTITY_PROVIDERS } from '#rules/payment-terms.ts';
import { attemptPlacement } from './attempt.ts';
import { sendPlacements } from './placement.ts';
import { listDue, listDueInSandbox } from './store.ts';

const DUE_MAX = 1000;

/** Enqueues due deliveries: failed ones, and those with a lost message. */
export async function sweepPlacements(ctx: Shard): Promise<Swept> {
  const parts: Swept[] = [];
  for (const provider of IDENTITY_PROVIDERS) {
    if (missingForDelivery(ctx.config, provider).length > 0) continue;
    const due = await listDue(ctx.db, provider, ctx.wallNow, DUE_MAX);
    await sendPlacements(
      ctx,
      due.map(({ id }) => ({ membershipId: id, provider })),
    );
    // Enqueued work is still due, so the next cron takes the rest.
    parts.push({ taken: due.length, end: due.length < DUE_MAX ? 'empty' : 'paused' });
  }
  return addSwept(...parts);
}

const SANDBOX_MAX = 100;

export async function sweepSandboxPlacements(scope: Shard): Promise<void> {
  for (const { id } of await listDueInSandbox(scope, SANDBOX_MAX)) await attemptPlacement(scope, id);
}
