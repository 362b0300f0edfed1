import { storyOf } from '#core/errors.ts';
import type { AccountId, SandboxSessionId } from '#core/ids.ts';
import { projectEntitlement } from '#features/entitlements/entitlement.ts';
import { attemptMail } from '#features/mail-delivery/attempt.ts';
import { projectMeteredSession, scopeOfSession } from '#features/metered/session.ts';
import { watchSessions } from '#features/metered/watch/watch-channels.ts';
import { findQueued, recheckQueued } from '#features/payments/watch/recheck.ts';
import { attemptPlacement } from '#features/placements/attempt.ts';
import { claimAttempt, makeAttempt } from '#features/webhooks/deliveries/attempt.ts';
import { scopeOf } from '#platform/chain/scope.ts';
import {
  type AttemptMessage,
  databasesOf,
  type Env,
  type Job,
  type MailMessage,
  newCtx,
  type PlacementMessage,
  type Shard,
} from '#platform/context.ts';
import { shardNamed } from '#platform/db/directory.ts';
import { type Swept, sweepPages, sweepRounds } from '#platform/db/sweeps.ts';
import type { ParkedMessage } from '#platform/db/tables/operations.ts';
import { deferring, logRequest } from '#platform/log.ts';
import { deleteParked, endParked, listParked, parkMessages } from '#platform/queues/parked-messages.store.ts';
import { followEvents } from './followers.ts';

const RETRY_SECONDS = 10;
const DEAD_RETRY_SECONDS = 60;

type Kind = Job['kind'];
const JOBS: { [K in Kind]: (ctx: Shard, job: Extract<Job, { kind: K }>) => Promise<void> } = {
  recheckCandidate: recheckQueued,
  fanOut: (ctx, { eventIds }) => followEvents(ctx, eventIds),
  findPayment: findQueued,
  projectEntitlement: async (ctx, { projection }) => {
    const { merchantId, livemode, customer } = projection.snapshot;
    const customerRef = 'customerRef' in customer ? customer.customerRef : null;
    await projectEntitlement(await scopeOf(ctx, { merchantId: merchantId as AccountId, livemode, customerRef }), projection);
  },
  lookAtChannels: (ctx, { sessionIds }) => watchSessions(ctx, sessionIds),
  projectMeteredSession: async (ctx, { projection }) => projectMeteredSession(await scopeOfSession(ctx, projection.snapshot), projection),
  collectSubscriptions: async (ctx, job) => (await import('#features/subscriptions/sweep.ts')).collectQueued(ctx, job),
  readSubscription: async (ctx, job) => (await import('#features/subscriptions/sweep.ts')).readQueued(ctx, job),
  // Loaded when there is a sandbox to run, because most deployments start without one.
  runSandboxSession: async (ctx, { sessionId }) =>
    (await import('#features/sandbox/sessions/run.ts')).runSession(ctx, sessionId as SandboxSessionId, followEvents),
  sweepSandbox: async (ctx, { merchantId }) =>
    (await import('#features/sandbox/sweep.ts')).sweepOwn(ctx, merchantId as AccountId, followEvents),
};
const isKnown = (kind: unknown): kind is Kind => typeof kind === 'string' && Object.hasOwn(JOBS, kind);

/** Consumer of JOBS: at-least-once and unordered, so every verb here is harmless doubled, late or out of order. */
export async function consumeJobs(batch: MessageBatch<Job>, env: Env, execution: ExecutionContext): Promise<void> {
  const looks = batch.messages.filter(({ body }) => body.kind === 'lookAtChannels');
  const others = batch.messages.filter((message) => !looks.includes(message));
  const groups = [...others.map((message) => [message]), ...(looks.length > 0 ? [looks] : [])];
  await Promise.all(groups.map((messages) => consumeJob(batch.queue, messages, env, execution)));
}

/** Makes one job of several messages: a node shows many channels at once. */
const joined = ([first, ...others]: readonly Message<Job>[]): Job => {
  const { body } = first!;
  if (body.kind !== 'lookAtChannels') return body;
  return { ...body, sessionIds: [first!, ...others].flatMap(({ body: one }) => (one.kind === body.kind ? one.sessionIds : [])) };
};

/** The same of the queue of sandboxes, one message after the other: what is tested leaves room for what is live. */
export async function consumeSandboxJobs(batch: MessageBatch<Job>, env: Env, execution: ExecutionContext): Promise<void> {
  for (const message of batch.messages) await consumeJob(batch.queue, [message], env, execution);
}

async function consumeJob(queue: string, messages: readonly Message<Job>[], env: Env, execution: ExecutionContext): Promise<void> {
  const job = joined(messages);
  const { kind, requestId: cause, database } = job;
  const requestId = `job_${messages[0]!.id}`;
  const ids = { request_id: requestId, ...(cause ? { cause } : {}) };
  const notes: string[] = [];
  const ctx = newCtx(env, { requestId, kind: 'job', cause, defer: deferring(execution, ids), note: (reason) => notes.push(reason) });
  try {
    if (isKnown(kind)) await (JOBS[kind] as (ctx: Shard, job: Job) => Promise<void>)(shardNamed(ctx, database), job);
    else await parkMessage(ctx, queue, messages, 'unknown_kind');
    for (const message of messages) message.ack();
  } catch (error) {
    notes.push(storyOf(error));
    for (const message of messages) message.retry({ delaySeconds: RETRY_SECONDS });
  }
  logRequest({
    ...ids,
    job: isKnown(kind) ? kind : `unknown kind, parked: ${String(kind).slice(0, 64)}`,
    ms: ctx.elapsedMs(),
    ...(notes.length > 0 ? { notes } : {}),
  });
}

/**
 * Consumer of the webhook queues. Only the claim is waited for: the POST goes on after the batch is acknowledged, so a server
 * that hangs delays no other batch (which takes the compatibility flag for it in wrangler.toml). If this worker crashes meanwhile the lease ends, and the sweep brings the attempt again.
 */
export async function consumeAttempts(batch: MessageBatch<AttemptMessage>, env: Env, execution: ExecutionContext): Promise<void> {
  await Promise.all(
    batch.messages.map(async (message) => {
      const { deliveryId, requestId: cause, database } = message.body;
      const requestId = `delivery_${deliveryId}`;
      const ids = { request_id: requestId, causes: cause ? [cause] : [] };
      const notes: string[] = [];
      const ctx = newCtx(env, {
        requestId,
        kind: 'attempt',
        cause,
        defer: deferring(execution, ids),
        note: (reason) => notes.push(reason),
      });
      const log = (status?: number | null) =>
        logRequest({
          ...ids,
          job: 'attempt',
          ms: ctx.elapsedMs(),
          ...(status ? { status } : {}),
          ...(notes.length > 0 ? { notes } : {}),
        });
      try {
        const shard = shardNamed(ctx, database);
        const claimed = await claimAttempt(shard, deliveryId);
        message.ack();
        if (!claimed) return;
        // The event keeps what it goes back to, so that a retry days later, or one that a sweep or a replay brings, says it too.
        if (claimed.event.requestId !== cause) ids.causes.push(claimed.event.requestId);
        const attempt = makeAttempt(shard, claimed).then(
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

/** Each message names a row, and the row says whether there is something to do: so every one may come twice, late or for nothing. */
async function consumeRows<M extends Pick<AttemptMessage, 'requestId' | 'database'>>(
  batch: MessageBatch<M>,
  env: Env,
  execution: ExecutionContext,
  { job, idOf, run }: { job: string; idOf(message: M): string; run(ctx: Shard, message: M): Promise<void> },
): Promise<void> {
  await Promise.all(
    batch.messages.map(async (message) => {
      const { requestId: cause, database } = message.body;
      const requestId = `${job}_${idOf(message.body)}`;
      const ids = { request_id: requestId, ...(cause ? { cause } : {}) };
      const notes: string[] = [];
      const defer = deferring(execution, ids);
      const ctx = newCtx(env, { requestId, kind: 'attempt', cause, defer, note: (reason) => notes.push(reason) });
      try {
        await run(shardNamed(ctx, database), message.body);
        message.ack();
      } catch (error) {
        notes.push(storyOf(error));
        message.retry({ delaySeconds: RETRY_SECONDS });
      }
      logRequest({ ...ids, job, ms: ctx.elapsedMs(), ...(notes.length > 0 ? { notes } : {}) });
    }),
  );
}

/** Consumer of the queue of letters. */
export const consumeMail = (batch: MessageBatch<MailMessage>, env: Env, execution: ExecutionContext): Promise<void> =>
  consumeRows(batch, env, execution, { job: 'mail', idOf: ({ mailId }) => mailId, run: (ctx, { mailId }) => attemptMail(ctx, mailId) });

/** Consumer of a messaging platform's queue. All calls of a batch take turns. */
export const consumePlacements = (batch: MessageBatch<PlacementMessage>, env: Env, execution: ExecutionContext): Promise<void> =>
  consumeRows(batch, env, execution, {
    job: 'placement',
    idOf: ({ membershipId }) => membershipId,
    run: (ctx, { membershipId }) => attemptPlacement(ctx, membershipId),
  });

/**
 * Messages that failed every time are parked for the operator, and logged. The database also keeps what most of them asked for,
 * for the sweeps; an object says it again.
 */
export async function parkDeadMessages(batch: MessageBatch<unknown>, env: Env): Promise<void> {
  const requestId = `dead_${batch.messages[0]?.id}`;
  try {
    await parkMessage({ db: databasesOf(env)[0].db, wallNow: Date.now() }, batch.queue, batch.messages, 'failed');
  } catch (error) {
    // The message is not acknowledged before it is stored.
    logRequest({ request_id: requestId, notes: [storyOf(error)] });
    for (const message of batch.messages) message.retry({ delaySeconds: DEAD_RETRY_SECONDS });
    return;
  }
  for (const message of batch.messages) {
    const { requestId: cause } = message.body as Job;
    // What it says is in the table of parked messages; a log is no place for customers' references.
    const dead_letter = { queue: batch.queue, kind: kindOf(message.body) };
    logRequest({ request_id: `job_${message.id}`, ...(cause ? { cause } : {}), dead_letter });
    message.ack();
  }
}

const kindOf = (body: unknown) => (body as { kind?: unknown } | null)?.kind;

function parkMessage(
  { db, wallNow }: Pick<Shard, 'db' | 'wallNow'>,
  queue: string,
  messages: readonly Message<unknown>[],
  reason: ParkedMessage['reason'],
): Promise<unknown> {
  return parkMessages(
    db,
    messages.map(({ id, body }) => {
      const kind = kindOf(body);
      return { id, queue, kind: typeof kind === 'string' ? kind : null, body: body as object, reason, parkedAt: wallNow };
    }),
  );
}

const PAGES = { pageMax: 100, pagesMax: 20 };

/** Sends again what a release that did not know its kind had parked, and forgets what was parked for too long. */
export async function sweepParked(ctx: Shard): Promise<Swept> {
  const sent = await sweepPages(
    ctx,
    PAGES,
    () => listParked(ctx.db, Object.keys(JOBS), PAGES.pageMax),
    async (parked) => {
      await ctx.env.JOBS.sendBatch(parked.map(({ body }) => ({ body: body as Job })));
      await deleteParked(
        ctx.db,
        parked.map(({ id }) => id),
      );
    },
  );
  const ended = await sweepRounds(ctx, { max: 500, roundsMax: 20 }, (max) => endParked(ctx, max));
  return { taken: sent.taken + ended.taken, isFinished: sent.isFinished && ended.isFinished };
}
