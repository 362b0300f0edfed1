import { expect, it } from 'vitest';
import { consumer, deliveries, emit, endpoint, type Habit, received } from '../../support/people/consumer.ts';
import { SOAK } from '../../support/runner/env.ts';
import { AttemptQueues, holdSilent } from '../../support/runner/queues.ts';
import { World } from '../../support/world.ts';

const EVENTS = 10 * Math.min(SOAK, 10);
/** These endpoints start with one attempt left, because in a soak each attempt waits fifteen seconds. */
const SILENT: Habit[] = ['hang', 'slow'];
const SICK: Habit[] = [...SILENT, 'fail', 'redirect', 'reset', 'gone'];

const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });

it('a delivery that never succeeds has all its attempts, each sent once, and ends failed', async () => {
  const merchant = await w.merchant();
  const sick = await Promise.all(
    SICK.map(async (habit) => ({ habit, who: await consumer(w, merchant, habit, { event_types: ['payout.*'] }) })),
  );
  await w.deliver(await emit(w, merchant, EVENTS));
  w.queue.sent.length = 0;
  const silent = sick.filter(({ habit }) => SILENT.includes(habit)).map(({ who }) => who.id);
  await w.env.DB.prepare("UPDATE webhook_deliveries SET attempt = 9 WHERE endpoint_id IN (SELECT unhex(value, '-') FROM json_each(?))")
    .bind(JSON.stringify(silent))
    .run();

  const due = w.env.DB.prepare(
    `UPDATE webhook_deliveries SET next_attempt_at = 1 WHERE merchant_id = ? AND status IN ('pending', 'retrying') AND lease_until = 0`,
  ).bind(merchant.userId);
  // Resets the circuit breaker, which has a test of its own and would lengthen the schedule.
  const calm = w.env.DB.prepare('UPDATE webhook_endpoints SET failure_streak = 0 WHERE merchant_id = ?').bind(merchant.userId);
  const live = w.env.DB.prepare(
    `SELECT count(*) AS n FROM webhook_deliveries WHERE merchant_id = ? AND status IN ('pending', 'retrying')`,
  ).bind(merchant.userId);
  const patience = SOAK > 1 ? undefined : holdSilent();
  for (let round = 0; (await live.first<{ n: number }>())!.n > 0; round++) {
    expect(round).toBeLessThan(1000);
    await calm.run();
    await due.run();
    w.attempts.length = 0;
    await w.sweepAlone('deliveries');
    await new AttemptQueues(w, w.env, () => calm.run()).end(patience);
  }

  for (const { habit, who } of sick) {
    const rows = await deliveries(who);
    const got = (await received(who)).map(({ headers }) => `${headers['x-svc-delivery-id']}:${headers['x-svc-attempt']}`);
    expect(new Set(got).size, habit).toBe(got.length);
    if (habit === 'gone') {
      expect(await endpoint(who)).toMatchObject({ status: 'disabled', disabled_reason: 'gone' });
      expect(rows.every(({ status }) => status === 'failed' || status === 'cancelled')).toBe(true);
      continue;
    }
    expect(rows, habit).toHaveLength(EVENTS);
    expect(
      rows.every(({ status, attempt, completed_at: at }) => status === 'failed' && attempt === 10 && at !== null),
      habit,
    ).toBe(true);
    expect(got, habit).toHaveLength(EVENTS * (SILENT.includes(habit) ? 1 : 10));
  }
});
