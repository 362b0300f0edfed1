// @module-tag volume
import { afterAll, expect, it, vi } from 'vitest';
import type { Job } from '#platform/context.ts';
import { withFaults } from '../support/faults/faults.ts';
import { multiplySubscriber } from '../support/fixtures/many-subscribers.ts';
import { collectingWorld, PRICE, SubscriptionSeller } from '../support/models/subscription-life.ts';
import { endSkips, skipTime } from '../support/runner/clock.ts';
import { SOAK } from '../support/runner/env.ts';
import { JOBS_BATCH } from '../support/runner/queues.ts';

/** A soak of 100 has 20,000 subscriptions. Other runs use a part of them with the same code. */
const COUNT = SOAK > 1 ? 200 * SOAK : 120;
const STEP_SECONDS = 5 * 60;
/** Minutes of the run: an hour of period starts, a spread of ten minutes, and a final check of sent collections. */
const STEPS = 17;
const WALL_MAX_MS = 600_000;
const NODE_CALLS_MAX = 4;
const INVOCATION_MAX = 1_000;

const w = collectingWorld();
afterAll(endSkips);

it(`${COUNT} authorizations due in one hour are each collected once, in time and with few calls`, async () => {
  const seller = await SubscriptionSeller.open(w);
  const model = await seller.subscribe();
  await multiplySubscriber(model, COUNT);
  const { periodEndsAt } = await model.read();
  await skipTime(w.chain, Math.ceil((periodEndsAt! - Date.now()) / 1000));
  w.queue.sent.length = 0;

  let toNode = 0;
  let toOthers = 0;
  const { fetch } = globalThis;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const isLocal = typeof init?.body === 'string' && init.body.includes('"local_');
    if (!isLocal && String(input) === w.env.RPC_URL) toNode += 1;
    return fetch(input, init);
  });
  await w.chain.call('local_resetCalls');
  let most = 0;
  /** Counts the subrequests of one invocation: node and database calls, and two counter calls per fee. */
  const invoke = async (work: (env: typeof w.env) => Promise<unknown>, fees: number) => {
    const { env, trips } = withFaults(w.env);
    const before = toNode;
    await work(env);
    most = Math.max(most, toNode - before + trips.length + 2 * fees);
    toOthers += trips.length;
  };
  const took: Record<string, number> = {};
  const timed = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    const from = performance.now();
    const done = await work();
    took[what] = (took[what] ?? 0) + performance.now() - from;
    return done;
  };
  const began = performance.now();
  const heldMost = { jobs: 0 };
  for (let step = 0; step < STEPS; step++) {
    await timed('sweep', () => w.sweepAlone('collections'));
    // Jobs after a collection run after any payment and are not counted.
    const jobs = w.queue.sent
      .splice(0)
      .map(({ job }) => job)
      .filter(({ kind }) => kind === 'collectSubscriptions');
    heldMost.jobs = Math.max(heldMost.jobs, jobs.length);
    for (let from = 0; from < jobs.length; from += JOBS_BATCH) {
      const batch = jobs.slice(from, from + JOBS_BATCH);
      const fees = batch.reduce((sum, job) => sum + (job as Extract<Job, { kind: 'collectSubscriptions' }>).authorizationIds.length, 0);
      await timed('collect', () => invoke((env) => w.deliver(batch, env), fees));
    }
    // The sweep of sent collections runs within a minute and finds all of them here.
    await skipTime(w.chain, 15);
    await timed('store', () => w.sweepAlone('settlements'));
    w.queue.sent.length = 0;
    await skipTime(w.chain, STEP_SECONDS - 15);
  }
  const wallMs = performance.now() - began;

  const collected = await w.env.DB.prepare(
    `SELECT count(*) AS n, count(DISTINCT authorization_id) AS authorizations FROM subscription_collections
      WHERE collected_at IS NOT NULL AND period_starts_at >= ?`,
  )
    .bind(periodEndsAt)
    .first();
  const calls = await w.chain.call<Record<string, number>>('local_calls');
  const methods = Object.values(calls).reduce((sum, n) => sum + n, 0);
  const each = (n: number) => (n / COUNT).toFixed(2);
  const report = `${COUNT} collections: ${(wallMs / 1000).toFixed(1)} s, ${each(toNode)} calls of a node each (${each(methods)} methods), ${each(toOthers)} of the database in messages, at most ${most} in one invocation`;
  // biome-ignore lint/suspicious/noConsole: the measured numbers are what this test is for.
  console.info(report, JSON.stringify(calls), JSON.stringify(took));
  // Includes the model's own period.
  expect(collected).toEqual({ n: COUNT + 1, authorizations: COUNT + 1 });
  expect(await w.chain.held(seller.merchant.wallet.address)).toBe(BigInt(COUNT + 2) * PRICE);
  expect(toNode / COUNT, report).toBeLessThanOrEqual(NODE_CALLS_MAX);
  expect(most, report).toBeLessThanOrEqual(INVOCATION_MAX);
  expect(wallMs, report).toBeLessThanOrEqual(WALL_MAX_MS);
});
