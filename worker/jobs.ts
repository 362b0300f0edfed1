import { type AttemptMessage, type Env, type Job, newCtx } from './context.ts';
import { storyOf, unreachable } from './core/errors.ts';
import { projectEntitlement } from './entitlements/entitlement.ts';
import { logRequest } from './log.ts';
import { findQueued, recheckQueued } from './payments/recheck.ts';
import { claimAttempt, makeAttempt } from './webhooks/deliver.ts';
import { fanOut } from './webhooks/fan-out.ts';

const RETRY_SECONDS = 10;

/** Consumer of JOBS: at-least-once and unordered, so every verb here is harmless doubled, late or out of order. */
export async function consumeJobs(batch: MessageBatch<Job>, env: Env, execution: ExecutionContext): Promise<void> {
  await Promise.all(
    batch.messages.map(async (message) => {
      const requestId = `job_${message.id}`;
      const notes: string[] = [];
      const ctx = newCtx(env, { requestId, defer: (work) => execution.waitUntil(work), note: (reason) => notes.push(reason) });
      try {
        await runJob(ctx, message.body);
        message.ack();
      } catch (error) {
        notes.push(storyOf(error));
        message.retry({ delaySeconds: RETRY_SECONDS });
      }
      logRequest({ request_id: requestId, job: message.body.kind, ms: Date.now() - ctx.now, ...(notes.length > 0 ? { notes } : {}) });
    }),
  );
}

async function runJob(ctx: ReturnType<typeof newCtx>, job: Job): Promise<void> {
  switch (job.kind) {
    case 'recheckCandidate':
      return recheckQueued(ctx, job);
    case 'fanOut':
      return fanOut(ctx, job.eventIds);
    case 'findPayment':
      return findQueued(ctx, job);
    case 'projectEntitlement':
      return projectEntitlement(ctx, job.projection);
    default:
      return unreachable(job);
  }
}

/**
 * Consumer of the webhook queues. Only the claim is waited for: the POST goes on after the batch is acknowledged, so a server
 * that hangs holds up nobody's next batch (which takes the compatibility flag for it in wrangler.toml). If we die meanwhile the lease ends, and the sweep brings the attempt again.
 */
export async function consumeAttempts(batch: MessageBatch<AttemptMessage>, env: Env, execution: ExecutionContext): Promise<void> {
  await Promise.all(
    batch.messages.map(async (message) => {
      const requestId = `delivery_${message.body.deliveryId}`;
      const notes: string[] = [];
      const ctx = newCtx(env, { requestId, defer: (work) => execution.waitUntil(work), note: (reason) => notes.push(reason) });
      const log = (status?: number | null) =>
        logRequest({
          request_id: requestId,
          job: 'attempt',
          ms: ctx.elapsedMs(),
          ...(status ? { status } : {}),
          ...(notes.length > 0 ? { notes } : {}),
        });
      try {
        const claimed = await claimAttempt(ctx, message.body.deliveryId);
        message.ack();
        if (!claimed) return;
        const attempt = makeAttempt(ctx, claimed).then(
          (outcome) => log(outcome?.status),
          (error: unknown) => {
            notes.push(storyOf(error));
            log();
          },
        );
        execution.waitUntil(attempt);
      } catch (error) {
        notes.push(storyOf(error));
        message.retry({ delaySeconds: RETRY_SECONDS });
        log();
      }
    }),
  );
}

/** A message that failed every time, to be read by a person. The database keeps what it asked for, for the sweeps; an object says it again. */
export function buryJobs(batch: MessageBatch<unknown>): void {
  for (const message of batch.messages) {
    logRequest({ request_id: `job_${message.id}`, dead_letter: message.body });
    message.ack();
  }
}
