import { chargedEnv, withBudget } from '#core/isolate/budget.ts';
import { answerPlainConsume } from '#features/pay-per-request/plain-consume.ts';
import {
  type AttemptMessage,
  checkedConfig,
  type Env,
  type Job,
  type MailMessage,
  type PlacementMessage,
  type SweepMessage,
} from '#platform/context.ts';
import { recordNotes } from '#platform/metrics-dataset.ts';
import { followLocalClock } from '#platform/providers/local-clock.ts';
import type { EntitlementSnapshot } from '#rules/balance.ts';
import { IDENTITY_PROVIDERS } from '#rules/payment-terms.ts';
import { EntitlementObject } from '../durable-objects/entitlement.ts';
import { front, isInFront } from './critical-routes.ts';

export { Admission } from '../durable-objects/admission.ts';
export { MeteredSession } from '../durable-objects/metered/metered-session.ts';

/** The object, hosted by a Worker that knows the database of its copy. */
export class Entitlement extends EntitlementObject {
  protected override storeUses(snapshot: EntitlementSnapshot, cause: string | undefined): Promise<boolean> {
    return withBudget(async () => (await import('./jobs.ts')).takeUses(chargedEnv(this.env), snapshot, cause));
  }
}

const PLATFORM_QUEUES = new Set(IDENTITY_PROVIDERS.map((provider) => `svc-${provider}`));

/** Retry delay of a message while the configuration is invalid. After the last retry the message is parked for the operator. */
const UNSOUND_RETRY_SECONDS = 300;

const answerRequest = async (received: Request, env: Env, execution: ExecutionContext): Promise<Response> => {
  recordNotes(env, Date.now());
  await followLocalClock(env);
  const request = await answerPlainConsume(received, env);
  if (request instanceof Response) return request;
  const app = isInFront(request) ? front : (await import('./app.ts')).app;
  return app.fetch(request, env, execution);
};

const consumeBatch = async (batch: MessageBatch, env: Env, execution: ExecutionContext): Promise<void> => {
  recordNotes(env, Date.now());
  await followLocalClock(env);
  const { consumeAttempts, consumeJobs, consumeMail, consumePlacements, consumeSandboxJobs, parkDeadMessages } = await import('./jobs.ts');
  if (batch.queue.endsWith('-dead')) return parkDeadMessages(batch, env);
  if (!checkedConfig(env).config) return batch.retryAll({ delaySeconds: UNSOUND_RETRY_SECONDS });
  if (batch.queue.startsWith('svc-webhooks')) return consumeAttempts(batch as MessageBatch<AttemptMessage>, env, execution);
  if (batch.queue === 'svc-mail') return consumeMail(batch as MessageBatch<MailMessage>, env, execution);
  if (PLATFORM_QUEUES.has(batch.queue)) return consumePlacements(batch as MessageBatch<PlacementMessage>, env, execution);
  if (batch.queue === 'svc-sweeps') return (await import('./sweeps.ts')).consumeSweeps(batch as MessageBatch<SweepMessage>, env, execution);
  if (batch.queue === 'svc-sandbox') return consumeSandboxJobs(batch as MessageBatch<Job>, env, execution);
  return consumeJobs(batch as MessageBatch<Job>, env, execution);
};

const runCron = async (env: Env): Promise<void> => {
  if (!checkedConfig(env).config) return;
  await followLocalClock(env);
  const now = Date.now();
  const [{ sendTicks }, { recordMetrics }, { notifyAlarms }] = await Promise.all([
    import('./sweeps.ts'),
    import('./published/metrics.ts'),
    import('#features/operator/alarms.ts'),
  ]);
  await Promise.all([sendTicks(env, now), recordMetrics(env, now), notifyAlarms(env, now)]);
};

export default {
  fetch: (request: Request, env, execution) => withBudget(() => answerRequest(request, chargedEnv(env), execution)),
  queue: (batch, env, execution) => withBudget(() => consumeBatch(batch, chargedEnv(env), execution)),
  scheduled: (_controller, env) => withBudget(() => runCron(chargedEnv(env))),
} satisfies ExportedHandler<Env>;
