import { formatErrorChain } from '#core/errors.ts';
import { type AccountId, eventIdOf, type PaymentId, type SandboxSessionId } from '#core/ids.ts';
import { attemptMail } from '#features/email-delivery/attempt.ts';
import { hintFinal } from '#features/entitlements/credit-payments.ts';
import { projectEntitlement, storeUses } from '#features/entitlements/entitlement.ts';
import { attemptPlacement } from '#features/membership-delivery/attempt.ts';
import { projectMeteredSession, scopeOfSession } from '#features/metered/session.ts';
import { watchSessions } from '#features/metered/watch/watch-channels.ts';
import { findQueued, recheckGroup, recheckQueued } from '#features/payments/watch/recheck.ts';
import { claimAttempt, makeAttempt } from '#features/webhooks/deliveries/attempt.ts';
import { loadScope } from '#platform/chain/scope.ts';
import {
  type AttemptMessage,
  type Ctx,
  databasesOf,
  type Env,
  type Job,
  type MailMessage,
  newCtx,
  type PlacementMessage,
  type Shard,
} from '#platform/context.ts';
import { globalOf, groupByHome, homeOfNamed } from '#platform/db/directory.ts';
import { addSwept, type Swept, sweepPages, sweepRounds } from '#platform/db/sweeps.ts';
import type { ParkedMessage } from '#platform/db/tables/operations.ts';
import { deferring, isSampled, logRequest } from '#platform/log.ts';
import { deleteParked, endParked, listParked, parkMessages } from '#platform/queues/parked-messages.store.ts';
import { announceEntries } from '#platform/queues/send-jobs.ts';
import type { EntitlementSnapshot } from '#rules/balance.ts';
import { followActs } from './event-handlers.ts';

const RETRY_SECONDS = 10;
const DEAD_RETRY_SECONDS = 60;

type Kind = Job['kind'];
const JOBS: { [K in Kind]: (ctx: Shard, job: Extract<Job, { kind: K }>) => Promise<void> } = {
  recheckCandidate: recheckQueued,
  recheckCandidates: recheckGroup,
  fanOut: (ctx, { actIds }) => followActs(ctx, actIds),
  chainEntries: async (ctx, { accountIds }) => (await import('#features/audit-log/chain.ts')).chainQueued(ctx, accountIds),
  findPayment: findQueued,
  hintFinal: (ctx, { paymentIds }) => hintFinal(ctx, paymentIds as PaymentId[]),
  projectEntitlement: async (ctx, { projection }) => {
    const { merchantId, livemode, customer } = projection.snapshot;
    const customerRef = 'customerRef' in customer ? customer.customerRef : null;
    await projectEntitlement(await loadScope(ctx, { merchantId: merchantId as AccountId, livemode, customerRef }), projection);
  },
  checkChannels: (ctx, { sessionIds }) => watchSessions(ctx, sessionIds),
  projectMeteredSession: async (ctx, { projection }) => projectMeteredSession(await scopeOfSession(ctx, projection.snapshot), projection),
  collectSubscriptions: async (ctx, job) => (await import('#features/subscriptions/sweep.ts')).collectQueued(ctx, job),
  readSubscription: async (ctx, job) => (await import('#features/subscriptions/sweep.ts')).readQueued(ctx, job),
  // Loaded on first use, because most deployments start without a sandbox.
  runSandboxSession: async (ctx, { sessionId }) =>
    (await import('#features/sandbox/sessions/run.ts')).runSession(ctx, sessionId as SandboxSessionId, followActs),
  sweepSandbox: async (ctx, { merchantId }) =>
    (await import('#features/sandbox/sweep.ts')).sweepOwn(ctx, merchantId as AccountId, followActs),
};
/**
 * Parts of a job by the database of its rows. Every id names its merchant's partition, so a message arrives after that partition has moved.
 */
function partsOf(ctx: Ctx, job: Job): { home: Shard; part: Job }[] {
  const one = (id: string) => [{ home: homeOfNamed(ctx, id), part: job }];
  const each = <T>(items: readonly T[], idOf: (item: T) => string, partWith: (items: T[]) => Job) =>
    groupByHome(ctx, items, idOf).map(({ home, items }) => ({ home, part: partWith(items) }));
  switch (job.kind) {
    case 'recheckCandidate':
      return one(job.paymentId);
    case 'recheckCandidates':
      return each(
        job.candidates,
        ({ paymentId }) => paymentId,
        (candidates) => ({ ...job, candidates }),
      );
    case 'fanOut':
      return each(
        job.actIds,
        (actId) => eventIdOf(actId, 0),
        (actIds) => ({ ...job, actIds }),
      );
    case 'chainEntries':
      return each(
        job.accountIds,
        (id) => id,
        (accountIds) => ({ ...job, accountIds }),
      );
    case 'hintFinal':
      return each(
        job.paymentIds,
        (id) => id,
        (paymentIds) => ({ ...job, paymentIds }),
      );
    case 'collectSubscriptions':
      return each(
        job.authorizationIds,
        (id) => id,
        (authorizationIds) => ({ ...job, authorizationIds }),
      );
    case 'projectEntitlement':
    case 'projectMeteredSession':
      return one(job.projection.snapshot.merchantId);
    case 'readSubscription':
      return one(job.authorizationId);
    case 'runSandboxSession':
      return one(job.sessionId);
    case 'sweepSandbox':
      return one(job.merchantId);
    // The sessions are grouped where they are read, and the database of a transaction is known after it was read.
    case 'checkChannels':
    case 'findPayment':
      return [{ home: globalOf(ctx), part: job }];
  }
}

const isKnown = (kind: unknown): kind is Kind => typeof kind === 'string' && Object.hasOwn(JOBS, kind);

/** Consumer of JOBS: at-least-once and unordered, so every handler is idempotent. */
export async function consumeJobs(batch: MessageBatch<Job>, env: Env, execution: ExecutionContext): Promise<void> {
  const channelJobs = batch.messages.filter(({ body }) => body.kind === 'checkChannels');
  const others = batch.messages.filter((message) => !channelJobs.includes(message));
  const groups = [...others.map((message) => [message]), ...(channelJobs.length > 0 ? [channelJobs] : [])];
  await Promise.all(groups.map((messages) => consumeJob(batch.queue, messages, env, execution)));
}

const joined = ([first, ...others]: readonly Message<Job>[]): Job => {
  const { body } = first!;
  if (body.kind !== 'checkChannels') return body;
  return { ...body, sessionIds: [first!, ...others].flatMap(({ body: one }) => (one.kind === body.kind ? one.sessionIds : [])) };
};

/** Consumer of the sandbox queue. Messages run one after the other, to leave capacity for live work. */
export async function consumeSandboxJobs(batch: MessageBatch<Job>, env: Env, execution: ExecutionContext): Promise<void> {
  for (const message of batch.messages) await consumeJob(batch.queue, [message], env, execution);
}

async function consumeJob(queue: string, messages: readonly Message<Job>[], env: Env, execution: ExecutionContext): Promise<void> {
  const job = joined(messages);
  const { kind, requestId: cause } = job;
  const requestId = `job_${messages[0]!.id}`;
  const ids = { request_id: requestId, ...(cause ? { cause } : {}) };
  const notes: string[] = [];
  const ctx = newCtx(env, { requestId, kind: 'job', cause, defer: deferring(execution, ids), note: (reason) => notes.push(reason) });
  try {
    const run = isKnown(kind) ? (JOBS[kind] as (ctx: Shard, job: Job) => Promise<void>) : null;
    if (run) for (const { home, part } of partsOf(ctx, job)) await run(home, part);
    else await parkMessage(ctx, queue, messages, 'unknown_kind');
    for (const message of messages) message.ack();
  } catch (error) {
    notes.push(formatErrorChain(error));
    for (const message of messages) message.retry({ delaySeconds: RETRY_SECONDS });
  }
  announceEntries(ctx);
  logRequest({
    ...ids,
    job: isKnown(kind) ? kind : `unknown kind, parked: ${String(kind).slice(0, 64)}`,
    ms: ctx.elapsedMs(),
    ...(notes.length > 0 ? { notes } : {}),
  });
}

/** Stores uses for an object's alarm. Returns false if the database did not, so that the object sends a message. */
export async function takeUses(env: Env, snapshot: EntitlementSnapshot, cause?: string): Promise<boolean> {
  const requestId = `entitlement_${snapshot.entitlementId}`;
  const ids = { request_id: requestId, ...(cause ? { cause } : {}) };
  try {
    await storeUses(newCtx(env, { requestId, kind: 'job', cause, defer: () => {} }), snapshot);
    if (isSampled(cause ?? '')) logRequest({ ...ids, job: 'storeUses' });
    return true;
  } catch (error) {
    logRequest({ ...ids, job: 'storeUses', notes: [formatErrorChain(error)] });
    return false;
  }
}

/**
 * Consumer of the webhook queues. Waits only for the claim: the POST continues after the batch is acknowledged, so that a slow server
 * delays no other batch (needs the compatibility flag in wrangler.toml). If the worker crashes, the lease expires and the sweep retries the
 * attempt.
 */
export async function consumeAttempts(batch: MessageBatch<AttemptMessage>, env: Env, execution: ExecutionContext): Promise<void> {
  await Promise.all(
    batch.messages.map(async (message) => {
      const { deliveryId: id, requestId: cause, ...owner } = message.body;
      const requestId = `delivery_${id}`;
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
        const shard = homeOfNamed(ctx, owner.merchantId);
        const claimed = await claimAttempt(shard, { id, ...owner });
        message.ack();
        if (!claimed) return;
        // The event stores its cause, so that a retry, sweep or replay days later logs the same request id.
        if (claimed.event.requestId !== cause) ids.causes.push(claimed.event.requestId);
        const attempt = makeAttempt(shard, claimed).then(
          (outcome) => log(outcome?.status),
          (error: unknown) => {
            notes.push(formatErrorChain(error));
            log();
          },
        );
        execution.waitUntil(attempt);
      } catch (error) {
        notes.push(formatErrorChain(error));
        message.retry({ delaySeconds: RETRY_SECONDS });
        log();
      }
    }),
  );
}

/** Consumes messages that name rows. The row says whether work is due, so duplicate and late messages are harmless. */
async function consumeRows<M extends Pick<AttemptMessage, 'requestId'>>(
  batch: MessageBatch<M>,
  env: Env,
  execution: ExecutionContext,
  { job, idOf, run }: { job: string; idOf(message: M): string; run(ctx: Shard, message: M): Promise<void> },
): Promise<void> {
  await Promise.all(
    batch.messages.map(async (message) => {
      const { requestId: cause } = message.body;
      const requestId = `${job}_${idOf(message.body)}`;
      const ids = { request_id: requestId, ...(cause ? { cause } : {}) };
      const notes: string[] = [];
      const defer = deferring(execution, ids);
      const ctx = newCtx(env, { requestId, kind: 'attempt', cause, defer, note: (reason) => notes.push(reason) });
      try {
        await run(homeOfNamed(ctx, idOf(message.body)), message.body);
        message.ack();
      } catch (error) {
        notes.push(formatErrorChain(error));
        message.retry({ delaySeconds: RETRY_SECONDS });
      }
      logRequest({ ...ids, job, ms: ctx.elapsedMs(), ...(notes.length > 0 ? { notes } : {}) });
    }),
  );
}

export const consumeMail = (batch: MessageBatch<MailMessage>, env: Env, execution: ExecutionContext): Promise<void> =>
  consumeRows(batch, env, execution, { job: 'mail', idOf: ({ mailId }) => mailId, run: (ctx, { mailId }) => attemptMail(ctx, mailId) });

export const consumePlacements = (batch: MessageBatch<PlacementMessage>, env: Env, execution: ExecutionContext): Promise<void> =>
  consumeRows(batch, env, execution, {
    job: 'placement',
    idOf: ({ membershipId }) => membershipId,
    run: (ctx, { membershipId }) => attemptPlacement(ctx, membershipId),
  });

/**
 * Parks and logs messages that failed every retry. Sweeps repeat most of that work from the database, and objects send their projections
 * again.
 */
export async function parkDeadMessages(batch: MessageBatch<unknown>, env: Env): Promise<void> {
  const requestId = `dead_${batch.messages[0]?.id}`;
  try {
    await parkMessage({ db: databasesOf(env)[0].db, wallNow: Date.now() }, batch.queue, batch.messages, 'failed');
  } catch (error) {
    logRequest({ request_id: requestId, notes: [formatErrorChain(error)] });
    for (const message of batch.messages) message.retry({ delaySeconds: DEAD_RETRY_SECONDS });
    return;
  }
  for (const message of batch.messages) {
    const { requestId: cause } = message.body as Job;
    // The message body is in the table of parked messages, because logs must not contain customers' references.
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

/** Resends parked messages of kinds that an earlier release did not know. Deletes messages parked for longer than the retention period. */
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
  return addSwept(sent, ended);
}
