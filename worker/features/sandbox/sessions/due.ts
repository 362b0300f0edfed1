import { MINUTE } from '#core/time.ts';
import { sweepEntitlements } from '#features/entitlements/entitlement.ts';
import { sweepFinality } from '#features/finality/watch.ts';
import { sweepMemberships } from '#features/memberships/expire-membership.ts';
import { sweepSandboxSessions } from '#features/metered/watch/sweep.ts';
import { sweepExpired } from '#features/payments/watch/expire.ts';
import { sweepSandboxPlacements } from '#features/placements/sweep.ts';
import { sweepSettlements } from '#features/settlements/sweep.ts';
import { sweepSandboxSubscriptions } from '#features/subscriptions/sweep.ts';
import { SILENT_MS, sweepTickets } from '#features/support/close-silent.ts';
import type { Scope } from '#platform/context.ts';
import { readDue } from './store.ts';

type Kind = keyof Awaited<ReturnType<typeof readDue>>;

/** What falls due with time, each done by the sweep that does it live, in this order where several are due at once. */
const DUE: Record<Kind, { run(scope: Scope): Promise<unknown> /** Time to pay after the end. */; patienceMs?: number }> = {
  settlements: { run: sweepSettlements },
  subscriptions: { run: sweepSandboxSubscriptions },
  meteredSessions: { run: sweepSandboxSessions },
  expired: { run: sweepExpired, patienceMs: MINUTE },
  memberships: { run: sweepMemberships },
  entitlements: { run: sweepEntitlements },
  finality: { run: sweepFinality },
  placements: { run: sweepSandboxPlacements },
  tickets: { run: sweepTickets, patienceMs: SILENT_MS },
};

/** What falls due next in a session, and when, epoch ms of its clock; null: nothing ever does. */
export async function nextDueAt(scope: Scope): Promise<number | null> {
  const due = await readDue(scope);
  const moments = Object.entries(DUE).flatMap(([kind, { patienceMs = 0 }]) => {
    const at = due[kind as Kind];
    return at === null ? [] : [at + patienceMs];
  });
  return moments.length === 0 ? null : Math.min(...moments);
}

/** Does all that is due by now on the session's clock, and what falls due by that: what a subscription no longer pays for ends at once. */
export async function runDue(scope: Scope): Promise<void> {
  const ran = new Set<string>();
  for (let before = -1; before < ran.size; ) {
    before = ran.size;
    const due = await readDue(scope);
    for (const [kind, { run, patienceMs = 0 }] of Object.entries(DUE)) {
      const at = due[kind as Kind];
      if (ran.has(kind) || at === null || at + patienceMs > scope.now) continue;
      await run(scope);
      ran.add(kind);
    }
  }
}
