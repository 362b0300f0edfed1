import { MINUTE, SECOND } from '#core/time.ts';
import { NO_ACCESS, toCustomerResource } from '#features/customers/resource.ts';
import { listMerged } from '#features/customers/store.ts';
import { loadScope } from '#platform/chain/scope.ts';
import type { Shard } from '#platform/context.ts';
import { type Change, commit, forEach, isAborted } from '#platform/db/commit.ts';
import { type Erasing, erasingOf } from '#platform/db/search/erasing.ts';
import { emptyOrBound, mayGoOn, type Swept } from '#platform/db/sweeps.ts';
import type { CustomerRow, ErasureProgress } from '#platform/db/tables/entitlements.ts';
import { sendSweep } from '#platform/queues/send-jobs.ts';
import { completeErasure, erasedRow, listDueErasures, planErased, postponeErasure, saveProgress } from './customer.store.ts';
import { ARCHIVE_STEPS, STEPS } from './steps.ts';

const CUSTOMERS_MAX = 20;
const AGAIN_MS = 10 * SECOND;
const FAILED_MS = MINUTE;
/** Shortest delay of a message: the sweep is due again some seconds after a run. */
const SLACK_SECONDS = 5;

/**
 * Erases customers, page by page, and continues by messages of its own. A run that was cut off goes on with the page that it had begun, and
 * a later cron replaces a lost message.
 */
export async function sweepErasedCustomers(shard: Shard): Promise<Swept> {
  const due = await listDueErasures(shard, CUSTOMERS_MAX);
  const waits: number[] = [];
  const taken = await forEach(shard, due, async (row) => {
    try {
      waits.push(...[await runErasure(shard, row)].filter((at) => at !== null));
    } catch (error) {
      await postponeErasure(shard, row, shard.wallNow + FAILED_MS);
      throw error;
    }
  });
  if (waits.length > 0) {
    const delaySeconds = Math.max(SLACK_SECONDS, Math.ceil((Math.min(...waits) - shard.wallNow) / SECOND) + 1);
    shard.defer(sendSweep(shard, 'erasedCustomers', delaySeconds));
  }
  return { taken, end: emptyOrBound(due.length < CUSTOMERS_MAX && taken === due.length && mayGoOn(shard)) };
}

/** Returns when the erasure continues. Null if it has ended. */
async function runErasure(shard: Shard, row: CustomerRow): Promise<number | null> {
  const { merchantId, livemode, customerRef, erasure } = row;
  if (!erasure) return null;
  const ctx = await loadScope(shard, { merchantId, livemode, customerRef });
  const progress = { ...erasure };
  const erasing = erasingOf(ctx, row, progress);
  const steps = progress.hasEnded ? ARCHIVE_STEPS : STEPS;
  while (mayGoOn(shard)) {
    const step = steps[progress.step];
    if (!step && progress.hasEnded) return completeErasure(erasing);
    if (!step) return endPass(erasing);
    if (progress.step === 0 && progress.after === null) progress.isLast = progress.hasPassed && ctx.wallNow >= progress.callsEndAt;
    const { after, isWaiting } = await step(erasing);
    Object.assign(progress, {
      after,
      step: after === null && !isWaiting ? progress.step + 1 : progress.step,
    } satisfies Partial<ErasureProgress>);
    const eraseAt = isWaiting ? shard.wallNow + shard.elapsedMs() + AGAIN_MS : shard.wallNow;
    await saveProgress(erasing, eraseAt);
    if (isWaiting) return eraseAt;
  }
  return shard.wallNow;
}

/** Ends a pass through all rows: with a further one, or the end. Returns when the erasure continues. */
async function endPass(erasing: Erasing): Promise<number | null> {
  const { ctx, progress } = erasing;
  const { isLast } = progress;
  try {
    if (isLast) {
      await commit(ctx, await planEnd(erasing));
      return ctx.env.ARCHIVE ? ctx.wallNow : null;
    }
  } catch (error) {
    if (!isAborted(error)) throw error;
    // A call under way stored something meanwhile.
  }
  Object.assign(progress, { step: 0, after: null, hasPassed: true } satisfies Partial<ErasureProgress>);
  const eraseAt = Math.max(ctx.wallNow + ctx.elapsedMs() + AGAIN_MS, progress.callsEndAt);
  await saveProgress(erasing, eraseAt);
  return eraseAt;
}

async function planEnd(erasing: Erasing): Promise<Change<null>> {
  const { ctx } = erasing;
  const row = erasedRow(erasing, erasing.row);
  const merged = (await listMerged(ctx, [row.id])).get(row.id) ?? [];
  return {
    events: [
      {
        ...{ merchantId: ctx.merchantId, livemode: ctx.livemode, type: 'customer.erased' as const },
        subject: { type: 'customer' as const, id: row.id, version: row.version },
        object: toCustomerResource({ row, access: NO_ACCESS, merged }),
      },
    ],
    writes: planErased(erasing),
    result: null,
  };
}
