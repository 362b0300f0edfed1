import { MINUTE, SECOND } from '#core/time.ts';
import { NO_ACCESS, toCustomerResource } from '#features/customers/resource.ts';
import { listMerged } from '#features/customers/store.ts';
import { loadScope } from '#platform/chain/scope.ts';
import type { Shard } from '#platform/context.ts';
import { commit, forEach, isAborted, unchanged } from '#platform/db/commit.ts';
import { type Erasing, erasingOf } from '#platform/db/search/erasing.ts';
import { emptyOrBound, mayGoOn, type Swept } from '#platform/db/sweeps.ts';
import type { CustomerRow, ErasureProgress } from '#platform/db/tables/entitlements.ts';
import { sendSweep } from '#platform/queues/send-jobs.ts';
import { erasedRow, listDueErasures, planErased, planSeal, saveProgress } from './customer.store.ts';
import { STEPS } from './steps.ts';

const CUSTOMERS_MAX = 20;
/** Time without a change before the seal, so that calls under way have stored and credited what they began. */
const STEADY_MS = 10 * SECOND;
/** Time from the seal to the end. Longer than any call that began before the seal. */
const CALLS_END_MS = MINUTE;
const AGAIN_MS = 10 * SECOND;
/** Shortest delay of a message: the sweep is due again some seconds after a run. */
const SLACK_SECONDS = 5;

/**
 * Erases customers, page by page, and continues by messages of its own. A run that was cut off goes on with the page that it had begun, and
 * a later cron replaces a lost message.
 */
export async function sweepErasedCustomers(shard: Shard): Promise<Swept> {
  const due = await listDueErasures(shard, CUSTOMERS_MAX);
  const waits: number[] = [];
  const taken = await forEach(shard, due, async (row) => waits.push(...[await runErasure(shard, row)].filter((at) => at !== null)));
  if (waits.length > 0) {
    const delaySeconds = Math.max(SLACK_SECONDS, Math.ceil((Math.min(...waits) - shard.wallNow) / SECOND) + 1);
    shard.defer(sendSweep(shard, 'erasedCustomers', delaySeconds));
  }
  return { taken, end: emptyOrBound(due.length < CUSTOMERS_MAX && taken === due.length) };
}

/** Returns when the erasure continues. Null if it has ended, or continues at once. */
async function runErasure(shard: Shard, row: CustomerRow): Promise<number | null> {
  const { merchantId, livemode, customerRef, erasure } = row;
  if (!erasure) return null;
  const ctx = await loadScope(shard, { merchantId, livemode, customerRef });
  const merged = (await listMerged(ctx, [row.id])).get(row.id) ?? [];
  const progress = { ...erasure };
  const erasing = erasingOf(ctx, row, merged, progress);
  while (mayGoOn(shard)) {
    const step = STEPS[progress.step];
    if (!step) return endPass(erasing, merged);
    const { after, changed, isWaiting } = await step(erasing);
    const at = shard.wallNow + shard.elapsedMs();
    Object.assign(progress, {
      after,
      step: after === null && !isWaiting ? progress.step + 1 : progress.step,
      changedAt: changed > 0 ? at : progress.changedAt,
    } satisfies Partial<ErasureProgress>);
    const eraseAt = isWaiting ? at + AGAIN_MS : shard.wallNow;
    await saveProgress(erasing, eraseAt);
    if (isWaiting) return eraseAt;
  }
  return null;
}

/** Ends a pass through all rows: with a further one, the seal, or the end. Returns when the erasure continues. */
async function endPass(erasing: Erasing, merged: readonly CustomerRow[]): Promise<number | null> {
  const { ctx, progress } = erasing;
  const at = ctx.wallNow + ctx.elapsedMs();
  const again: ErasureProgress = { ...progress, step: 0, after: null };
  if (progress.sealedAt === null && at < progress.changedAt + STEADY_MS) {
    Object.assign(progress, again);
    await saveProgress(erasing, progress.changedAt + STEADY_MS);
    return progress.changedAt + STEADY_MS;
  }
  try {
    if (progress.sealedAt === null) {
      const writes = planSeal(erasing, { ...again, sealedAt: ctx.now }, at + CALLS_END_MS);
      await commit(ctx, { ...unchanged(null), writes });
      return at + CALLS_END_MS;
    }
    await commit(ctx, erasedChange(erasing, merged));
    return null;
  } catch (error) {
    if (!isAborted(error)) throw error;
    // A call under way stored something meanwhile.
    Object.assign(progress, again, { changedAt: at });
    await saveProgress(erasing, at + AGAIN_MS);
    return at + AGAIN_MS;
  }
}

function erasedChange(erasing: Erasing, merged: readonly CustomerRow[]) {
  const { ctx } = erasing;
  const row = erasedRow(erasing, erasing.row);
  const shown = { row, access: NO_ACCESS, merged: merged.map((one) => erasedRow(erasing, one)) };
  return {
    events: [
      {
        ...{ merchantId: ctx.merchantId, livemode: ctx.livemode, type: 'customer.erased' as const },
        subject: { type: 'customer' as const, id: row.id, version: row.version },
        object: toCustomerResource(shown),
      },
    ],
    writes: planErased(erasing, merged),
    result: null,
  };
}
