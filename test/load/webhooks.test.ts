// @module-tag volume
import { expect, it } from 'vitest';
import { type Consumer, consumer, deliveries, emit, type Habit, received } from '../support/people/consumer.ts';
import { SOAK } from '../support/runner/env.ts';
import { AttemptQueues, holdSilent, JOBS_BATCH, pause } from '../support/runner/queues.ts';
import { World } from '../support/world.ts';

const EVENTS = 100 * Math.min(SOAK, 10);
const SICK: Habit[] = ['hang', 'fail', 'redirect', 'reset', 'gone', 'slow'];
const SILENT: Habit[] = ['hang', 'slow'];
const HEALTHY: Habit[] = Array(20 - SICK.length).fill('ok');

const silent = holdSilent();
const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });

async function expectDelivered(who: Consumer): Promise<void> {
  const rows = new Map((await deliveries(who)).map((row) => [String(row.id), row]));
  const got = await received(who);
  expect(got).toHaveLength(EVENTS);
  expect(new Set(got.map(({ headers }) => headers['x-svc-event-id'])).size).toBe(EVENTS);
  for (const { headers } of got) {
    const row = rows.get(headers['x-svc-delivery-id']!)!;
    expect([row.status, row.attempt, headers['x-svc-attempt']]).toEqual(['succeeded', 1, '1']);
  }
}

it('healthy endpoints receive every event before an unresponsive one has answered', { timeout: 600_000 }, async () => {
  const merchant = await w.merchant();
  const consumers = await Promise.all(
    [...HEALTHY, ...SICK].map(async (habit) => ({ habit, who: await consumer(w, merchant, habit, { event_types: ['payout.*'] }) })),
  );
  const jobs = await emit(w, merchant, EVENTS);
  w.queue.sent.length = 0;
  w.attempts.length = 0;
  const queues = new AttemptQueues(w);
  for (let i = 0; i < jobs.length; i += JOBS_BATCH) {
    expect(await w.deliver(jobs.slice(i, i + JOBS_BATCH))).toEqual({ retried: 0 });
    // The platform runs these as separate invocations. One shared thread must yield to timers and sockets.
    await pause(0);
  }
  await queues.quieten(silent);
  expect(silent.open()).toBeGreaterThan(0);
  for (const { who } of consumers.filter(({ habit }) => habit === 'ok')) await expectDelivered(who);
  const unanswered = consumers.filter(({ habit }) => SILENT.includes(habit));
  for (const { who } of unanswered) for (const { status } of await deliveries(who)) expect(status).not.toBe('succeeded');
  await queues.end(silent);
  for (const { who } of unanswered) for (const { status } of await deliveries(who)) expect(status).toBe('retrying');
});
