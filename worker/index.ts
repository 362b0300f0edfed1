import { app } from './app.ts';
import type { AttemptMessage, Env, Job, SweepMessage } from './context.ts';
import { consumeAttempts, consumeJobs, parkDeadMessages } from './jobs.ts';
import { recordMetrics, recordNotes } from './metrics.ts';
import { consumeSweeps, dispatchSweeps } from './sweeps.ts';

export { Admission } from '../durable-objects/admission.ts';
export { Entitlement } from '../durable-objects/entitlement.ts';

export default {
  fetch: (request: Request, env, execution) => {
    recordNotes(env, Date.now());
    return app.fetch(request, env, execution);
  },
  queue: async (batch, env, execution) => {
    recordNotes(env, Date.now());
    if (batch.queue.endsWith('-dead')) return parkDeadMessages(batch, env);
    if (batch.queue.startsWith('svc-webhooks')) return consumeAttempts(batch as MessageBatch<AttemptMessage>, env, execution);
    if (batch.queue === 'svc-sweeps') return consumeSweeps(batch as MessageBatch<SweepMessage>, env, execution);
    return consumeJobs(batch as MessageBatch<Job>, env, execution);
  },
  scheduled: async (_controller, env) => {
    const now = Date.now();
    await Promise.all([dispatchSweeps(env, now), recordMetrics(env, now)]);
  },
} satisfies ExportedHandler<Env>;
