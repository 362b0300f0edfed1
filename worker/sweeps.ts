import { sweepFeePayer } from './access/fee-payer.ts';
import { sweepSettlements } from './access/settlement-sweep.ts';
import { sweepSetups } from './access/setup-expiry.ts';
import { sweepAudit } from './audit/audit.ts';
import { type Ctx, type Env, newCtx } from './context.ts';
import { storyOf } from './core/errors.ts';
import { sweepIdempotencyRecords } from './db/idempotency-record.ts';
import { sweepFinality } from './finality/watch.ts';
import { sweepPlans } from './identity/lapse-plans.ts';
import { logRequest } from './log.ts';
import { sweepMemberships } from './memberships/lapse.ts';
import { sweepExpired } from './payments/expire.ts';
import { sweepHandoffs } from './payments/handoff.ts';
import { sweepIdentities } from './payments/identity.ts';
import { sweepCandidates } from './payments/recheck.ts';
import { sweepReference } from './payments/reference.ts';
import { sweepChains } from './receipts/chain.ts';
import { sweepDeliveries, sweepFanOut } from './webhooks/fan-out.ts';

/** The backstops behind the queue, each bounded and resumable; one cron a minute runs them all. */
export const SWEEPS: Record<string, (ctx: Ctx) => Promise<number>> = {
  // What needs nobody else comes first, so that a node that hangs holds up only what needs it.
  memberships: sweepMemberships,
  setups: sweepSetups,
  plans: sweepPlans,
  handoffs: sweepHandoffs,
  identities: sweepIdentities,
  idempotency: sweepIdempotencyRecords,
  receiptChains: sweepChains,
  fanOut: sweepFanOut,
  deliveries: sweepDeliveries,
  // In this order: what the chain shows is found, then judged, and only then are sessions given up.
  reference: sweepReference,
  candidates: sweepCandidates,
  expired: sweepExpired,
  finality: sweepFinality,
  settlements: sweepSettlements,
  feePayer: sweepFeePayer,
  audit: sweepAudit,
};

export async function runSweeps(env: Env, execution: ExecutionContext, now: number): Promise<void> {
  for (const [sweep, run] of Object.entries(SWEEPS)) {
    const requestId = `sweep_${sweep}_${now}`;
    const notes: string[] = [];
    const ctx = newCtx(env, { requestId, defer: (work) => execution.waitUntil(work), note: (reason) => notes.push(reason) });
    // One sweep's bad day must not keep the others from running.
    const taken = await run(ctx).catch((error: unknown) => {
      notes.push(storyOf(error));
      return 0;
    });
    if (taken > 0 || notes.length > 0)
      logRequest({ request_id: requestId, sweep, taken, ms: Date.now() - ctx.now, ...(notes.length > 0 ? { notes } : {}) });
  }
}
