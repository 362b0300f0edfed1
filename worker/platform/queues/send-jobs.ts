import { addressOf, type Ctx, type Job, type Shard } from '#platform/context.ts';

/** Separate queues for live and sandbox jobs. A sandbox session has no queue, because its run executes follow-up work in order. */
function queueOf({ env, sandbox }: Shard): Queue<Job> | null {
  if (sandbox === null) return env.JOBS;
  return sandbox.sessionId === null ? env.SANDBOX : null;
}

export async function sendJob(ctx: Shard, job: Job, delaySeconds = 0): Promise<void> {
  await queueOf(ctx)?.send({ ...job, requestId: ctx.cause }, { delaySeconds });
}

/** Queues a run of a sweep that does not wait for the next cron. */
export async function sendSweep(ctx: Shard, sweep: string, delaySeconds = 0): Promise<void> {
  await ctx.env.SWEEPS.send({ sweep, round: 1, requestId: ctx.requestId, ...addressOf(ctx) }, { delaySeconds });
}

/** Queues the chaining of the entries that this work recorded. If the message is lost, the sweep finds them. */
export function announceEntries(ctx: Ctx): void {
  const accountIds = [...ctx.acting.recorded];
  ctx.acting.recorded.clear();
  if (accountIds.length > 0) ctx.defer(ctx.env.JOBS.send({ kind: 'chainEntries', accountIds, requestId: ctx.cause }));
}

const MESSAGES_MAX = 100;

export async function sendJobs(ctx: Shard, jobs: readonly { job: Job; delaySeconds?: number }[]): Promise<void> {
  const messages = jobs.map(({ job, delaySeconds = 0 }) => ({ body: { ...job, requestId: ctx.cause }, delaySeconds }));
  for (let i = 0; i < messages.length; i += MESSAGES_MAX) await queueOf(ctx)?.sendBatch(messages.slice(i, i + MESSAGES_MAX));
}
