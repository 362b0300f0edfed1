import { app } from './app.ts';
import type { AttemptMessage, Env, Job, SweepMessage } from './context.ts';
import { consumeAttempts, consumeJobs, parkDeadMessages } from './jobs.ts';
import { consumeSweeps, dispatchSweeps } from './sweeps.ts';

export { Admission } from '../durable-objects/admission.ts';
export { Entitlement } from '../durable-objects/entitlement.ts';

export default {
  fetch: app.fetch,
  queue: async (batch, env, execution) => {
    if (batch.queue.endsWith('-dead')) return parkDeadMessages(batch, env);
    if (batch.queue.startsWith('svc-webhooks')) return consumeAttempts(batch as MessageBatch<AttemptMessage>, env, execution);
    if (batch.queue === 'svc-sweeps') return consumeSweeps(batch as MessageBatch<SweepMessage>, env, execution);
    return consumeJobs(batch as MessageBatch<Job>, env, execution);
  },
  scheduled: (_controller, env) => dispatchSweeps(env, Date.now()),
} satisfies ExportedHandler<Env>;
