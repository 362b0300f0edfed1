import { addressOf, type Job, type Shard } from '#platform/context.ts';

/** Live jobs and those of sandboxes never wait for each other. A sandbox session has no queue: its run does what follows, in order. */
function queueOf({ env, sandbox }: Shard): Queue<Job> | null {
  if (sandbox === null) return env.JOBS;
  return sandbox.sessionId === null ? env.SANDBOX : null;
}

/** Hands one job to the queue, in the name of what this request goes back to. */
export async function sendJob(ctx: Shard, job: Job, delaySeconds = 0): Promise<void> {
  await queueOf(ctx)?.send({ ...job, requestId: ctx.cause, ...addressOf(ctx) }, { delaySeconds });
}

/** A queue takes so many messages at once. */
const MESSAGES_MAX = 100;

/** Hands any number of jobs to the queue, in the batches that it takes. */
export async function sendJobs(ctx: Shard, jobs: readonly { job: Job; delaySeconds?: number }[]): Promise<void> {
  const messages = jobs.map(({ job, delaySeconds = 0 }) => ({ body: { ...job, requestId: ctx.cause, ...addressOf(ctx) }, delaySeconds }));
  for (let i = 0; i < messages.length; i += MESSAGES_MAX) await queueOf(ctx)?.sendBatch(messages.slice(i, i + MESSAGES_MAX));
}
